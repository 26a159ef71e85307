internal import Lull
internal import LullCore

// The calls of workers: each shard gets those that concern its keys, and hands out its share.

extension ShardedStore {
    package func exchange(
        _ reports: [DurableReport], _ claim: DurableClaim?, by owner: Int64, in namespace: String
    ) async -> DurableExchange {
        let shards: Int
        do throws(DurableError) { shards = try await self.shards(of: namespace) } catch {
            return DurableExchange(reports, claim, failed: error)
        }
        var visit = ShardVisit(namespace: namespace, owner: owner, reports: reports, claim: claim) { key in
            shard(of: key, among: shards)
        }
        if claim != nil, state.change({ $0.limited.contains(namespace) }) { await takeStarts(for: &visit) }
        if let claim {
            let turn = state.change { state in
                defer { state.turns[namespace] = (state.turns[namespace, default: -1] + 1) % shards }
                return state.turns[namespace, default: 0]
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
                    state.change { _ = $0.limited.insert(namespace) }
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
            state.change { _ = $0.limited.remove(namespace) }
        }
        return finish(visit)
    }

    // The limit of a namespace counts the starts of all its shards, in the first one.

    /// Takes as many starts as the worker has room for, and the limit allows.
    private func takeStarts(for visit: inout ShardVisit) async {
        let room = visit.room
        guard room > 0 else { return visit.starts = Starts() }
        let place = ShardPlace(visit.namespace, 0)
        do throws(DurableError) {
            while true {
                let meta = try await meta(of: place)
                // Without a limit as many may start as were asked for; in a pause nothing starts or is counted.
                guard let limit = meta.rules.limit, meta.pause == nil else {
                    return visit.starts = Starts(meta.pause == nil ? room : 0, at: meta.now)
                }
                var limiter = RateLimiter(limit, after: meta.arrival ?? .farPast, at: meta.now)
                let count = limiter.allowed(room, at: meta.now)
                var starts = Starts(count, at: meta.now)
                starts.first = limiter.arrival
                for _ in 0..<count { limiter.start(at: meta.now) }
                (starts.last, starts.limit) = (limiter.arrival, limit)
                if limiter.next > meta.now { starts.next = limiter.next }
                visit.starts = starts
                // Also if none may start: what a stricter limit has counted is forgotten.
                if limiter.arrival == meta.arrival ?? .farPast { return }
                if try await setArrival(limiter.arrival, after: meta, in: place) { return }
            }
        } catch {
            visit.starts = nil
            visit.fail(error)
        }
    }

    /// Gives back what was not used. What is not taken back, since others have taken some since, is lost to the limit.
    private func giveBackStarts(of visit: ShardVisit) async {
        guard let starts = visit.starts, starts.unused > 0, let limit = starts.limit else { return }
        let place = ShardPlace(visit.namespace, 0)
        guard let meta = try? await meta(of: place), meta.arrival?.microseconds == starts.last.microseconds else {
            return
        }
        var limiter = RateLimiter(limit, after: starts.first, at: starts.at ?? meta.now)
        for _ in 0..<starts.used { limiter.start(at: starts.at ?? meta.now) }
        _ = try? await setArrival(limiter.arrival, after: meta, in: place)
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
        of shards: [Int], claiming limit: Int?, _ visit: ShardVisit
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
        _ visit: ShardVisit, in shard: Int, claiming limit: Int?
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
            add(
                ShardExchange(
                    place, reports: reports, claim: claim, allowed: allowed, looksAt: worker,
                    deadline: .now + options.timeLimit
                ) { continuation.resume(returning: $0) })
        }
    }

    private func finish(_ visit: ShardVisit) -> DurableExchange {
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
