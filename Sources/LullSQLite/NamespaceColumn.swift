internal import Lull
internal import LullCore
internal import LullDurable

// Namespaces and their rules in the table `namespaces`.

/// The columns of a namespace, in the order in which they are read. Those after `name` are its rules, but for those of
/// its pause.
enum NamespaceColumn: Int32, Column, CaseIterable {
    case id, name, kind, wait, maxWait, edges, delayRule, maxCount, combination, maxBatch, spacing, restart
    case starts, period, burst, maxRunning, merges
    case paused, pauseReason, pausedUntil

    /// The columns that are written when a namespace is opened.
    static let ofRules = allCases.filter { ![.id, .name, .paused, .pauseReason, .pausedUntil].contains($0) }

    /// The name of the column in the file.
    var sqlName: String {
        switch self {
        case .id: "id"
        case .name: "name"
        case .kind: "kind"
        case .wait: "wait"
        case .maxWait: "max_wait"
        case .edges: "edges"
        case .delayRule: "delay_rule"
        case .maxCount: "max_count"
        case .combination: "combination"
        case .maxBatch: "max_batch"
        case .spacing: "spacing"
        case .restart: "restart"
        case .starts: "starts"
        case .period: "period"
        case .burst: "burst"
        case .maxRunning: "max_running"
        case .merges: "merges"
        case .paused: "paused"
        case .pauseReason: "pause_reason"
        case .pausedUntil: "paused_until"
        }
    }
}

extension Connection {
    /// Reads a namespace; nil if it does not exist.
    func namespace(named name: String) throws(DurableError) -> DurableNamespace? {
        let statement = try self[.namespaceByName]
        defer { statement.reset() }
        statement.bind(":name", text: name)
        return try statement.next() ? try statement.namespace() : nil
    }

    /// Returns a namespace from a cache, which is valid until another connection commits: reading a policy takes as
    /// long as half a submit. Requires an open transaction.
    func cachedNamespace(_ name: String) throws(DurableError) -> DurableNamespace? {
        let version = try number(.dataVersion)
        if version != namespaceCache.version { namespaceCache = (version, [:]) }
        if let namespace = namespaceCache.namespaces[name] { return namespace }
        let found = try namespace(named: name)
        namespaceCache.namespaces[name] = found
        return found
    }

    /// Empties the cache: this connection, or a transaction of it that was rolled back, may have changed namespaces.
    func clearNamespaceCache() { namespaceCache.namespaces = [:] }

    private func number(_ query: Query) throws(DurableError) -> Int64 {
        let statement = try self[query]
        defer { statement.reset() }
        return try statement.next() ? statement.integer(0) : 0
    }

    /// Reads all namespaces, in the order of their names.
    func namespaces() throws(DurableError) -> [DurableNamespace] {
        let statement = try self[.allNamespaces]
        defer { statement.reset() }
        var namespaces: [DurableNamespace] = []
        while try statement.next() { namespaces.append(try statement.namespace()) }
        return namespaces
    }

    /// Writes a new namespace, or new rules of one.
    func write(_ rules: DurableRules, of name: String, isNew: Bool) throws(DurableError) {
        let policy = rules.policy
        let statement = try self[isNew ? .insertNamespace : .updateNamespace]
        statement.bind(":kind", text: policy.kind == .debounce ? "debounce" : "throttle")
        statement.bind(":wait", policy.wait.nanoseconds)
        statement.bind(":max_wait", policy.maxWait?.nanoseconds)
        let edges = [(Edges.leading, "leading"), (.trailing, "trailing")].filter { policy.edges.contains($0.0) }
        statement.bind(":edges", text: edges.map(\.1).joined(separator: ","))
        statement.bind(":delay_rule", text: policy.delayRule == .restart ? "restart" : "extend")
        statement.bind(":max_count", policy.maxCount.map { Int64($0) })
        statement.bind(":combination", text: rules.combination.name)
        statement.bind(":max_batch", rules.maxBatch.map { Int64($0) })
        statement.bind(":spacing", policy.spacing == .zero ? nil : policy.spacing.nanoseconds)
        statement.bind(":restart", text: rules.whileRunning.name)
        statement.bind(":starts", rules.limit.map { Int64($0.starts) })
        statement.bind(":period", rules.limit?.period.nanoseconds)
        statement.bind(":burst", rules.limit.map { Int64($0.burst) })
        statement.bind(":max_running", rules.maxRunning.map { Int64($0) })
        statement.bind(":merges", rules.isMerging ? 1 : 0)
        statement.bind(":name", text: name)
        try statement.run()
    }
}

extension Connection {
    /// Writes the pause of a namespace; nil ends it.
    func write(_ pause: DurablePause?, of namespace: DurableNamespace) throws(DurableError) {
        let statement = try self[.writePause]
        statement.bind(":paused", pause.map { CoreDuration($0.time).nanoseconds })
        statement.bind(":reason", text: pause?.reason)
        statement.bind(":until", pause?.end?.nanoseconds)
        statement.bind(":namespace", namespace.id)
        try statement.run()
    }
}

extension Statement {
    /// Reads the namespace in the current row.
    fileprivate func namespace() throws(DurableError) -> DurableNamespace {
        let name = text(NamespaceColumn.name)
        do {
            let rules = try DurableRules(
                try policy(), combination: try combination(), isMerging: integer(NamespaceColumn.merges) != 0,
                maxBatch: integerOrNull(NamespaceColumn.maxBatch).map { Int($0) }, limit: limit(),
                maxRunning: integerOrNull(NamespaceColumn.maxRunning).map { Int($0) },
                whileRunning: try whileRunning())
            let pause = integerOrNull(NamespaceColumn.paused).map { time in
                DurablePause(
                    reason: textOrNull(NamespaceColumn.pauseReason), time: .nanoseconds(time),
                    end: integerOrNull(NamespaceColumn.pausedUntil).map(CoreInstant.init(nanoseconds:)))
            }
            return DurableNamespace(id: integer(NamespaceColumn.id), name: name, rules: rules, latestPause: pause)
        } catch let error as DurableError {
            throw error
        } catch {
            throw connection.damage("a policy of the namespace \(name) that breaks a rule: \(error)")
        }
    }

    private func limit() -> RateLimit? {
        integerOrNull(NamespaceColumn.starts).map { starts in
            RateLimit(
                starts: Int(starts), period: CoreDuration(nanoseconds: integer(NamespaceColumn.period)),
                burst: Int(integer(NamespaceColumn.burst)))
        }
    }

    private func policy() throws -> Policy {
        var edges: Edges = []
        for edge in text(NamespaceColumn.edges).split(separator: ",") {
            switch edge {
            case "leading": edges.insert(.leading)
            case "trailing": edges.insert(.trailing)
            default: throw connection.damage("the edge '\(edge)'")
            }
        }
        let wait = CoreDuration(nanoseconds: integer(NamespaceColumn.wait))
        let maxCount = integerOrNull(NamespaceColumn.maxCount).map { Int($0) }
        switch text(NamespaceColumn.kind) {
        case "debounce":
            return try .debounce(
                wait: wait, maxWait: integerOrNull(NamespaceColumn.maxWait).map(CoreDuration.init(nanoseconds:)),
                edges: edges, delayRule: text(NamespaceColumn.delayRule) == "extend" ? .extend : .restart,
                maxCount: maxCount, spacing: integerOrNull(NamespaceColumn.spacing).map(CoreDuration.init(nanoseconds:))
            )
        case "throttle": return try .throttle(interval: wait, edges: edges, maxCount: maxCount)
        case let kind: throw connection.damage("the policy '\(kind)'")
        }
    }

    private func whileRunning() throws(DurableError) -> DurableOverlapPolicy {
        let name = textOrNull(NamespaceColumn.restart)
        guard let rule = DurableOverlapPolicy(name: name) else {
            throw connection.damage("the rule '\(name ?? "")' for running runs")
        }
        return rule
    }

    private func combination() throws(DurableError) -> CombinationRule {
        switch text(NamespaceColumn.combination) {
        case "latest": .latest
        case "first": .first
        case "collect": .collect
        case let name: throw connection.damage("the combination '\(name)'")
        }
    }
}
