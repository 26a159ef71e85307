internal import Lull
internal import LullCore
package import LullDurable

// Namespaces.

extension RedisStore {
    /// The key with the names of all namespaces.
    static let names = "lull:namespaces"
    /// The key with the script for producers in other languages.
    static let scripts = "lull:scripts"

    /// The key that says for a day that a namespace was forgotten, so that it is not missed.
    private static func mark(ofForgotten namespace: String) -> String { "lull:forgotten:\(namespace)" }

    package func open(
        _ namespace: String, _ rules: DurableRules?, changingPolicy: Bool
    ) async throws(DurableError) -> PolicyOpening {
        if let rules { return try await create(namespace, rules, changingPolicy: changingPolicy).opening }
        let found = try await record(of: ShardPlace(namespace, 0))
        state.change { state in
            state.known.shards[namespace] = found.shards
            state.rules[namespace] = found.rules
        }
        return try PolicyOpening(of: namespace, with: nil, stored: found.rules, changingPolicy: false)
    }

    /// Opens all shards of a namespace, and creates those that are not there: the first one decides about the rules,
    /// and the others follow it.
    ///
    /// - Returns: Whether any was missing, too.
    @discardableResult
    private func create(
        _ namespace: String, _ rules: DurableRules, changingPolicy: Bool = false
    ) async throws(DurableError) -> (opening: PolicyOpening, wasMissing: Bool) {
        let first = ShardPlace(namespace, 0)
        // The first shard says how many there are.
        // All leases are counted in one place.
        var shards = state.change { $0.known.shards[namespace] } ?? (rules.maxRunning == nil ? newShards : 1)
        let opened = try await open(first, of: shards, rules, changingPolicy: changingPolicy)
        shards = opened.shards
        var (rules, wasMissing, hasWritten) = (rules, opened.opening.isNew, true)
        while hasWritten {
            hasWritten = false
            for shard in 1..<max(shards, 1) {
                let follower = try await open(
                    ShardPlace(namespace, shard), of: shards, rules, changingPolicy: true)
                wasMissing = wasMissing || follower.opening.isNew
                hasWritten = hasWritten || follower.opening.isWritten
            }
            // Others may have changed the rules meanwhile, and have written to some shards before this.
            if hasWritten { rules = try await record(of: first).rules }
        }
        state.changeAndWake { state in
            state.known.shards[namespace] = shards
            state.rules[namespace] = rules
            // A worker may wait for what a limit, or a slot, has kept from it.
            state.wakeSignal.signal(.farPast, in: namespace)
        }
        _ = try await ask(Command("SADD", Self.names, namespace))
        _ = try await ask(Command("HSET", Self.scripts, "append", Script.append.text))
        // After the shards: whoever sees no mark any more finds them.
        _ = try await ask(Command("DEL", Self.mark(ofForgotten: namespace)))
        return (opened.opening, wasMissing)
    }

    /// Opens a shard, and returns how many there are.
    private func open(
        _ place: ShardPlace, of shards: Int, _ rules: DurableRules, changingPolicy: Bool
    ) async throws(DurableError) -> (shards: Int, opening: PolicyOpening) {
        while true {
            let found: ShardRecord?
            do throws(DurableError) { found = try await recordIfThere(of: place) } catch {
                guard case .noPolicy = error else { throw error }
                found = nil
            }
            let opening = try PolicyOpening(
                of: place.namespace, with: rules, stored: found?.rules, changingPolicy: changingPolicy)
            if let found, rules.maxRunning != nil, found.shards > 1 {
                throw Connection.error(ServerError("SHARDS \(found.shards)"), in: place.namespace)
            }
            if let found, !opening.isWritten { return (found.shards, opening) }
            let now: CoreInstant
            if let found { now = found.now } else { now = try await serverTime() }
            var write = KeyWrite(key: Scripts.sentinel, expected: found == nil ? nil : [])
            write.renewSettings(after: found?.settings ?? [], at: now)
            write.set("rules", opening.rules.bytes)
            if found == nil {
                write.set("version", "\(Scripts.version)")
                write.set("place", "\(place.shard) \(shards)")
                for structure in Structure.allCases where structure != .meta {
                    if structure.isHash {
                        write.add(.hset, structure, Scripts.sentinel, [])
                    } else {
                        // Members in the order of their bytes have all the same score.
                        let isByBytes = [.held, .keys, .ends, .inbox].contains(structure)
                        write.add(.zadd, structure, Array((isByBytes ? "0" : "+inf").utf8), Scripts.sentinel)
                    }
                }
            }
            if try await write.isDone(in: place, settings: found?.settings ?? [], at: now, [], by: self) {
                return (found?.shards ?? shards, opening)
            }
        }
    }

    private func serverTime() async throws(DurableError) -> CoreInstant {
        if let instant = options.microseconds { return CoreInstant(microseconds: instant) }
        let time = try await ask(Command("TIME"))
        return CoreInstant(microseconds: (time[0].number ?? 0) * 1_000_000 + (time[1].number ?? 0))
    }

    /// A process that goes on using the namespace opens it again, as it does when the server has lost it.
    package func forget(_ namespace: String) async throws(DurableError) {
        // The first shard says how many there are, so it goes last.
        _ = try await record(of: ShardPlace(namespace, 0))
        let places = try await places(of: namespace)
        if let status = try await status().first(where: { $0.namespace == namespace }), status.hasWork {
            throw .hasWork(status)
        }
        // Stores that go on using it must not take it for lost.
        _ = try await ask(Command("SET", Self.mark(ofForgotten: namespace), "", "EX", "86400"))
        for place in places.reversed() {
            let isRemoved = try await remove(place)
            if isRemoved { continue }
            // Work has come meanwhile. The shards that were deleted are needed again.
            let rules = try await record(of: ShardPlace(namespace, 0)).rules
            try await create(namespace, rules)
            let status = try await status().first { $0.namespace == namespace }
            throw .hasWork(status ?? DurableStatus(namespace: namespace, rules: rules))
        }
        _ = try await ask(Command("SREM", Self.names, namespace))
        state.change { state in
            state.known.shards[namespace] = nil
            state.rules[namespace] = nil
            state.turns[namespace] = nil
        }
    }

    /// Deletes a shard, unless it has work.
    private func remove(_ place: ShardPlace) async throws(DurableError) -> Bool {
        while true {
            let found: ShardRecord
            do throws(DurableError) { found = try await recordIfThere(of: place, isWhole: true) } catch {
                if case .noPolicy = error { return true }
                throw error
            }
            let tally = Tally.sum(found.tallies, present: .min, by: found.rules)
            if tally.pending + tally.ready + tally.running + tally.retrying > 0 { return false }
            var write = KeyWrite()
            write.add(.unlink, .meta, [], [])
            // Every step is counted; a call from elsewhere is an entry.
            let guards = [
                ["HGET", Structure.meta.number, "steps", found.steps], ["ZCARD", Structure.dead.number, "", "1"],
                ["ZCARD", Structure.inbox.number, "", "1"],
            ]
            if try await write.isDone(in: place, settings: found.settings, at: found.now, guards, by: self, waits: true)
            {
                return true
            }
            let dead = try await ask(Command("ZCARD", place.key(.dead)), in: place.namespace)
            let entries = try await ask(Command("ZCARD", place.key(.inbox)), in: place.namespace)
            if dead.number ?? 0 > 1 || entries.number ?? 0 > 1 { return false }
        }
    }

    /// Pauses one shard after the other: while that is under way, some still hand out runs.
    @discardableResult
    package func pause(
        _ namespace: String, reason: String?, for time: CoreDuration?
    ) async throws(DurableError) -> DurablePause {
        var first: DurablePause?
        for place in try await places(of: namespace) {
            let pause = try await change(place, waits: true) { meta in
                let pause = DurablePause(
                    reason, for: time, over: meta.pause, at: meta.now, wall: .microseconds(meta.now.microseconds))
                if pause == meta.pause { return (nil, [], pause) }
                var write = KeyWrite()
                write.renewSettings(after: meta.settings, at: meta.now)
                write.set("pause", pause.text)
                return (write, [], pause)
            }
            first = first ?? pause
        }
        guard let first else { throw .notUnderstood }
        return first
    }

    @discardableResult
    package func resume(_ namespace: String) async throws(DurableError) -> Bool {
        var wasPaused = false
        // In the other order: what looks at the first shard sees a pause as long as any shard has it.
        for place in try await places(of: namespace).reversed() {
            let ended = try await change(place, waits: true) { meta in
                guard meta.pause != nil else { return (nil, [], false) }
                var write = KeyWrite()
                write.renewSettings(after: meta.settings, at: meta.now)
                write.unset("pause")
                return (write, [], true)
            }
            if ended { wasPaused = true }
        }
        state.changeAndWake { $0.wakeSignal.signalResumption(in: namespace) }
        if wasPaused { _ = try? await ask(Command("PUBLISH", Scripts.channel(namespace), "")) }
        return wasPaused
    }

    package func reopen(_ namespace: String) async throws(DurableError) -> Bool {
        guard let rules = state.change({ $0.rules[namespace] }) else { return false }
        let isForgotten = try await ask(Command("EXISTS", Self.mark(ofForgotten: namespace))).number == 1
        // Of several processes, the one counts that creates it.
        let wasMissing: Bool
        do throws(DurableError) {
            wasMissing = try await create(namespace, rules).wasMissing
        } catch {
            guard case .otherPolicy(_, let stored, _) = error else { throw error }
            // Another process has opened it by now, with the rules to which it had changed.
            state.change { $0.rules[namespace] = stored }
            return true
        }
        if wasMissing, !isForgotten {
            logLine(
                "Lull: the Redis server does not have the namespace \(namespace) any more, nor what was pending in it: "
                    + "it is opened again",
                kind: "a namespace was lost")
            _ = try await ask(Command("INCR", Self.reopenings))
        }
        return true
    }
}
