internal import LullDurable

/// The calls of a store, which a thread of its own makes.
///
/// Submits share statements (``SubmitQueue``). Other calls are sent one after the other over the connection of their
/// role.
final class Client: ServerClient {
    /// What a connection is used for, so that one kind of call does not wait for another.
    enum Role: Sendable {
        /// The calls of workers.
        case work
        /// All calls but submits and those of workers.
        case questions
    }

    typealias Answer = ServerAnswer<Rows, ServerError>

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

    private let thread: StoreThread<Item>

    /// Starts the thread.
    ///
    /// - Parameter notified: Receives the namespaces in which something may be due, and nil if notifications may have
    ///   been missed.
    init(
        _ url: ConnectionURL, _ options: ServerOptions, notified: @escaping @Sendable (String?) -> Void
    ) throws(DurableError) {
        thread = try StoreThread("lull-postgres") { ClientLoop(url, options, notified: notified).run($0) }
    }

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

    /// Listens to the notifications of all namespaces from now on.
    func listen(_ namespace: String) { _ = thread.add(.listen) }

    var isClosed: Bool { thread.isClosed }
    func beginClosing() { thread.beginClosing() }
    func close() async { await thread.close() }
}
