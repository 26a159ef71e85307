internal import LullCore

// The rules of a namespace as bytes, for stores that keep rows as bytes.

extension DurableRules {
    /// The rules as bytes.
    package var bytes: [UInt8] {
        var writer = RowBytesWriter()
        writer.byte(StoredRow.version)
        for part in parts {
            var number = part
            writer.optional("part", &number)
        }
        return writer.result
    }

    /// The rules as numbers: a store in SQL has them in this order.
    package var parts: [Int64?] {
        func number(_ number: Int?) -> Int64? { number.map { Int64($0) } }
        let interrupting: Int64 =
            switch whileRunning {
            case .queue: 0
            case .restart(interrupting: .whenDue): 1
            case .restart(interrupting: .whenSubmitted): 2
            }
        let combining: Int64 =
            switch combination {
            case .latest: 0
            case .first: 1
            case .collect: isMerging ? 3 : 2
            }
        return [
            policy.kind == .throttle ? 1 : 0, policy.wait.nanoseconds, policy.maxWait?.nanoseconds,
            Int64(policy.edges.rawValue), policy.delayRule == .extend ? 1 : 0, number(policy.maxCount),
            policy.spacing.nanoseconds, combining, number(maxBatch), number(limit?.starts), limit?.period.nanoseconds,
            number(limit?.burst), number(maxRunning), interrupting,
        ]
    }

    /// Reads rules.
    package init(_ bytes: [UInt8]) throws(DurableError) {
        var reader = RowBytesReader(bytes)
        try reader.version(StoredRow.version)
        var parts: [Int64?] = []
        for _ in 0..<14 {
            var number: Int64?
            try reader.optional("part", &number)
            parts.append(number)
        }
        try self.init(parts: parts)
    }

    /// Creates rules from their ``parts``.
    package init(parts: [Int64?]) throws(DurableError) {
        guard parts.count == 14 else { throw .unusable("the namespace has rules of another version") }
        func duration(_ index: Int) -> CoreDuration? { parts[index].map { CoreDuration(nanoseconds: $0) } }
        func count(_ index: Int) -> Int? { parts[index].map { Int(clamping: $0) } }
        let edges = Edges(rawValue: UInt8(clamping: parts[3] ?? 0))
        do {
            let policy: Policy =
                if parts[0] == 1 {
                    try .throttle(interval: duration(1) ?? .zero, edges: edges, maxCount: count(5))
                } else {
                    try .debounce(
                        wait: duration(1) ?? .zero, maxWait: duration(2), edges: edges,
                        delayRule: parts[4] == 1 ? .extend : .restart, maxCount: count(5),
                        spacing: duration(6).flatMap { $0 > .zero ? $0 : nil })
                }
            let combination: CombinationRule = parts[7] == 0 ? .latest : parts[7] == 1 ? .first : .collect
            let whileRunning: DurableOverlapPolicy =
                switch parts[13] {
                case 1: .restart(interrupting: .whenDue)
                case 2: .restart(interrupting: .whenSubmitted)
                default: .queue
                }
            try self.init(
                policy, combination: combination, isMerging: parts[7] == 3, maxBatch: count(8),
                limit: count(9).map { RateLimit(starts: $0, period: duration(10) ?? .zero, burst: count(11) ?? 1) },
                maxRunning: count(12), whileRunning: whileRunning)
        } catch {
            throw .unusable("the namespace has a policy that this version does not understand: \(error)")
        }
    }
}
