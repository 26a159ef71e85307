internal import LullCore

/// A policy in the words of the command: `--wait 300ms --max-wait 2s`. What is not said has its default.
enum PolicyWords {
    /// - Parameter policy: That of the setup, perhaps with another wait.
    static func text(_ setup: Setup, _ policy: Policy) -> String {
        var words: [String] = []
        func add(_ option: StaticString, _ value: String) { words.append("--\(option) \(value)") }
        func add(_ option: StaticString, _ duration: CoreDuration?) {
            if let duration { add(option, text(duration)) }
        }
        func add(_ option: StaticString, _ number: Int?) {
            if let number { add(option, "\(number)") }
        }
        let isDebounce = policy.kind == .debounce
        add(isDebounce ? "wait" : "throttle", policy.wait)
        add("max-wait", policy.maxWait)
        add("max-count", policy.maxCount)
        if policy.spacing > .zero { add("spacing", policy.spacing) }
        if policy.edges != (isDebounce ? .trailing : [.leading, .trailing]) { add("edges", name(of: policy.edges)) }
        if isDebounce, policy.delayRule == .extend { add("delay-rule", "extend") }
        switch setup.combination {
        case .latest: break
        case .first: add("combine", "first")
        // Merging is the same until the handler is called.
        case .collect: add("combine", "collect")
        }
        add("max-batch", limited(setup.maxBatch))
        if let limit = setup.limit {
            add("limit", "\(limit.starts)/\(text(limit.period))")
            if limit.burst > 1 { add("burst", limit.burst) }
        }
        if setup.timeLimit < .infinite { add("time-limit", setup.timeLimit) }
        switch setup.whileRunning {
        case .queue: break
        case .cancelRunning(let interrupting): addInterrupting("cancel", interrupting)
        case .restart(let interrupting): addInterrupting("restart", interrupting)
        case .concurrent: add("while-running", "concurrent")
        case .skip: add("while-running", "skip")
        case .replace: add("while-running", "replace")
        case .share: add("while-running", "share")
        }
        func addInterrupting(_ rule: String, _ interrupting: Interruption) {
            add("while-running", rule)
            if interrupting == .whenSubmitted { add("interrupt", "submit") }
        }
        add("jobs", limited(setup.maxConcurrent))
        add("max-keys", limited(setup.capacity))
        return words.joined(separator: " ")
    }

    /// Returns a duration as people write it: `1m`, not `60s`.
    private static func text(_ duration: CoreDuration) -> String {
        for (name, length) in [("h", Int64(3_600_000_000_000)), ("m", 60_000_000_000)]
        where duration > .zero && duration.nanoseconds % length == 0 {
            return "\(duration.nanoseconds / length)\(name)"
        }
        return "\(duration)"
    }

    private static func limited(_ number: Int) -> Int? { number == .max ? nil : number }

    private static func name(of edges: Edges) -> String {
        edges == .leading ? "leading" : edges == .trailing ? "trailing" : "both"
    }
}
