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
        guard visit.room > 0 else { return visit.starts = Starts() }
        do throws(DurableError) {
            let reply = try await run(
                .starts, in: visit.namespace, 0, isRepeatable: false, Command("\(visit.room)", ""))
            visit.starts = Starts(reply)
        } catch {
            visit.fail(error)
        }
    }

    /// Gives back what was not used. What is not taken back, since others have taken some since, is lost to the limit.
    private func giveBackStarts(of visit: Visit) async {
        guard let starts = visit.starts, starts.unused > 0 else { return }
        _ = try? await run(
            .starts, in: visit.namespace, 0, isRepeatable: false, Command("\(-starts.unused)", starts.token))
    }

    package func lookAtRuns(
        of worker: Int64, in namespace: String
    ) async throws(DurableError) -> (interrupted: [Int64], next: Duration?) {
        var found: (interrupted: [Int64], next: Duration?) = ([], nil)
        for shard in 0..<(try await shards(of: namespace)) {
            let reply = try await run(.interruptions, in: namespace, shard, Command("\(worker)"))
            found.interrupted += (reply[1].list ?? []).compactMap(\.number)
            guard let now = reply[0].number, let next = reply[2].number else { continue }
            let time = DurableNamespace.time(from: CoreInstant(stored: now), to: CoreInstant(stored: next))
            found.next = min(found.next ?? time, time)
        }
        return found
    }

    /// Runs the script for workers on some shards at once.
    private func answers(
        of shards: [Int], claiming limit: Int?, _ visit: Visit
    ) async -> [Result<Reply, DurableError>] {
        await withTaskGroup(of: (Int, Result<Reply, DurableError>).self) { group in
            for (index, shard) in shards.enumerated() {
                let arguments = visit.arguments(for: shard, claiming: limit)
                group.addTask {
                    do throws(DurableError) {
                        return (index, .success(try await self.run(.work, in: visit.namespace, shard, arguments)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            return await group.reduce(into: Array(repeating: .failure(.closed), count: shards.count)) {
                $0[$1.0] = $1.1
            }
        }
    }

    private func finish(_ visit: Visit) -> DurableExchange {
        let reports = visit.reports.indices.map {
            visit.answers[$0] ?? .failure(.notUnderstood)
        }
        guard let claim = visit.claim else {
            if let next = visit.next { state.signal(next, in: visit.namespace) }
            return DurableExchange(reports: reports, claim: nil)
        }
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

/// What the limit of a namespace allows a worker to start.
private struct Starts: Sendable {
    /// How many of them were not used yet.
    private(set) var unused = 0
    /// When more may start; nil if that is now.
    var next: CoreInstant?
    /// What is to be given back with those that are not used.
    var token = ""
    /// When they were allowed.
    var at: CoreInstant?

    init() {}

    init(_ reply: Reply) {
        unused = Int(reply[0].number ?? 0)
        at = reply[1].number.map { CoreInstant(stored: $0) }
        next = reply[2].number.map { CoreInstant(stored: $0) }
        token = reply[3].text ?? ""
    }

    /// Counts runs that were handed out. Those of a lost answer were counted before, and are lost to the limit.
    mutating func use(_ count: Int) { unused = max(0, unused - count) }
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

    func arguments(for shard: Int, claiming limit: Int?) -> Command {
        var arguments = Command("\(owner)")
        arguments.add(limit.map { Int64($0) })
        arguments.add(claim?.terms.lease.stored)
        arguments.add(claim.map { Int64(clamping: min($0.terms.maxAttempts, 1 << 52)) })
        // As many as it takes, which no other shard is told.
        arguments.add(starts.flatMap { _ in limit.map { Int64($0) } })
        // Those that an earlier round has handed out are known, too.
        let holding = ((claim?.holding ?? []) + runs.map(\.id)).filter { Int($0 % Int64(shards)) == shard }
        arguments.add("\(holding.count)")
        for run in holding { arguments.add(run) }
        for report in (indices[shard] ?? []).map({ reports[$0] }) {
            arguments.add(report.key)
            arguments.add(report.run)
            arguments.add(report.fence)
            switch report.kind {
            case .heartbeat(let lease):
                arguments.add("heartbeat")
                arguments.add(lease.stored)
                arguments.add("")
            case .completed: for part in ["completed", "", ""] { arguments.add(part) }
            case .failed(let error, let retry):
                arguments.add("failed")
                arguments.add(retry?.stored)
                arguments.add(error)
            case .released: for part in ["released", "", ""] { arguments.add(part) }
            case .interrupted: for part in ["interrupted", "", ""] { arguments.add(part) }
            }
        }
        return arguments
    }

    /// Adds what the shards have answered.
    ///
    /// - Parameter limit: How many runs each was to hand out at most; nil if it was not to claim.
    mutating func add(
        _ replies: [Result<Reply, DurableError>], from shards: [Int], claiming limit: Int?
    ) {
        for (shard, reply) in zip(shards, replies) {
            let own = indices.removeValue(forKey: shard) ?? []
            switch reply {
            case .failure(let error):
                self.error = self.error ?? error
                // They may have started, and the answer was lost.
                starts?.use(limit ?? 0)
                for index in own { answers[index] = .failure(error) }
            case .success(let reply):
                for (place, index) in own.enumerated() {
                    answers[index] = Result(number: reply[0][place].number)
                }
                let handed = (reply[1].list ?? []).map { DurableRun($0) }
                runs += handed
                starts?.use(handed.count)
                dead += (reply[2].list ?? []).map { DurableRun($0) }
                if let number = reply[3].number { present = max(present ?? .farPast, CoreInstant(stored: number)) }
                if let pause = DurablePause(stored: reply[5].bytes) { self.pause = self.pause ?? pause }
                if reply[6].number == 1 { isLimited = true }
                nexts[shard] = reply[4].number.map { CoreInstant(stored: $0) } ?? .farFuture
            }
        }
    }
}

extension DurableRun {
    /// Reads a run as the script for workers answers with it.
    fileprivate init(_ reply: Reply) {
        func number(_ index: Int) -> Int64 { reply[index].number ?? 0 }
        self.init(
            key: reply[0].bytes ?? [], stored: (reply[10].list ?? []).map { $0.bytes ?? [] }, id: number(1),
            fence: number(2), submits: number(3)...max(number(3), number(4)), count: Int(number(5)),
            edge: Edge(stored: number(6)), due: CoreInstant(stored: number(7)), first: CoreInstant(stored: number(8)),
            attempt: Int(number(9)))
    }
}
