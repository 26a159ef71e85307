package import LullCore

// The states and counts that a store reports.

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
    /// The handler returned.
    case completed
    /// The handler threw, and a newer value of the key replaced this one.
    case failed(error: String?)
    /// It was cancelled before a worker claimed it.
    case cancelled
    /// It was submitted in a leading-only window that another value had opened (<doc:Semantics>, section 6).
    case absorbed
    /// All its attempts have failed. Its run stays until it is retried or discarded.
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
    /// The number of keys with a run that waits for another attempt.
    public var retrying = 0
    /// The number of runs that have used up their attempts: see ``DurableCoalescer/dead(limit:)``.
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
    /// The number of times that the values of a run went back for a newer value: see ``DurableWhileRunning``.
    public var restarted = 0
    /// The number of calls of programs in other languages that no worker, and no other call of their key, has made yet.
    public var entries = 0
    /// How long the oldest of them has waited.
    public var oldestEntry: Duration?
    /// Why and since when the namespace is paused; nil if it is not.
    public var pause: DurablePause?
    /// How long it takes until the limit allows a start; nil if it allows one now, or if there is no limit.
    public var nextStart: Duration?

    /// The number of keys with a value that is ready, and that the limit or `maxRunning` holds back.
    public var limited: Int { nextStart != nil || running >= rules.maxRunning ?? .max ? ready : 0 }

    /// Creates the status of an empty namespace.
    package init(namespace: String, rules: DurableRules) {
        self.namespace = namespace
        self.rules = rules
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
        var endings: [DurableEnding] = []
        row.settle(at: now, by: rules, &endings)
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

/// The work of a key at the moment, pending, ready or running: an answer of ``DurableCoalescer/list(prefix:limit:)``.
///
/// A store returns keys as bytes. A ``DurableDebouncer`` returns keys of its type, or nil if no key of the type has the
/// bytes.
public struct DurableListing<Key: Hashable & Sendable>: Hashable, Sendable {
    /// The key.
    public var key: Key
    /// The number of submits behind the value that is not due yet, and behind one that was interrupted and joins it;
    /// zero if there is none.
    public var pending: Int
    /// How long ago the first of those submits came; nil if there is none.
    public var pendingFor: Duration?
    /// The time until that value falls due; nil if there is none, or only an interrupted one, which joins the next.
    public var dueIn: Duration?
    /// The number of submits behind the value that waits for a worker; zero if there is none.
    public var ready: Int
    /// How long ago that value fell due; nil if there is none.
    public var readyFor: Duration?
    /// The run that a worker has or that waits for another attempt; nil if there is none.
    public var run: DurableListedRun?

    /// Creates a listing of what a server has computed.
    package init(
        key: Key, pending: Int, pendingFor: Duration?, dueIn: Duration?, ready: Int, readyFor: Duration?,
        run: DurableListedRun?
    ) {
        (self.key, self.pending, self.pendingFor, self.dueIn) = (key, pending, pendingFor, dueIn)
        (self.ready, self.readyFor, self.run) = (ready, readyFor, run)
    }

    /// Creates the listing of a row.
    package init(key: Key, row: DurableRow, rules: DurableRules, at now: CoreInstant) {
        var row = row
        var endings: [DurableEnding] = []
        row.settle(at: now, by: rules, &endings)
        self.key = key
        func age(_ instant: CoreInstant) -> Duration { DurableNamespace.time(from: instant, to: now) }
        let first = [
            row.pending == nil ? nil : row.gate.first, row.ready.flatMap { $0.isHeld ? $0.first : nil },
        ]
        let held = row.ready.map { $0.isHeld ? $0.count : 0 } ?? 0
        pending = held + (row.pending == nil ? 0 : row.gate.count)
        pendingFor = first.compactMap { $0 }.min().map(age)
        dueIn = row.due(by: rules).map { .nanoseconds(now.duration(to: $0).nanoseconds) }
        ready = (row.ready?.count ?? 0) - held
        readyFor = row.ready.flatMap { $0.isHeld ? nil : age($0.due) }
        run = row.run.map {
            let rest = DurableNamespace.time(from: now, to: $0.state.end)
            return DurableListedRun(
                id: $0.id, attempt: $0.attempt, error: $0.errorText, submits: $0.value.count,
                worker: $0.isInBackoff ? nil : $0.owner, runningFor: $0.isInBackoff ? nil : $0.began.map(age),
                retryIn: $0.isInBackoff ? rest : nil, leaseFor: $0.isInBackoff ? nil : rest)
        }
    }
}

// The keys that change next: see ``StoreCalls/upcoming(in:limit:)``.

extension DurableListing {
    /// Returns the most rows that a store looks at to find some with work. Others are kept for their gates.
    package static func mostRows(for limit: Int) -> Int { 4 * min(max(0, limit), .max / 4) }

    /// Whether the key has more than an open gate.
    package var hasWork: Bool { pending > 0 || ready > 0 || run != nil }

    /// The time until the key changes, if nothing is submitted and the worker says nothing; nil for never.
    fileprivate var changesIn: Duration? {
        let start = run?.retryIn ?? run?.leaseFor ?? (ready > 0 ? .zero : nil)
        return [start, dueIn].compactMap { $0 }.min()
    }
}

extension Sequence {
    /// Returns listings by when their keys change next; of those that change at once, the first first.
    package func sortedByChange<Key>() -> [DurableListing<Key>] where Element == DurableListing<Key> {
        enumerated().map { (change: $1.changesIn, place: $0, listing: $1) }
            .sorted { left, right in
                switch (left.change, right.change) {
                case (let first?, let second?) where first != second: first < second
                case (_?, nil): true
                case (nil, _?): false
                default: left.place < right.place
                }
            }
            .map { $0.listing }
    }
}

extension DurableListing {
    private init<Other>(_ other: DurableListing<Other>, key: Key) {
        self.key = key
        (pending, pendingFor, dueIn) = (other.pending, other.pendingFor, other.dueIn)
        (ready, readyFor, run) = (other.ready, other.readyFor, other.run)
    }

    /// Returns the listing with its key transformed.
    func mapKey<Other: Hashable & Sendable>(_ map: (Key) -> Other) -> DurableListing<Other> {
        DurableListing<Other>(self, key: map(key))
    }
}

/// The run of a key in a ``DurableListing``.
public struct DurableListedRun: Hashable, Sendable {
    /// The ``DurableExecution/runID`` of the run's executions.
    public var id: Int64
    /// The number of the latest attempt, from 1.
    public var attempt: Int
    /// Whether a worker has the run now.
    public var isClaimed: Bool { worker != nil }
    /// The error of the latest failed attempt, as text.
    public var error: String?
    /// The number of submits behind the run.
    public var submits: Int
    /// The number of the worker that has the run: ``DurableWorker/Identity/id``. Nil between two attempts.
    public var worker: Int64?
    /// How long ago that worker got it; nil between two attempts.
    public var runningFor: Duration?
    /// The time until the next attempt; nil while a worker has the run.
    public var retryIn: Duration?
    /// The time until the worker's lease ends, unless it says before that the run goes on; zero if it has ended. Nil
    /// between two attempts.
    public var leaseFor: Duration?

    package init(
        id: Int64, attempt: Int, error: String?, submits: Int, worker: Int64?, runningFor: Duration?,
        retryIn: Duration?, leaseFor: Duration?
    ) {
        self.id = id
        self.attempt = attempt
        self.error = error
        self.submits = submits
        self.worker = worker
        self.runningFor = runningFor
        self.retryIn = retryIn
        self.leaseFor = leaseFor
    }
}

/// A run that has used up its attempts: an answer of ``DurableCoalescer/dead(limit:)``.
///
/// A store returns keys as bytes. A ``DurableDebouncer`` returns keys of its type, or nil if no key of the type has the
/// bytes.
public struct DurableDeadRun<Key: Hashable & Sendable>: Hashable, Sendable {
    /// The ``DurableExecution/runID`` of the run's executions, for ``DurableCoalescer/retry(_:)`` and
    /// ``DurableCoalescer/discard(_:)``.
    public var id: Int64
    /// The key.
    public var key: Key
    /// The values as the store has them: JSON.
    public var values: [[UInt8]]
    /// The numbers of the submits that the run covers: see ``DurableReceipt/generation``.
    public var submits: ClosedRange<Int64>
    /// The number of submits behind the run.
    public var count: Int
    /// The number of attempts before the run died.
    public var attempts: Int
    /// The error of the last attempt, as text.
    public var error: String?
    /// How long ago the run died.
    public var age: Duration
    /// The context of the last of the values: ``DurableExecution/context``.
    public var context: String?

    /// Creates the record of a dead run.
    package init(
        id: Int64, key: Key, values: [[UInt8]], submits: ClosedRange<Int64>, count: Int, attempts: Int,
        error: String?, age: Duration, context: String? = nil
    ) {
        self.id = id
        self.key = key
        self.values = values
        self.submits = submits
        self.count = count
        self.attempts = attempts
        self.error = error
        self.age = age
        self.context = context
    }
}

extension DurableDeadRun {
    /// Creates the record from what a store has of the run.
    ///
    /// - Parameter stored: The values as the store holds them, with their contexts.
    package init(
        id: Int64, key: Key, stored: [[UInt8]], submits: ClosedRange<Int64>, count: Int, attempts: Int,
        error: String?, age: Duration
    ) {
        let (values, context) = StoredValue.parts(of: stored)
        self.init(
            id: id, key: key, values: values, submits: submits, count: count, attempts: attempts, error: error,
            age: age, context: context)
    }

    /// Creates the record of a dead run that a row had.
    ///
    /// - Parameter stored: The values as the store holds them; none if they are not wanted.
    package init(key: Key, run: DurableRow.Run, stored: [[UInt8]], diedAt at: CoreInstant, at now: CoreInstant) {
        self.init(
            id: run.id, key: key, stored: stored, submits: run.value.submits, count: run.value.count,
            attempts: run.attempt, error: run.errorText, age: DurableNamespace.time(from: at, to: now))
    }

    /// Returns the record with its key transformed.
    func mapKey<Other: Hashable & Sendable>(_ map: (Key) -> Other) -> DurableDeadRun<Other> {
        DurableDeadRun<Other>(
            id: id, key: map(key), values: values, submits: submits, count: count, attempts: attempts, error: error,
            age: age, context: context)
    }
}

/// How a range of submits has ended: an answer of ``DurableCoalescer/ended(of:limit:)``.
///
/// A store returns keys as bytes. A ``DurableDebouncer`` returns keys of its type, or nil if no key of the type has the
/// bytes.
public struct DurableEnd<Key: Hashable & Sendable>: Hashable, Sendable {
    /// The key.
    public var key: Key
    /// The numbers of the submits that have ended: see ``DurableReceipt/generation``.
    public var submits: ClosedRange<Int64>
    /// How they have ended.
    public var how: DurableOutcome
    /// The ``DurableExecution/runID`` of the run that executed them; nil if no worker had claimed them.
    public var run: Int64?
    /// The error of the last attempt, as text; nil if it completed, whatever earlier ones did.
    public var error: String?
    /// How long ago they ended.
    public var age: Duration

    /// Creates the record of an end.
    package init(
        key: Key, submits: ClosedRange<Int64>, how: DurableOutcome, run: Int64?, error: String?, age: Duration
    ) {
        self.key = key
        self.submits = submits
        self.how = how
        self.run = run
        self.error = how == .completed ? nil : error
        self.age = age
    }
}

extension DurableEnd {
    /// Returns the record with its key transformed.
    func mapKey<Other: Hashable & Sendable>(_ map: (Key) -> Other) -> DurableEnd<Other> {
        DurableEnd<Other>(key: map(key), submits: submits, how: how, run: run, error: error, age: age)
    }
}

/// How submits end.
public enum DurableOutcome: Hashable, Sendable, CaseIterable {
    /// The handler returned.
    case completed
    /// The handler threw, and a newer value of the key replaced the run.
    case failed
    /// They were cancelled before a worker claimed them.
    case cancelled
    /// They were made in a leading-only window that another value had opened.
    case absorbed
    /// All attempts of their run have failed.
    case dead

    /// The name of the end, as stores and reports write it.
    package var name: StaticString {
        switch self {
        case .completed: "completed"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .absorbed: "absorbed"
        case .dead: "dead"
        }
    }

    /// Creates the end with a name; nil if there is none.
    package init?(_ name: String) {
        guard let outcome = Self.allCases.first(where: { "\($0.name)" == name }) else { return nil }
        self = outcome
    }
}

/// Whether a dead run gets another series of attempts: the answer of ``DurableCoalescer/retry(_:)``.
@nonexhaustive
public enum DurableRetry: Hashable, Sendable {
    /// The run is executed again as soon as a worker is free.
    case accepted
    /// There is no dead run with that id.
    case notFound
    /// With `latest`: the key has been submitted again since, and an old value must not overwrite a newer one. Discard
    /// the run.
    case outdated
    /// The key has another run now, and never has two at once. Retry when that run has ended.
    case busy
}

extension DurableRow.Run {
    /// The error of the latest attempt, as text.
    package var errorText: String? { error.map { String(decoding: $0, as: UTF8.self) } }
}
