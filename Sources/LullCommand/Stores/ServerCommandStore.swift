internal import CLullCommand
internal import Dispatch
internal import Lull
internal import LullCore
internal import LullDurable

/// A store on a server, whose calls block.
final class ServerCommandStore: CommandStore {
    /// How long a call goes on after a signal that ends the program.
    private static let patience = Duration.seconds(2)

    private let store: any WatchedStore
    /// Something is written to the second when something may have changed.
    let changesDescriptor: Int32
    private let changesWriter: Int32
    private let watching = Guarded<Task<Void, Never>?>(nil)

    /// Connects to the server.
    init(
        _ open: @escaping @Sendable () async throws(DurableError) -> any WatchedStore
    ) throws(DurableError) {
        let opened = Self.blocking { () async -> Result<any WatchedStore, DurableError> in
            do throws(DurableError) { return .success(try await open()) } catch { return .failure(error) }
        }
        store = try opened.get()
        do throws(Failure) {
            (changesDescriptor, changesWriter) = try Pipe.make()
        } catch {
            throw .unusable(error.message)
        }
        lull_add_flags(changesDescriptor, 0, O_NONBLOCK)
        lull_add_flags(changesWriter, 0, O_NONBLOCK)
    }

    /// Closes the connections as the server expects it, which keeps its log clean.
    deinit {
        watching.change { $0?.cancel() }
        let store = store
        _ = Self.blocking { () async -> Result<Void, DurableError> in .success(await store.close()) }
        close(changesDescriptor)
        close(changesWriter)
    }

    /// Makes an asynchronous call, and blocks until it has returned.
    private static func blocking<Answer: Sendable>(
        _ call: @escaping @Sendable () async -> Result<Answer, DurableError>
    ) -> Result<Answer, DurableError> {
        let answer = Guarded<Result<Answer, DurableError>?>(nil)
        let hasAnswer = DispatchSemaphore(value: 0)
        Task.detached {
            let result = await call()
            answer.change { $0 = result }
            hasAnswer.signal()
        }
        var end: ContinuousClock.Instant?
        while hasAnswer.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            guard Signals.isAskedToEnd else { continue }
            end = end ?? .now + patience
            if let end, end <= .now { break }
        }
        return answer.value ?? .failure(.unknown("the server had not answered when the program was asked to end"))
    }

    private func ask<Answer: Sendable>(
        _ call: @escaping @Sendable (any WatchedStore) async throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        let store = store
        return try Self.blocking { () async -> Result<Answer, DurableError> in
            do throws(DurableError) { return .success(try await call(store)) } catch { return .failure(error) }
        }.get()
    }

    // MARK: - Questions

    private func question<Answer: Sendable>(
        _ call: @escaping @Sendable (any WatchedStore) async throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        do throws(DurableError) { return try ask(call) } catch { throw error.ofQuestion }
    }

    func names() throws(DurableError) -> [String] { try status().map(\.namespace) }

    func status() throws(DurableError) -> [DurableStatus] {
        try question { store throws(DurableError) in try await store.status() }
    }

    func status(of namespace: String) throws(DurableError) -> DurableStatus {
        guard let status = try status().first(where: { $0.namespace == namespace }) else {
            throw .noPolicy(namespace: namespace)
        }
        return status
    }

    func list(
        in namespace: String, from start: [UInt8], limit: Int
    ) throws(DurableError) -> [DurableListing<[UInt8]>] {
        try question { store throws(DurableError) in
            try await store.list(in: namespace, prefix: [], from: start, limit: limit)
        }
    }

    func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) throws(DurableError) -> [DurableEnd<[UInt8]>] {
        try question { store throws(DurableError) in try await store.ended(of: key, in: namespace, limit: limit) }
    }

    func workers(in namespace: String) throws(DurableError) -> [DurableWorker] {
        try question { store throws(DurableError) in try await store.workers(in: namespace) }
    }

    func dead(in namespace: String, limit: Int) throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try question { store throws(DurableError) in try await store.dead(in: namespace, limit: limit) }
    }

    func state(of receipt: DurableReceipt) throws(DurableError) -> DurableState {
        try question { store throws(DurableError) in try await store.state(of: receipt) }
    }

    func health() throws(DurableError) -> ServerHealth? {
        try question { store throws(DurableError) in try await store.health() }
    }

    // MARK: - Producers

    func open(_ namespace: String, _ policy: NamespacePolicy) throws(DurableError) -> Result<DurableRules, Failure> {
        var stored: DurableRules?
        do throws(DurableError) {
            stored = try ask { store throws(DurableError) in try await store.open(namespace, nil) }
        } catch .noPolicy {
            stored = nil
        }
        let given: DurableRules?
        do throws(Failure) {
            given = try policy.rules(over: stored, of: namespace)
        } catch {
            return .failure(error)
        }
        if given == nil, let stored { return .success(stored) }
        return .success(try ask { store throws(DurableError) in try await store.open(namespace, given) })
    }

    func submit(_ batch: [DurableSubmission]) throws(DurableError) -> [Result<DurableReceipt, DurableError>] {
        try ask { store throws(DurableError) in await store.submit(batch) }
    }

    func flush(_ keys: [[UInt8]?], in namespace: String) throws(DurableError) -> [Int] {
        try ask { store throws(DurableError) in
            var counts: [Int] = []
            for key in keys { counts.append(try await store.flush(key, in: namespace)) }
            return counts
        }
    }

    func cancel(_ keys: [[UInt8]?], in namespace: String) throws(DurableError) -> [Int] {
        try ask { store throws(DurableError) in
            var counts: [Int] = []
            for key in keys { counts.append(try await store.cancel(key, in: namespace)) }
            return counts
        }
    }

    func flush(submittedBy submitter: Int64, in namespace: String) throws(DurableError) -> OwnFlush {
        try ask { store throws(DurableError) in
            let answer = try await store.flush(submittedBy: submitter, in: namespace)
            return OwnFlush(
                flushed: answer.flushed, mixed: answer.mixed, now: try await store.presentInstant(in: namespace))
        }
    }

    func cancel(submittedBy submitter: Int64, in namespace: String) throws(DurableError) -> Int {
        try ask { store throws(DurableError) in try await store.cancel(submittedBy: submitter, in: namespace).mixed }
    }

    func retry(_ run: Int64, in namespace: String) throws(DurableError) -> DurableRetry {
        try ask { store throws(DurableError) in try await store.retry(run, in: namespace) }
    }

    func discard(_ run: Int64, in namespace: String) throws(DurableError) -> Bool {
        try ask { store throws(DurableError) in try await store.discard(run, in: namespace) }
    }

    func announce(_ worker: DurableWorker.Identity, in namespace: String) throws(DurableError) {
        try ask { store throws(DurableError) in try await store.announce(worker, in: namespace) }
    }

    func forget(_ namespace: String) throws(DurableError) {
        try ask { store throws(DurableError) in try await store.forget(namespace) }
    }

    // MARK: - For a session

    func exchange(_ reports: [DurableReport], _ claim: DurableClaim?, in namespace: String) -> CommandExchange {
        do throws(DurableError) {
            let answers = try ask { store throws(DurableError) in await store.exchange(reports, claim) }
            return CommandExchange(answers: answers, now: store.latestInstant)
        } catch {
            return CommandExchange(answers: DurableExchange(reports, claim, failed: error))
        }
    }

    func watch(_ namespace: String, after mark: Int64, atMost time: CoreDuration) {
        let (store, descriptor) = (store, changesWriter)
        let watch = Task.detached {
            try? await store.wait(in: namespace, after: mark, atMost: Duration(time))
            guard !Task.isCancelled else { return }
            var byte: UInt8 = 0
            _ = write(descriptor, &byte, 1)
        }
        watching.change { watching in
            watching?.cancel()
            watching = watch
        }
    }

    func hasChanges() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64)
        return read(changesDescriptor, &bytes, bytes.count) > 0
    }

    func check() {}

    func maintain() {}

    func cleanUp() {}
}

extension DurableError {
    /// The error of a call that records nothing, so that nothing was refused or is unknown.
    var ofQuestion: DurableError {
        switch self {
        case .refused(let why), .unknown(let why): .unusable(why)
        default: self
        }
    }
}
