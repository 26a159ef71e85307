internal import Foundation
package import LullCore
public import LullDurable

/// Stores the pending work of durable debouncers in one SQLite file, which any number of processes on one machine may
/// share.
///
/// ```swift
/// let store = try await SQLiteStore(path: "/var/lib/app/sync.db")
/// let sync = try await DurableDebouncer<String, Change>(for: .seconds(2), namespace: "sync", in: store)
/// ```
///
/// One store serves all namespaces of a process, and may be used from any task. Debouncers make its calls: an app
/// creates the store, passes it to debouncers, and calls ``close()`` at the end. <doc:WorkThatSurvives> says what is
/// guaranteed.
///
/// A submit returns when it is on the disk (`synchronous = FULL`). Simultaneous calls share one transaction, and each
/// gets its own answer. SQLite runs on a thread of the store's own.
///
/// Other files belong to the file: a write-ahead log (`-wal`, `-shm`) and two files that are never written (`-want`,
/// `-write`), whose locks let one process at a time write, in turn. Move, copy or delete all of them or none, and only
/// while nothing uses them. Other programs may read the file. They must not write to it while it is in use: they do not
/// use those locks, and SQLite up to 3.51.2 may damage a file when one program copies the log into it while another
/// commits.
///
/// When a commit fails, the store closes the file, opens it again, and answers by its contents. Only if that fails,
/// too, does it answer ``/LullDurable/DurableError/unknown(_:)``.
public final class SQLiteStore: DurableStore, StoreForCommands {
    private let calls = CallQueue()
    private let clock: StoreClock

    /// Opens a store, and creates its file if it does not exist, with the permissions 0600: only its owner can read it.
    /// A file that exists keeps its permissions, which the files beside it get, too. So for other ones create an empty
    /// file before, such as with `install -m 660 /dev/null PATH`.
    ///
    /// - Parameters:
    ///   - path: The file; its directory must exist, on this machine. A URI and `:memory:` are refused.
    ///   - limits: The size of a value, and how long outcomes and tokens are stored.
    ///   - allowsNetwork: Whether a file on a network file system is accepted. Its locks cannot be relied on: make sure
    ///     that only one process uses the file at a time.
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if the file is not one of Lull's, newer than this version,
    ///   damaged, or may not be written; ``/LullDurable/DurableError/refused(_:)`` if the disk is full or fails, or
    ///   another program locks the file for too long. It has not been changed then.
    public convenience init(
        path: String, limits: DurableLimits = DurableLimits(), allowsNetwork: Bool = false
    ) async throws(DurableError) {
        var options = SQLiteFile.Options()
        options.limits = limits
        options.allowsNetwork = allowsNetwork
        try await self.init(path, options)
    }

    /// Opens a store with all options.
    package init(_ path: String, _ options: SQLiteFile.Options) async throws(DurableError) {
        clock = options.clock
        let failure = await withCheckedContinuation { continuation in
            let calls = calls
            let thread = Thread {
                do throws(DurableError) {
                    if options.isReadOnly {
                        let reader = try SQLiteReader(path, options)
                        continuation.resume(returning: DurableError?.none)
                        calls.run(reader)
                    } else {
                        let file = try SQLiteFile(path, options)
                        continuation.resume(returning: DurableError?.none)
                        calls.run(file)
                    }
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

    // MARK: - Passing calls to the thread

    /// Makes a call that changes something, on the thread, and waits for its answer.
    private func write<Answer: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer {
        try await call(writes: true, body, then: { answer, _ in answer })
    }

    /// Makes a call that changes nothing, on the thread, and waits for its answer.
    private func read<Answer: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer {
        try await call(writes: false, body, then: { answer, _ in answer })
    }

    /// Makes a call on the thread, and gives its answer to the wake signal before the caller.
    private func call<Raw: Sendable, Answer: Sendable>(
        writes: Bool, _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Raw,
        then finish: @escaping @Sendable (Raw, inout WakeSignal) -> Answer
    ) async throws(DurableError) -> Answer {
        let result = await withCheckedContinuation { continuation in
            let call = StoreCall(writes: writes, body) { [calls] result, written in
                let answer = calls.withWakeSignal { signal in
                    signal.signal(written)
                    return result.map { finish($0, &signal) }
                }
                return { continuation.resume(returning: answer) }
            }
            calls.enqueue(call)
        }
        return try result.get()
    }

    // MARK: - The calls

    /// Opens a namespace: see ``/LullDurable/DurableStore/open(_:_:)``.
    @discardableResult
    public func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules {
        try await call(writes: true) { file throws(DurableError) in
            try file.open(namespace, rules)
        } then: { opened, signal in
            // A worker may wait for what a limit, or a slot, has kept from it.
            if rules != nil { signal.signal(.farPast, in: namespace) }
            return opened
        }
    }

    /// Records a submit: see ``/LullDurable/DurableStore/submit(_:)``.
    public func submit(_ submission: DurableSubmission) async throws(DurableError) -> DurableReceipt {
        try await write { file throws(DurableError) in try file.submit(submission) }
    }

    package func submit(
        _ batch: [DurableSubmission]
    ) async throws(DurableError) -> [Result<DurableReceipt, DurableError>] {
        try await write { file throws(DurableError) in
            batch.map { submission in Result { () throws(DurableError) in try file.submit(submission) } }
        }
    }

    /// Keeps a gate open: see ``/LullDurable/DurableStore/touch(_:in:wait:)``.
    @discardableResult
    public func touch(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool {
        try await write { file throws(DurableError) in try file.touch(key, in: namespace, wait: wait) }
    }

    /// Flushes a key or all: see ``/LullDurable/DurableStore/flush(_:in:)``.
    @discardableResult
    public func flush(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await change(.flush, key, in: namespace)
    }

    /// Cancels a key or all: see ``/LullDurable/DurableStore/cancel(_:in:)``.
    @discardableResult
    public func cancel(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await change(.cancel, key, in: namespace)
    }

    package func change(
        _ change: DurableChange, _ keys: [[UInt8]], in namespace: String
    ) async throws(DurableError) -> [Int] {
        try await write { file throws(DurableError) in
            var counts: [Int] = []
            for key in keys { counts.append(try file.change(change, key, in: namespace)) }
            return counts
        }
    }

    private func change(
        _ change: DurableChange, _ key: [UInt8]?, in namespace: String
    ) async throws(DurableError) -> Int {
        guard let key else { return try await self.change(change, matching: .all, in: namespace) }
        return try await write { file throws(DurableError) in try file.change(change, key, in: namespace) }
    }

    /// Flushes a selection: see ``/LullDurable/DurableStore/flush(matching:in:)``.
    @discardableResult
    public func flush(matching selection: DurableSelection, in namespace: String) async throws(DurableError) -> Int {
        try await change(.flush, matching: selection, in: namespace)
    }

    /// Cancels a selection: see ``/LullDurable/DurableStore/cancel(matching:in:)``.
    @discardableResult
    public func cancel(matching selection: DurableSelection, in namespace: String) async throws(DurableError) -> Int {
        try await change(.cancel, matching: selection, in: namespace)
    }

    /// Counts a selection: see ``/LullDurable/DurableStore/count(matching:in:)``. In steps, between which other calls
    /// are made.
    public func count(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> DurableSelectionCount {
        var sweep = try await read { file throws(DurableError) in try file.sweep(of: namespace, matching: selection) }
        while !sweep.isComplete {
            let rest = sweep
            sweep = try await read { file throws(DurableError) in try file.change(nil, rest, in: namespace) }
        }
        var found = sweep.found
        found.dead = try await deadRuns(matching: selection, in: namespace).count
        return found
    }

    private func change(
        _ change: DurableChange, matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> Int {
        var sweep = try await read { file throws(DurableError) in try file.sweep(of: namespace, matching: selection) }
        while !sweep.isComplete {
            let rest = sweep
            sweep = try await write { file throws(DurableError) in try file.change(change, rest, in: namespace) }
        }
        return sweep.count
    }

    /// Flushes what only one submitter has submitted: see ``/LullDurable/DurableStore/flush(submittedBy:in:)``.
    public func flush(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        try await write { file throws(DurableError) in try file.flush(submittedBy: submitter, in: namespace) }
    }

    /// Cancels what only one submitter has submitted: see ``/LullDurable/DurableStore/cancel(submittedBy:in:)``.
    public func cancel(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (cancelled: Int, mixed: Int) {
        try await write { file throws(DurableError) in try file.cancel(submittedBy: submitter, in: namespace) }
    }

    /// Hands out runs: see ``/LullDurable/DurableStore/claim(_:)``.
    public func claim(_ claim: DurableClaim) async throws(DurableError) -> DurableClaim.Answer {
        guard let answer = await exchange([], claim).claim else { preconditionFailure("an exchange answers its claim") }
        return try answer.get()
    }

    /// Makes several calls in one transaction: see ``/LullDurable/DurableStore/exchange(_:_:)``.
    public func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        do throws(DurableError) {
            return try await call(writes: true) { file throws(DurableError) in
                file.exchange(reports, claim)
            } then: { exchange, signal in
                exchange.answers { next, isPaused in
                    signal.announce(next, in: claim?.namespace ?? "", isPaused: isPaused)
                }
            }
        } catch {
            return DurableExchange(reports, claim, failed: error)
        }
    }

    /// Records a worker's report: see ``/LullDurable/DurableStore/report(_:)``.
    public func report(_ report: DurableReport) async throws(DurableError) -> DurableReport.Answer {
        try await write { file throws(DurableError) in try file.report(report) }
    }

    /// Returns the state of a submit: see ``/LullDurable/DurableStore/state(of:)``.
    public func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        try await read { file throws(DurableError) in try file.state(of: receipt) }
    }

    /// Returns all namespaces with their counts: see ``/LullDurable/DurableStore/status()``.
    public func status() async throws(DurableError) -> [DurableStatus] {
        try await read { file throws(DurableError) in try file.status() }
    }

    /// Returns keys that are not idle: see ``/LullDurable/DurableStore/list(in:prefix:limit:)``.
    public func list(
        in namespace: String, prefix: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try await list(in: namespace, prefix: prefix, from: [], limit: limit)
    }

    package func list(
        in namespace: String, prefix: [UInt8], from start: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try await read { file throws(DurableError) in
            try file.list(in: namespace, prefix: prefix, from: start, limit: limit)
        }
    }

    package func upcoming(
        in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try await read { file throws(DurableError) in try file.upcoming(in: namespace, limit: limit) }
    }

    /// Returns how submits have ended: see ``/LullDurable/DurableStore/ended(of:in:limit:)``.
    public func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableEnd<[UInt8]>] {
        try await read { file throws(DurableError) in try file.ended(of: key, in: namespace, limit: limit) }
    }

    /// Records that a worker is there: see ``/LullDurable/DurableStore/announce(_:in:)``.
    public func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError) {
        try await write { file throws(DurableError) in try file.announce(worker, in: namespace) }
    }

    /// Returns the workers: see ``/LullDurable/DurableStore/workers(in:)``.
    public func workers(in namespace: String) async throws(DurableError) -> [DurableWorker] {
        try await read { file throws(DurableError) in try file.workers(in: namespace) }
    }

    /// Returns dead runs: see ``/LullDurable/DurableStore/dead(in:limit:)``.
    public func dead(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try await read { file throws(DurableError) in try file.dead(in: namespace, limit: limit) }
    }

    /// Returns the dead runs of a selection: see ``/LullDurable/DurableStore/deadRuns(matching:in:)``.
    public func deadRuns(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> [Int64] {
        try await read { file throws(DurableError) in try file.deadRuns(matching: selection, in: namespace) }
    }

    package func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try await read { file throws(DurableError) in
            try file.deadRuns(matching: selection, in: namespace, newestFirst: newestFirst, limit: limit)
        }
    }

    package func deadRun(
        _ run: Int64, in namespace: String
    ) async throws(DurableError) -> DurableDeadRun<[UInt8]>? {
        try await read { file throws(DurableError) in try file.deadRun(run, in: namespace) }
    }

    /// Retries dead runs in one transaction: see ``/LullDurable/DurableStore/retryAll(_:in:)``.
    public func retryAll(_ runs: [Int64], in namespace: String) async throws(DurableError) -> [DurableRetry] {
        try await write { file throws(DurableError) in
            var answers: [DurableRetry] = []
            for run in runs { answers.append(try file.retry(run, in: namespace)) }
            return answers
        }
    }

    /// Discards dead runs in one transaction: see ``/LullDurable/DurableStore/discardAll(_:in:)``.
    @discardableResult
    public func discardAll(_ runs: [Int64], in namespace: String) async throws(DurableError) -> Int {
        try await write { file throws(DurableError) in
            var count = 0
            for run in runs where try file.discard(run, in: namespace) { count += 1 }
            return count
        }
    }

    /// Retries a dead run: see ``/LullDurable/DurableStore/retry(_:in:)``.
    public func retry(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry {
        try await write { file throws(DurableError) in try file.retry(run, in: namespace) }
    }

    /// Discards a dead run: see ``/LullDurable/DurableStore/discard(_:in:)``.
    @discardableResult
    public func discard(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool {
        try await write { file throws(DurableError) in try file.discard(run, in: namespace) }
    }

    /// Deletes a namespace, in steps if much is recorded of it: see ``/LullDurable/DurableStore/forget(_:)``.
    public func forget(_ namespace: String) async throws(DurableError) {
        while try await !write({ file throws(DurableError) in try file.forgetSome(of: namespace) }) {}
    }

    /// Pauses a namespace: see ``/LullDurable/DurableStore/pause(_:reason:)``.
    @discardableResult
    public func pause(_ namespace: String, reason: String?) async throws(DurableError) -> DurablePause {
        try await write { file throws(DurableError) in try file.pause(namespace, reason: reason) }
    }

    /// Ends the pause of a namespace: see ``/LullDurable/DurableStore/resume(_:)``.
    @discardableResult
    public func resume(_ namespace: String) async throws(DurableError) -> Bool {
        try await call(writes: true) { file throws(DurableError) in
            try file.resume(namespace)
        } then: { wasPaused, signal in
            signal.signalResumption(in: namespace)
            return wasPaused
        }
    }

    package func presentInstant(in namespace: String) async throws(DurableError) -> CoreInstant {
        try await read { file in file.now }
    }

    /// Every call begins with a look at the names of the files.
    package func check() async throws(DurableError) { _ = try await presentInstant(in: "") }

    /// Waits for something to claim: see ``/LullDurable/DurableStore/wait(in:after:atMost:)``.
    public func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError) {
        try await wait(for: .work, in: namespace, after: mark, atMost: time)
    }

    private func wait(
        for subject: WakeSignal.Subject, in namespace: String, after mark: Int64, atMost time: Duration
    ) async throws(DurableError) {
        if calls.isClosed { throw .closed }
        let id = calls.withWakeSignal { $0.makeID() }
        await WakeSignal.wait(atMost: time, by: clock) { [calls] waiter in
            calls.add(waiter, id: id, for: subject, in: namespace, after: mark)
        } remove: { [calls] in
            calls.withWakeSignal { $0.remove(id: id, for: subject, in: namespace) }
        }
    }

    /// Returns interrupted runs: see ``/LullDurable/DurableStore/interruptions(of:besides:in:atMost:)``. While it
    /// waits, it looks for what other processes have written, as ``wait(in:after:atMost:)`` does.
    public func interruptions(
        of worker: Int64, besides known: [Int64], in namespace: String, atMost time: Duration
    ) async throws(DurableError) -> [Int64] {
        let (found, wait, mark) = try await call(writes: false) { file throws(DurableError) in
            (try file.interruptions(of: worker, besides: known, in: namespace), file.now)
        } then: { answer, signal in
            let (found, now) = answer
            let next = found.next.map { min(time, DurableNamespace.time(from: now, to: $0)) }
            return (found.runs, next ?? time, signal.announceLook(in: namespace))
        }
        if !found.isEmpty || time <= .zero { return found }
        try await self.wait(for: .interruptions, in: namespace, after: mark, atMost: wait)
        return try await interruptions(of: worker, besides: known, in: namespace, atMost: .zero)
    }

    /// Closes the store: see ``/LullDurable/DurableStore/close()``.
    public func close() async {
        await calls.close()
    }
}
