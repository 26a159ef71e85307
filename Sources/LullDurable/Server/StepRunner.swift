internal import Lull
internal import LullCore

/// Makes the steps of a store on a server: loads what they need, makes them in memory, writes what has changed, and
/// repeats those whose keys others have changed meanwhile. On the thread of the store.
package final class StepRunner {
    /// How often a batch is begun again because the settings of its namespace changed, or others claimed.
    private static let mostAttempts = 100

    package private(set) var queue = StepQueue()
    private var batches = 0
    private var exchanges = 0
    /// The runs that each worker has in a shard, and perhaps some that it had; nothing for one to which an answer may
    /// have been lost.
    private var handed: [Worker: Set<Int64>] = [:]

    private struct Worker: Hashable {
        let place: ShardPlace
        let owner: Int64

        init(_ place: ShardPlace, _ owner: Int64) { (self.place, self.owner) = (place, owner) }
    }

    private unowned let server: any RowServer
    /// Why the latest step was not answered in time.
    package var trouble: () -> String = { "" }

    /// How many batches of steps are under way at once.
    private let mostBatches: Int

    /// - Parameter mostBatches: How many batches of steps are under way at once: the more there are, the fewer steps
    ///   share one.
    package init(_ server: any RowServer, mostBatches: Int) {
        self.server = server
        self.mostBatches = mostBatches
    }

    package var isEmpty: Bool { queue.isEmpty && exchanges == 0 }

    /// Whether there is something to send that waits for nothing.
    package var isReady: Bool { batches < mostBatches && queue.hasWaiting }

    package func add(_ step: KeyStep) { queue.add(step) }

    /// Sends what can be sent.
    package func run(at now: KeyStep.Instant) {
        for step in queue.takeExpired(at: now) {
            step.finish(.refused("the server did not answer in time: \(trouble())"))
        }
        while batches < mostBatches, queue.hasWaiting {
            let batch = queue.takeBatch()
            guard let first = batch.first else { return }
            batches += 1
            var request = LoadRequest(
                place: first.place, deadline: first.deadline, wanted: LoadedTable.Missing(),
                takes: StepQueue.takes(batch))
            request.keys.reserveCapacity(batch.count)
            for step in batch {
                request.deadline = max(request.deadline, step.deadline)
                request.keys.append(step.key)
                if !step.tokens.isEmpty { request.wanted.tokens.formUnion(step.tokens) }
                if let dead = step.dead { request.wanted.dead.insert(dead) }
            }
            attempt(batch, request, 1)
        }
    }

    private func attempt(_ batch: [KeyStep], _ request: LoadRequest, _ number: Int) {
        load(
            request,
            making: { table in
                for step in batch {
                    table.selected = step.key
                    step.run(&table)
                }
            }
        ) { [self] result in
            switch result {
            case .failure(let error): end(batch, error)
            case .success(let rows):
                // What was taken is written in any case, so that it is free again.
                let taken = request.takes ? Set(request.keys) : []
                var changes = rows.table.changes(besides: taken)
                // Of what others have taken, nothing is tried.
                if !rows.refused.isEmpty { changes.removeAll { rows.refused.contains($0.key) } }
                let store = StoreRequest(
                    place: request.place, deadline: request.deadline, changes: changes, table: rows.table,
                    isWorkers: batch.allSatisfy { $0.isWorkers }, takes: request.takes, transaction: rows.transaction)
                if changes.isEmpty {
                    return leave(rows) { [self] in end(batch, nil, repeating: rows.refused) }
                }
                server.store(store) { [self] result in
                    switch result {
                    case .failure(let error): end(batch, error)
                    case .success(let stored) where stored.isStale && number < Self.mostAttempts:
                        attempt(batch, request, number + 1)
                    case .success(let stored) where stored.isStale: end(batch, Self.tooBusy)
                    case .success(let stored): end(batch, nil, repeating: stored.conflicts.union(rows.refused))
                    }
                }
            }
        }
    }

    private func end(_ batch: [KeyStep], _ error: DurableError?, repeating keys: Set<[UInt8]> = []) {
        let isRefused = StepQueue.takes(batch) && !keys.isEmpty
        func finish() {
            batches -= 1
            queue.finish(batch, repeating: keys.isEmpty ? [] : batch.filter { keys.contains($0.key) })
        }
        // Keys that others have taken are free in a moment.
        if isRefused { server.delay(finish) } else { finish() }
        for step in batch where keys.isEmpty || !keys.contains(step.key) { step.finish(error) }
    }

    private static var tooBusy: DurableError { .refused("others change the namespace without pause") }

    /// Calls a function when rows of which nothing is written are free again.
    private func leave(_ rows: LoadedRows, _ done: @escaping () -> Void) {
        if let transaction = rows.transaction { server.end(transaction, done) } else { done() }
    }

    /// Loads what steps need, until nothing is missing, and makes them.
    private func load(
        _ request: LoadRequest, into loaded: LoadedRows? = nil,
        making steps: @escaping (inout LoadedTable) -> Void,
        _ done: @escaping (Result<LoadedRows, DurableError>) -> Void
    ) {
        server.load(request, into: loaded?.table) { [self] result in
            guard case .success(var rows) = result else { return done(result) }
            rows.hidden.formUnion(loaded?.hidden ?? [])
            rows.refused.formUnion(loaded?.refused ?? [])
            rows.transaction = rows.transaction ?? loaded?.transaction
            do throws(DurableError) {
                try rows.table.begin()
                if rows.table.missing.isEmpty { steps(&rows.table) }
            } catch {
                if rows.table.missing.isEmpty { return leave(rows) { done(.failure(error)) } }
            }
            if rows.table.missing.isEmpty { return done(.success(rows)) }
            var more = request
            more.keys = []
            more.wanted = rows.table.missing
            more.transaction = rows.transaction
            load(more, into: rows, making: steps, done)
        }
    }

    // MARK: - Workers

    /// Makes the calls of a worker in a shard.
    package func exchange(_ exchange: ShardExchange) {
        exchanges += 1
        attempt(exchange, 1)
    }

    private func attempt(_ exchange: ShardExchange, _ number: Int) {
        var request = LoadRequest(
            place: exchange.place, deadline: exchange.deadline, wanted: LoadedTable.Missing(), takes: false,
            isWorkers: exchange.claim != nil || !exchange.reports.isEmpty)
        request.keys = exchange.reports.map(\.key)
        if let claim = exchange.claim {
            (request.wanted.due, request.wanted.next) = (claim.limit, true)
            if !knows(exchange, claim) { request.wanted.holders = [claim.terms.owner] }
            request.wanted.fences = claim.limit > 0 ? claim.limit + 8 : 0
        }
        request.wanted.holders.formUnion(exchange.looksAt.map { [$0] } ?? [])
        let answer = Guarded(ShardAnswer())
        load(
            request,
            making: { [self] table in
                if let claim = exchange.claim, knows(exchange, claim) { table.note(holder: claim.terms.owner) }
                let made = exchange.make(&table)
                answer.change { $0 = made }
            }
        ) { [self] result in
            switch result {
            case .failure(let error): end(exchange, .failure(error))
            case .success(let rows): write(rows, answer.value, exchange, request, number)
            }
        }
    }

    private func write(
        _ rows: LoadedRows, _ answer: ShardAnswer, _ exchange: ShardExchange, _ request: LoadRequest, _ number: Int
    ) {
        var store = StoreRequest(
            place: exchange.place, deadline: exchange.deadline, changes: rows.table.changes(besides: rows.hidden),
            table: rows.table, isWorkers: true, takes: false, transaction: rows.transaction)
        // With a limit on runs, nobody may have begun another one meanwhile.
        if !answer.runs.isEmpty, rows.table.namespace.rules.maxRunning != nil {
            store.mostLeases = rows.table.leaseCount
        }
        store.values = answer.runs.compactMap { run in
            rows.table.valueNumbers(ofRun: run.number, of: run.key).map { (run.key, $0) }
        }
        // Of what others have taken, nothing is tried.
        if !rows.refused.isEmpty { store.changes.removeAll { rows.refused.contains($0.key) } }
        if store.changes.isEmpty {
            note(exchange, answer, rows.table, besides: rows.refused)
            return leave(rows) { [self] in finish(exchange, answer, repeating: rows.refused) }
        }
        server.store(store) { [self] result in
            switch result {
            case .failure(let error):
                for owner in exchange.owners { handed[Worker(exchange.place, owner)] = nil }
                end(exchange, .failure(error))
            case .success(let stored) where stored.isStale:
                if number == Self.mostAttempts { return end(exchange, .failure(Self.tooBusy)) }
                attempt(exchange, number + 1)
            case .success(let stored):
                var answer = answer
                for (index, values) in stored.values.enumerated() where index < answer.runs.count {
                    answer.runs[index].fill(values)
                }
                let conflicts = stored.conflicts.union(rows.refused)
                note(exchange, answer, rows.table, besides: conflicts)
                finish(exchange, answer.without(stored.conflicts), repeating: conflicts)
            }
        }
    }

    /// Whether a worker knows of all runs that it has in a shard: then it need not be looked for them.
    private func knows(_ exchange: ShardExchange, _ claim: DurableClaim) -> Bool {
        handed[Worker(exchange.place, claim.terms.owner)]?.subtracting(exchange.reports.map(\.run))
            .isSubset(of: claim.holding) == true
    }

    /// Notes which runs a worker has now. One whose lease was lost may be the worker's again.
    private func note(
        _ exchange: ShardExchange, _ answer: ShardAnswer, _ table: LoadedTable, besides conflicts: Set<[UInt8]> = []
    ) {
        let isUnsure =
            !conflicts.isEmpty || answer.reports.contains { if case .success(.leaseLost) = $0 { true } else { false } }
        for owner in exchange.owners {
            let worker = Worker(exchange.place, owner)
            if let claim = exchange.claim {
                // Those that were looked for, or known.
                handed[worker] = Set(claim.holding).union(table.runs(of: owner))
            }
            if isUnsure { handed[worker] = nil }
        }
    }

    /// Makes the reports again whose keys others have changed, each for itself.
    private func finish(_ exchange: ShardExchange, _ answer: ShardAnswer, repeating keys: Set<[UInt8]>) {
        let again = exchange.reports.indices.filter { keys.contains(exchange.reports[$0].key) }
        if again.isEmpty { return end(exchange, .success(answer)) }
        let steps = again.map { index in
            let report = exchange.reports[index]
            let step = KeyCall(exchange.place.namespace, report.key) { table throws(DurableError) in
                try table.answer(to: report).get()
            }
            (step.shard, step.deadline, step.isWorkers) = (exchange.place.shard, exchange.deadline, true)
            return step
        }
        _ = StepGroup(steps) {
            var answer = answer
            for (index, step) in zip(again, steps) { answer.reports[index] = step.answer }
            exchange.answer(.success(answer))
        }
        for step in steps { add(step) }
        exchanges -= 1
    }

    private func end(_ exchange: ShardExchange, _ result: Result<ShardAnswer, DurableError>) {
        exchanges -= 1
        exchange.answer(result)
    }
}
