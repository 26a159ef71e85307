internal import LullCore
internal import LullDurable

/// The options that give a policy, and how values are combined.
///
/// A new option is a property and an entry of ``fields``, which fills in, compares and shows all of them.
struct PolicyOptions: Equatable, Sendable {
    var wait: CoreDuration?
    var throttle: CoreDuration?
    var maxWait: CoreDuration?
    var maxCount: Int?
    var spacing: CoreDuration?
    var edges: Edges?
    var delayRule: DelayRule?
    var combination: Combination?
    var maxBatch: Int?

    static let fields = [
        Field(.wait, \.wait, of: { $0.policy.kind == .debounce ? $0.policy.wait : nil }, DurationText.option),
        Field(.throttle, \.throttle, of: { $0.policy.kind == .throttle ? $0.policy.wait : nil }, DurationText.option),
        Field(.maxWait, \.maxWait, of: { $0.policy.maxWait }, DurationText.option),
        Field(.maxCount, \.maxCount, of: { $0.policy.maxCount }, { "\($0)" }),
        Field(.spacing, \.spacing, of: { $0.policy.spacing > .zero ? $0.policy.spacing : nil }, DurationText.option),
        Field(.edges, \.edges, of: { $0.policy.edges }, default: { defaultEdges($0.policy.kind) }, { $0.option }),
        Field(
            .delayRule, \.delayRule, of: { $0.policy.kind == .debounce ? $0.policy.delayRule : nil },
            default: { _ in .restart }, { $0 == .restart ? "restart" : "extend" }),
        Field(.combine, \.combination, of: { $0.combination }, default: { _ in .latest }, { "\($0.name)" }),
        Field(.maxBatch, \.maxBatch, of: { $0.maxBatch }, { "\($0)" }),
    ]

    private static func defaultEdges(_ kind: Policy.Kind) -> Edges {
        kind == .debounce ? .trailing : [.leading, .trailing]
    }

    /// Whether no option is given.
    var isEmpty: Bool { self == PolicyOptions() }
    /// Whether the kind of policy and its interval are given, which is enough for a policy.
    var hasTiming: Bool { wait != nil || throttle != nil }

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
                    wait: wait, maxWait: maxWait, edges: edges ?? Self.defaultEdges(.debounce),
                    delayRule: delayRule ?? .restart, maxCount: maxCount, spacing: spacing)
            case (nil, let interval?):
                if maxWait != nil { throw Failure.usage("--max-wait has no meaning with --throttle", subcommand) }
                if delayRule != nil { throw Failure.usage("--delay-rule has no meaning with --throttle", subcommand) }
                if spacing != nil { throw Failure.usage("--spacing has no meaning with --throttle", subcommand) }
                return try .throttle(
                    interval: interval, edges: edges ?? Self.defaultEdges(.throttle), maxCount: maxCount)
            }
        } catch let failure as Failure {
            throw failure
        } catch PolicyError.maxWaitBelowWait(let maxWait, let wait) {
            throw .usage("--max-wait is \(maxWait), but must be at least the --wait of \(wait)", subcommand)
        } catch PolicyError.maxCountWithoutTrailing {
            throw .usage("--max-count needs the trailing edge: without it nothing is ever pending", subcommand)
        } catch PolicyError.spacingWithoutTrailing {
            throw .usage("--spacing needs the trailing edge: without it nothing can wait", subcommand)
        } catch {
            throw .usage("\(error)", subcommand)
        }
    }
}

extension PolicyOptions {
    /// An option: its property, its value in the rules of a namespace, and its text.
    struct Field: Sendable {
        let option: Option
        /// Copies the value from other options, unless it is given.
        let complete: @Sendable (inout PolicyOptions, PolicyOptions) -> Void
        /// Copies the value from rules.
        let copy: @Sendable (inout PolicyOptions, DurableRules) -> Void
        /// Returns the value in rules as an option such as `--wait 5s`; nil if it is the default there and in the other rules.
        let text: @Sendable (DurableRules, DurableRules) -> String?

        /// - Parameters:
        ///   - value: Returns the value in rules.
        ///   - defaultValue: Returns the default under the policy of the rules; nil if there is none, so that every value is shown.
        fileprivate init<Value: Equatable & Sendable>(
            _ option: Option, _ property: any WritableKeyPath<PolicyOptions, Value?> & Sendable,
            of value: @escaping @Sendable (DurableRules) -> Value?,
            default defaultValue: @escaping @Sendable (DurableRules) -> Value? = { _ in nil },
            _ text: @escaping @Sendable (Value) -> String
        ) {
            self.option = option
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
                return isDefault ? nil : "--\(option.name) \(text(shown))"
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

    /// Returns the options that give some rules, such as `--wait 5s --max-wait 1m`: those that differ from the defaults, or from
    /// other rules.
    static func text(_ rules: DurableRules, besides other: DurableRules) -> String {
        fields.compactMap { $0.text(rules, other) }.joined(separator: " ")
    }
}

extension Edges {
    /// The value of `--edges`.
    fileprivate var option: String {
        [(Edges.leading, "leading"), (.trailing, "trailing")].filter { contains($0.0) }.map(\.1).joined(separator: ",")
    }
}
