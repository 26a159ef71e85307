internal import Lull
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// The policy that the options give, for a namespace that has one of its own from its first use on.
///
/// A missing part is taken from the store. A difference is refused, because the policy holds for all users of the namespace, unless
/// `--change-policy` is given.
struct NamespacePolicy: Sendable {
    private let subcommand: Subcommand
    private let given: PolicyOptions
    private let changes: Bool

    init(_ settings: Settings, _ subcommand: Subcommand) throws(Failure) {
        self.subcommand = subcommand
        given = settings.policy
        changes = settings.changesPolicy
        if given.wait != nil, given.throttle != nil {
            throw .usage("--wait and --throttle exclude each other", subcommand)
        }
        if changes, given.isEmpty { throw .usage("--change-policy needs the new policy", subcommand) }
    }

    // MARK: - Comparing with a store

    /// Returns the rules for a new namespace; nil if the options give none.
    func rulesForNewNamespace() throws(Failure) -> DurableRules? {
        if given.isEmpty { return nil }
        if !given.hasTiming { throw .usage("a new namespace needs --wait or --throttle", subcommand) }
        return try rules(given)
    }

    /// Returns the rules that replace those of a namespace; nil if they stay as they are.
    func rules(over stored: DurableRules, of name: String) throws(Failure) -> DurableRules? {
        if given.isEmpty { return nil }
        var base = PolicyOptions()
        let isSameKind = stored.policy.kind == .debounce ? given.throttle == nil : given.wait == nil
        if isSameKind {
            if stored.policy.kind == .debounce {
                base.wait = stored.policy.wait
                base.maxWait = stored.policy.maxWait
                base.delayRule = stored.policy.delayRule
            } else {
                base.throttle = stored.policy.wait
            }
            base.edges = stored.policy.edges
            base.maxCount = stored.policy.maxCount
        }
        base.combination = stored.combination
        base.maxBatch = (given.combination ?? stored.combination) == .collect ? stored.maxBatch : nil
        let new = try rules(given.completed(by: base))
        if new == stored { return nil }
        let names = """
            the namespace \(Terminal.shown(name)) has \(stored.options(besides: new)), \
            not \(new.options(besides: stored))
            """
        guard isSameKind, new.policy.edges == stored.policy.edges, new.combination == stored.combination else {
            throw .usage(
                "\(names): its kind, edges and combination cannot change; use another namespace", subcommand)
        }
        guard changes else {
            throw .usage("\(names): leave the policy out, or change it for all users with --change-policy", subcommand)
        }
        return new
    }

    private func rules(_ options: PolicyOptions) throws(Failure) -> DurableRules {
        let policy = try options.policy(for: subcommand)
        do {
            return try DurableRules(policy, combination: options.combination ?? .latest, maxBatch: options.maxBatch)
        } catch {
            throw .usage("\(error)", subcommand)
        }
    }
}

extension SQLiteTransaction {
    /// Opens a namespace as the options say.
    ///
    /// - Returns: The rules that hold, or why it is not opened.
    mutating func open(
        _ name: String, _ policy: NamespacePolicy
    ) throws(DurableError) -> Result<DurableRules, Failure> {
        let stored = try rules(of: name)
        let given: DurableRules?
        do throws(Failure) {
            given =
                if let stored { try policy.rules(over: stored, of: name) } else { try policy.rulesForNewNamespace() }
        } catch {
            return .failure(error)
        }
        return .success(try open(name, given))
    }
}

/// A store with an open namespace, ready for submits and work.
struct OpenedNamespace {
    let file: SQLiteFile
    let rules: DurableRules

    /// Opens the file, and creates it if the options give enough of a policy.
    init(_ settings: Settings, _ subcommand: Subcommand) throws(Failure) {
        let policy = try NamespacePolicy(settings, subcommand)
        let missing = try settings.missingStore(for: subcommand)
        let new: DurableRules?
        do throws(Failure) {
            new = try policy.rulesForNewNamespace()
        } catch {
            // The store may have what is missing. Without a store, this is the better message.
            guard missing == nil else { throw error }
            new = nil
        }
        if let missing, new == nil {
            throw .usage(
                "there is no file \(missing) yet: its first use must give the policy, such as --wait 5s", subcommand)
        }
        let file = try settings.store(creates: new != nil, for: subcommand)
        let name = settings.namespace
        let answer = try file.write(for: subcommand) { transaction throws(DurableError) in
            try transaction.open(name, policy)
        }
        self.file = file
        rules = try answer.get()
    }
}

// MARK: - As options

extension DurableRules {
    /// Returns options such as `--wait 5s --max-wait 1m`: those that differ from the defaults, or from other rules.
    fileprivate func options(besides other: DurableRules) -> String {
        let isDebounce = policy.kind == .debounce
        var options = ["\(isDebounce ? "--wait" : "--throttle") \(DurationText.option(policy.wait))"]
        if let maxWait = policy.maxWait { options.append("--max-wait \(DurationText.option(maxWait))") }
        if let maxCount = policy.maxCount { options.append("--max-count \(maxCount)") }
        let usual: Edges = isDebounce ? .trailing : [.leading, .trailing]
        if policy.edges != usual || policy.kind == other.policy.kind && policy.edges != other.policy.edges {
            let names = [(Edges.leading, "leading"), (.trailing, "trailing")].filter { policy.edges.contains($0.0) }
            options.append("--edges \(names.map(\.1).joined(separator: ","))")
        }
        if isDebounce, policy.delayRule != .restart || policy.delayRule != other.policy.delayRule {
            options.append("--delay-rule \(policy.delayRule == .restart ? "restart" : "extend")")
        }
        if combination != .latest || combination != other.combination {
            options.append("--combine \(combination.name)")
        }
        if let maxBatch { options.append("--max-batch \(maxBatch)") }
        return options.joined(separator: " ")
    }
}

extension DurationText {
    /// Returns a duration as people write it: `1m`, not `60s`.
    fileprivate static func option(_ duration: CoreDuration) -> String {
        for (name, length) in [("h", Int64(3_600_000_000_000)), ("m", 60_000_000_000)] where duration > .zero {
            if duration.nanoseconds % length == 0 { return "\(duration.nanoseconds / length)\(name)" }
        }
        return exact(duration)
    }
}
