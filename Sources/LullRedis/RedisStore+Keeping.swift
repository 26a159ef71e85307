internal import Lull
internal import LullCore
package import LullDurable

// What a store does now and then: it forgets what is old, and moves rows back that a clock which was ahead has written.

extension RedisStore {
    /// Does a little of that if it is due: every ten seconds, and sooner while there is more. Callers do not wait for
    /// it, except in tests.
    package func forgetSome() async { await keep(now: false) }

    /// - Parameter isDue: Whether it is done in any case.
    func keep(now isDue: Bool) async {
        let isTest = options.now != nil
        guard state.change({ $0.beginsForgetting(now: isDue || isTest) }) else { return }
        if isTest || isDue { return await keepSome() }
        Task { [weak self] in await self?.keepSome() }
    }

    private func keepSome() async {
        for place in state.change({ $0.known.behind.keys.sorted { $0.shard < $1.shard } }) {
            try? await moveBack(place)
        }
        guard let place = await nextPlace() else { return }
        try? await fold(place)
        let looked = (try? await forgetEnds(of: place)) ?? 0
        let dropped = (try? await forgetAnswers(of: place)) ?? 0
        if max(looked, dropped) >= Self.mostForgotten { state.change { $0.forgetSoon() } }
    }

    /// How much is looked at in one step.
    private static let mostForgotten = 500

    /// The shard that is next.
    private func nextPlace() async -> ShardPlace? {
        state.change { state in
            let places = state.known.shards.flatMap { name, count in (0..<count).map { ShardPlace(name, $0) } }
                .sorted { ($0.namespace, $0.shard) < ($1.namespace, $1.shard) }
            guard !places.isEmpty else { return nil }
            state.known.forgettingTurn = (state.known.forgettingTurn + 1) % places.count
            return places[state.known.forgettingTurn]
        }
    }

    /// Returns the members of a sorted set that are too old, or too many: the oldest, without the sentinel.
    private func oldest(
        _ structure: Structure, in place: ShardPlace, before instant: CoreInstant, after offset: Int = 0
    ) async throws(DurableError) -> [[UInt8]] {
        let most = Self.mostForgotten
        let replies = try await ask(
            [
                .command(Command("ZCARD", place.key(structure))),
                .command(
                    Command(
                        "ZRANGEBYSCORE", place.key(structure), "-inf", "(\(instant.microseconds)", "LIMIT",
                        "\(offset)", "\(most)")),
            ], in: place.namespace)
        let surplus = min(most, Int(replies[0].number ?? 0) - 1 - Self.mostEnds)
        var members = (replies[1].list ?? []).compactMap(\.bytes)
        if surplus > members.count {
            let found = try await ask(
                Command("ZRANGE", place.key(structure), "0", "\(surplus - 1)"), in: place.namespace)
            members = (found.list ?? []).compactMap(\.bytes)
        }
        return members
    }

    /// Deletes some ends that are old. Those of a key stay while it has a dead run, or a run that may still die: they
    /// decide whether that run is outdated.
    private func forgetEnds(of place: ShardPlace) async throws(DurableError) -> Int {
        let meta = try await recordIfThere(of: place)
        let limit = meta.now.advanced(by: .nanoseconds(-CoreDuration(options.limits.retention).nanoseconds))
        // Those that stay are passed over until all have been looked at.
        let offset = state.change { $0.known.kept[place] ?? 0 }
        let members = try await oldest(.ended, in: place, before: limit, after: offset)
        var write = KeyWrite()
        var keys: [[UInt8]: Bool] = [:]
        var kept = 0
        for member in members {
            let (key, _) = try EndMember.parts(member)
            let stays: Bool
            if let known = keys[key] { stays = known } else { stays = try await mayDie(key, in: place) }
            keys[key] = stays
            if stays {
                kept += 1
            } else {
                write.remove(member, from: .ended)
                write.remove(member, from: .ends)
            }
        }
        if members.count > kept {
            _ = try await write.isDone(in: place, settings: meta.settings, at: meta.now, [], by: self)
        }
        state.change { [kept] in $0.known.kept[place] = members.count < Self.mostForgotten ? nil : offset + kept }
        return members.count
    }

    /// Whether a key has a run or dead runs.
    private func mayDie(_ key: [UInt8], in place: ShardPlace) async throws(DurableError) -> Bool {
        var command = Command("HGET", place.key(.rows))
        command.add(key)
        let replies = try await ask(
            [.command(command), .command(EndMember.newest(200, of: key, in: place))], in: place.namespace)
        if let bytes = replies[0].bytes, try StoredRow(bytes).row.run != nil { return true }
        for member in replies[1].list ?? [] where try EndMember.end(member.bytes, of: key).how == .dead { return true }
        return false
    }

    /// Deletes some answers to tokens, and to batches of clients, that are old.
    private func forgetAnswers(of place: ShardPlace) async throws(DurableError) -> Int {
        let meta = try await recordIfThere(of: place)
        let limit = meta.now.advanced(by: .nanoseconds(-CoreDuration(options.limits.tokenLifetime).nanoseconds))
        let members = try await oldest(.aged, in: place, before: limit)
        if members.isEmpty { return 0 }
        var write = KeyWrite()
        for member in members {
            write.remove(member, from: .aged)
            write.remove(member, from: .past)
        }
        _ = try await write.isDone(in: place, settings: meta.settings, at: meta.now, [], by: self)
        return members.count
    }

    // MARK: - Clocks

    /// Moves the rows of a shard back that were stepped later than now, by a clock of the server that was ahead, each
    /// in a step of its own: a row that is loaded is moved.
    private func moveBack(_ place: ShardPlace) async throws(DurableError) {
        guard state.change({ $0.known.moving.insert(place).inserted }) else { return }
        defer { state.change { _ = $0.known.moving.remove(place) } }
        let meta = try await recordIfThere(of: place)
        var ahead: [[UInt8]] = []
        try await scan(place, prefix: []) { key, row in
            if let row, row.latest > meta.now { ahead.append(key) }
        }
        for some in ahead.chunks(of: 1000) {
            let calls = some.map { KeyCall<Void>(place.namespace, $0) { _ in } }
            await make(calls)
            for call in calls { try call.answer.get() }
        }
        // From now on the latest instant is that of the rows, unless one was stepped meanwhile.
        var write = KeyWrite()
        write.add(.reset, .meta, Array("latest".utf8), KeyWrite.digits(meta.now.microseconds))
        let guards = [["HGET", Structure.meta.number, "latest", "\(meta.latest.microseconds)"]]
        if try await write.isDone(in: place, settings: meta.settings, at: meta.now, guards, by: self) {
            state.change { $0.known.behind[place] = nil }
        }
    }

    /// How far the server's clock is behind the latest instant that was stored: the most of all shards of which this
    /// store knows. Rows are moved back until it is zero.
    var clockBehind: Duration {
        Duration(state.change { $0.known.behind.values.max() } ?? .zero)
    }

    /// What an operator should watch of the server.
    package struct Health: Sendable {
        /// The bytes that the data of the server takes, and those at which it refuses submits; nil if it has no limit.
        package var memory: Int64
        package var memoryLimit: Int64?
        /// What the server does when its memory is full; nil if it hides that.
        package var policy: String?
        package var clockBehind: Duration
        /// How often a namespace was opened again, by any store, since the server had lost it.
        package var reopenings: Int
    }

    package func health() async throws(DurableError) -> Health {
        let replies = try await ask([.command(Command("INFO", "memory")), .command(Command("GET", Self.reopenings))])
        let info = Server.fields(replies[0].text ?? "")
        let limit = info["maxmemory"].flatMap { Int64($0) } ?? 0
        // Whoever looks at a shard learns of its clock.
        for name in (try await ask(Command("SMEMBERS", Self.names)).list ?? []).compactMap(\.text) {
            for place in (try? await places(of: name)) ?? [] { _ = try? await recordIfThere(of: place) }
        }
        return Health(
            memory: info["used_memory"].flatMap { Int64($0) } ?? 0, memoryLimit: limit > 0 ? limit : nil,
            policy: info["maxmemory_policy"], clockBehind: clockBehind,
            reopenings: Int(replies[1].number ?? 0))
    }

    /// The key that counts namespaces which were opened again.
    static let reopenings = "lull:reopenings"
}
