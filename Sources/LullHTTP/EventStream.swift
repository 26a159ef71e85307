internal import CLullHTTP
internal import Lull

/// Server-sent events for one client, which gets the newest state and not all that there were: a client that reads
/// slowly has at most two events in memory.
package final class EventStream: Sendable {
    private struct State {
        var connection: HTTPConnection?
        /// Whether the connection waits for something to send.
        var isSuspended = false
        /// What is being sent, and how much of it has been.
        var sending: [UInt8] = []
        var position = 0
        /// The number of the state that the client has when that is sent.
        var number: Int?
        /// What is sent after that.
        var next: Event?
        /// Whether the server has ended it.
        var hasEnded = false
        /// Whether the client has.
        var isGone = false
    }

    private let state = Guarded(State())

    package init() {}

    /// Whether nothing that is published arrives any more.
    package var isGone: Bool { state.change { $0.isGone || $0.hasEnded } }

    /// An event as it is sent. Streams that send the same one share its bytes.
    package struct Event: Sendable {
        fileprivate var bytes: [UInt8]
        fileprivate var number: Int?
        /// What a client gets that has the state with another number.
        fileprivate var change: (bytes: [UInt8], after: Int)?

        /// - Parameters:
        ///   - name: The type of the event.
        ///   - data: Its data, without a line break.
        ///   - number: The number of the state that a client has then; nil if it has the one from before.
        ///   - change: The data for a client that has the state with a number.
        package init(
            _ name: String, _ data: [UInt8], number: Int? = nil, change: (data: [UInt8], after: Int)? = nil
        ) {
            bytes = Self.bytes(name, data)
            self.number = number
            self.change = change.map { (Self.bytes(name, $0.data), $0.after) }
        }

        fileprivate static let keepAlive = {
            var event = Event("", [])
            event.bytes = Array(": still here\n\n".utf8)
            return event
        }()

        private static func bytes(_ name: String, _ data: [UInt8]) -> [UInt8] {
            Array("event: \(name)\ndata: ".utf8) + data + Array("\n\n".utf8)
        }

        /// Returns what a client gets.
        fileprivate func bytes(after number: Int?) -> [UInt8] {
            if let change, change.after == number { change.bytes } else { bytes }
        }
    }

    /// Sends an event, instead of one that the client has not begun to read.
    package func publish(_ event: Event) {
        state.change { state in
            if state.isGone { return }
            state.next = event
            Self.resume(&state)
        }
    }

    /// Sends a comment if nothing else is on its way, so that everything in between sees that the connection lives.
    package func keepAlive() {
        state.change { state in
            if state.next != nil || state.position < state.sending.count { return }
            state.next = .keepAlive
            Self.resume(&state)
        }
    }

    /// Ends the stream after what has been published.
    package func end() {
        state.change { state in
            state.hasEnded = true
            Self.resume(&state)
        }
    }

    private static func resume(_ state: inout State) {
        guard state.isSuspended, let connection = state.connection else { return }
        state.isSuspended = false
        connection.resume()
    }

    // MARK: - For the server's thread

    func begin(on connection: HTTPConnection) { state.change { $0.connection = connection } }

    /// The client is gone: its connection is not touched again.
    func close() {
        state.change { state in
            state.isGone = true
            (state.connection, state.isSuspended, state.next, state.sending) = (nil, false, nil, [])
            state.position = 0
        }
    }

    /// Writes the next bytes, or suspends the connection until there are some.
    func read(into bytes: UnsafeMutablePointer<CChar>, _ size: Int) -> Int {
        state.change { state in
            if state.position == state.sending.count {
                guard let next = state.next else {
                    if state.hasEnded { return LULL_MHD_END_OF_STREAM }
                    state.isSuspended = true
                    state.connection?.suspend()
                    return 0
                }
                (state.sending, state.position, state.next) = (next.bytes(after: state.number), 0, nil)
                state.number = next.number ?? state.number
            }
            let count = min(size, state.sending.count - state.position)
            let range = state.position..<state.position + count
            UnsafeMutableRawBufferPointer(start: bytes, count: size).copyBytes(from: state.sending[range])
            state.position += count
            return count
        }
    }
}
