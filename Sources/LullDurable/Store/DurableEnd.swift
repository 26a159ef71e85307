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

/// How a range of submits has ended: an answer of ``DurableCoalescer/ended(of:limit:)``.
///
/// A store returns keys as bytes. A ``DurableDebouncer`` returns keys of its type, or nil if no key of the type has the
/// bytes.
public struct DurableEnd<Key: Hashable & Sendable>: Hashable, Sendable {
    /// The key.
    public var key: Key
    /// The numbers of the submits that have ended: see ``DurableReceipt/generation``.
    public var submits: ClosedRange<Int64>
    /// How they have ended: a ``DurableState`` that is final, with the error of the last attempt.
    public var state: DurableState { DurableState(how, error: error) }
    package var how: DurableOutcome
    /// The ``DurableExecution/runID`` of the run that executed them; nil if no worker had claimed them.
    public var run: DurableRun.ID? { runNumber.map { DurableRun.ID(rawValue: $0) } }
    package var runNumber: Int64?
    /// The error of the last attempt, as text; nil if it was executed, whatever earlier ones did.
    package var error: String?
    /// How long ago they ended.
    public var age: Duration

    /// Creates the record of an end.
    package init(
        key: Key, submits: ClosedRange<Int64>, how: DurableOutcome, run: Int64?, error: String?, age: Duration
    ) {
        self.key = key
        self.submits = submits
        self.how = how
        runNumber = run
        self.error = how == .completed ? nil : error
        self.age = age
    }
}

extension DurableEnd {
    /// Returns the record with its key transformed.
    func mapKey<Other: Hashable & Sendable>(_ map: (Key) -> Other) -> DurableEnd<Other> {
        DurableEnd<Other>(key: map(key), submits: submits, how: how, run: runNumber, error: error, age: age)
    }
}

/// How submits end, as stores and workers have it; users see a ``DurableState``.
package enum DurableOutcome: Hashable, Sendable, CaseIterable {
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
