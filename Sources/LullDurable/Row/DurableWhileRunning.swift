public import LullCore

/// What a newer value of a key does to a run that a worker has: a rule of a namespace, which cannot change.
///
/// ```swift
/// let replies = try await DurableDebouncer<String, Message>(
///     collectingFor: .seconds(3), maxWait: .seconds(60), whileRunning: .restart,
///     namespace: "replies", in: store)
/// ```
///
/// See <doc:Semantics>, section 7.
public enum DurableWhileRunning: Hashable, Sendable {
    /// The newer value waits until the run has ended, and is then a run of its own.
    case queue
    /// The run is interrupted: its handler is cancelled, and if it then throws, its values go back in front of the newer ones and
    /// start with them, as one run. If it returns, it is completed, and the newer value is a run of its own.
    ///
    /// With a `maxWait`, a run whose oldest submit is that old by then is not interrupted. Neither is a dead run that was retried,
    /// nor one behind which other submits of the key have ended already, cancelled or absorbed: the newer value waits.
    ///
    /// With `whenSubmitted`, a value that was submitted before the run began interrupts it when it falls due.
    case restart(interrupting: Interrupting)

    /// The same, when the newer value falls due.
    public static var restart: DurableWhileRunning { .restart(interrupting: .whenDue) }

    /// When a run is interrupted; nil for never.
    package var interrupting: Interrupting? {
        if case .restart(let interrupting) = self { interrupting } else { nil }
    }

    /// The name of the rule, as stores write it; nil for ``queue``.
    package var name: String? {
        switch self {
        case .queue: nil
        case .restart(interrupting: .whenDue): "due"
        case .restart(interrupting: .whenSubmitted): "submitted"
        }
    }

    /// Creates the rule with a name, nil for ``queue``; nil if there is no such rule.
    package init?(name: String?) {
        switch name {
        case nil: self = .queue
        case "due": self = .restart(interrupting: .whenDue)
        case "submitted": self = .restart(interrupting: .whenSubmitted)
        default: return nil
        }
    }
}
