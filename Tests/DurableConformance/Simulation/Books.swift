internal import LullReference

/// The simulation's own records, independent of the rules of the store: what was acknowledged, which worker has what,
/// and what was completed.
struct Books {
    private struct Holding {
        var run: Int
        var fence: Int
        var owner: Int
        var until: Int
    }

    private var holdings: [String: Holding] = [:]
    private var completed: [String: [ClosedRange<Int>]] = [:]
    /// Every submit that its producer knows to be recorded.
    private(set) var acknowledged: [(key: String, number: Int)] = []
    private var ranges: [Int: ClosedRange<Int>] = [:]

    mutating func acknowledge(_ key: String, _ number: Int) { acknowledged.append((key, number)) }

    /// Records that a worker has a run until its lease ends.
    ///
    /// - Returns: The rule that this breaks, if any.
    mutating func give(_ handed: DurableReference.Handed, to owner: Int, at now: Int, until end: Int) -> String? {
        defer {
            holdings[handed.key] = Holding(run: handed.run, fence: handed.fence, owner: owner, until: end)
            ranges[handed.run] = handed.numbers
        }
        if handed.due > now { return "\(handed) starts before it is due, at \(now)" }
        if let range = ranges[handed.run], range != handed.numbers { return "\(handed) had the range \(range) before" }
        if let done = completed[handed.key]?.first(where: { $0.overlaps(handed.numbers) }) {
            return "\(handed) starts, but \(done) has been completed"
        }
        guard let old = holdings[handed.key], old.until > now else { return nil }
        if old.run != handed.run { return "\(handed) starts while run \(old.run) is leased until \(old.until)" }
        if old.owner != owner { return "\(handed) is given to \(owner) while \(old.owner) has it" }
        return old.fence < handed.fence ? nil : "\(handed) has no newer fence than \(old.fence)"
    }

    /// Records an accepted report of a worker.
    mutating func accept(_ kind: DurableReference.ReportKind, _ key: String, _ run: Int, at now: Int) -> String? {
        if case .heartbeat(let lease) = kind {
            holdings[key]?.until = now + lease
            return nil
        }
        if kind == .overdue { return nil }
        holdings[key] = nil
        guard kind == .completed, let range = ranges[run] else { return nil }
        if let done = completed[key]?.first(where: { $0.overlaps(range) }) {
            return "\(range) and \(done) are completed"
        }
        completed[key, default: []].append(range)
        return nil
    }

    /// Whether a submit was part of what was completed.
    func isCompleted(_ key: String, _ number: Int) -> Bool {
        completed[key]?.contains { $0.contains(number) } == true
    }

    /// How many runs were completed.
    var executions: Int { completed.values.reduce(0) { $0 + $1.count } }
}
