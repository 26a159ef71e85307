internal import Lull

/// The reason why ``ManualClock/advance(by:until:)`` or ``ManualClock/waitForSleeps(atLeast:)`` gave up: it waited, and
/// nothing happened, or something happens that the clock does not follow.
///
/// Usually a handler waits for the test, its actor or queue is blocked, or the code under test sleeps on another clock;
/// ``description`` says which, and what to do. `onStall` in ``ManualClock/init(patience:onStall:)`` determines what
/// happens then.
public struct Stall: Error, CustomStringConvertible, Sendable {
    /// The stalled work: one entry for each execution, with its key, or for each task of the test.
    public let keys: [String]
    /// The milestone that executions did not reach; nil if the clock waited for sleeps.
    public let milestone: ManualClock.Milestone?
    /// The real time during which nothing moved; zero if the clock did not wait.
    public let after: Duration
    private let reason: Reason

    private enum Reason {
        case notEnded
        case notEntered
        /// All executions have reached the milestone, if the clock sees all of them.
        case blockedActor
        case sleeps(Int, wanted: Int)
        case unseen
    }

    init(of state: ManualClockState, before goal: ManualClockState.Goal, after patience: Duration) {
        after = patience
        switch goal {
        case .executions(let milestone):
            self.milestone = milestone
            keys = state.busy(milestone)
            reason = keys.isEmpty ? .blockedActor : milestone == .ended ? .notEnded : .notEntered
        case .sleeps(let count):
            milestone = nil
            keys = []
            reason = .sleeps(state.sleepCount, wanted: count)
        }
    }

    /// A task of this work runs where the clock does not see it.
    init(unseen work: TrackedWork) {
        keys = [work.name]
        milestone = .ended
        after = .zero
        reason = .unseen
    }

    /// A description of the stalled work, and the remedy.
    public var description: String {
        let names = keys.joined(separator: "; ")
        switch reason {
        case .notEnded:
            return """
                ManualClock: for \(after) nothing has moved, and an execution has neither ended nor slept on this \
                clock (\(names)). If its handler waits for the test, advance with `until: .started` and let it go on \
                afterwards; if it waits for time, let it sleep on this clock.
                """
        case .notEntered:
            return """
                ManualClock: for \(after) nothing has moved, and the handler of an execution has not been entered \
                (\(names)). The actor or the queue that it runs on is blocked: let it go before advancing.
                """
        case .blockedActor:
            return """
                ManualClock: for \(after) nothing has moved. The main actor, or the actor of a handler, is blocked: \
                let it go before advancing.
                """
        case .sleeps(let count, let wanted):
            return """
                ManualClock: for \(after) nothing has moved, and the sleeps on this clock are \(count), not \(wanted). \
                See whether the code under test has this clock, and whether it comes to its sleep without being \
                advanced.
                """
        case .unseen:
            return """
                ManualClock: a task of an execution runs where the clock does not follow it, while another one sleeps \
                (\(names)), so the clock may move on too early. It follows child tasks, but no `Task { … }`, no actor \
                with an executor of its own, except the main actor and the handler's, and no callback. Use child \
                tasks, or advance by one sleep at a time and wait with `waitForSleeps(atLeast:)`.
                """
        }
    }
}
