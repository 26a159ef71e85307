package import LullCore

/// The calls of a worker in one shard: its reports, a claim, and a look at its runs.
package struct ShardExchange: Sendable {
    package let place: ShardPlace
    package let reports: [DurableReport]
    package let claim: DurableClaim?
    /// How many runs the limit of the namespace allows, over all shards; nil if nobody has asked.
    package let allowed: Int?
    /// The worker whose interrupted runs are looked for; nil for none.
    package let looksAt: Int64?
    package let deadline: ContinuousClock.Instant
    package let answer: @Sendable (Result<ShardAnswer, DurableError>) -> Void

    package init(
        _ place: ShardPlace, reports: [DurableReport] = [], claim: DurableClaim? = nil, allowed: Int? = nil,
        looksAt: Int64? = nil, deadline: ContinuousClock.Instant,
        answer: @escaping @Sendable (Result<ShardAnswer, DurableError>) -> Void
    ) {
        (self.place, self.reports, self.claim, self.allowed) = (place, reports, claim, allowed)
        (self.looksAt, self.deadline, self.answer) = (looksAt, deadline, answer)
    }

    /// The workers whose calls these are: usually one.
    var owners: Set<Int64> { Set(reports.map(\.owner)).union(claim.map { [$0.terms.owner] } ?? []) }

    func make(_ table: inout LoadedTable) -> ShardAnswer {
        var answer = ShardAnswer()
        answer.now = table.now
        answer.pause = table.namespace.pause(at: table.now)
        answer.isLimited = table.namespace.rules.limit != nil
        answer.reports = reports.map { table.answer(to: $0) }
        do throws(DurableError) {
            // Without a word about the limit nothing starts.
            if var claim, allowed != nil || !answer.isLimited {
                claim.limit = min(claim.limit, allowed ?? .max)
                var namespace = table.namespace
                namespace.rules = namespace.rules.withoutLimit
                (answer.runs, answer.dead, answer.next) = try table.claim(claim, in: namespace, at: table.now)
            }
            if let looksAt {
                answer.interruptions = try table.interruptions(
                    of: looksAt, besides: [], in: table.namespace, at: table.now)
            }
        } catch {
            answer.error = error
        }
        return answer
    }
}

/// The answers of a shard to the calls of a worker.
package struct ShardAnswer: Sendable {
    package var reports: [Result<DurableReport.Answer, DurableError>] = []
    package var runs: [DurableRun] = []
    package var dead: [DurableRun] = []
    /// When there may be more to claim; nil if nothing is left.
    package var next: CoreInstant?
    package var now = CoreInstant.origin
    package var pause: DurablePause?
    package var isLimited = false
    package var interruptions = DurableInterruptions()
    package var error: DurableError?

    package init() {}

    /// Returns what is left without the runs of some keys, which may be claimed again at once.
    func without(_ keys: Set<[UInt8]>) -> ShardAnswer {
        if keys.isEmpty { return self }
        var answer = self
        answer.runs.removeAll { keys.contains($0.key) }
        answer.dead.removeAll { keys.contains($0.key) }
        answer.next = min(answer.next ?? now, now)
        return answer
    }
}

extension LoadedTable {
    mutating func answer(to report: DurableReport) -> Result<DurableReport.Answer, DurableError> {
        do throws(DurableError) { return .success(try self.report(report, in: namespace, at: now)) } catch {
            return .failure(error)
        }
    }
}

extension DurableRun {
    /// Adds the values, as the store holds them.
    mutating func fill(_ stored: [[UInt8]]) { (values, context) = StoredValue.parts(of: stored) }
}
