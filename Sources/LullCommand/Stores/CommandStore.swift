internal import CLullCommand
internal import Dispatch
internal import Lull
internal import LullCore
internal import LullDurable

/// A store as the commands use it: every call blocks until it is answered.
final class CommandStore {
    /// How long a call goes on after a signal that ends the program; nil for a file, whose calls limit themselves.
    private let grace: Duration?
    private let store: any WatchedStore
    /// A byte is written to the second when something may have changed, or runs may have been interrupted.
    let changesDescriptor: Int32
    private let changesWriter: Int32
    private let tasks = Guarded<[Change: Task<Void, Never>]>([:])
    private let interruptions = Guarded<Result<[Int64], DurableError>?>(nil)
    private var hasEnded = false

    /// Opens the store.
    init(
        grace: Duration?, _ open: @escaping @Sendable () async throws(DurableError) -> any WatchedStore
    ) throws(DurableError) {
        self.grace = grace
        let opened = Self.blocking(grace) { () async -> Result<any WatchedStore, DurableError> in
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

    deinit {
        end()
        close(changesDescriptor)
        close(changesWriter)
    }

    /// Closes the store: a file is left clean, and a server sees connections end as it expects them to.
    func end() {
        if hasEnded { return }
        hasEnded = true
        let tasks = tasks.change { tasks in
            defer { tasks = [:] }
            return Array(tasks.values)
        }
        for task in tasks { task.cancel() }
        let store = store
        _ = Self.blocking(grace) { () async -> Result<Void, DurableError> in
            for task in tasks { await task.value }
            return .success(await store.close())
        }
    }

    /// Makes an asynchronous call, and blocks until it has returned.
    private static func blocking<Answer: Sendable>(
        _ grace: Duration?, _ call: @escaping @Sendable () async -> Result<Answer, DurableError>
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
            guard let grace, Signals.isAskedToEnd else { continue }
            end = end ?? .now + grace
            if let end, end <= .now { break }
        }
        return answer.value ?? .failure(.unknown("the server had not answered when the program was asked to end"))
    }

    /// Makes a call. The failure for an unknown namespace lists the known ones.
    func ask<Answer>(
        for subcommand: Subcommand, _ call: () throws(DurableError) -> Answer
    ) throws(Failure) -> Answer {
        do throws(DurableError) {
            return try call()
        } catch {
            guard case .noPolicy = error else { throw Failure(error, subcommand) }
            throw Failure(error, namespaces: (try? names()) ?? [], subcommand)
        }
    }

    private func ask<Answer: Sendable>(
        _ call: @escaping @Sendable (any WatchedStore) async throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        let store = store
        return try Self.blocking(grace) { () async -> Result<Answer, DurableError> in
            do throws(DurableError) { return .success(try await call(store)) } catch { return .failure(error) }
        }.get()
    }

    // MARK: - Questions

    private func question<Answer: Sendable>(
        _ call: @escaping @Sendable (any WatchedStore) async throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        do throws(DurableError) { return try ask(call) } catch { throw error.ofQuestion }
    }

    /// Returns the names of all namespaces, in order.
    func names() throws(DurableError) -> [String] { try status().map(\.namespace) }

    /// Returns the counts of all namespaces, in the order of their names.
    func status() throws(DurableError) -> [DurableStatus] {
        try question { store throws(DurableError) in try await store.status() }
    }

    /// Returns the counts of one namespace.
    func status(of namespace: String) throws(DurableError) -> DurableStatus {
        guard let status = try status().first(where: { $0.namespace == namespace }) else {
            throw .noPolicy(namespace: namespace)
        }
        return status
    }

    /// Returns a page of the keys that are not idle, from `start` on, in the order of their bytes.
    func list(
        in namespace: String, from start: [UInt8], limit: Int
    ) throws(DurableError) -> [DurableListing<[UInt8]>] {
        try question { store throws(DurableError) in
            try await store.list(in: namespace, prefix: [], from: start, limit: limit)
        }
    }

    /// Returns how submits of a key, or of all keys, have ended, the newest first.
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

    /// Returns what an operator of the server should watch; nil for a store in a file.
    func health() throws(DurableError) -> [Measure]? {
        try question { store throws(DurableError) in try await store.health() }
    }

    // MARK: - Producers

    /// Opens a namespace as the options say.
    ///
    /// - Returns: The rules that hold, or why it is not opened.
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

    /// Records submits in their order, each with an answer of its own.
    func submit(_ batch: [DurableSubmission]) throws(DurableError) -> [Result<DurableReceipt, DurableError>] {
        try ask { store throws(DurableError) in try await store.submit(batch) }
    }

    /// Flushes or cancels keys, or all if the only one is nil, and returns the count for each.
    func change(_ change: DurableChange, _ keys: [[UInt8]?], in namespace: String) throws(DurableError) -> [Int] {
        try ask { store throws(DurableError) in
            guard keys == [nil] else { return try await store.change(change, keys.compactMap { $0 }, in: namespace) }
            switch change {
            case .flush: return [try await store.flush(nil, in: namespace)]
            case .cancel: return [try await store.cancel(nil, in: namespace)]
            }
        }
    }

    /// Postpones what is pending under keys, and returns 1 for each that had a burst under way, otherwise 0.
    func touch(_ keys: [[UInt8]], wait: CoreDuration?, in namespace: String) throws(DurableError) -> [Int] {
        try ask { store throws(DurableError) in
            var counts: [Int] = []
            for key in keys { counts.append(try await store.touch(key, in: namespace, wait: wait) ? 1 : 0) }
            return counts
        }
    }

    /// Flushes what only one submitter has submitted.
    func flush(submittedBy submitter: Int64, in namespace: String) throws(DurableError) -> OwnFlush {
        try ask { store throws(DurableError) in
            let answer = try await store.flush(submittedBy: submitter, in: namespace)
            // What is flushed is awaited in any case.
            let now = try? await store.presentInstant(in: namespace)
            return OwnFlush(flushed: answer.flushed, mixed: answer.mixed, now: now ?? .farPast)
        }
    }

    /// Cancels what only one submitter has submitted, and returns the number of mixed keys.
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

    /// Makes the calls of a session's worker.
    func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) -> DurableExchange {
        do throws(DurableError) {
            return try ask { store throws(DurableError) in await store.exchange(reports, claim) }
        } catch {
            return DurableExchange(reports, claim, failed: error)
        }
    }

    /// What the descriptor for changes tells of, each with a byte of its own.
    enum Change: UInt8 {
        /// There may be something to claim.
        case work
        /// Runs may have been interrupted.
        case interruptions
    }

    /// Looks for changes from now on: what may be due changed since a claim's answer with this mark.
    func watch(_ namespace: String, after mark: Int64, atMost time: CoreDuration) {
        let store = store
        look(for: .work) { try? await store.wait(in: namespace, after: mark, atMost: Duration(time)) }
    }

    /// Looks for interruptions of a worker's runs, besides those that it knows of.
    func watch(_ namespace: String, worker: Int64, besides known: [Int64], atMost time: CoreDuration) {
        let (store, interruptions) = (store, interruptions)
        look(for: .interruptions) {
            let result: Result<[Int64], DurableError>
            do throws(DurableError) {
                result = .success(
                    try await store.interruptions(of: worker, besides: known, in: namespace, atMost: Duration(time)))
            } catch {
                result = .failure(error)
            }
            interruptions.change { $0 = result }
        }
    }

    /// Makes a call in a task, and writes to the descriptor when it has returned.
    private func look(for change: Change, _ call: @escaping @Sendable () async -> Void) {
        let descriptor = changesWriter
        let task = Task.detached {
            await call()
            guard !Task.isCancelled else { return }
            var byte = change.rawValue
            _ = write(descriptor, &byte, 1)
        }
        tasks.change { $0.updateValue(task, forKey: change) }?.cancel()
    }

    /// Returns what the descriptor tells of, and notes that the session has seen it.
    func takeChanges() -> (hasWork: Bool, interruptions: Result<[Int64], DurableError>?) {
        var changes: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 64)
        while case let count = read(changesDescriptor, &bytes, bytes.count), count > 0 { changes += bytes[..<count] }
        let interruptions = interruptions.change { interruptions in
            defer { interruptions = nil }
            return interruptions
        }
        return (changes.contains(Change.work.rawValue), interruptions)
    }

    /// Throws if nothing that is recorded now would last.
    func check() throws(DurableError) {
        try ask { store throws(DurableError) in try await store.check() }
    }
}

/// What a session has flushed.
struct OwnFlush {
    var flushed: [(key: [UInt8], generation: Int64)]
    /// The number of keys to which others may have submitted too.
    var mixed: Int
    /// The instant of the flush in the store's time, or soon after.
    var now: CoreInstant
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
