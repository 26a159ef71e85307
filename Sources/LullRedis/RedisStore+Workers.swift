internal import Lull
internal import LullCore
internal import LullDurable

// The calls of workers.

extension RedisStore {
    package func exchange(
        _ reports: [DurableReport], _ claim: DurableClaim?, by owner: Int64, in namespace: String
    ) async -> DurableExchange {
        let shards: Int
        do throws(DurableError) { shards = try await self.shards(of: namespace) } catch {
            return DurableExchange(reports, claim, failed: error)
        }
        var visit = Visit(namespace: namespace, owner: owner, shards: shards, reports: reports, claim: claim)
        if claim != nil, state.change({ $0.known.limited.contains(namespace) }) { await takeStarts(for: &visit) }
        if let claim {
            let turn = state.change { state in
                defer { state.known.turns[namespace] = (state.known.turns[namespace, default: -1] + 1) % shards }
                return state.known.turns[namespace, default: 0]
            }
            var rest = (0..<shards).map { ($0 + turn) % shards }
            var isFirst = true
            // Every shard at once, if each may hand out a run; otherwise as many as that at a time. The first has a say
            // even if the worker has no room: it may have runs without knowing.
            while !rest.isEmpty, isFirst || visit.room > 0 {
                let count = min(rest.count, max(visit.room, 1))
                let some = Array(rest.prefix(count))
                let limit = visit.room / count
                rest.removeFirst(count)
                visit.add(await answers(of: some, claiming: limit, visit), from: some, claiming: limit)
                if visit.isLimited, visit.starts == nil {
                    // Nothing was handed out: the namespace has a limit of which this store did not know.
                    state.change { _ = $0.known.limited.insert(namespace) }
                    if visit.error == nil { await takeStarts(for: &visit) }
                    // Without an answer from the first shard nothing starts.
                    if visit.starts == nil { break }
                    rest = some + rest
                    continue
                }
                isFirst = false
                if claim.limit == 0 { break }
                // Those that have more come again.
                rest += some.filter { visit.hasMore($0) }
            }
            visit.isComplete = rest.isEmpty || visit.waitsForLimit
        }
        let others = visit.shardsWithReports
        visit.add(await answers(of: others, claiming: nil, visit), from: others, claiming: nil)
        await giveBackStarts(of: visit)
        if visit.starts != nil, !visit.isLimited, visit.present != nil {
            state.change { _ = $0.known.limited.remove(namespace) }
        }
        return finish(visit)
    }

    // The limit of a namespace counts the starts of all its shards, in the first one.

    /// Takes as many starts as the worker has room for, and the limit allows.
    private func takeStarts(for visit: inout Visit) async {
        let room = visit.room
        guard room > 0 else { return visit.starts = Starts() }
        do throws(DurableError) {
            visit.starts = try await change(ShardPlace(visit.namespace, 0)) { meta in
                // Without a limit as many may start as were asked for; in a pause nothing starts or is counted.
                guard let limit = meta.rules.limit, meta.pause == nil else {
                    return (nil, [], Starts(meta.pause == nil ? room : 0, at: meta.now))
                }
                var limiter = RateLimiter(limit, after: meta.arrival ?? .farPast, at: meta.now)
                let count = limiter.allowed(room, at: meta.now)
                var starts = Starts(count, at: meta.now)
                starts.first = limiter.arrival
                for _ in 0..<count { limiter.start(at: meta.now) }
                (starts.last, starts.limit) = (limiter.arrival, limit)
                if limiter.next > meta.now { starts.next = limiter.next }
                // Also if none may start: what a stricter limit has counted is forgotten.
                guard limiter.arrival != meta.arrival ?? .farPast else { return (nil, [], starts) }
                return (KeyWrite(arrival: limiter.arrival), [meta.arrivalGuard], starts)
            }
        } catch {
            visit.fail(error)
        }
    }

    /// Gives back what was not used. What is not taken back, since others have taken some since, is lost to the limit.
    private func giveBackStarts(of visit: Visit) async {
        guard let starts = visit.starts, starts.unused > 0, let limit = starts.limit else { return }
        _ = try? await change(ShardPlace(visit.namespace, 0)) { meta in
            guard meta.arrival?.stored == starts.last.stored else { return (nil, [], ()) }
            var limiter = RateLimiter(limit, after: starts.first, at: starts.at ?? meta.now)
            for _ in 0..<starts.used { limiter.start(at: starts.at ?? meta.now) }
            return (KeyWrite(arrival: limiter.arrival), [meta.arrivalGuard], ())
        }
    }

    package func lookAtRuns(
        of worker: Int64, in namespace: String
    ) async throws(DurableError) -> (interrupted: [Int64], next: Duration?) {
        var found: (interrupted: [Int64], next: Duration?) = ([], nil)
        for place in try await places(of: namespace) {
            let answer = try await make(in: place, looksAt: worker).get()
            found.interrupted += answer.interruptions.runs
            guard let next = answer.interruptions.next else { continue }
            let time = DurableNamespace.time(from: answer.now, to: next)
            found.next = min(found.next ?? time, time)
        }
        return found
    }

    /// Makes the calls of a worker on some shards at once.
    private func answers(
        of shards: [Int], claiming limit: Int?, _ visit: Visit
    ) async -> [Result<ShardAnswer, DurableError>] {
        if let shard = shards.first, shards.count == 1 {
            return [await make(visit, in: shard, claiming: limit)]
        }
        return await withTaskGroup(of: (Int, Result<ShardAnswer, DurableError>).self) { group in
            for (index, shard) in shards.enumerated() {
                group.addTask { (index, await self.make(visit, in: shard, claiming: limit)) }
            }
            return await group.reduce(into: Array(repeating: .failure(.closed), count: shards.count)) {
                $0[$1.0] = $1.1
            }
        }
    }

    private func make(
        _ visit: Visit, in shard: Int, claiming limit: Int?
    ) async -> Result<ShardAnswer, DurableError> {
        let place = ShardPlace(visit.namespace, shard)
        let claim = limit.flatMap { visit.claim(in: shard, limit: $0) }
        let allowed = visit.starts.flatMap { _ in limit }
        let answer = await make(in: place, visit.reports(in: shard), claim, allowed: allowed)
        guard case .failure(.noPolicy) = answer, (try? await reopen(visit.namespace)) == true else { return answer }
        return await make(in: place, visit.reports(in: shard), claim, allowed: allowed)
    }

    private func make(
        in place: ShardPlace, _ reports: [DurableReport] = [], _ claim: DurableClaim? = nil, allowed: Int? = nil,
        looksAt worker: Int64? = nil
    ) async -> Result<ShardAnswer, DurableError> {
        await withCheckedContinuation { continuation in
            client.add(
                ShardExchange(
                    place, reports: reports, claim: claim, allowed: allowed, looksAt: worker,
                    deadline: .now + options.timeLimit
                ) { continuation.resume(returning: $0) })
        }
    }

    private func finish(_ visit: Visit) -> DurableExchange {
        let reports = visit.reports.indices.map {
            visit.answers[$0] ?? .failure(.notUnderstood)
        }
        guard let claim = visit.claim else {
            return DurableExchange(reports: reports, claim: nil)
        }
        noteClaim(in: claim.namespace, looksAtDue: claim.limit > 0 && visit.pause == nil && visit.error == nil)
        // What some shards have handed out counts, also if another one failed.
        if let error = visit.error, visit.runs.isEmpty {
            return DurableExchange(reports: reports, claim: .failure(error))
        }
        // A shard that has not answered may have more.
        let isSure = visit.error == nil && visit.isComplete
        let next = !isSure ? .farPast : visit.waitsForLimit ? visit.starts?.next : visit.next
        let wait = next.map { DurableNamespace.time(from: visit.present ?? $0, to: $0) }
        let isPaused = visit.pause != nil
        let mark = state.changeAndWake { $0.wakeSignal.announce(next, in: claim.namespace, isPaused: isPaused) }
        var answer = DurableClaim.Answer(
            runs: visit.runs, dead: visit.dead, next: wait, mark: mark, pause: visit.pause)
        // With a limit, the runs count as started when they were allowed, however late a shard has handed them out.
        answer.now = visit.starts?.at ?? visit.present
        return DurableExchange(reports: reports, claim: .success(answer))
    }
}

private struct Caller: Hashable {
    let owner: Int64
    let namespace: String
}

/// What the limit of a namespace allows a worker to start.
private struct Starts: Sendable {
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

extension KeyWrite {
    /// What the limit of a namespace has counted.
    fileprivate init(arrival: CoreInstant) {
        self.init()
        if arrival == .farPast { unset("arrival") } else { set("arrival", "\(arrival.stored)") }
    }
}

extension ShardMeta {
    /// What must be as it was for another start to be counted.
    fileprivate var arrivalGuard: [String] {
        ["HGET", Structure.meta.number, "arrival", arrival.map { "\($0.stored)" } ?? ""]
    }
}

/// The calls that a worker makes together, and the answers of the shards.
private struct Visit: Sendable {
    let namespace: String
    let owner: Int64
    let shards: Int
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

    init(namespace: String, owner: Int64, shards: Int, reports: [DurableReport], claim: DurableClaim?) {
        self.namespace = namespace
        self.owner = owner
        self.shards = shards
        self.reports = reports
        self.claim = claim
        for (index, report) in reports.enumerated() {
            indices[Shard.of(report.key, among: shards), default: []].append(index)
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
        claim.holding += runs.map(\.id)
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
