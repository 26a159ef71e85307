internal import CLullRedis
internal import LullCore
internal import LullDurable

/// The calls of a store, which a thread of its own makes.
///
/// Steps share scripts (``StepRunner``). Other calls are sent over another connection to the same server.
final class Client: ServerClient {
    struct Call: Sendable {
        let contents: [Job.Content]
        let replicas: Int?
        let deadline: ContinuousClock.Instant
        let answer: @Sendable (Job.Answer) -> Void
    }

    /// What callers give to the thread.
    enum Item: Sendable {
        case step(KeyStep)
        case exchange(ShardExchange)
        case write(KeyWrite, WriteTerms, @Sendable (Job.Answer) -> Void)
        case call(Call)
        /// Listens to the hints of a namespace from now on.
        case listen(namespace: String)
        /// The number of replicas for which what is written waits.
        case replicas(Int)
    }

    private let thread: StoreThread<Item>

    /// Starts the thread.
    ///
    /// - Parameter noticed: Receives what concerns the store.
    init(
        _ url: RedisURL, _ options: ServerOptions, noticed: @escaping @Sendable (Notice) -> Void
    ) throws(DurableError) {
        try Self.loadLibrary(withTLS: url.usesTLS)
        thread = try StoreThread("lull-redis") { ClientLoop(url, options, noticed: noticed).run($0) }
    }

    /// What the thread sees beside what it was asked for.
    enum Notice: Sendable {
        /// Others say that something may be due in a namespace; nil if in any, since hints may have been missed.
        case hint(String?)
        /// A step has been written: when the earliest of its rows wakes that wakes sooner than before, and whether runs
        /// may have been interrupted.
        case written(String, wake: CoreInstant?, isInterrupting: Bool)
        /// The server's clock is behind the latest instant that was stored.
        case isBehind(ShardPlace, CoreDuration)
    }

    /// Finds the library of the protocol on this machine, once.
    static func loadLibrary(withTLS: Bool = false) throws(DurableError) {
        if let why = withTLS ? lull_redis_load_tls() : lull_redis_load() { throw .unusable(String(cString: why)) }
    }

    func add(_ step: KeyStep) { if !thread.add(.step(step)) { step.finish(.closed) } }

    func add(_ exchange: ShardExchange) {
        if !thread.add(.exchange(exchange)) { exchange.answer(.failure(.closed)) }
    }

    /// Writes what no step has made of a row; returns false if something has changed meanwhile, and nothing was
    /// written.
    func write(_ write: KeyWrite, _ terms: WriteTerms, replicas: Int?) async throws(DurableError) -> Bool {
        let answer = await withCheckedContinuation { continuation in
            let isAdded = thread.add(.write(write, terms) { continuation.resume(returning: $0) })
            if !isAdded { continuation.resume(returning: .closed) }
        }
        return try answer.get(in: terms.place.namespace).replies(for: replicas)[0].list?.isEmpty == true
    }

    /// What a write requires, beside its own.
    struct WriteTerms: Sendable {
        var place: ShardPlace
        var settings: [UInt8]
        var now: CoreInstant
        var guards: [[String]]
        var waits: Bool
        var deadline: ContinuousClock.Instant
    }

    /// Makes calls that change nothing, and waits for their answers.
    func ask(
        _ contents: [Job.Content], in namespace: String = "", replicas: Int? = nil, atMost time: Duration
    ) async throws(DurableError) -> [Reply] {
        let answer = await withCheckedContinuation { continuation in
            add(contents, replicas: replicas, atMost: time) { continuation.resume(returning: $0) }
        }
        return try answer.get(in: namespace).replies(for: replicas)
    }

    /// Makes calls, and returns at once.
    func add(
        _ contents: [Job.Content], replicas: Int? = nil, atMost time: Duration,
        _ answer: @escaping @Sendable (Job.Answer) -> Void
    ) {
        let call = Call(contents: contents, replicas: replicas, deadline: .now + time, answer: answer)
        if !thread.add(.call(call)) { answer(.closed) }
    }

    func listen(_ namespace: String) { _ = thread.add(.listen(namespace: namespace)) }

    /// Lets what is written wait for replicas from now on.
    func waitForReplicas(_ count: Int) { _ = thread.add(.replicas(count)) }

    var isClosed: Bool { thread.isClosed }

    func beginClosing() { thread.beginClosing() }
    func close() async { await thread.close() }
}
