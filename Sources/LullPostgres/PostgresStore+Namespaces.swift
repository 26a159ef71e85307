internal import Lull
package import LullCore
package import LullDurable

// Namespaces, and what the store does now and then.

extension PostgresStore {
    package func open(
        _ namespace: String, _ rules: DurableRules?, changingPolicy: Bool
    ) async throws(DurableError) -> PolicyOpening {
        while true {
            var question = statement("rules", 1, selecting: "rules")
            question.add(namespace)
            let row = try await ask(question, in: namespace).first
            let seen = row.flatMap { $0.isNull(0) ? nil : $0.bigints(0) }
            let stored = try seen.map { parts throws(DurableError) in try DurableRules(parts: parts) }
            let opening = try PolicyOpening(of: namespace, with: rules, stored: stored, changingPolicy: changingPolicy)
            if opening.isWritten {
                var statement = statement("open", 3, selecting: "open")
                statement.add(namespace)
                statement.add(opening.rules.parts)
                statement.add(seen ?? [])
                guard try await ask(statement, in: namespace).first?.bool(0) == true else { continue }
            }
            if let rules {
                state.changeAndWake { state in
                    state.rules[namespace] = rules
                    // A worker may wait for what a limit, or a slot, has kept from it.
                    state.wakeSignal.signal(.farPast, in: namespace)
                }
            }
            return opening
        }
    }

    /// Opens no namespace: the server keeps what it has.
    package func reopen(_ namespace: String) -> Bool { false }

    package func shards(of namespace: String) throws(DurableError) -> Int {
        try Self.checkName(namespace)
        return 1
    }

    package func shard(of key: [UInt8], among shards: Int) -> Int { 0 }

    @discardableResult
    package func pause(
        _ namespace: String, reason: String?, for time: CoreDuration?
    ) async throws(DurableError) -> DurablePause {
        var statement = statement("pause", 4, selecting: "reason, since, until")
        statement.add(namespace)
        statement.add(DurablePause.kept(reason))
        statement.add(interval: time.map { max(0, $0.nanoseconds / 1000) })
        statement.add(options.microseconds)
        guard let row = try await ask(statement, in: namespace).first,
            let pause = DurablePause(at: row.bigint(1), reason: row.text(0), until: row.bigint(2))
        else { throw .notUnderstood }
        return pause
    }

    @discardableResult
    package func resume(_ namespace: String) async throws(DurableError) -> Bool {
        var statement = statement("resume", 2, selecting: "resume")
        statement.add(namespace)
        statement.add(options.microseconds)
        let wasPaused = try await ask(statement, in: namespace, isRepeatable: false).first?.bool(0) ?? false
        state.changeAndWake { $0.wakeSignal.signalResumption(in: namespace) }
        return wasPaused
    }

    /// The row of the namespace stays in the database, and shows it again if a transaction that was open meanwhile has
    /// submitted to it.
    package func forget(_ namespace: String) async throws(DurableError) {
        while true {
            var statement = statement("forget_namespace", 1, selecting: "forget_namespace")
            statement.add(namespace)
            switch try await ask(statement, in: namespace, isRepeatable: false).first?.text(0) {
            case "forgotten": return
            case "work":
                // What it had may have ended since.
                if let status = try await status().first(where: { $0.namespace == namespace }), status.hasWork {
                    throw .hasWork(status)
                }
            default: continue
            }
        }
    }

    package func setArrival(
        _ arrival: CoreInstant, after meta: ShardMeta, in place: ShardPlace
    ) async throws(DurableError) -> Bool {
        var statement = statement("set_arrival", 4, selecting: "set_arrival")
        statement.add(place.namespace)
        statement.add(Int64(bigEndian: meta.settings))
        statement.add(meta.arrival.map(\.wake))
        statement.add(arrival == .farPast ? nil : arrival.wake)
        return try await ask(statement, in: place.namespace, isRepeatable: false).first?.bool(0) ?? false
    }

    package func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError) {
        var statement = statement("announce", 6, selecting: "announce")
        statement.add(namespace)
        statement.add(worker.id)
        statement.add(worker.host)
        statement.add(worker.process)
        statement.add(DurableWorker.memory.nanoseconds / 1000)
        statement.add(options.microseconds)
        _ = try await ask(statement, in: namespace)
    }

    // MARK: - Now and then

    package func forgetSome() async { await keep(now: false) }

    /// Sums up counts, forgets a little of what is old, and makes calls of the inbox. Callers do not wait for it,
    /// except in tests.
    ///
    /// - Parameter isDue: Whether it is done in any case.
    func keep(now isDue: Bool) async {
        let isTest = options.now != nil
        guard state.change({ $0.beginsForgetting(now: isDue || isTest) }) else { return }
        if isTest || isDue { return await keepSome() }
        Task { [weak self] in await self?.keepSome() }
    }

    private func keepSome() async {
        var statement = statement("forget", 6, selecting: "next, has_more")
        statement.add(CoreDuration(options.limits.retention).microseconds)
        statement.add(CoreDuration(options.limits.tokenLifetime).microseconds)
        statement.add(Self.mostEnds)
        statement.add(state.change { $0.known.forgottenTo })
        statement.add(int: 1000)
        statement.add(options.microseconds)
        do throws(DurableError) {
            let row = try await ask(statement).first
            state.change { state in
                state.known.forgottenTo = row?.bigint(0) ?? 0
                if row?.bool(1) == true { state.forgetSoon() }
            }
            guard options.now == nil, let namespace = nextNamespace() else { return }
            try await fold(ShardPlace(namespace, 0))
        } catch .unusable {
            // A reader has no right to it.
            state.change { $0.forgetAgain(in: .seconds(86400)) }
        } catch {}
    }

    /// Returns one of the namespaces that this store has opened, each in its turn.
    private func nextNamespace() -> String? {
        state.change { state in
            let names = state.rules.keys.sorted()
            guard !names.isEmpty else { return nil }
            state.known.foldingTurn = (state.known.foldingTurn + 1) % names.count
            return names[state.known.foldingTurn]
        }
    }

    /// What an operator of the database should watch.
    package struct Health: Sendable {
        /// The dead rows of Lull's tables that vacuum has not removed yet.
        package let deadRows: Int64
        /// How long the oldest transaction is open that keeps vacuum from removing them, of those that the schema's
        /// owner may see.
        package let oldestTransaction: Duration?
    }

    package func health() async throws(DurableError) -> Health {
        let rows = try await ask(Statement("SELECT * FROM \(schema).health()"))
        return Health(
            deadRows: rows.first?.bigint(0) ?? 0, oldestTransaction: rows.first?.bigint(1).map { .microseconds($0) })
    }
}
