internal import LullCore

/// The options of a debouncer or throttler, with its policy, after they have been checked.
package struct CheckedOptions {
    var setup: Setup
    let atEnd: EndPolicy
    let tolerance: Duration
    /// Where the debouncer or throttler is made.
    let site: SourceSite
}

/// The common options of debouncers and throttlers.
protocol ExecutionOptions {
    var maxBatch: Int? { get }
    var maxConcurrent: Int? { get }
    var limit: RateLimit? { get }
    var timeLimit: Duration? { get }
    var capacity: Int? { get }
    var maxPending: Int? { get }
    var overflow: OverflowPolicy { get }
    var atEnd: EndPolicy { get }
    var tolerance: Duration { get }
}

extension ExecutionOptions {
    /// Returns the checked options, or stops the program with the rule that they break.
    func checked(
        _ combination: CombinationRule, _ whileRunning: OverlapPolicy, at site: SourceSite,
        _ policy: () throws(PolicyError) -> Policy
    ) -> CheckedOptions {
        do {
            let setup = try Setup(
                policy(), combination: combination, whileRunning: whileRunning, maxConcurrent: maxConcurrent,
                capacity: capacity, maxBatch: maxBatch, limit: limit, maxPending: maxPending, overflow: overflow,
                timeLimit: timeLimit.map { CoreDuration($0) })
            require(tolerance >= .zero, "the tolerance is \(tolerance), but must be zero or more", at: site)
            return CheckedOptions(setup: setup, atEnd: atEnd, tolerance: tolerance, site: site)
        } catch {
            refuse("\(error)", at: site)
        }
    }
}
