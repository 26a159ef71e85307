internal import LullCore
internal import LullDurable

/// The policy that the options give, for a namespace that has one of its own from its first use on.
///
/// A missing part is taken from the store. A difference is refused, because the policy holds for all users of the
/// namespace, unless `--change-policy` is given.
struct NamespacePolicy: Sendable {
    private let subcommand: Subcommand
    private let given: PolicyOptions
    private let changes: Bool

    init(_ options: CommandOptions, _ subcommand: Subcommand) throws(Failure) {
        self.subcommand = subcommand
        given = options.policy
        changes = options.changesPolicy
        if changes, given.isEmpty { throw .usage("--change-policy needs the new policy", subcommand) }
    }

    /// Returns the rules with which a namespace is to be opened; nil if the options give none, or those that are
    /// stored.
    ///
    /// - Parameter stored: The rules of the namespace; nil if it is new.
    func rules(over stored: DurableRules?, of name: String) throws(Failure) -> DurableRules? {
        if let stored { try rules(replacing: stored, of: name) } else { try rulesForNewNamespace() }
    }

    /// Returns the rules for a new namespace; nil if the options give none.
    func rulesForNewNamespace() throws(Failure) -> DurableRules? {
        if given.isEmpty { return nil }
        if !given.hasTiming { throw .usage("a new namespace needs --wait or --throttle", subcommand) }
        return try rules(given)
    }

    /// Returns the rules that replace those of a namespace; nil if they stay as they are.
    private func rules(replacing stored: DurableRules, of name: String) throws(Failure) -> DurableRules? {
        if given.isEmpty { return nil }
        let isSameKind = stored.policy.kind == .debounce ? given.throttle == nil : given.wait == nil
        var base = PolicyOptions(stored)
        // A policy of the other kind takes over only how values are combined and run.
        if !isSameKind {
            base = PolicyOptions(
                combination: base.combination, maxBatch: base.maxBatch, whileRunning: base.whileRunning,
                interrupting: base.interrupting)
        }
        if (given.combination ?? CombineRule(stored)).combination != .collect { base.maxBatch = nil }
        if (given.whileRunning ?? base.whileRunning) != .restart { base.interrupting = nil }
        let new = try rules(given.completed(by: base))
        if new == stored { return nil }
        let names = """
            the namespace \(Terminal.shown(name)) has \(PolicyOptions.text(stored, besides: new)), \
            not \(PolicyOptions.text(new, besides: stored))
            """
        guard isSameKind, new.policy.edges == stored.policy.edges, CombineRule(new) == CombineRule(stored),
            new.whileRunning == stored.whileRunning
        else {
            throw .usage(
                "\(names): its kind, edges, combination and --while-running cannot change; use another namespace",
                subcommand)
        }
        guard changes else {
            throw .usage("\(names): leave the policy out, or change it for all users with --change-policy", subcommand)
        }
        return new
    }

    private func rules(_ options: PolicyOptions) throws(Failure) -> DurableRules {
        let policy = try options.policy(for: subcommand)
        let whileRunning = try options.storedRunningRule(for: subcommand)
        do throws(PolicyError) {
            return try DurableRules(
                policy, combination: options.combination?.combination ?? .latest,
                isMerging: options.combination == .mergeJSON, maxBatch: options.maxBatch,
                limit: options.rateLimit, maxRunning: options.maxRunning,
                whileRunning: whileRunning)
        } catch {
            throw Failure(error, subcommand)
        }
    }
}
