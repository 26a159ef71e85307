/// The calls of a store on a server, which a thread of its own makes.
package final class ServerClient<Loop: ServerLoop>: ServerConnections {
    package typealias Answer = ServerAnswer<Loop.Wire>

    private let thread: StoreThread<@Sendable (Loop) -> Void>

    /// Starts the thread.
    package init(_ name: String, _ makeLoop: @escaping @Sendable () -> Loop) throws(DurableError) {
        thread = try StoreThread(name) { makeLoop().run($0) }
    }

    /// Lets the thread do something; false if it takes no more.
    package func add(_ call: @escaping @Sendable (Loop) -> Void) -> Bool { thread.add(call) }

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
        let deadline = ContinuousClock.now + time
        let isAdded = add { loop in
            loop.send(ServerJob(request, until: deadline, isRepeatable: isRepeatable, answer: answer))
        }
        if !isAdded { answer(.closed) }
    }

    package func listen(_ namespace: String) { _ = add { $0.listener.listen(namespace) } }
    package var isClosed: Bool { thread.isClosed }
    package func beginClosing() { thread.beginClosing() }
    package func close() async { await thread.close() }
}
