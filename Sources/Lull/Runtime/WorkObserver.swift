/// Observes tracked work, and calls that wait.
///
/// ``began(_:)`` comes before the call or the wake-up that caused the execution returns.
package protocol WorkObserver: Sendable {
    /// The work has been decided on and will run. May be called under a lock: it only takes note.
    func began(_ work: TrackedWork)

    /// Its operation is entered.
    ///
    /// - Parameter actor: The actor that it is on, if its jobs there are not reported and it is not the main actor.
    func entered(_ work: TrackedWork, on actor: (any Actor)?)

    /// One of its tasks is to run, for the first time or again. Counted: a task may have several children.
    ///
    /// Jobs on the main actor, and on other actors that have an executor of their own, are not reported.
    ///
    /// - Parameter isUnseen: Whether that comes from a place of which nothing is reported, other than the main actor.
    func resumed(_ work: TrackedWork, isUnseen: Bool)

    /// It has run as far as it can there. Called once for every ``resumed(_:isUnseen:)``.
    func paused(_ work: TrackedWork)

    /// It waits for a debouncer on this clock. Counted.
    func slept(_ work: TrackedWork)

    /// It goes on. Called once for every ``slept(_:)``.
    func woke(_ work: TrackedWork)

    /// Its handler has ended, and its outcomes have been delivered.
    func ended(_ work: TrackedWork)

    /// A task of the program's or of a test's, which is no part of a handler, begins to wait in a call. The caller is
    /// that task.
    func began(_ wait: WaitingCall)

    /// It no longer waits. Called once for every ``began(_:)``, and may come before that.
    func ended(_ wait: WaitingCall)
}
