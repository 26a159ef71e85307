public import LullCore

// What a store tells of itself.

/// What became of a submit.
@nonexhaustive
public enum DurableState: Hashable, Sendable {
    /// It, or a value that stands for it, is not due yet.
    case pending
    /// It has fallen due, and waits for a worker.
    case ready
    /// A worker has it.
    case running(attempt: Int)
    /// The handler threw; it is tried again.
    case waitingForRetry(attempt: Int, error: String?)
    /// The handler returned.
    case completed
    /// The handler threw, and a newer value of the key took its place.
    case failed(error: String?)
    /// It was cancelled before a worker had it.
    case cancelled
    /// Another value stood for it.
    case absorbed
    /// Every attempt that it was allowed has failed.
    case dead(error: String?)
    /// It ended longer ago than the store remembers.
    case forgotten
}

/// How much there is to do in a namespace, as if everything due by now had fallen due.
public struct DurableStatus: Hashable, Sendable {
    /// The namespace.
    public var namespace: String
    /// Its rules.
    public var rules: DurableRules
    /// Keys with a value that is not due.
    public var pending = 0
    /// Keys with a value that waits for a worker.
    public var ready = 0
    /// Keys with a run that a worker has.
    public var running = 0
    /// Keys with a run that waits for another attempt.
    public var retrying = 0
    /// Dead runs.
    public var dead = 0
    /// For how long the oldest work that waits for a worker has waited: a value that is due, a run whose next attempt is due, or one
    /// whose lease has expired.
    public var oldestDue: Duration?
    /// How many attempts at runs have begun since the namespace was made.
    public var attempts = 0
    /// How many times a run was taken from a worker whose lease had ended.
    public var lostLeases = 0

    /// The status of a namespace with nothing in it.
    public init(namespace: String, rules: DurableRules) {
        self.namespace = namespace
        self.rules = rules
    }

    /// Counts a row.
    package mutating func add(_ row: DurableRow, at now: CoreInstant) {
        var row = row
        var endings: [DurableEnding] = []
        row.settle(at: now, by: rules, &endings)
        if row.pending != nil { pending += 1 }
        if let ready = row.ready {
            self.ready += 1
            noteWaiting(since: ready.due, at: now)
        }
        if let run = row.run {
            if run.isInBackoff { retrying += 1 } else { running += 1 }
            noteWaiting(since: run.state.end, at: now)
        }
    }

    private mutating func noteWaiting(since instant: CoreInstant, at now: CoreInstant) {
        if instant <= now { oldestDue = max(oldestDue ?? .zero, DurableNamespace.time(from: instant, to: now)) }
    }
}

/// A key that is not at rest, as if everything due by now had fallen due.
///
/// A store knows keys as bytes; a ``DurableDebouncer`` gives them as what they are, or nil where no key of its type has the bytes.
public struct DurableListing<Key: Hashable & Sendable>: Hashable, Sendable {
    /// The key.
    public var key: Key
    /// Submits behind the value that is not due.
    public var pending: Int
    /// Until that falls due.
    public var dueIn: Duration?
    /// Submits behind the value that waits for a worker.
    public var ready: Int
    /// The run.
    public var run: DurableListedRun?

    /// What is to be told of a row.
    public init(key: Key, row: DurableRow, rules: DurableRules, at now: CoreInstant) {
        var row = row
        var endings: [DurableEnding] = []
        row.settle(at: now, by: rules, &endings)
        self.key = key
        pending = row.pending == nil ? 0 : row.gate.count
        dueIn = row.due(by: rules).map { .nanoseconds(now.duration(to: $0).nanoseconds) }
        ready = row.ready?.count ?? 0
        run = row.run.map {
            DurableListedRun(
                id: $0.id, attempt: $0.attempt, isClaimed: !$0.isInBackoff, error: $0.errorText,
                submits: $0.value.count,
                retryIn: $0.isInBackoff ? DurableNamespace.time(from: now, to: $0.state.end) : nil)
        }
    }
}

extension DurableListing {
    private init<Other>(_ other: DurableListing<Other>, key: Key) {
        self.key = key
        (pending, dueIn, ready, run) = (other.pending, other.dueIn, other.ready, other.run)
    }

    /// The same of the key as it is to be seen.
    func mapKey<Other: Hashable & Sendable>(_ map: (Key) -> Other) -> DurableListing<Other> {
        DurableListing<Other>(self, key: map(key))
    }
}

/// The run of a key in a ``DurableListing``.
public struct DurableListedRun: Hashable, Sendable {
    /// The same in every attempt.
    public var id: Int64
    /// From 1.
    public var attempt: Int
    /// Whether a worker has it.
    public var isClaimed: Bool
    /// Why the latest attempt failed.
    public var error: String?
    /// Submits behind it.
    public var submits: Int
    /// Until it may be tried again; nil while a worker has it.
    public var retryIn: Duration?
}

/// A run that has failed for good.
///
/// A store knows keys as bytes; a ``DurableDebouncer`` gives them as what they are, or nil where no key of its type has the bytes.
public struct DurableDeadRun<Key: Hashable & Sendable>: Hashable, Sendable {
    /// The run.
    public var id: Int64
    /// Its key.
    public var key: Key
    /// The bytes of its values.
    public var values: [[UInt8]]
    /// The generations that it covers.
    public var submits: ClosedRange<Int64>
    /// How often it was tried.
    public var attempts: Int
    /// Why the last attempt failed.
    public var error: String?
    /// How long ago.
    public var age: Duration

    /// A dead run of these parts.
    public init(
        id: Int64, key: Key, values: [[UInt8]], submits: ClosedRange<Int64>, attempts: Int, error: String?,
        age: Duration
    ) {
        self.id = id
        self.key = key
        self.values = values
        self.submits = submits
        self.attempts = attempts
        self.error = error
        self.age = age
    }
}

extension DurableDeadRun {
    /// The same with the key as it is to be seen.
    func mapKey<Other: Hashable & Sendable>(_ map: (Key) -> Other) -> DurableDeadRun<Other> {
        DurableDeadRun<Other>(
            id: id, key: map(key), values: values, submits: submits, attempts: attempts, error: error, age: age)
    }
}

/// What became of a wish to retry a dead run.
@nonexhaustive
public enum DurableRetry: Hashable, Sendable {
    /// It may be claimed now.
    case accepted
    /// No dead run has that id.
    case notFound
    /// With `latest`: the key has a newer generation, and an old value must not overwrite a newer one.
    case outdated
    /// The key has another run now, and never has two at once: ask again when that one has ended.
    case busy
}

extension DurableRow.Run {
    /// Why its latest attempt failed.
    package var errorText: String? { error.map { String(decoding: $0, as: UTF8.self) } }
}
