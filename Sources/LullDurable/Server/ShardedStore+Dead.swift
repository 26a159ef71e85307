internal import LullCore

// Dead runs.

extension ShardedStore {
    package func deadRun(
        _ run: Int64, in namespace: String
    ) async throws(DurableError) -> DurableDeadRun<[UInt8]>? {
        guard let (place, dead) = try await findDead(run, in: namespace) else { return nil }
        let meta = try await meta(of: place)
        let values = try await values(of: dead, collects: meta.rules.combination == .collect, in: place)
        return DurableDeadRun(key: dead.key, run: dead.run, stored: values, diedAt: dead.at, at: meta.now)
    }

    package func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int, withValues: Bool
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        var found: [(at: CoreInstant, run: DurableDeadRun<[UInt8]>)] = []
        for place in try await places(of: namespace) {
            let now = try await meta(of: place).now
            var count = 0
            try await scanDead(place, newestFirst: newestFirst, atMost: selection == .all ? max(0, limit) : .max) {
                dead in
                guard count < limit else { return false }
                if selection.includes(deadRunOf: dead.key, dead.run.error, diedAt: dead.at, at: now) {
                    let run = DurableDeadRun(key: dead.key, run: dead.run, stored: [], diedAt: dead.at, at: now)
                    found.append((dead.at, run))
                    count += 1
                }
                return true
            }
        }
        found.sort { left, right in
            let isBefore = (left.at, left.run.number) < (right.at, right.run.number)
            return newestFirst ? !isBefore && left.run.id != right.run.id : isBefore
        }
        let runs = found.prefix(max(0, limit)).map(\.run)
        guard withValues else { return runs }
        var whole: [DurableDeadRun<[UInt8]>] = []
        // It may have been retried meanwhile.
        for run in runs { if let run = try await deadRun(run.number, in: namespace) { whole.append(run) } }
        return whole
    }

    package func retry(_ runs: [Int64], in namespace: String) async throws(DurableError) -> [DurableRetry] {
        var answers: [DurableRetry] = []
        for run in runs {
            let answer = try await step(onDead: run, in: namespace) { table throws(DurableError) in
                try table.retry(run, in: table.namespace, at: table.now)
            }
            answers.append(answer ?? .notFound)
        }
        return answers
    }

    @discardableResult
    package func discard(_ runs: [Int64], in namespace: String) async throws(DurableError) -> Int {
        var count = 0
        for run in runs {
            let isThere = try await step(onDead: run, in: namespace) { table throws(DurableError) in
                try table.discard(run, in: table.namespace)
            }
            if isThere == true { count += 1 }
        }
        return count
    }

    /// Makes a step on the key of a dead run; returns nil if there is none with that number.
    private func step<Answer: Sendable>(
        onDead run: Int64, in namespace: String,
        _ body: @escaping @Sendable (inout LoadedTable) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer? {
        guard let (_, dead) = try await findDead(run, in: namespace) else { return nil }
        let call = KeyCall(namespace, dead.key, body)
        call.dead = run
        return try await make(call)
    }
}
