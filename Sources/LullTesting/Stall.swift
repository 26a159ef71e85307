/// The reason why ``ManualClock/advance(by:until:)`` or ``ManualClock/waitForSleeps(atLeast:)`` gave up: it waited, and
/// nothing happened.
///
/// Usually a handler waits for the test, its actor or queue is blocked, or the code under test sleeps on another clock;
/// ``description`` says which, and what to do. `onStall` in ``ManualClock/init(patience:onStall:)`` determines what
/// happens then.
public struct Stall: Error, CustomStringConvertible, Sendable {
    /// The stalled work: one entry for each execution, with its key, or for each task of the test.
    public let keys: [String]
    /// The milestone that executions did not reach; nil if the clock waited for sleeps.
    public let milestone: ManualClock.Milestone?
    /// The real time during which nothing moved.
    public let after: Duration
    private let goal: ManualClockState.Goal
    private let sleepCount: Int

    init(of state: ManualClockState, before goal: ManualClockState.Goal, after patience: Duration) {
        if case .executions(let milestone) = goal { self.milestone = milestone } else { milestone = nil }
        keys = milestone.map(state.busy) ?? []
        after = patience
        sleepCount = state.sleepCount
        self.goal = goal
    }

    /// A description of the stalled work, and the remedy.
    public var description: String {
        let names = keys.joined(separator: "; ")
        switch goal {
        case .executions(.ended):
            return """
                ManualClock: for \(after) nothing has moved, and an execution has neither ended nor slept on this clock \
                (\(names)). If its handler waits for the test, advance with `until: .started` and let it go on \
                afterwards; if it waits for time, let it sleep on this clock.
                """
        case .executions(.started):
            return """
                ManualClock: for \(after) nothing has moved, and the handler of an execution has not been entered \
                (\(names)). The actor or the queue that it runs on is blocked: let it go before advancing.
                """
        case .sleeps(let count):
            return """
                ManualClock: for \(after) nothing has moved, and the sleeps on this clock are \(sleepCount), not \(count). \
                See whether the code under test has this clock, and whether it comes to its sleep without being advanced.
                """
        }
    }
}
