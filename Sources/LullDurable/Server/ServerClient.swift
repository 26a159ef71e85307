/// The calls of a store on a server, which a thread of its own makes.
package final class ServerClient<Loop: ServerLoop>: ServerConnections {
    package typealias Answer = ServerAnswer<Loop.Wire>

    private let thread: StoreThread<ServerItem<Loop>>

    /// Starts the thread.
    package init(_ name: String, _ makeLoop: @escaping @Sendable () -> Loop) throws(DurableError) {
        thread = try StoreThread(name) { makeLoop().run($0) }
    }

    /// Gives something to the thread; false if it takes no more.
    package func add(_ item: Loop.Item) -> Bool { thread.add(.own(item)) }

    /// Makes a call, and waits for its answer.
    package func call(_ request: Loop.Wire.Request, isRepeatable: Bool = true, atMost time: Duration) async -> Answer {
        await withCheckedContinuation { continuation in
            call(request, isRepeatable: isRepeatable, atMost: time) { continuation.resume(returning: $0) }
        }
    }

    /// Makes a call, and returns at once.
    package func call(
        _ request: Loop.Wire.Request, isRepeatable: Bool = true, atMost time: Duration,
        _ answer: @escaping @Sendable (Answer) -> Void
    ) {
        let call = ServerCall(request: request, isRepeatable: isRepeatable, deadline: .now + time, answer: answer)
        if !thread.add(.call(call)) { answer(.closed) }
    }

    package func listen(_ namespace: String) { _ = thread.add(.listen(namespace)) }
    package var isClosed: Bool { thread.isClosed }
    package func beginClosing() { thread.beginClosing() }
    package func close() async { await thread.close() }
}

/// What callers give to the thread.
enum ServerItem<Loop: ServerLoop>: Sendable {
    case own(Loop.Item)
    case call(ServerCall<Loop.Wire>)
    /// Listens to the hints of a namespace from now on.
    case listen(String)
}

struct ServerCall<Wire: ServerWire>: Sendable {
    let request: Wire.Request
    let isRepeatable: Bool
    let deadline: ContinuousClock.Instant
    let answer: @Sendable (ServerAnswer<Wire>) -> Void
}
