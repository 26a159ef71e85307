internal import CLullCommand
internal import Dispatch
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullPostgres
internal import LullRedis
internal import LullSQLite

/// A store as the commands use it: every call blocks until it is answered.
final class CommandStore {
    /// A call of the store, which throws nothing but a `DurableError`.
    typealias Call<Answer> = @Sendable (any WatchedStore) async throws -> Answer

    /// How long a call goes on after a signal that ends the program; nil for a file, whose calls limit themselves.
    let grace: Duration?
    /// For calls that need not block.
    let store: any WatchedStore
    private var hasEnded = false

    init(grace: Duration?, _ open: @escaping @Sendable () async throws -> any WatchedStore) throws(DurableError) {
        self.grace = grace
        store = try Self.blocking(grace, open)
    }

    deinit { end() }

    /// Closes the store: a file is left clean, and a server sees connections end as it expects them to.
    func end() {
        if hasEnded { return }
        hasEnded = true
        try? Self.blocking(grace) { [store] in await store.close() }
    }

    /// Makes an asynchronous call, and blocks until it has returned.
    static func blocking<Answer: Sendable>(
        _ grace: Duration?, _ call: @escaping @Sendable () async throws -> Answer
    ) throws(DurableError) -> Answer {
        let answer = Guarded<Result<Answer, any Error>?>(nil)
        let hasAnswer = DispatchSemaphore(value: 0)
        Task.detached {
            let result: Result<Answer, any Error>
            do { result = .success(try await call()) } catch { result = .failure(error) }
            answer.change { $0 = result }
            hasAnswer.signal()
        }
        var end: ContinuousClock.Instant?
        while hasAnswer.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            guard let grace, Signals.isAskedToEnd else { continue }
            end = end ?? .now + grace
            if let end, end <= .now { break }
        }
        switch answer.value {
        case .success(let answer)?: return answer
        case .failure(let error)?: throw error as? DurableError ?? .unusable("\(error)")
        case nil: throw .unknown("the server had not answered when the program was asked to end")
        }
    }

    // MARK: - Calls

    /// Makes a call that records something.
    func change<Answer: Sendable>(_ call: @escaping Call<Answer>) throws(DurableError) -> Answer {
        try Self.blocking(grace) { [store] in try await call(store) }
    }

    /// Makes a call that records nothing, so that nothing was refused or is unknown.
    func ask<Answer: Sendable>(_ call: @escaping Call<Answer>) throws(DurableError) -> Answer {
        do throws(DurableError) { return try change(call) } catch { throw error.ofQuestion }
    }

    func change<Answer: Sendable>(
        for subcommand: Subcommand, _ call: @escaping Call<Answer>
    ) throws(Failure) -> Answer {
        do throws(DurableError) { return try change(call) } catch { throw failure(error, subcommand) }
    }

    func ask<Answer: Sendable>(for subcommand: Subcommand, _ call: @escaping Call<Answer>) throws(Failure) -> Answer {
        do throws(DurableError) { return try ask(call) } catch { throw failure(error, subcommand) }
    }

    /// Returns the failure for an error; that for an unknown namespace lists the known ones.
    private func failure(_ error: DurableError, _ subcommand: Subcommand) -> Failure {
        guard case .noPolicy(let name) = error else { return Failure(error, subcommand) }
        let known = (try? ask { try await $0.status().map(\.namespace) }) ?? []
        return .noNamespace(name, known, subcommand)
    }
}

extension DurableError {
    /// The error of a call that records nothing.
    var ofQuestion: DurableError {
        switch self {
        case .refused(let why), .full(let why), .unknown(let why): .unusable(why)
        default: self
        }
    }
}

/// A store with the figures that an operator should watch of its server.
protocol WatchedStore: StoreCalls {
    /// Returns the figures; nil for a store in a file.
    func health() async throws(DurableError) -> [MeasuredFigure]?
}

extension WatchedStore {
    func status(of namespace: String) async throws(DurableError) -> DurableStatus {
        guard let status = try await status().first(where: { $0.namespace == namespace }) else {
            throw .noPolicy(namespace: namespace)
        }
        return status
    }
}

extension SQLiteStore: WatchedStore {
    func health() -> [MeasuredFigure]? { nil }
}

extension PostgresStore: WatchedStore {
    func health() async throws(DurableError) -> [MeasuredFigure]? {
        let health: PostgresStore.Health = try await health()
        let rows = StatusFigure(
            "dead rows", as: "deadRows", "lull_dead_rows", "Rows of the database that vacuum has not removed yet.")
        let oldest = StatusFigure(
            "oldest open transaction", as: "oldestTransaction", "lull_oldest_transaction",
            "How long the oldest transaction is open that keeps vacuum from removing dead rows; 0 if there is none.",
            .duration)
        return [
            MeasuredFigure(rows, .count(health.deadRows)), MeasuredFigure(oldest, .duration(health.oldestTransaction)),
        ]
    }
}

extension RedisStore: WatchedStore {
    func health() async throws(DurableError) -> [MeasuredFigure]? {
        let health: RedisStore.Health = try await health()
        let mode = StatusFigure(
            "durability", "lull_durability", "What the server does with a submit before it answers.", .name)
        let used = StatusFigure("memory", "lull_memory", "The memory that the data of the server takes.", .bytes)
        let limit = StatusFigure(
            "limit", as: "memoryLimit", "lull_memory_limit",
            "The memory at which the server refuses submits; 0 if it has no limit.", .bytes)
        let eviction = StatusFigure(
            "when full", as: "maxmemoryPolicy", "lull_maxmemory_policy",
            "What the server does when its memory is full: with all but noeviction, pending work is lost.", .name)
        let behind = StatusFigure(
            "clock behind", as: "clockBehind", "lull_clock_behind",
            "How far the server's clock is behind the latest instant that was stored; 0 if it is not.", .duration)
        let reopened = StatusFigure(
            "opened again", as: "reopenings", "lull_reopenings",
            "How often a namespace was opened again since the server had lost it.", .none)
        return [
            MeasuredFigure(mode, .name("\(durability)")), MeasuredFigure(used, .number(health.memory)),
            MeasuredFigure(limit, .number(health.memoryLimit)),
            MeasuredFigure(eviction, .name(health.policy ?? "hidden")),
            MeasuredFigure(behind, .duration(health.clockBehind > .zero ? health.clockBehind : nil)),
            MeasuredFigure(reopened, .count(health.reopenings)),
        ]
    }
}
