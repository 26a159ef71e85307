internal import LullCore

/// The options that give a policy, and how values are combined.
struct PolicyOptions: Equatable, Sendable {
    var wait: CoreDuration?
    var throttle: CoreDuration?
    var maxWait: CoreDuration?
    var maxCount: Int?
    var edges: Edges?
    var delayRule: DelayRule?
    var combination: Combination?
    var maxBatch: Int?

    /// Whether no option is given.
    var isEmpty: Bool { self == PolicyOptions() }
    /// Whether the kind of policy and its interval are given, which is enough for a policy.
    var hasTiming: Bool { wait != nil || throttle != nil }

    /// Returns these options, with missing ones taken from others.
    func completed(by others: PolicyOptions) -> PolicyOptions {
        var all = others
        all.wait = wait ?? all.wait
        all.throttle = throttle ?? all.throttle
        all.maxWait = maxWait ?? all.maxWait
        all.maxCount = maxCount ?? all.maxCount
        all.edges = edges ?? all.edges
        all.delayRule = delayRule ?? all.delayRule
        all.combination = combination ?? all.combination
        all.maxBatch = maxBatch ?? all.maxBatch
        return all
    }

    /// Returns the policy; throws if the options contradict each other.
    func policy(for subcommand: Subcommand) throws(Failure) -> Policy {
        if maxBatch != nil, combination != .collect {
            throw .usage("--max-batch needs --combine collect: otherwise an execution gets one value", subcommand)
        }
        do {
            switch (wait, throttle) {
            case (nil, nil):
                throw Failure.usage("give a quiet period with --wait, or an interval with --throttle", subcommand)
            case (_?, _?):
                throw Failure.usage("--wait and --throttle exclude each other", subcommand)
            case (let wait?, nil):
                return try .debounce(
                    wait: wait, maxWait: maxWait, edges: edges ?? .trailing, delayRule: delayRule ?? .restart,
                    maxCount: maxCount)
            case (nil, let interval?):
                if maxWait != nil { throw Failure.usage("--max-wait has no meaning with --throttle", subcommand) }
                if delayRule != nil { throw Failure.usage("--delay-rule has no meaning with --throttle", subcommand) }
                return try .throttle(interval: interval, edges: edges ?? [.leading, .trailing], maxCount: maxCount)
            }
        } catch let failure as Failure {
            throw failure
        } catch PolicyError.maxWaitBelowWait(let maxWait, let wait) {
            throw .usage("--max-wait is \(maxWait), but must be at least the --wait of \(wait)", subcommand)
        } catch PolicyError.maxCountWithoutTrailing {
            throw .usage("--max-count needs the trailing edge: without it nothing is ever pending", subcommand)
        } catch {
            throw .usage("\(error)", subcommand)
        }
    }
}
