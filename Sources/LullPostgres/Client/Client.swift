internal import LullDurable

/// The calls of a store, which a thread of its own makes.
///
/// Submits share statements (``SubmitQueue``). Other calls are sent one after the other over the connection of their role.
final class Client: Sendable {
    /// What a connection is used for, so that one kind of call does not wait for another.
    enum Role: Sendable {
        /// The calls of workers.
        case work
        /// All calls but submits and those of workers.
        case questions
    }

    /// The end of a call.
    enum Answer: Sendable {
        case rows(Rows)
        case error(ServerError)
        case unreached(String)
        case lost(String)
        case closed
    }

    struct Call: Sendable {
        let statement: Statement
        let role: Role
        let isRepeatable: Bool
        let deadline: ContinuousClock.Instant
        let answer: @Sendable (Answer) -> Void
    }

    /// What callers give to the thread.
    enum Item: Sendable {
        case submit(SubmitQueue.Entry)
        case call(Call)
        /// Listens to notifications from now on.
        case listen
    }

    private let thread: ServerThread<Item>

    /// Starts the thread.
    ///
    /// - Parameter notified: Receives the namespaces in which something may be due, and nil if notifications may have been
    ///   missed.
    init(
        _ url: ConnectionURL, now: (@Sendable () -> Int64)?, notified: @escaping @Sendable (String?) -> Void
    ) throws(DurableError) {
        thread = try ServerThread("lull-postgres") { ClientLoop(url, now: now, notified: notified).run($0) }
    }

    /// Adds a submit; false if the client is closed.
    func add(_ entry: SubmitQueue.Entry) -> Bool { thread.add(.submit(entry)) }

    /// Makes a call, and waits for its answer.
    func call(
        _ statement: Statement, _ role: Role, isRepeatable: Bool, atMost time: Duration
    ) async -> Answer {
        await withCheckedContinuation { continuation in
            add(statement, role, isRepeatable: isRepeatable, atMost: time) { continuation.resume(returning: $0) }
        }
    }

    /// Makes a call, and returns at once.
    func add(
        _ statement: Statement, _ role: Role, isRepeatable: Bool, atMost time: Duration,
        _ answer: @escaping @Sendable (Answer) -> Void
    ) {
        let call = Call(
            statement: statement, role: role, isRepeatable: isRepeatable, deadline: .now + time, answer: answer)
        if !thread.add(.call(call)) { answer(.closed) }
    }

    /// Listens to notifications from now on.
    func listen() { _ = thread.add(.listen) }

    var isClosed: Bool { thread.isClosed }

    /// Refuses new calls. Earlier ones are answered.
    func beginClosing() { thread.beginClosing() }

    /// Refuses new calls, and returns when the earlier ones have been answered and the connections closed.
    func close() async { await thread.close() }
}
