public import LullCore
internal import LullEngine
import LullReference

// Conversions between the types of the reference model and those of the engine. A unit of the reference's time is a
// nanosecond.

extension CoreInstant {
    init(_ instant: Int) { self.init(nanoseconds: Int64(instant)) }
}

extension CoreDuration {
    init(_ duration: Int) { self.init(nanoseconds: Int64(duration)) }
}

extension CoreDuration: ExpressibleByIntegerLiteral {
    /// A literal counts nanoseconds.
    public init(integerLiteral value: Int64) { self.init(nanoseconds: value) }
}

extension Policy {
    init(_ policy: ReferencePolicy) throws(PolicyError) {
        var edges: Edges = []
        if policy.leading { edges.insert(.leading) }
        if policy.trailing { edges.insert(.trailing) }
        switch policy.kind {
        case .debounce:
            self = try .debounce(
                wait: CoreDuration(policy.wait), maxWait: policy.maxWait.map { CoreDuration($0) }, edges: edges,
                delayRule: policy.extends ? .extend : .restart, maxCount: policy.maxCount,
                spacing: policy.spacing.map { CoreDuration($0) })
        case .throttle:
            self = try .throttle(interval: CoreDuration(policy.wait), edges: edges, maxCount: policy.maxCount)
        }
    }
}

extension Setup {
    init(_ setup: ReferenceSetup) throws(PolicyError) {
        let combination: CombinationRule =
            switch setup.combination {
            case .latest: .latest
            case .first: .first
            case .collect: .collect
            }
        let interrupting: Interruption = setup.interruptsWhenSubmitted ? .whenSubmitted : .whenDue
        let whileRunning: OverlapPolicy =
            switch setup.whileRunning {
            case .queue: .queue
            case .cancelRunning: .cancelRunning(interrupting: interrupting)
            case .restart: .restart(interrupting: interrupting)
            case .concurrent: .concurrent
            case .skip: .skip
            case .replace: .replace
            case .share: .share
            }
        let overflow: LullCore.OverflowPolicy =
            switch setup.overflow {
            case .reject: .reject
            case .dropNewest: .dropNewest
            case .dropOldest: .dropOldest
            }
        try self.init(
            Policy(setup.policy), combination: combination, whileRunning: whileRunning,
            maxConcurrent: setup.maxConcurrent, capacity: setup.capacity, maxBatch: setup.maxBatch,
            limit: setup.limit.map { RateLimit(starts: $0.starts, period: CoreDuration($0.period), burst: $0.burst) },
            maxPending: setup.maxPending, overflow: overflow, timeLimit: setup.timeLimit.map { CoreDuration($0) })
        isSynchronous = setup.isSynchronous
        removesDuplicates = setup.removesDuplicates
    }
}

extension ReferenceEdge {
    init(_ cause: Cause) {
        self =
            switch cause {
            case .leading: .leading
            case .trailing: .trailing
            case .maxWait: .maxWait
            case .maxCount: .maxCount
            case .flush: .flush
            }
    }
}

extension ReferenceFate {
    init(_ fate: NotExecutedError) {
        self =
            switch fate {
            case .superseded: .superseded
            case .absorbed: .absorbed
            case .cancelled: .cancelled
            case .rejected(.shutDown): .rejectedByShutDown
            case .rejected(.overCapacity): .rejectedByCapacity
            case .rejected(.tooManyPending): .rejectedAsTooMany
            }
    }

    init(_ verdict: Verdict) {
        self =
            switch verdict {
            case .executed: .executed
            case .failed: .failed
            case .superseded, .replaced: .superseded
            case .cancelled: .cancelled
            case .interrupted: .pending
            case .absorbed: .absorbed
            }
    }
}

extension ReferenceExecution {
    init(_ execution: Execution<String, Int>) {
        self.init(
            run: Int(execution.run.serial), key: execution.key, values: execution.batch.values, count: execution.count,
            cause: ReferenceEdge(execution.cause), at: Int(execution.at.nanoseconds),
            first: Int(execution.first.nanoseconds))
    }
}

extension Counters {
    /// Creates the counters that add up the reference model's fates.
    init(_ fates: [ReferenceFate], restarts: Int, overdue: Int) {
        self.init()
        restarted = restarts
        self.overdue = overdue
        submitted = fates.count
        for fate in fates {
            switch fate {
            case .pending: pending += 1
            case .running: running += 1
            case .executed: executed += 1
            case .failed: failed += 1
            case .superseded: superseded += 1
            case .absorbed: absorbed += 1
            case .cancelled: cancelled += 1
            case .rejectedByShutDown, .rejectedByCapacity, .rejectedAsTooMany: rejected += 1
            }
        }
    }
}
