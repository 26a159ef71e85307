/// The answer to a request.
package struct HTTPAnswer: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        case events(EventStream)
    }

    package var status: Int
    package var fields: [(name: String, value: String)]
    package var body: Body
    var stream: EventStream? { if case .events(let stream) = body { stream } else { nil } }

    package init(_ status: Int, _ type: String, _ bytes: [UInt8], _ fields: [(name: String, value: String)] = []) {
        self.status = status
        // No browser may take for a script of the page what is none.
        self.fields = [("Content-Type", type), ("X-Content-Type-Options", "nosniff")] + fields
        body = .bytes(bytes)
    }

    package init(_ stream: EventStream) {
        status = 200
        // The last one keeps nginx from collecting the events.
        fields = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")]
        body = .events(stream)
    }
}
