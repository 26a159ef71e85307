internal import LullCore

/// A policy that is tried on the trace, and what has come of it so far.
struct Candidate {
    let policy: Policy
    /// Executions.
    private(set) var executions = 0
    /// Executions whose burst went on within the same wait: work for a value that did not last.
    private(set) var premature = 0
    /// From the last submit behind an execution to it.
    private(set) var delayFromLast = Distribution(limit: 1 << 12, classBits: 8)
    /// From the first submit behind an execution to it.
    private(set) var delayFromFirst = Distribution(limit: 1 << 12, classBits: 8)

    init(_ policy: Policy) {
        self.policy = policy
    }

    /// Counts an execution.
    ///
    /// - Parameter last: The instant of the last submit behind it.
    mutating func add(at instant: CoreInstant, first: CoreInstant, last: CoreInstant) {
        executions += 1
        delayFromLast.add(last.duration(to: instant).nanoseconds)
        delayFromFirst.add(first.duration(to: instant).nanoseconds)
    }

    mutating func addPremature() {
        premature += 1
    }
}

/// What a candidate came to.
struct Outcome {
    let policy: Policy
    let executions: Int
    /// The share of the submits that needed no execution of their own, from 0 to 1.
    let saved: Double
    let premature: Int
    /// p50, p90 and p99, in nanoseconds; nil where nothing was executed, as with the other delays.
    let delayFromLast: [Int64]?
    let delayFromFirst: [Int64]?
    /// The longest time that submits went on without an execution.
    let starvation: Int64?
    /// Whether no other candidate of its kind saves as much and is as early.
    var isEfficient = false

    static let percentages = [50, 90, 99]

    init(_ candidate: Candidate, submits: Int) {
        policy = candidate.policy
        executions = candidate.executions
        saved = submits == 0 ? 0 : Double(submits - candidate.executions) / Double(submits)
        premature = candidate.premature
        delayFromLast = candidate.delayFromLast.percentiles(Self.percentages)
        delayFromFirst = candidate.delayFromFirst.percentiles(Self.percentages)
        starvation = executions > 0 ? candidate.delayFromFirst.largest : nil
    }

    /// What a single key came to, where no more is counted than executions: a debounce's delay is the wait, nearly always.
    init(_ policy: Policy, _ executions: Int, of submits: Int) {
        self.policy = policy
        self.executions = executions
        saved = submits == 0 ? 0 : Double(submits - executions) / Double(submits)
        premature = 0
        delayFromLast = Self.percentages.map { _ in policy.wait.nanoseconds }
        delayFromFirst = delayFromLast
        starvation = policy.wait.nanoseconds
    }

    /// The delay that targets and the knee are about: what nine of ten executions keep to, from the last submit behind them.
    var delay: CoreDuration { .nanoseconds(delayFromLast?[1] ?? 0) }
}
