internal import CLullRedis
internal import LullCore
internal import LullDurable

/// Steps share scripts (``StepRunner``). Other calls are sent over another connection to the same server.
typealias Client = ServerClient<ClientLoop>
typealias Link = ServerLink<Connection>
typealias Job = ServerJob<Connection>

/// Finds the library of the protocol on this machine, once.
func loadLibrary(withTLS: Bool = false) throws(DurableError) {
    if let why = withTLS ? lull_redis_load_tls() : lull_redis_load() { throw .unusable(String(cString: why)) }
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

extension Client {
    func add(_ step: KeyStep) { if !add({ $0.runner.add(step) }) { step.finish(.closed) } }

    func add(_ exchange: ShardExchange) {
        if !add({ $0.runner.exchange(exchange) }) { exchange.answer(.failure(.closed)) }
    }

    /// Writes what no step has made of a row; returns false if something has changed meanwhile, and nothing was
    /// written.
    func write(_ write: KeyWrite, _ terms: WriteTerms, replicas: Int?) async throws(DurableError) -> Bool {
        let answer = await withCheckedContinuation { continuation in
            let isAdded = add { $0.send(write, terms) { continuation.resume(returning: $0) } }
            if !isAdded { continuation.resume(returning: .closed) }
        }
        return try answer.get(in: terms.place.namespace).replies(for: replicas)[0].list?.isEmpty == true
    }

    /// Makes calls that change nothing, and waits for their answers.
    func ask(
        _ contents: [Commands.Content], in namespace: String = "", atMost time: Duration
    ) async throws(DurableError) -> [Reply] {
        try await call(Commands(contents: contents), atMost: time).get(in: namespace).replies
    }
}
