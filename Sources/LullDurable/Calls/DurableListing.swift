package import LullCore

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
        var ended: [EndedSubmits] = []
        row.settle(at: now, by: rules, &ended)
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
                id: $0.id, attempt: $0.attempt, snoozes: $0.snoozes, error: $0.errorText, submits: $0.value.count,
                worker: $0.isInBackoff ? nil : $0.owner, runningFor: $0.isInBackoff ? nil : $0.began.map(age),
                retryIn: $0.isInBackoff ? rest : nil, leaseFor: $0.isInBackoff ? nil : rest,
                isSnoozed: $0.isSnoozed)
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
public struct DurableListedRun: Hashable, Sendable, Identifiable {
    /// The ``DurableExecution/runID`` of the run's executions.
    public var id: DurableRun.ID { DurableRun.ID(rawValue: number) }
    package var number: Int64
    /// The number of the latest attempt, from 1.
    public var attempt: Int
    /// Whether a worker has the run now.
    public var isClaimed: Bool { worker != nil }
    /// Whether its handler has snoozed it, so that it waits without having failed.
    public var isSnoozed: Bool
    /// How often its handler has snoozed it: that spends no attempt.
    public var snoozes: Int
    /// The error of the latest failed attempt, as text.
    public var error: String?
    /// The number of submits behind the run.
    public var submits: Int
    /// The number of the worker that has the run: ``DurableWorker/id``. Nil between two attempts.
    public var worker: Int64?
    /// How long ago that worker got it; nil between two attempts.
    public var runningFor: Duration?
    /// The time until the next attempt; nil while a worker has the run.
    public var retryIn: Duration?
    /// The time until the worker's lease ends, unless it says before that the run goes on; zero if it has ended. Nil
    /// between two attempts.
    public var leaseFor: Duration?

    package init(
        id: Int64, attempt: Int, snoozes: Int = 0, error: String?, submits: Int, worker: Int64?,
        runningFor: Duration?, retryIn: Duration?, leaseFor: Duration?, isSnoozed: Bool = false
    ) {
        number = id
        self.attempt = attempt
        self.isSnoozed = isSnoozed
        self.snoozes = snoozes
        self.error = error
        self.submits = submits
        self.worker = worker
        self.runningFor = runningFor
        self.retryIn = retryIn
        self.leaseFor = leaseFor
    }
}
