internal import Foundation
internal import LullCore
public import LullDurable

/// Keeps the pending work of durable debouncers in one SQLite file, which any number of processes on one machine may
/// share.
///
/// ```swift
/// let store = try await SQLiteStore(path: "/var/lib/app/sync.db")
/// let sync = try await DurableDebouncer<String, Change>(for: .seconds(2), namespace: "sync", in: store)
/// ```
///
/// One store serves all the namespaces of a process; it may be used from any task. Its calls are made by the debouncer:
/// an app makes the store, gives it to debouncers, and at the end calls ``close()``. What is promised:
/// <doc:WorkThatSurvives>.
///
/// A submit returns when it is on the disk (`synchronous = FULL`). Calls made at once share one transaction, and each
/// still gets its own answer. SQLite runs on a thread of the store's own.
///
/// The file has company: a write-ahead log (`-wal`, `-shm`) and two files that are never written (`-want`, `-write`),
/// whose locks let one process at a time write, in turn. They belong together: move, copy or delete all of them or
/// none, and only while nobody uses them. Reading the file with other programs does no harm. Do not write to it with
/// them while it is in use: they do not know of those locks, and SQLite up to 3.51.2 may damage a file when one program
/// copies the log into it while another commits.
///
/// When a commit fails the store closes the file, opens it again, and answers by what it says.
/// ``/LullDurable/DurableError/unknown(_:)`` is left for when that fails, too.
public final class SQLiteStore: DurableStore {
    private let calls = CallQueue()
    private let clock: StoreClock

    /// Opens a store, and creates its file if there is none.
    ///
    /// - Parameters:
    ///   - path: The file; its directory must be there, on this machine. No URI, and not `:memory:`.
    ///   - limits: How large a value may be, and how long ends and tokens are kept.
    ///   - allowsNetwork: Whether a file on a network file system is accepted. Its locks cannot be relied on: see to it
    ///     that only one process uses the file at a time.
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if the file is not one of Lull's, newer than this version,
    ///   damaged, locked, or cannot be written. Nothing has been changed then.
    public convenience init(
        path: String, limits: DurableLimits = DurableLimits(), allowsNetwork: Bool = false
    ) async throws(DurableError) {
        var options = SQLiteFile.Options()
        options.limits = limits
        options.allowsNetwork = allowsNetwork
        try await self.init(path, options)
    }

    /// The same with everything that can be said.
    package init(_ path: String, _ options: SQLiteFile.Options) async throws(DurableError) {
        clock = options.clock
        let failure = await withCheckedContinuation { continuation in
            let calls = calls
            let thread = Thread {
                do throws(DurableError) {
                    let file = try SQLiteFile(path, options)
                    continuation.resume(returning: DurableError?.none)
                    calls.run(file)
                } catch {
                    continuation.resume(returning: error)
                }
                calls.end()
            }
            thread.name = "lull-sqlite"
            thread.start()
        }
        if let failure { throw failure }
    }

    deinit { calls.beginClosing() }

    /// How many writing calls this store has answered, and how many transactions that took: fewer, since calls made at
    /// once share one. For measuring.
    package var traffic: (calls: Int, transactions: Int) {
        let traffic = calls.traffic
        return (traffic.calls, traffic.transactions)
    }

    // MARK: - Parts

    private func call<Raw: Sendable, Answer: Sendable>(
        writes: Bool, _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Raw,
        then finish: @escaping @Sendable (Raw, inout WakeSignal) -> Answer
    ) async throws(DurableError) -> Answer {
        let calls = calls
        let result = await withCheckedContinuation { continuation in
            let call = Call(body) { result, touched in
                let answer = calls.withWakeSignal { signal in
                    for (namespace, wake) in touched { signal.signal(wake, in: namespace) }
                    return result.map { finish($0, &signal) }
                }
                continuation.resume(returning: answer)
            }
            calls.enqueue(call, writes: writes)
        }
        return try result.get()
    }

    private func write<Answer: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer {
        try await call(writes: true, body) { answer, _ in answer }
    }

    private func read<Answer: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer {
        try await call(writes: false, body) { answer, _ in answer }
    }

    // MARK: - The calls

    /// Opens a namespace: see ``/LullDurable/DurableStore/open(_:_:)``.
    @discardableResult
    public func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules {
        try await write { transaction throws(DurableError) in try transaction.open(namespace, rules) }
    }

    /// Takes a submit: see ``/LullDurable/DurableStore/submit(_:)``.
    public func submit(_ submission: DurableSubmission) async throws(DurableError) -> DurableReceipt {
        try await write { transaction throws(DurableError) in try transaction.submit(submission) }
    }

    /// Flushes a key or all: see ``/LullDurable/DurableStore/flush(_:in:)``.
    @discardableResult
    public func flush(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await write { transaction throws(DurableError) in try transaction.flush(key, in: namespace) }
    }

    /// Cancels a key or all: see ``/LullDurable/DurableStore/cancel(_:in:)``.
    @discardableResult
    public func cancel(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await write { transaction throws(DurableError) in try transaction.cancel(key, in: namespace) }
    }

    /// Flushes what one submitter alone has submitted: see ``/LullDurable/DurableStore/flush(submittedBy:in:)``.
    public func flush(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        try await write { transaction throws(DurableError) in
            try transaction.flush(submittedBy: submitter, in: namespace)
        }
    }

    /// Cancels what one submitter alone has submitted: see ``/LullDurable/DurableStore/cancel(submittedBy:in:)``.
    public func cancel(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (cancelled: Int, mixed: Int) {
        try await write { transaction throws(DurableError) in
            try transaction.cancel(submittedBy: submitter, in: namespace)
        }
    }

    /// Hands out runs: see ``/LullDurable/DurableStore/claim(_:)``.
    public func claim(_ claim: DurableClaim) async throws(DurableError) -> DurableClaim.Answer {
        try await call(writes: true) { transaction throws(DurableError) in
            let (runs, dead, next) = try transaction.claim(claim)
            return (runs: runs, dead: dead, next: next, now: transaction.now)
        } then: { answer, signal in
            DurableClaim.Answer(
                runs: answer.runs, dead: answer.dead,
                next: answer.next.map { DurableNamespace.time(from: answer.now, to: $0) },
                mark: signal.announce(answer.next, in: claim.namespace))
        }
    }

    /// Makes several calls: see ``/LullDurable/DurableStore/exchange(_:_:)``. One call in one transaction, unless the disk objects.
    public func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        do throws(DurableError) {
            return try await call(writes: true) { transaction in
                transaction.exchange(reports, claim)
            } then: { exchange, signal in
                exchange.answers { next in signal.announce(next, in: claim?.namespace ?? "") }
            }
        } catch {
            return DurableExchange(reports, claim, failed: error)
        }
    }

    /// Records a worker's word: see ``/LullDurable/DurableStore/report(_:)``.
    public func report(_ report: DurableReport) async throws(DurableError) -> DurableReport.Answer {
        try await write { transaction throws(DurableError) in try transaction.report(report) }
    }

    /// What became of a submit: see ``/LullDurable/DurableStore/state(of:)``.
    public func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        try await read { transaction throws(DurableError) in try transaction.state(of: receipt) }
    }

    /// All namespaces with their counts: see ``/LullDurable/DurableStore/status()``.
    public func status() async throws(DurableError) -> [DurableStatus] {
        try await read { transaction throws(DurableError) in try transaction.status() }
    }

    /// Keys that are not at rest: see ``/LullDurable/DurableStore/list(in:prefix:limit:)``.
    public func list(
        in namespace: String, prefix: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try await read { transaction throws(DurableError) in
            try transaction.list(in: namespace, prefix: prefix, limit: limit)
        }
    }

    /// Dead runs: see ``/LullDurable/DurableStore/dead(in:limit:)``.
    public func dead(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try await read { transaction throws(DurableError) in try transaction.dead(in: namespace, limit: limit) }
    }

    /// Retries a dead run: see ``/LullDurable/DurableStore/retry(_:in:)``.
    public func retry(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry {
        try await write { transaction throws(DurableError) in try transaction.retry(run, in: namespace) }
    }

    /// Forgets a dead run: see ``/LullDurable/DurableStore/discard(_:in:)``.
    @discardableResult
    public func discard(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool {
        try await write { transaction throws(DurableError) in try transaction.discard(run, in: namespace) }
    }

    /// Waits for something to claim: see ``/LullDurable/DurableStore/wait(in:after:atMost:)``.
    public func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError) {
        if calls.isClosed { throw .closed }
        let id = calls.withWakeSignal { $0.makeID() }
        await WakeSignal.wait(atMost: time, by: clock) { [calls] waiter in
            calls.add(waiter, id: id, in: namespace, after: mark)
        } remove: { [calls] in
            calls.withWakeSignal { $0.remove(id: id, in: namespace) }
        }
    }

    /// Ends the use of the store: see ``/LullDurable/DurableStore/close()``.
    public func close() async {
        await calls.close()
    }
}
