internal import Lull
internal import LullCore

/// A store in memory, for tests of code that uses a ``DurableDebouncer``. Its contents are lost with it.
///
/// ```swift
/// let clock = ManualClock()
/// let store = MemoryStore(clock: StoreClock(clock))
/// let sync = try await DurableDebouncer<String, Change>(
///     for: .seconds(2), namespace: "sync", in: store, clock: clock)
/// ```
///
/// With the `ManualClock` of `LullTesting`, the test decides when values fall due (<doc:Testing>).
public final class MemoryStore: DurableStore, StoreForCommands {
    private struct State: WakingState {
        var table = MemoryTable()
        var time: StoreTime
        var namespaces: [String: DurableNamespace] = [:]
        /// The number of the next new namespace.
        var nextID: Int64 = 0
        var isClosed = false
        var wakeSignal = WakeSignal()
    }

    private let state: Guarded<State>
    private let clock: StoreClock
    private let limits: DurableLimits

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - limits: How large a value may be, and how long ends and tokens are retained.
    ///   - clock: The clock that decides when values fall due; by default ``StoreClock/system``.
    public init(limits: DurableLimits = DurableLimits(), clock: StoreClock = .system) {
        self.limits = limits
        self.clock = clock
        state = Guarded(State(time: StoreTime(at: clock.read())))
    }

    /// Performs one atomic step under the lock.
    private func step<Result: Sendable>(
        _ body: (inout State, CoreInstant) throws(DurableError) -> Result
    ) throws(DurableError) -> Result {
        let result = state.changeAndWake { state -> Swift.Result<Result, DurableError> in
            guard !state.isClosed else { return .failure(.closed) }
            let now = state.time.now(clock.read())
            do throws(DurableError) {
                let result = try body(&state, now)
                state.wakeSignal.signal(state.table.takeWritten())
                return .success(result)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Performs one atomic step in a namespace.
    private func step<Result: Sendable>(
        in namespace: String,
        _ body: (inout State, DurableNamespace, CoreInstant) throws(DurableError) -> Result
    ) throws(DurableError) -> Result {
        try step { (state, now) throws(DurableError) in
            guard let namespace = state.namespaces[namespace] else { throw .noPolicy(namespace: namespace) }
            return try body(&state, namespace, now)
        }
    }

    // MARK: - DurableStore

    /// Opens a namespace: see ``DurableStore/open(_:_:)``.
    public func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules {
        try step { (state, _) throws(DurableError) in
            let opened = try DurableNamespace.open(namespace, rules, stored: state.namespaces[namespace]?.rules)
            let id = state.namespaces[namespace]?.id ?? state.nextID
            state.nextID = max(state.nextID, id + 1)
            state.namespaces[namespace] = DurableNamespace(
                id: id, name: namespace, rules: opened, pause: state.namespaces[namespace]?.pause)
            // A worker may wait for what a limit, or a slot, has kept from it.
            if rules != nil { state.wakeSignal.signal(.farPast, in: namespace) }
            return opened
        }
    }

    /// Records a submit: see ``DurableStore/submit(_:)``.
    public func submit(_ submission: DurableSubmission) async throws(DurableError) -> DurableReceipt {
        try submission.checkSize(by: limits)
        return try step(in: submission.namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.forget(beyond: limits, in: namespace, at: now)
            return try state.table.submit(submission, in: namespace, at: now)
        }
    }

    package func submit(
        _ batch: [DurableSubmission]
    ) async throws(DurableError) -> [Result<DurableReceipt, DurableError>] {
        var answers: [Result<DurableReceipt, DurableError>] = []
        for submission in batch {
            do throws(DurableError) { answers.append(.success(try await submit(submission))) } catch {
                answers.append(.failure(error))
            }
        }
        return answers
    }

    /// Keeps a gate open: see ``DurableStore/touch(_:in:wait:)``.
    public func touch(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.touch(key, wait: wait, in: namespace, at: now)
        }
    }

    /// Flushes one key or all: see ``DurableStore/flush(_:in:)``.
    public func flush(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.change(.flush, key, in: namespace, at: now)
        }
    }

    /// Cancels one key or all: see ``DurableStore/cancel(_:in:)``.
    public func cancel(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.change(.cancel, key, in: namespace, at: now)
        }
    }

    /// Flushes a selection: see ``DurableStore/flush(matching:in:)``.
    public func flush(matching selection: DurableSelection, in namespace: String) async throws(DurableError) -> Int {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.change(.flush, matching: selection, in: namespace, at: now)
        }
    }

    /// Cancels a selection: see ``DurableStore/cancel(matching:in:)``.
    public func cancel(matching selection: DurableSelection, in namespace: String) async throws(DurableError) -> Int {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.change(.cancel, matching: selection, in: namespace, at: now)
        }
    }

    /// Counts a selection: see ``DurableStore/count(matching:in:)``.
    public func count(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> DurableSelectionCount {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            var sweep = try state.table.sweep(of: namespace, matching: selection, at: now)
            try state.table.change(nil, &sweep, atMost: .max, in: namespace, at: now)
            var found = sweep.found
            found.dead = state.table.deadRuns(matching: selection, in: namespace, at: now).count
            return found
        }
    }

    /// Flushes what comes from one submitter alone: see ``DurableStore/flush(submittedBy:in:)``.
    public func flush(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.flush(submittedBy: submitter, in: namespace, at: now)
        }
    }

    /// Cancels what comes from one submitter alone: see ``DurableStore/cancel(submittedBy:in:)``.
    public func cancel(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (cancelled: Int, mixed: Int) {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.cancel(submittedBy: submitter, in: namespace, at: now)
        }
    }

    /// Hands out runs: see ``DurableStore/claim(_:)``.
    public func claim(_ claim: DurableClaim) async throws(DurableError) -> DurableClaim.Answer {
        try step(in: claim.namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.forget(beyond: limits, in: namespace, at: now)
            let (runs, dead, next) = try state.table.claim(claim, in: namespace, at: now)
            return DurableClaim.Answer(
                runs: runs, dead: dead, next: next.map { DurableNamespace.time(from: now, to: $0) },
                mark: state.wakeSignal.announce(next, in: namespace.name, isPaused: namespace.pause != nil),
                pause: namespace.pause)
        }
    }

    /// Records a worker's report: see ``DurableStore/report(_:)``.
    public func report(_ report: DurableReport) async throws(DurableError) -> DurableReport.Answer {
        try step(in: report.namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.report(report, in: namespace, at: now)
        }
    }

    /// Makes several calls of a worker together: see ``DurableStore/exchange(_:_:)``.
    public func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        var answers: [Result<DurableReport.Answer, DurableError>] = []
        for report in reports { answers.append(await answer(to: report)) }
        return DurableExchange(reports: answers, claim: await answer(to: claim))
    }

    /// Returns the state of a submit: see ``DurableStore/state(of:)``.
    public func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        try step(in: receipt.namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.state(of: receipt, in: namespace, at: now)
        }
    }

    /// Returns all namespaces with their counts: see ``DurableStore/status()``.
    public func status() async throws(DurableError) -> [DurableStatus] {
        try step { (state, now) in
            state.namespaces.values.sorted { $0.name < $1.name }.map { state.table.status(of: $0, at: now) }
        }
    }

    /// Returns keys that are not idle: see ``DurableStore/list(in:prefix:limit:)``.
    public func list(
        in namespace: String, prefix: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try await list(in: namespace, prefix: prefix, from: [], limit: limit)
    }

    package func list(
        in namespace: String, prefix: [UInt8], from start: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try step(in: namespace) { (state, namespace, now) in
            state.table.list(prefix: prefix, from: start, limit: limit, in: namespace, at: now)
        }
    }

    package func upcoming(
        in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try step(in: namespace) { (state, namespace, now) in
            state.table.upcoming(limit: limit, in: namespace, at: now)
        }
    }

    package func presentInstant(in namespace: String) async throws(DurableError) -> CoreInstant {
        try step { (_, now) in now }
    }

    /// Returns how submits have ended: see ``DurableStore/ended(of:in:limit:)``.
    public func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableEnd<[UInt8]>] {
        try step(in: namespace) { (state, namespace, now) in
            state.table.ended(of: key, limit: limit, in: namespace, at: now)
        }
    }

    /// Records that a worker is there: see ``DurableStore/announce(_:in:)``.
    public func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError) {
        try step(in: namespace) { (state, namespace, now) in state.table.announce(worker, in: namespace, at: now) }
    }

    /// Returns the workers: see ``DurableStore/workers(in:)``.
    public func workers(in namespace: String) async throws(DurableError) -> [DurableWorker] {
        try step(in: namespace) { (state, namespace, now) in state.table.workers(of: namespace, at: now) }
    }

    /// Returns dead runs: see ``DurableStore/dead(in:limit:)``.
    public func dead(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try step(in: namespace) { (state, namespace, now) in
            state.table.deadRuns(matching: .all, in: namespace, at: now).prefix(max(0, limit)).map {
                $0.described(withValues: true, at: now)
            }
        }
    }

    package func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try step(in: namespace) { (state, namespace, now) in
            let dead = state.table.deadRuns(matching: selection, in: namespace, at: now)
            let some = (newestFirst ? dead.reversed() : dead).prefix(max(0, limit))
            return some.map { $0.described(withValues: false, at: now) }
        }
    }

    package func deadRun(
        _ run: Int64, in namespace: String
    ) async throws(DurableError) -> DurableDeadRun<[UInt8]>? {
        try step(in: namespace) { (state, namespace, now) in
            state.table.deadRun(run, in: namespace)?.described(withValues: true, at: now)
        }
    }

    /// Returns the dead runs of a selection: see ``DurableStore/deadRuns(matching:in:)``.
    public func deadRuns(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> [Int64] {
        try step(in: namespace) { (state, namespace, now) in
            state.table.deadRuns(matching: selection, in: namespace, at: now).map(\.run.id)
        }
    }

    /// Retries a dead run: see ``DurableStore/retry(_:in:)``.
    public func retry(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            try state.table.retry(run, in: namespace, at: now)
        }
    }

    /// Deletes a dead run: see ``DurableStore/discard(_:in:)``.
    public func discard(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool {
        try step(in: namespace) { (state, namespace, _) throws(DurableError) in
            try state.table.discard(run, in: namespace)
        }
    }

    /// Deletes a namespace: see ``DurableStore/forget(_:)``.
    public func forget(_ namespace: String) async throws(DurableError) {
        try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            let status = state.table.status(of: namespace, at: now)
            if status.hasWork { throw .hasWork(status) }
            state.table.forget(namespace)
            state.namespaces[namespace.name] = nil
        }
    }

    /// Pauses a namespace: see ``DurableStore/pause(_:reason:)``.
    public func pause(_ namespace: String, reason: String?) async throws(DurableError) -> DurablePause {
        let wall = clock.read().wall
        return try step(in: namespace) { (state, namespace, _) in
            let pause = DurablePause(reason, over: namespace.pause, at: wall)
            state.namespaces[namespace.name]?.pause = pause
            return pause
        }
    }

    /// Ends the pause of a namespace: see ``DurableStore/resume(_:)``.
    public func resume(_ namespace: String) async throws(DurableError) -> Bool {
        try step(in: namespace) { (state, namespace, _) in
            state.namespaces[namespace.name]?.pause = nil
            state.wakeSignal.signalResumption(in: namespace.name)
            return namespace.pause != nil
        }
    }

    /// Waits for something to claim: see ``DurableStore/wait(in:after:atMost:)``.
    public func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError) {
        try step(in: namespace) { (_, _, _) in }
        await state.wait(in: namespace, after: mark, atMost: time, by: clock) { $0.isClosed }
    }

    /// Returns interrupted runs: see ``DurableStore/interruptions(of:besides:in:atMost:)``.
    public func interruptions(
        of worker: Int64, besides known: [Int64], in namespace: String, atMost time: Duration
    ) async throws(DurableError) -> [Int64] {
        let (found, wait, mark) = try step(in: namespace) { (state, namespace, now) throws(DurableError) in
            let found = try state.table.interruptions(of: worker, besides: known, in: namespace, at: now)
            let next = found.next.map { min(time, DurableNamespace.time(from: now, to: $0)) }
            return (found.runs, next ?? time, state.wakeSignal.announceLook(in: namespace.name))
        }
        if !found.isEmpty || time <= .zero { return found }
        await state.wait(for: .interruptions, in: namespace, after: mark, atMost: wait, by: clock) { $0.isClosed }
        return try await interruptions(of: worker, besides: known, in: namespace, atMost: .zero)
    }

    /// Returns the rules that do not hold between two steps; empty unless there is a bug.
    ///
    /// - Parameter isComplete: Whether no end can have been deleted or discarded.
    package func checkInvariants(isComplete: Bool) -> [String] {
        state.change { state in
            state.namespaces.values.flatMap { state.table.checkInvariants(of: $0, isComplete: isComplete) }
        }
    }

    /// Ends the use of the store: see ``DurableStore/close()``.
    public func close() async {
        state.changeAndWake { state in
            state.isClosed = true
            state.wakeSignal.signalAll()
        }
    }
}
