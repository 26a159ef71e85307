internal import Lull
internal import LullCore
public import LullDurable

// Namespaces, and the calls of producers.

extension RedisStore {
    /// Opens a namespace: see ``/LullDurable/DurableStore/open(_:_:)``.
    @discardableResult
    public func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules {
        guard let rules else {
            let found = try await look(at: namespace, 0)
            state.change { state in
                state.shards[namespace] = found.shards
                state.rules[namespace] = found.rules
            }
            return found.rules
        }
        // The first shard says how many there are.
        var shards =
            state.change { $0.shards[namespace] } ?? options.shards ?? (server.isCluster ? Self.shardsInCluster : 1)
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
            state.shards[namespace] = shards
            state.rules[namespace] = rules
        }
        _ = try await ask(Command("SADD", Self.names, namespace))
        // For producers in other languages.
        _ = try await ask(
            Command("HSET", Self.scripts, "submit", Script.submit.text, "change", Script.change.text))
        return rules
    }

    /// Deletes a namespace: see ``/LullDurable/DurableStore/forget(_:)``. A process that goes on using it opens it again, as it does
    /// when the server has lost it.
    public func forget(_ namespace: String) async throws(DurableError) {
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
            state.shards[namespace] = nil
            state.rules[namespace] = nil
            state.turns[namespace] = nil
        }
    }

    /// Opens a namespace again that this store has opened and the server has lost, as it may with its durability. Returns whether there
    /// was one.
    func reopen(_ namespace: String) async throws(DurableError) -> Bool {
        guard let rules = state.change({ $0.rules[namespace] }) else { return false }
        try await open(namespace, rules)
        return true
    }

    /// The key with the names of all namespaces.
    static let names = "lull:namespaces"
    /// The key with the scripts for producers in other languages.
    static let scripts = "lull:scripts"

    /// Records a submit: see ``/LullDurable/DurableStore/submit(_:)``.
    public func submit(_ submission: DurableSubmission) async throws(DurableError) -> DurableReceipt {
        guard let answer = await submit([submission]).first else { preconditionFailure("each submit has an answer") }
        return try answer.get()
    }

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

    private func record(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>] {
        if batch.isEmpty { return [] }
        let deadline = ContinuousClock.now + options.timeLimit
        var shards: [String: Result<Int, DurableError>] = [:]
        for name in Set(batch.map(\.namespace)) {
            do throws(DurableError) { shards[name] = .success(try await self.shards(of: name)) } catch {
                shards[name] = .failure(error)
            }
        }
        let results = await SubmitQueue.answers(to: batch) { submission, answer in
            do throws(DurableError) {
                try submission.checkSize(by: options.limits)
                let count = try shards[submission.namespace]?.get() ?? 1
                let entry = SubmitQueue.Entry(
                    submission: submission, shard: Shard.of(submission.key, among: count), deadline: deadline,
                    answer: answer)
                if !client.add(entry) { throw DurableError.closed }
            } catch {
                answer(.failure(error))
            }
        }
        await forgetSome()
        for (submission, result) in zip(batch, results) {
            guard case .success(let receipt) = result, let due = receipt.due else { continue }
            state.signal(CoreInstant(nanoseconds: due), in: submission.namespace)
        }
        return results
    }

    /// Flushes a key or all: see ``/LullDurable/DurableStore/flush(_:in:)``.
    @discardableResult
    public func flush(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await change("flush", key, in: namespace).count
    }

    /// Cancels a key or all: see ``/LullDurable/DurableStore/cancel(_:in:)``.
    @discardableResult
    public func cancel(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await change("cancel", key, in: namespace).count
    }

    /// Flushes what only one submitter has submitted: see ``/LullDurable/DurableStore/flush(submittedBy:in:)``.
    public func flush(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        let sum = try await change("flushOwn", nil, of: submitter, in: namespace)
        return (sum.flushed, sum.mixed)
    }

    /// Cancels what only one submitter has submitted: see ``/LullDurable/DurableStore/cancel(submittedBy:in:)``.
    public func cancel(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (cancelled: Int, mixed: Int) {
        let sum = try await change("cancelOwn", nil, of: submitter, in: namespace)
        return (sum.count, sum.mixed)
    }

    private struct Change {
        var count = 0
        var mixed = 0
        var flushed: [(key: [UInt8], generation: Int64)] = []
    }

    /// Flushes or cancels some keys at a time, in the order of their first submits, so that no script is long.
    private func change(
        _ change: String, _ key: [UInt8]?, of submitter: Int64? = nil, in namespace: String
    ) async throws(DurableError) -> Change {
        var keys: [(key: [UInt8], shard: Int)] = []
        if let key {
            keys = [(key, try await shard(of: key, in: namespace))]
        } else {
            var found: [(born: Int64, key: [UInt8], shard: Int)] = []
            try await scan(namespace) { key, stored, shard in
                let from = stored.row.pending?.submitter
                guard submitter == nil || from == .several || from == submitter.map({ .one($0) }) else { return }
                found.append((stored.row.born, key, shard))
            }
            keys = found.sorted { ($0.born, $0.shard) < ($1.born, $1.shard) }.map { ($0.key, $0.shard) }
        }
        var sum = Change()
        for shard in Set(keys.map(\.shard)).sorted() {
            let own = keys.filter { $0.shard == shard }
            for start in stride(from: 0, to: own.count, by: 500) {
                var arguments = Command(change)
                arguments.add(submitter)
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
        if change.hasPrefix("flush"), !keys.isEmpty { state.signal(.farPast, in: namespace) }
        return sum
    }
}
