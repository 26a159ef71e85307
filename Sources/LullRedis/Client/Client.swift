internal import CLullRedis
internal import LullDurable

/// The calls of a store, which a thread of its own makes.
///
/// Submits share scripts (``SubmitQueue``). Other calls are sent over another connection to the same server.
final class Client: ServerClient {
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

    private let thread: StoreThread<Item>

    /// Starts the thread.
    ///
    /// - Parameter notified: Receives the namespaces in which something may be due, and nil if hints may have been
    ///   missed.
    init(
        _ url: RedisURL, _ options: ServerOptions, notified: @escaping @Sendable (String?) -> Void
    ) throws(DurableError) {
        try Self.loadLibrary(withTLS: url.usesTLS)
        thread = try StoreThread("lull-redis") { ClientLoop(url, options, notified: notified).run($0) }
    }

    /// Finds the library of the protocol on this machine, once.
    static func loadLibrary(withTLS: Bool = false) throws(DurableError) {
        if let why = withTLS ? lull_redis_load_tls() : lull_redis_load() { throw .unusable(String(cString: why)) }
    }

    func add(_ entry: SubmitQueue.Entry) -> Bool { thread.add(.submit(entry)) }

    /// Makes a call, and waits for its answer.
    func ask(
        _ content: Job.Content, in namespace: String = "", isRepeatable: Bool = true, replicas: Int? = nil,
        atMost time: Duration
    ) async throws(DurableError) -> Reply {
        let answer = await withCheckedContinuation { continuation in
            add(content, isRepeatable: isRepeatable, replicas: replicas, atMost: time) {
                continuation.resume(returning: $0)
            }
        }
        return try answer.get(in: namespace).reply(for: replicas)
    }

    /// Makes a call, and returns at once.
    func add(
        _ content: Job.Content, isRepeatable: Bool = true, replicas: Int? = nil, atMost time: Duration,
        _ answer: @escaping @Sendable (Job.Answer) -> Void
    ) {
        let call = Call(
            content: content, role: .calls, isRepeatable: isRepeatable, replicas: replicas, deadline: .now + time,
            answer: answer)
        if !thread.add(.call(call)) { answer(.closed) }
    }

    func listen(_ namespace: String) { _ = thread.add(.listen(namespace: namespace)) }

    /// Lets submits wait for replicas from now on.
    func waitForReplicas(_ count: Int) { _ = thread.add(.replicas(count)) }

    var isClosed: Bool { thread.isClosed }

    func beginClosing() { thread.beginClosing() }
    func close() async { await thread.close() }
}
