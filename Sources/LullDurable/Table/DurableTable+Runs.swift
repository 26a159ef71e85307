internal import Lull
package import LullCore

// The calls of workers, and those about dead runs, as steps on a table.

extension DurableTable {
    /// Hands out runs that may start, or nothing in a paused namespace: the step of ``StoreCalls/claim(_:)``.
    ///
    /// - Returns: The runs, the runs that died instead, and when there may be more.
    package mutating func claim(
        _ claim: DurableClaim, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> (runs: [DurableRun], dead: [DurableRun], next: CoreInstant?) {
        if let pause = namespace.pause(at: now) { return ([], [], pause.end) }
        var result = ClaimResult<Place>(
            runs: try handOutAgain(claim, in: namespace, at: now), room: try startRoom(in: namespace, at: now))
        while result.runs.count < claim.limit, result.room.limiter.next <= now {
            let wanted = result.room.most(claim.limit - result.runs.count, at: now)
            // Without a slot, what a worker has lost may still be taken over.
            let limit = wanted + claim.hanging.count
            let found =
                try wanted > 0
                ? earliest(in: namespace, through: now, limit: limit) : lost(&result.room, at: now, in: namespace)
            if found.isEmpty { break }
            let free = Array(found.filter { !claim.isHanging($0.row.run) }.prefix(max(wanted, 1)))
            guard let last = free.last else {
                if wanted > 0 { break }
                continue
            }
            // Every row that was not found wakes at this instant or later: up to it the order is certain.
            let certain = free.count < wanted || wanted == 0 ? now : last.wake
            try take(from: free, through: certain, &result, claim, in: namespace, at: now)
        }
        if namespace.rules.limit != nil, result.room.limiter.arrival != result.room.stored {
            try setArrival(result.room.limiter.arrival, in: namespace)
        }
        var next = try nextWake(in: namespace, besides: claim)
        if result.runs.count < claim.limit { next = next.map { max($0, result.room.next(at: now)) } }
        return (result.runs, result.dead, next)
    }

    /// Returns what the limits of a namespace leave.
    private mutating func startRoom(
        in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> StartRoom<Place> {
        var room = StartRoom<Place>(limiter: RateLimiter(nil))
        if let limit = namespace.rules.limit {
            room.stored = try arrival(in: namespace)
            room.limiter = RateLimiter(limit, after: room.stored, at: now)
        }
        if let maxRunning = namespace.rules.maxRunning {
            let leases = try leases(in: namespace)
            room.slots = maxRunning - leases.count
            room.leases = leases.sorted { $0.until < $1.until }
        }
        return room
    }

    /// Returns a row whose lease has ended: each once in a claim, the one that ended first first.
    private mutating func lost(
        _ room: inout StartRoom<Place>, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableEntry] {
        guard let lease = room.leases.first, lease.until <= now else { return [] }
        room.leases.removeFirst()
        return try entry(at: lease.place, in: namespace).map { [$0] } ?? []
    }

    /// Claims those of the found rows that may start by an instant, in that order, and moves `wake` of the others
    /// later.
    private mutating func take(
        from found: [DurableEntry], through certain: CoreInstant, _ result: inout ClaimResult<Place>,
        _ claim: DurableClaim,
        in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) {
        var startable: [(at: CoreInstant, entry: DurableEntry, rest: Int64?)] = []
        for old in found {
            var row = old.row
            var ended: [EndedSubmits] = []
            row.settle(at: now, by: namespace.rules, &ended)
            if let at = row.startable, at <= certain {
                var rest: Int64?
                // The claim would begin with that.
                if row.run?.isInBackoff == false { _ = row.putBackIfInterrupted(at: now, by: namespace.rules) }
                if let limit = namespace.rules.maxBatch, let ready = row.ready, namespace.rules.splits(ready) {
                    rest = try generation(ofValue: limit, in: ready, of: old.key, in: namespace)
                }
                startable.append((at, old, rest))
            } else {
                try write(row, of: old.key, from: old, isWorkers: true, ended, at: now, in: namespace)
            }
        }
        // Rows that may start at the same instant start in the order in which they were found.
        let order = startable.indices.sorted { (startable[$0].at, $0) < (startable[$1].at, $1) }
        for (_, old, rest) in order.map({ startable[$0] }) {
            var row = old.row
            var ended: [EndedSubmits] = []
            // The run may start, so if a worker has it, its lease has expired.
            let wasLost = row.run.map { !$0.isInBackoff } ?? false
            var totals = DurableTotals(lostLeases: wasLost ? 1 : 0)
            let isClaimed = row.claim(
                claim.terms, at: now, by: namespace.rules, sequence: &sequence, rest: rest, &ended)
            try write(row, of: old.key, from: old, isWorkers: true, ended, at: now, in: namespace)
            result.dead += ended.filter { $0.how == .dead }.compactMap { $0.run }.map { run in
                DurableRun(key: old.key, stored: [], run: run)
            }
            result.room.note(isClaimed: isClaimed, wasLost: wasLost, until: row.run?.state.end, at: now)
            if isClaimed, let run = row.run {
                totals.countAttempt(of: run)
                let entry = DurableEntry(handle: old.handle, key: old.key, row: row, wake: old.wake)
                let values = try values(ofRunIn: entry, in: namespace)
                result.runs.append(DurableRun(key: old.key, stored: values, run: run))
            }
            if totals != DurableTotals() { try count(totals, of: old.key, in: namespace) }
        }
    }

    /// Hands out again the runs that the worker has without knowing it.
    private mutating func handOutAgain(
        _ claim: DurableClaim, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> [DurableRun] {
        var runs: [DurableRun] = []
        for old in try held(by: claim.terms.owner, in: namespace) {
            guard let held = old.row.run, !claim.holding.contains(held.id) else { continue }
            var row = old.row
            row.handOutAgain(claim.terms, at: now, sequence: &sequence)
            try write(row, of: old.key, from: old, isWorkers: true, [], at: now, in: namespace)
            guard let run = row.run else { continue }
            runs.append(DurableRun(key: old.key, stored: try values(ofRunIn: old, in: namespace), run: run))
        }
        return runs
    }

    /// Records a worker's report on a run: the step of ``StoreCalls/report(_:)``.
    package mutating func report(
        _ report: DurableReport, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> DurableReport.Answer {
        let old = try find(report.key, in: namespace)
        var ended: [EndedSubmits] = []
        var settled = old?.row
        settled?.settle(at: now, by: namespace.rules, &ended)
        guard let old, var row = settled, let run = row.run, run.id == report.run, run.fence == report.fence,
            run.owner == report.owner
        else {
            // The next step that writes records what has ended in this one.
            if ended.contains(where: { $0.run?.id == report.run }) { return .alreadyDone }
            let end = try end(ofRun: report.run, of: report.key, in: namespace)
            return end == nil ? .leaseLost : .alreadyDone
        }
        if run.isInBackoff {
            switch report.kind {
            case .failed, .gaveUp, .snoozed, .released, .interrupted: return .alreadyDone
            case .heartbeat, .completed, .overdue: return .leaseLost
            }
        }
        var answer = DurableReport.Answer.accepted
        var totals = DurableTotals()
        switch report.kind {
        case .heartbeat(let lease):
            row.heartbeat(lease: lease, at: now)
            if row.run?.isInterrupted == true { answer = .interrupted }
        case .completed:
            row.complete(at: now, by: namespace.rules, &ended)
        case .failed(let error, let retry):
            row.fail(Array(error.utf8), retry: retry, at: now, by: namespace.rules, &ended)
            totals.failures = 1
        case .gaveUp(let reason):
            row.fail(Array(reason.utf8), retry: nil, at: now, by: namespace.rules, &ended)
            (totals.failures, totals.givenUp) = (1, 1)
        case .snoozed(let time):
            row.snooze(for: time, at: now, by: namespace.rules, &ended)
            totals.snoozed = 1
        case .overdue:
            totals.overdue = 1
        case .released:
            row.release(at: now, by: namespace.rules, &ended)
        case .interrupted:
            row.interrupted(at: now, by: namespace.rules, &ended)
        }
        // A run that was interrupted is counted as that.
        if totals != DurableTotals(), !row.hasPutBack(old.row, ended) {
            try count(totals, of: report.key, in: namespace)
        }
        try write(row, of: report.key, from: old, isWorkers: true, ended, at: now, in: namespace)
        return answer
    }

    /// Looks for runs of a worker that newer values have interrupted by now. Nothing is written: the worker's report
    /// does that.
    ///
    /// - Returns: The runs, and the first instant at which another one may be interrupted if nothing is submitted.
    package mutating func interruptions(
        of owner: Int64, besides known: [Int64], in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> DurableInterruptions {
        var found = DurableInterruptions()
        if namespace.rules.whileRunning == .queue { return found }
        for entry in try held(by: owner, in: namespace) {
            var row = entry.row
            var ended: [EndedSubmits] = []
            row.settle(at: now, by: namespace.rules, &ended)
            guard let run = row.run, !known.contains(run.id) else { continue }
            if run.isInterrupted {
                found.runs.append(run.id)
            } else if run.mark == nil, let due = row.due(by: namespace.rules) {
                found.next = min(found.next ?? due, due)
            }
        }
        return found
    }

    /// Gives a dead run another series of attempts: the step of ``StoreCalls/retry(_:in:)``.
    package mutating func retry(
        _ run: Int64, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> DurableRetry {
        guard let dead = try findDead(run, in: namespace) else { return .notFound }
        let old = try find(dead.key, in: namespace)
        var row = old?.row ?? DurableRow(base: base)
        var ended: [EndedSubmits] = []
        row.settle(at: now, by: namespace.rules, &ended)
        let newest = try newestEnd(of: dead.key, in: namespace)
        switch row.retry(dead.run, newest: newest, at: now, by: namespace.rules) {
        case .outdated: return .outdated
        case .busy: return .busy
        case .accepted: break
        }
        _ = try takeDead(run, withValues: false, in: namespace)
        try write(row, of: dead.key, from: old, isWorkers: false, ended, at: now, in: namespace)
        return .accepted
    }

    /// Deletes a dead run, and returns whether there was one: the step of ``StoreCalls/discard(_:in:)``.
    package mutating func discard(_ run: Int64, in namespace: DurableNamespace) throws(DurableError) -> Bool {
        try takeDead(run, withValues: true, in: namespace)
    }

    /// Deletes some of the ends and tokens that are older than the limits allow. Call it in each step: it does a little
    /// at a time.
    package mutating func forget(
        beyond limits: DurableLimits, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) {
        let retention = CoreDuration(limits.retention).nanoseconds
        let lifetime = CoreDuration(limits.tokenLifetime).nanoseconds
        try forget(
            endsBefore: now.advanced(by: .nanoseconds(-retention)),
            tokensBefore: now.advanced(by: .nanoseconds(-lifetime)), in: namespace)
    }
}

/// The runs of a worker that newer values have interrupted.
package struct DurableInterruptions: Hashable, Sendable {
    /// The ids of the runs.
    package var runs: [Int64] = []
    /// The first instant at which another one may be interrupted if nothing is submitted; nil if there is none.
    package var next: CoreInstant?

    /// Creates the answer that there are none.
    package init() {}
}

extension DurableRow {
    /// Whether a step has left a run that is interrupted, or will be at an instant of which its worker does not know.
    func interrupts(_ old: DurableRow?, by rules: DurableRules) -> Bool {
        guard let run, !run.isInBackoff else { return false }
        if let mark = run.mark { return mark != .farFuture && old?.run?.mark != mark }
        guard let due = due(by: rules) else { return false }
        guard let old, old.run?.fence == run.fence, let before = old.due(by: rules) else { return true }
        return due < before
    }

    /// Whether a step has put the values of a run back.
    func hasPutBack(_ old: DurableRow?, _ ended: [EndedSubmits]) -> Bool {
        guard let before = old?.run, before.id != run?.id else { return false }
        return !ended.contains { $0.run?.id == before.id }
    }
}

/// The result of a claim so far.
private struct ClaimResult<Place> {
    var runs: [DurableRun]
    /// Runs whose last lease has expired.
    var dead: [DurableRun] = []
    var room: StartRoom<Place>
}

/// What the limits of a namespace leave for a claim.
private struct StartRoom<Place> {
    var limiter: RateLimiter
    /// What earlier claims have left to the limiter.
    var stored = CoreInstant.farPast
    /// How many more runs workers may have.
    var slots = Int.max
    /// The leases of all workers, those that end first first, if there is a limit on them.
    var leases: [(place: Place, until: CoreInstant)] = []
    /// When the first lease of this claim ends.
    var ownEnd = CoreInstant.farFuture

    /// Returns how many new runs may start now, up to a number.
    func most(_ count: Int, at now: CoreInstant) -> Int {
        limiter.allowed(max(0, min(count, slots)), at: now)
    }

    /// Takes note of a row that has been looked at.
    mutating func note(isClaimed: Bool, wasLost: Bool, until end: CoreInstant?, at now: CoreInstant) {
        if isClaimed {
            limiter.start(at: now)
            if let end { ownEnd = min(ownEnd, end) }
        }
        if isClaimed != wasLost, slots < .max { slots += isClaimed ? -1 : 1 }
    }

    /// Returns when more may start, as far as the limits go: with the limit on runs, when a lease ends, or after a
    /// second, since nobody is told when a run of another worker ends.
    func next(at now: CoreInstant) -> CoreInstant {
        if limiter.next > now { return limiter.next }
        guard slots <= 0 else { return .farPast }
        // Those that have ended have been taken over.
        let others = leases.first { $0.until > now }?.until ?? .farFuture
        return min(others, ownEnd, now.advanced(by: .seconds(1)))
    }
}
