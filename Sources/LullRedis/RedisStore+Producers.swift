internal import Lull
internal import LullCore
package import LullDurable

// Namespaces, and the calls of producers.

extension RedisStore {
    /// Opens a namespace: see ``StoreCalls/open(_:_:)``.
    @discardableResult
    package func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules {
        guard let rules else {
            let found = try await look(at: namespace, 0)
            state.change { state in
                state.known.shards[namespace] = found.shards
                state.known.rules[namespace] = found.rules
            }
            return found.rules
        }
        // The first shard says how many there are.
        // All leases are counted in one place.
        var shards = state.change { $0.known.shards[namespace] } ?? (rules.maxRunning == nil ? newShards : 1)
        var shard = 0
        while shard < shards {
            let reply = try await client.ask(
                .script(
                    .open, namespace: namespace, shard: shard,
                    arguments: Command(["\(shard)", "\(shards)"] + rules.arguments)),
                in: namespace, atMost: options.timeLimit)
            let stored = try DurableRules(stored: reply[1].bytes)
            if stored.lasting != rules.lasting {
                throw .otherPolicy(namespace: namespace, stored: stored, given: rules)
            }
            shards = Int(reply[0].number ?? 1)
            shard += 1
        }
        state.change { state in
            state.known.shards[namespace] = shards
            state.known.rules[namespace] = rules
        }
        _ = try await ask(Command("SADD", Self.names, namespace))
        // For other languages.
        var command = Command("HSET", Self.scripts)
        for script in [Script.submit, .change, .pause] {
            command.add(script.rawValue)
            command.add(script.text)
        }
        _ = try await ask(command)
        return rules
    }

    /// Deletes a namespace: see ``StoreCalls/forget(_:)``. A process that goes on using it opens it
    /// again, as it does when the server has lost it.
    package func forget(_ namespace: String) async throws(DurableError) {
        // The first shard says how many there are, so it goes last.
        let look = try await look(at: namespace, 0)
        if let status = try await status().first(where: { $0.namespace == namespace }), status.hasWork {
            throw .hasWork(status)
        }
        for shard in (0..<look.shards).reversed() {
            if try await run(.drop, in: namespace, shard).number == 1 { continue }
            // Work has come meanwhile. The shards that were deleted are needed again.
            try await open(namespace, look.rules)
            let status = try await status().first { $0.namespace == namespace }
            throw .hasWork(status ?? DurableStatus(namespace: namespace, rules: look.rules))
        }
        _ = try await ask(Command("SREM", Self.names, namespace))
        state.change { state in
            state.known.shards[namespace] = nil
            state.known.rules[namespace] = nil
            state.known.turns[namespace] = nil
        }
    }

    /// Pauses a namespace: see ``StoreCalls/pause(_:reason:)``. It does so in one shard after the other:
    /// while that is under way, some still hand out runs.
    @discardableResult
    package func pause(_ namespace: String, reason: String?) async throws(DurableError) -> DurablePause {
        var first: DurablePause?
        for shard in 0..<(try await shards(of: namespace)) {
            let arguments = Command("pause", DurablePause.kept(reason) ?? "")
            let reply = try await run(.pause, in: namespace, shard, arguments)
            first = first ?? DurablePause(stored: reply.bytes)
        }
        guard let first else { throw .notUnderstood }
        return first
    }

    /// Ends the pause of a namespace: see ``StoreCalls/resume(_:)``.
    @discardableResult
    package func resume(_ namespace: String) async throws(DurableError) -> Bool {
        var wasPaused = false
        // In the other order: what looks at the first shard sees a pause as long as any shard has it.
        for shard in (0..<(try await shards(of: namespace))).reversed() {
            let reply = try await run(.pause, in: namespace, shard, isRepeatable: false, Command("resume", ""))
            if reply.bytes != nil { wasPaused = true }
        }
        state.changeAndWake { $0.wakeSignal.signalResumption(in: namespace) }
        return wasPaused
    }

    /// Opens a namespace again that this store has opened and the server has lost, as it may with its durability.
    /// Returns whether there was one.
    func reopen(_ namespace: String) async throws(DurableError) -> Bool {
        guard let rules = state.change({ $0.known.rules[namespace] }) else { return false }
        try await open(namespace, rules)
        return true
    }

    /// The key with the names of all namespaces.
    static let names = "lull:namespaces"
    /// The key with the scripts for producers in other languages.
    static let scripts = "lull:scripts"

    /// Records submits in their order, each with an answer of its own.
    package func submit(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>] {
        var results = await record(batch)
        // What could not be recorded because the server has lost the namespace.
        let lost = results.indices.filter { if case .failure(.noPolicy) = results[$0] { true } else { false } }
        for name in Set(lost.map { batch[$0].namespace }) where (try? await reopen(name)) == true {
            let own = lost.filter { batch[$0].namespace == name }
            for (index, result) in zip(own, await record(own.map { batch[$0] })) { results[index] = result }
        }
        return results
    }

    package func shards(of batch: [DurableSubmission]) async -> [Result<Int, DurableError>] {
        var counts: [String: Result<Int, DurableError>] = [:]
        for name in Set(batch.map(\.namespace)) {
            do throws(DurableError) { counts[name] = .success(try await shards(of: name)) } catch {
                counts[name] = .failure(error)
            }
        }
        return batch.map { submission in
            (counts[submission.namespace] ?? .success(1)).map { Shard.of(submission.key, among: $0) }
        }
    }

    package func touchKey(
        _ key: [UInt8], in namespace: String, wait: CoreDuration?
    ) async throws(DurableError) -> Bool {
        var arguments = Command("touch")
        arguments.add(wait?.stored)
        arguments.add(key)
        return try await run(.change, in: namespace, try await shard(of: key, in: namespace), arguments)[0].number == 1
    }

    /// Flushes or cancels some keys at a time, in the order of their first submits, so that no script is long.
    package func changeRows(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum {
        var keys: [(key: [UInt8], shard: Int)] = []
        if case .keys(let some) = target {
            for key in some { keys.append((key, try await shard(of: key, in: namespace))) }
        } else {
            var found: [(born: Int64, key: [UInt8], shard: Int)] = []
            let (submitter, selection) = (target.submitter, target.selection ?? .all)
            let look = try await look(at: namespace, 0)
            try await scan(namespace) { key, stored, shard in
                let from = stored.row.pending?.submitter
                guard submitter == nil || from == .several || from == submitter.map({ .one($0) }),
                    selection.includes(key, stored.row, at: look.now, by: look.rules)
                else { return }
                found.append((stored.row.born, key, shard))
            }
            keys = found.sorted { ($0.born, $0.shard) < ($1.born, $1.shard) }.map { ($0.key, $0.shard) }
        }
        var sum = ChangeSum()
        for shard in Set(keys.map(\.shard)).sorted() {
            let own = keys.filter { $0.shard == shard }
            for start in stride(from: 0, to: own.count, by: 500) {
                var arguments = Command([])
                if let selection = target.selection, !selection.isPrefixAlone {
                    arguments.add(change.name(of: target) + "Some")
                    arguments.add(selection.age.map { CoreDuration($0).stored })
                    arguments.add(selection.error ?? "")
                } else {
                    arguments.add(change.name(of: target))
                    arguments.add(target.submitter)
                }
                for (key, _) in own[start..<min(start + 500, own.count)] { arguments.add(key) }
                let reply = try await run(.change, in: namespace, shard, isRepeatable: false, arguments)
                sum.count += Int(reply[0].number ?? 0)
                sum.mixed += Int(reply[1].number ?? 0)
                let flushed = reply[2].list ?? []
                for index in stride(from: 0, to: flushed.count - 1, by: 2) {
                    sum.flushed.append((flushed[index].bytes ?? [], flushed[index + 1].number ?? 0))
                }
            }
        }
        return sum
    }
}
