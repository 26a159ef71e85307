package import LullCore

/// How a handler has ended: it has returned, or it threw, which may be an answer about its run.
package enum HandlerEnd: Hashable, Sendable {
    /// It has returned.
    case returned
    /// It threw an error with this text.
    case threw(String)
    /// It has failed with this text, and is to be tried again after a time of its own choice.
    case retry(after: CoreDuration, String)
    /// It is to be run again after a time, without an attempt being spent; nil for the backoff of the attempt.
    case snoozed(for: CoreDuration?)
    /// It would fail again, for this reason.
    case gaveUp(String)
    /// Nothing of the namespace is to start for a time, and it is to be run again afterwards.
    case paused(PauseFor)
}
