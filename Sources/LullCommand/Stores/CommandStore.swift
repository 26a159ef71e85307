internal import CLullCommand
internal import Dispatch
internal import Lull
internal import LullDurable

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
