/// The treatment of a value that falls due while an earlier execution of its key is running (<doc:Semantics>,
/// section 7).
///
/// How to choose: <doc:WhileAHandlerRuns>.
@frozen
public enum OverlapPolicy: Hashable, Sendable {
    /// The value waits, at most one for each key, and starts when the running execution has ended.
    case queue
    /// The task of the running execution is cancelled and awaited, then the value starts: no stale answer comes last.
    /// Not allowed where values are collected or merged, since those of the cancelled execution would be lost: use
    /// ``restart``.
    case cancelRunning(interrupting: Interruption)
    /// The task of the running execution is cancelled and awaited. If it then throws, its values go back in front of
    /// the newer ones and start with them, as one execution: begin again with everything.
    ///
    /// With `maxWait`, an execution whose oldest submit is that old is not interrupted. Without it, a stream that never
    /// pauses for as long as the handler takes is never finished.
    case restart(interrupting: Interruption)
    /// The value starts beside the running execution.
    case concurrent
    /// The value is dropped, and its submits end as absorbed; after a flush it waits instead.
    case skip
    /// The value starts at once. The task of the running execution is cancelled and not awaited: its submits end as
    /// superseded then, and whatever it returns or throws counts for nothing. No answer comes after a newer one.
    /// Not allowed where values are collected or merged.
    case replace
    /// A value that is submitted while an execution of its key runs, and nothing of the key is pending or waiting,
    /// joins that execution: it is not handled, and its outcome is that of the execution. For requests of which each
    /// caller wants the answer of whichever is under way. Not allowed where values are collected or merged.
    case share

    /// The same, when the newer value falls due.
    public static var cancelRunning: OverlapPolicy { .cancelRunning(interrupting: .whenDue) }

    /// The same, when the newer value falls due.
    public static var restart: OverlapPolicy { .restart(interrupting: .whenDue) }

    /// Whether a submit that is accepted interrupts what is running.
    var interruptsWhenSubmitted: Bool {
        switch self {
        case .cancelRunning(let interrupting), .restart(let interrupting): interrupting == .whenSubmitted
        case .queue, .concurrent, .skip, .replace, .share: false
        }
    }

    /// Whether a submit does more than to place a value.
    var concernsSubmits: Bool { interruptsWhenSubmitted || self == .share }

    /// Whether values would be lost where they are collected or merged.
    var keepsOneValue: Bool {
        switch self {
        case .cancelRunning, .replace, .share: true
        case .queue, .restart, .concurrent, .skip: false
        }
    }
}

/// When a running execution is interrupted for a newer value of its key (<doc:Semantics>, section 7).
@frozen
public enum Interruption: Hashable, Sendable {
    /// When the newer value falls due.
    case whenDue
    /// As soon as the newer value is submitted and accepted: neither absorbed nor rejected.
    case whenSubmitted
}
