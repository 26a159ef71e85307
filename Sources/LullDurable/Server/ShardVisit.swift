internal import Lull
internal import LullCore

/// The calls that a worker makes together, and the answers of the shards.
struct ShardVisit: Sendable {
    let namespace: String
    let owner: Int64
    let reports: [DurableReport]
    let claim: DurableClaim?
    private var indices: [Int: [Int]] = [:]

    private(set) var answers: [Int: Result<DurableReport.Answer, DurableError>] = [:]
    private(set) var runs: [DurableRun] = []
    private(set) var dead: [DurableRun] = []
    private var nexts: [Int: CoreInstant] = [:]
    private(set) var present: CoreInstant?
    private(set) var pause: DurablePause?
    private(set) var error: DurableError?
    /// What may start, if the namespace is known to have a limit.
    var starts: Starts?
    /// Whether the shards say that it has one.
    private(set) var isLimited = false
    /// Whether all shards were asked.
    var isComplete = true

    init(
        namespace: String, owner: Int64, reports: [DurableReport], claim: DurableClaim?, shard: ([UInt8]) -> Int
    ) {
        self.namespace = namespace
        self.owner = owner
        self.reports = reports
        self.claim = claim
        for (index, report) in reports.enumerated() {
            indices[shard(report.key), default: []].append(index)
        }
    }

    /// When there may be more to claim; nil if nothing is left.
    var next: CoreInstant? { nexts.values.min().flatMap { $0 < .farFuture ? $0 : nil } }

    /// Returns whether a shard has more to claim now.
    func hasMore(_ shard: Int) -> Bool {
        if let next = nexts[shard], let present { next <= present } else { false }
    }

    mutating func fail(_ error: DurableError) { self.error = self.error ?? error }

    /// How many more runs the worker can take.
    var room: Int { min(roomOfWorker, starts?.unused ?? .max) }
    private var roomOfWorker: Int { max(0, (claim?.limit ?? 0) - runs.count) }
    /// Whether nothing more may start, though the worker has room.
    var waitsForLimit: Bool { roomOfWorker > 0 && starts?.unused == 0 }
    /// The shards whose reports have not been sent.
    var shardsWithReports: [Int] { indices.keys.sorted() }

    /// The claim in a shard, of so many runs at most. Those that an earlier round has handed out are known, too.
    func claim(in shard: Int, limit: Int) -> DurableClaim? {
        guard var claim else { return nil }
        claim.limit = limit
        claim.holding += runs.map(\.number)
        return claim
    }

    func reports(in shard: Int) -> [DurableReport] { (indices[shard] ?? []).map { reports[$0] } }

    /// Adds what the shards have answered.
    ///
    /// - Parameter limit: How many runs each was to hand out at most; nil if it was not to claim.
    mutating func add(
        _ answers: [Result<ShardAnswer, DurableError>], from shards: [Int], claiming limit: Int?
    ) {
        for (shard, answer) in zip(shards, answers) {
            let own = indices.removeValue(forKey: shard) ?? []
            switch answer {
            case .failure(let error):
                fail(error)
                // They may have started, and the answer was lost.
                starts?.use(limit ?? 0)
                for index in own { self.answers[index] = .failure(error) }
            case .success(let answer):
                for (place, index) in own.enumerated() { self.answers[index] = answer.reports[place] }
                if let error = answer.error { fail(error) }
                runs += answer.runs
                starts?.use(answer.runs.count)
                dead += answer.dead
                present = max(present ?? .farPast, answer.now)
                pause = pause ?? answer.pause
                if answer.isLimited { isLimited = true }
                if limit != nil { nexts[shard] = answer.next ?? .farFuture }
            }
        }
    }
}

/// What the limit of a namespace allows a worker to start.
struct Starts: Sendable {
    /// How many of them were not used yet, and how many were.
    private(set) var unused = 0
    private(set) var used = 0
    /// When more may start; nil if that is now.
    var next: CoreInstant?
    /// When they were allowed.
    var at: CoreInstant?
    /// What the limit had counted before, and after.
    var limit: RateLimit?
    var first = CoreInstant.farPast
    var last = CoreInstant.farPast

    init() {}

    init(_ count: Int, at instant: CoreInstant) {
        unused = count
        at = instant
    }

    /// Counts runs that were handed out. Those of a lost answer were counted before, and are lost to the limit.
    mutating func use(_ count: Int) {
        used += min(count, unused)
        unused = max(0, unused - count)
    }
}
