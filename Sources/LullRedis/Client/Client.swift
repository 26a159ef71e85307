internal import CLullRedis
internal import LullDurable

/// The calls of a store, which a thread of its own makes.
///
/// Submits share scripts (``SubmitQueue``). Other calls are sent over another connection to the same server.
final class Client: Sendable {
    struct Call: Sendable {
        let content: Job.Content
        let role: Job.Role
        let isRepeatable: Bool
        let replicas: Int?
        let deadline: ContinuousClock.Instant
        let answer: @Sendable (Job.Answer) -> Void
    }

    /// What callers give to the thread.
    enum Item: Sendable {
        case submit(SubmitQueue.Entry)
        case call(Call)
        /// Listens to the hints of a namespace from now on.
        case listen(namespace: String)
        /// The number of replicas for which submits wait.
        case replicas(Int)
    }

    private let thread: ServerThread<Item>

    /// Starts the thread.
    ///
    /// - Parameter notified: Receives the namespaces in which something may be due, and nil if hints may have been missed.
    init(
        _ url: RedisURL, now: (@Sendable () -> Int64)?, notified: @escaping @Sendable (String?) -> Void
    ) throws(DurableError) {
        try Self.loadLibrary(withTLS: url.usesTLS)
        thread = try ServerThread("lull-redis") { ClientLoop(url, now: now, notified: notified).run($0) }
    }

    /// Finds the library of the protocol on this machine, once.
    static func loadLibrary(withTLS: Bool = false) throws(DurableError) {
        if let why = withTLS ? lull_redis_load_tls() : lull_redis_load() { throw .unusable(String(cString: why)) }
    }

    /// Adds a submit; false if the client is closed.
    func add(_ entry: SubmitQueue.Entry) -> Bool { thread.add(.submit(entry)) }

    /// Makes a call, and waits for its answer; nil if the client is closed.
    func call(
        _ content: Job.Content, isRepeatable: Bool, replicas: Int? = nil, atMost time: Duration
    ) async -> Job.Answer? {
        await withCheckedContinuation { continuation in
            let call = Call(
                content: content, role: .calls, isRepeatable: isRepeatable, replicas: replicas, deadline: .now + time
            ) { continuation.resume(returning: $0) }
            if !thread.add(.call(call)) { continuation.resume(returning: nil) }
        }
    }

    /// Makes a call, and does not wait for its answer.
    func add(_ content: Job.Content, atMost time: Duration, _ answer: @escaping @Sendable (Job.Answer) -> Void) {
        let call = Call(
            content: content, role: .calls, isRepeatable: true, replicas: nil, deadline: .now + time, answer: answer)
        _ = thread.add(.call(call))
    }

    /// Listens to the hints of a namespace from now on.
    func listen(_ namespace: String) { _ = thread.add(.listen(namespace: namespace)) }

    /// Lets submits wait for replicas from now on.
    func waitForReplicas(_ count: Int) { _ = thread.add(.replicas(count)) }

    var isClosed: Bool { thread.isClosed }

    /// Refuses new calls. Earlier ones are answered.
    func beginClosing() { thread.beginClosing() }

    /// Refuses new calls, and returns when the earlier ones have been answered and the connections closed.
    func close() async { await thread.close() }
}
