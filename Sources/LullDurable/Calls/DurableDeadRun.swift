package import LullCore

/// A run that has used up its attempts: an answer of ``DurableCoalescer/dead(limit:)``.
///
/// A store returns keys as bytes. A ``DurableDebouncer`` returns keys of its type, or nil if no key of the type has the
/// bytes.
public struct DurableDeadRun<Key: Hashable & Sendable>: Hashable, Sendable, Identifiable {
    /// The ``DurableExecution/runID`` of the run's executions, for ``DurableCoalescer/retry(_:)`` and
    /// ``DurableCoalescer/discard(_:)``.
    public var id: DurableRun.ID { DurableRun.ID(rawValue: number) }
    package var number: Int64
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
        number = id
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
            id: number, key: map(key), values: values, submits: submits, count: count, attempts: attempts, error: error,
            age: age, context: context)
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
