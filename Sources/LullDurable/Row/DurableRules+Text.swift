internal import LullCore

// The rules of a namespace in words, and what differs between two: errors and logs name it.

extension DurableRules {
    /// Whether a namespace with these rules can get others: only durations, counts and the delay rule may differ.
    package func canChange(to others: DurableRules) -> Bool {
        policy.kind == others.policy.kind && policy.edges == others.policy.edges && combination == others.combination
            && isMerging == others.isMerging && whileRunning == others.whileRunning
    }

    /// The settings by the names of the initialisers' parameters.
    private var settings: [(name: String, text: String)] {
        let isThrottle = policy.kind == .throttle
        let edges = [(Edges.leading, "leading"), (.trailing, "trailing")].filter { policy.edges.contains($0.0) }
        func text(_ count: Int?) -> String { count.map { "\($0)" } ?? "none" }
        let whileRunning =
            switch whileRunning {
            case .queue: "queue"
            case .restart(interrupting: .whenDue): "restart(interrupting: whenDue)"
            case .restart(interrupting: .whenSubmitted): "restart(interrupting: whenSubmitted)"
            }
        return [
            ("kind", isThrottle ? "throttle" : "debounce"),
            (isThrottle ? "interval" : "wait", policy.wait.text),
            ("maxWait", policy.maxWait?.text ?? "none"),
            ("edges", edges.map { $0.1 }.joined(separator: " and ")),
            ("delayRule", policy.delayRule == .extend ? "extend" : "restart"),
            ("maxCount", text(policy.maxCount)),
            ("spacing", policy.spacing == .zero ? "none" : policy.spacing.text),
            ("combining", isMerging ? "merge" : combination.name),
            ("maxBatch", text(maxBatch)),
            ("limit", limit.map { "\($0.starts) in \($0.period.text), burst \($0.burst)" } ?? "none"),
            ("maxRunning", text(maxRunning)),
            ("whileRunning", whileRunning),
        ]
    }

    /// The settings that other rules have otherwise: `wait: 2 s, here 5 s; maxCount: none, here 10`.
    ///
    /// - Parameter word: Stands before what the others have.
    func differences(from others: DurableRules, _ word: String) -> String {
        zip(settings, others.settings).filter { $0 != $1 }.map { own, other in
            let name = own.name == other.name ? "" : "\(other.name): "
            return "\(own.name): \(own.text), \(word) \(name)\(other.text)"
        }
        .joined(separator: "; ")
    }
}

extension DurableRules: CustomStringConvertible {
    /// The settings that are given: `kind: debounce, wait: 2 s, edges: trailing, delayRule: restart, …`.
    public var description: String {
        settings.filter { $0.text != "none" }.map { "\($0.name): \($0.text)" }.joined(separator: ", ")
    }
}

extension CombinationRule {
    /// The name of the combination, as options and stores write it.
    package var name: String {
        switch self {
        case .latest: "latest"
        case .first: "first"
        case .collect: "collect"
        }
    }
}
