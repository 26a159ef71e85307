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
    package var how: EndKind
    /// The ``DurableExecution/runID`` of the run that executed them; nil if no worker had claimed them.
    public var run: DurableRun.ID? { runNumber.map { DurableRun.ID(rawValue: $0) } }
    package var runNumber: Int64?
    /// The error of the last attempt, as text; nil if it was executed, whatever earlier ones did.
    package var error: String?
    /// How long ago they ended.
    public var age: Duration

    /// Creates the record of an end.
    package init(
        key: Key, submits: ClosedRange<Int64>, how: EndKind, run: Int64?, error: String?, age: Duration
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
package enum EndKind: Hashable, Sendable, CaseIterable {
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
