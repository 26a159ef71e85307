package import LullCore

/// The state of a submit: the answer of ``DurableCoalescer/state(of:)``.
@nonexhaustive
public enum DurableState: Hashable, Sendable {
    /// Its value, or one that has replaced it, is not due yet.
    case pending
    /// Its value is due and waits for a worker.
    case ready
    /// A worker is executing it. Attempts count from 1.
    case running(attempt: Int)
    /// The handler threw; the run is tried again after a delay.
    case waitingForRetry(attempt: Int, error: String?)
    /// The handler has asked for its run again later (`Snooze`), this many times so far.
    case snoozed(times: Int)
    /// The handler returned.
    case executed
    /// The handler threw, and a newer value of the key replaced this one.
    case failed(error: String?)
    /// It was cancelled before a worker claimed it.
    case cancelled
    /// It was submitted in a leading-only window that another value had opened (<doc:Semantics>, section 6).
    case absorbed
    /// All its attempts have failed, or it was given up. Its run stays until it is retried or discarded.
    case dead(error: String?)
    /// It ended longer ago than the store remembers (``DurableLimits/retention``).
    case forgotten
}

/// The work of a namespace at the moment: the answer of ``DurableCoalescer/status()``.
///
/// Watch ``dead``, and ``oldestDue``, which grows when workers are missing or too slow.
public struct DurableStatus: Hashable, Sendable {
    /// The name of the namespace.
    public var namespace: String
    /// The rules by which its values fall due and are combined.
    public var rules: DurableRules
    /// The number of keys with a value that is not due yet, or that was interrupted and joins the next one.
    public var pending = 0
    /// The number of keys with a value that waits for a worker.
    public var ready = 0
    /// The number of keys with a run that a worker is executing.
    public var running = 0
    /// The number of keys with a run that waits for another attempt, or that its handler has snoozed.
    public var retrying = 0
    /// The number of runs that have used up their attempts or were given up: see ``DurableCoalescer/dead(limit:)``.
    public var dead = 0
    /// How long the oldest work that waits for a worker has waited: a value that is due, a run whose next attempt is
    /// due, or a run whose lease has expired.
    public var oldestDue: Duration?
    /// The number of attempts that have begun since the namespace was created.
    public var attempts = 0
    /// The number of times that a run was taken from a worker whose lease had expired.
    public var lostLeases = 0
    /// The number of runs that have begun since the namespace was created: further attempts do not count.
    public var runs = 0
    /// The number of submits behind those runs: `executed / runs` submits became one. Those of a run whose values went
    /// back count again with the run that executes them.
    public var executed = 0
    /// The number of attempts that ended because the handler threw. Leases that expired are in ``lostLeases``, and runs
    /// that a newer value interrupted in ``restarted``.
    public var failures = 0
    /// The number of times that the values of a run went back for a newer value: see ``DurableOverlapPolicy``.
    public var restarted = 0
    /// The number of times that a handler asked for its run again later: see `Snooze`.
    public var snoozed = 0
    /// The number of runs that their handlers gave up: see `GiveUp`. They count among ``failures``, too.
    public var givenUp = 0
    /// The number of handlers that went on for as long again as their time limit.
    public var overdue = 0
    /// The number of calls of programs in other languages that no worker, and no other call of their key, has made yet.
    public var entries = 0
    /// How long the oldest of them has waited.
    public var oldestEntry: Duration?
    /// Why and since when the namespace is paused; nil if it is not.
    public var pause: DurablePause?
    /// The time until the pause ends by itself; nil if only a `resume` ends it, or if there is none.
    public var pauseEndsIn: Duration?
    /// How long it takes until the limit allows a start; nil if it allows one now, or if there is no limit.
    public var nextStart: Duration?

    /// The number of keys with a value that is ready, and that the limit or `maxRunning` holds back.
    public var limited: Int { nextStart != nil || running >= rules.maxRunning ?? .max ? ready : 0 }

    /// Creates the status of an empty namespace.
    package init(namespace: String, rules: DurableRules) {
        self.namespace = namespace
        self.rules = rules
    }

    /// Takes note of a pause of the namespace, which may be over.
    package mutating func note(_ pause: DurablePause?, at now: CoreInstant) {
        self.pause = pause?.at(now)
        pauseEndsIn = self.pause?.end.map { DurableNamespace.time(from: now, to: $0) }
    }

    /// Takes note of what the limit has counted.
    package mutating func noteStarts(after arrival: CoreInstant, at now: CoreInstant) {
        let next = RateLimiter(rules.limit, after: arrival, at: now).next
        nextStart = next > now ? DurableNamespace.time(from: now, to: next) : nil
    }

    /// Whether the namespace has anything that may still be executed.
    package var hasWork: Bool { pending + ready + running + retrying + dead + entries > 0 }

    /// `3 keys pending, 1 running, 2 dead runs`: what there is of each kind.
    package var workText: String {
        let kinds = [(pending, "pending"), (ready, "ready"), (running, "running"), (retrying, "retrying")]
            .filter { $0.0 > 0 }
        var parts = kinds.map { "\($0.0) \($0.1)" }
        if let first = kinds.first { parts[0] = "\(first.0) key\(first.0 == 1 ? "" : "s") \(first.1)" }
        if dead > 0 { parts.append("\(dead) dead run\(dead == 1 ? "" : "s")") }
        if entries > 0 { parts.append("\(entries) call\(entries == 1 ? "" : "s") in the inbox") }
        return parts.joined(separator: ", ")
    }

    /// Adds a row to the counts.
    package mutating func add(_ row: DurableRow, at now: CoreInstant) {
        var row = row
        var ended: [EndedSubmits] = []
        row.settle(at: now, by: rules, &ended)
        if row.pending != nil || row.ready?.isHeld == true { pending += 1 }
        if let ready = row.ready, !ready.isHeld {
            self.ready += 1
            noteWaiting(since: ready.due, at: now)
        }
        if let run = row.run {
            if run.isInBackoff { retrying += 1 } else { running += 1 }
            noteWaiting(since: run.state.end, at: now)
        }
    }

    /// Notes that something has waited for a worker since an instant, unless that is still to come.
    mutating func noteWaiting(since instant: CoreInstant, at now: CoreInstant) {
        if instant <= now { oldestDue = max(oldestDue ?? .zero, DurableNamespace.time(from: instant, to: now)) }
    }
}
