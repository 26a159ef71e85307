package import LullCore

/// A policy under trial, with its counts so far.
package struct Candidate {
    package let policy: Policy
    /// The number of executions.
    package private(set) var executions = 0
    /// Executions after which the next submit came within the wait or the spacing: their values did not last.
    package var premature = 0
    /// The delay of an execution after the last submit behind it.
    package private(set) var delayFromLast = Distribution(limit: 1 << 12, bucketBits: 8)
    /// The delay of an execution after the first submit behind it.
    package private(set) var delayFromFirst = Distribution(limit: 1 << 12, bucketBits: 8)

    package init(_ policy: Policy) {
        self.policy = policy
    }

    /// Counts an execution.
    ///
    /// - Parameter last: The instant of the last submit behind it.
    package mutating func add(at instant: CoreInstant, first: CoreInstant, last: CoreInstant) {
        executions += 1
        delayFromLast.add(last.duration(to: instant).nanoseconds)
        delayFromFirst.add(first.duration(to: instant).nanoseconds)
    }
}

/// The result of a candidate.
package struct TrialResult {
    package let policy: Policy
    package let executions: Int
    /// The share of submits that needed no execution of their own, from 0 to 1.
    package let saved: Double
    package let premature: Int
    /// p50, p90 and p99 in nanoseconds. Like the other delays, nil if nothing was executed.
    package let delayFromLast: [Int64]?
    package let delayFromFirst: [Int64]?
    /// The longest time from a first submit to its execution.
    package let starvation: Int64?
    /// Whether no other candidate of its kind saves as much with as little delay.
    package var isEfficient = false

    package static let percentages = [50, 90, 99]

    package init(_ candidate: Candidate, submits: Int) {
        policy = candidate.policy
        executions = candidate.executions
        saved = submits == 0 ? 0 : Double(submits - candidate.executions) / Double(submits)
        premature = candidate.premature
        delayFromLast = candidate.delayFromLast.percentiles(Self.percentages)
        delayFromFirst = candidate.delayFromFirst.percentiles(Self.percentages)
        starvation = executions > 0 ? candidate.delayFromFirst.largest : nil
    }

    /// Creates the result for a single key, of which only executions are counted: the delay of a debounce is nearly
    /// always the wait. With a spacing it is taken from all keys.
    ///
    /// - Parameter common: The result for all keys.
    package init(_ common: TrialResult, _ executions: Int, of submits: Int) {
        policy = common.policy
        self.executions = executions
        saved = submits == 0 ? 0 : Double(submits - executions) / Double(submits)
        premature = 0
        let wait = policy.wait.nanoseconds
        delayFromLast = policy.spacing > .zero ? common.delayFromLast : Self.percentages.map { _ in wait }
        delayFromFirst = delayFromLast
        starvation = wait
    }

    /// Whether it saves enough to be worth a wait.
    package var isWorthwhile: Bool { saved >= 0.01 }

    /// The limit that a debounce lacks if submits once went on for ten waits without an execution: five waits.
    package var missingMaxWait: CoreDuration? {
        let wait = policy.wait.nanoseconds
        guard policy.kind == .debounce, policy.maxWait == nil, wait > 0, let starvation, starvation / 10 >= wait else {
            return nil
        }
        return .nanoseconds(wait * 5)
    }

    /// The delay for targets and the knee: the 90th percentile, from the last submit behind an execution.
    package var delay: CoreDuration { .nanoseconds(delayFromLast?[1] ?? 0) }
}
