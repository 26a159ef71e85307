internal import LullCore
internal import LullDurable

/// The options that give a policy, and how values are combined.
///
/// A new option is a property and an entry of ``Option/all``: its field there fills in, compares and shows the
/// property.
struct PolicyOptions: Equatable, Sendable {
    var wait: CoreDuration?
    var throttle: CoreDuration?
    var maxWait: CoreDuration?
    var maxCount: Int?
    var spacing: CoreDuration?
    var edges: Edges?
    var delayRule: DelayRule?
    var combination: CombineRule?
    var maxBatch: Int?
    /// The most starts in a time, without the burst.
    var limit: RateLimit?
    var burst: Int?
    var maxRunning: Int?
    var whileRunning: OverlapPolicy?
    var interrupting: Interruption?

    static let fields = Option.all.compactMap(\.field)

    static func defaultEdges(_ kind: Policy.Kind) -> Edges {
        kind == .debounce ? .trailing : [.leading, .trailing]
    }

    var isEmpty: Bool { self == PolicyOptions() }
    /// Whether the kind of policy and its interval are given, which is enough for a policy.
    var hasTiming: Bool { wait != nil || throttle != nil }

    /// Returns the policy; throws if the options contradict each other.
    func policy(for subcommand: Subcommand) throws(Failure) -> Policy {
        if maxBatch != nil, combination?.combination != .collect {
            throw .usage(
                "--max-batch needs --combine collect or merge-json: otherwise an execution takes one value", subcommand)
        }
        // These may have come from a store, and of the others nothing is known here.
        let given = Self.fields.compactMap { field in field.given(self).map { (field.name, $0) } }
        try Option.check(Dictionary(given) { $1 }, subcommand, among: Self.fields.map(\.name))
        do throws(PolicyError) {
            switch (wait, throttle) {
            case (nil, nil): break
            case (let wait?, _):
                return try .debounce(
                    wait: wait, maxWait: maxWait, edges: edges ?? Self.defaultEdges(.debounce),
                    delayRule: delayRule ?? .restart, maxCount: maxCount, spacing: spacing)
            case (nil, let interval?):
                return try .throttle(
                    interval: interval, edges: edges ?? Self.defaultEdges(.throttle), maxCount: maxCount)
            }
        } catch {
            throw Failure(error, subcommand)
        }
        throw .usage("give a quiet period with --wait, or an interval with --throttle", subcommand)
    }

    var rateLimit: RateLimit? {
        limit.map { RateLimit(starts: $0.starts, period: $0.period, burst: burst ?? 1) }
    }

    /// The rule for values that fall due while an execution of their key is running; nil for the usual one.
    var runningRule: OverlapPolicy? {
        switch whileRunning {
        case .cancelRunning?: .cancelRunning(interrupting: interrupting ?? .whenDue)
        case .restart?: .restart(interrupting: interrupting ?? .whenDue)
        case let rule: rule
        }
    }

    /// Returns the same rule for a namespace.
    func storedRunningRule(for subcommand: Subcommand) throws(Failure) -> DurableOverlapPolicy {
        switch runningRule ?? .queue {
        case .queue: return .queue
        case .restart(let interrupting): return .restart(interrupting: interrupting)
        case .cancelRunning, .concurrent, .skip, .replace, .share:
            throw .usage("--while-running must be queue or restart with --store", subcommand)
        }
    }
}

extension PolicyOptions {
    /// An option: its property, its value in the rules of a namespace, and its text.
    struct Field: Sendable {
        let name: String
        /// Returns the value in some options; nil if it is not given.
        let given: @Sendable (PolicyOptions) -> String?
        /// Copies the value from other options, unless it is given.
        let complete: @Sendable (inout PolicyOptions, PolicyOptions) -> Void
        /// Copies the value from rules.
        let copy: @Sendable (inout PolicyOptions, DurableRules) -> Void
        /// Returns the value in rules as an option such as `--wait 5s`; nil if it is the default there and in the other
        /// rules.
        let text: @Sendable (DurableRules, DurableRules) -> String?

        /// Creates the field of an option, with the same parameters.
        init<Value: Equatable & Sendable>(
            _ name: String, _ property: any WritableKeyPath<PolicyOptions, Value?> & Sendable,
            of value: @escaping @Sendable (DurableRules) -> Value?,
            default defaultValue: @escaping @Sendable (DurableRules) -> Value?,
            _ text: @escaping @Sendable (Value) -> String
        ) {
            self.name = name
            given = { $0[keyPath: property].map(text) }
            complete = { options, others in
                options[keyPath: property] = options[keyPath: property] ?? others[keyPath: property]
            }
            copy = { options, rules in options[keyPath: property] = value(rules) }
            self.text = { rules, other in
                guard let shown = value(rules) else { return nil }
                // A default is shown if that tells the two apart.
                let isDefault =
                    shown == defaultValue(rules)
                    && (defaultValue(rules) != defaultValue(other) || shown == value(other) ?? shown)
                return isDefault ? nil : "--\(name) \(text(shown))"
            }
        }
    }

    /// Returns the options that give these rules.
    init(_ rules: DurableRules) {
        for field in Self.fields { field.copy(&self, rules) }
    }

    /// Returns these options, with missing ones taken from others.
    func completed(by others: PolicyOptions) -> PolicyOptions {
        var all = self
        for field in Self.fields { field.complete(&all, others) }
        return all
    }

    /// Returns the options that give some rules, such as `--wait 5s --max-wait 1m`: those that differ from the
    /// defaults, or from other rules.
    static func text(_ rules: DurableRules, besides other: DurableRules) -> String {
        fields.compactMap { $0.text(rules, other) }.joined(separator: " ")
    }
}

extension Failure {
    /// What is wrong with a policy, in terms of options.
    init(_ error: PolicyError, _ subcommand: Subcommand) {
        let message =
            switch error.code {
            case .maxWaitBelowWait:
                "\(error)".replacing("the maxWait", with: "--max-wait").replacing("the wait", with: "the --wait")
            case .maxCountWithoutTrailing: "--max-count needs the trailing edge: without it nothing is ever pending"
            case .spacingWithoutTrailing: "--spacing needs the trailing edge: without it nothing can wait"
            case .burstOutOfRange:
                "\(error)".replacing("the burst", with: "--burst").replacing("the limit", with: "the --limit")
            default: "\(error)"
            }
        self = .usage(message, subcommand)
    }
}
