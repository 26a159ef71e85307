import LullCore
import LullDurable

/// A worker without a store, a clock or tasks: the test hands in the events.
struct WorkerRig {
    static let lease = CoreDuration.seconds(30)

    var worker: WorkerStateMachine
    private(set) var now = CoreInstant.origin

    init(
        maxConcurrent: Int = 2, maxAttempts: Int = 3, grace: CoreDuration = .seconds(10),
        timeLimit: CoreDuration? = nil, watches: Bool = false, announces: Bool = false
    ) {
        worker = WorkerStateMachine(
            WorkerStateMachine.Configuration(
                namespace: "n", owner: 7, maxConcurrent: maxConcurrent, lease: Self.lease,
                backoff: RetryPolicy(initialDelay: .seconds(1), maxDelay: .seconds(8), maxAttempts: maxAttempts),
                grace: grace, timeLimit: timeLimit, watches: watches, announces: announces))
    }

    mutating func pass(_ seconds: Double) {
        now = now.advanced(by: .nanoseconds(Int64(seconds * 1e9)))
    }

    mutating func pass(to instant: CoreInstant) {
        now = max(now, instant)
    }

    mutating func handle(_ event: WorkerStateMachine.Event) -> [WorkerStateMachine.Action] {
        worker.handle(event, at: now)
    }

    /// Advances the time, and hands in the alarm.
    mutating func woke(after seconds: Double = 0) -> [WorkerStateMachine.Action] {
        pass(seconds)
        return handle(.woke)
    }

    /// Hands in the answer to a claim.
    mutating func claimed(_ runs: [DurableRun], next: Duration? = nil, mark: Int64 = 0) -> [WorkerStateMachine.Action] {
        handle(.claimed(.success(DurableClaim.Answer(runs: runs, next: next, mark: mark))))
    }

    /// Hands in the answer to a report.
    mutating func answered(
        _ run: DurableRun, _ kind: DurableReport.Kind, _ answer: DurableReport.Answer = .accepted
    ) -> [WorkerStateMachine.Action] {
        handle(.reported(Self.report(run, kind), .success(answer)))
    }

    /// Hands in the failure of a report.
    mutating func failed(_ run: DurableRun, _ kind: DurableReport.Kind) -> [WorkerStateMachine.Action] {
        handle(.reported(Self.report(run, kind), .failure(Self.full)))
    }

    /// Fails every final report of a run until the worker has finished.
    ///
    /// - Returns: How often the report was repeated.
    mutating func failsUntilFinished(_ run: DurableRun, _ kind: DurableReport.Kind) -> Int {
        var count = 0
        var isReporting = true
        while !worker.isFinished {
            if isReporting { _ = failed(run, kind) }
            pass(to: worker.alarm)
            isReporting = handle(.woke).contains(Self.report(run, kind))
            if isReporting { count += 1 }
        }
        return count
    }

    static let full = DurableError.refused("the disk is full")

    static func claim(_ limit: Int, holding: [Int64] = []) -> WorkerStateMachine.Action {
        .claim(
            DurableClaim(
                namespace: "n", terms: DurableClaim.Terms(owner: 7, lease: lease, maxAttempts: 3), holding: holding,
                limit: limit))
    }

    static func report(_ run: DurableRun, _ kind: DurableReport.Kind) -> DurableReport {
        DurableReport(namespace: "n", key: run.key, run: run.number, fence: run.fence, owner: 7, kind)
    }

    static func report(_ run: DurableRun, _ kind: DurableReport.Kind) -> WorkerStateMachine.Action {
        .report(report(run, kind))
    }

    static let heartbeat = DurableReport.Kind.heartbeat(lease: lease)
}

extension DurableRun {
    /// A run of a key of its own.
    static func some(_ id: Int64, fence: Int64? = nil, attempt: Int = 1) -> DurableRun {
        let value = DurableRow.Ready(
            batch: Batch(.bytes([1], of: 1)), submits: 1...1, count: 1, first: .origin, due: .origin, cause: .trailing)
        let run = DurableRow.Run(
            value: value, id: id, fence: fence ?? id, owner: 7, attempt: attempt, state: .claimed(until: .farFuture))
        return DurableRun(key: Array("key \(id)".utf8), stored: [[1]], run: run)
    }
}

extension [WorkerStateMachine.Action] {
    /// The delay before the next attempt, from a report of a failed run; nil if there is no such report, or no
    /// further attempt.
    var retry: CoreDuration? {
        for case .report(let report) in self {
            if case .failed(_, let retry) = report.kind { return retry }
        }
        return nil
    }
}
