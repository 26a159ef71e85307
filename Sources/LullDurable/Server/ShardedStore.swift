internal import Lull
package import LullCore

/// A store whose rows are in shards of a server, each key in one of them.
///
/// Steps on keys are made by a ``StepRunner``. Here and in the extensions is what all such stores do; a store brings
/// what it reads and how it writes a namespace's settings.
package protocol ShardedStore: AnyObject, ServerStore, KeyStepStore where Table == LoadedTable {
    // MARK: - Steps

    /// Makes a step.
    func add(_ step: KeyStep)
    /// Makes the calls of a worker in a shard.
    func add(_ exchange: ShardExchange)
    /// Opens a namespace again that this store has opened and the server has lost.
    ///
    /// - Returns: Whether there was one.
    func reopen(_ namespace: String) async throws(DurableError) -> Bool

    // MARK: - Shards

    /// Returns the number of shards of a namespace.
    func shards(of namespace: String) async throws(DurableError) -> Int
    /// Returns the shard of a key.
    func shard(of key: [UInt8], among shards: Int) -> Int
    /// Returns what a shard says of itself; opens a namespace again that the server has lost.
    ///
    /// - Parameter isWhole: Whether counts and workers are wanted.
    func meta(of place: ShardPlace, isWhole: Bool) async throws(DurableError) -> ShardMeta
    /// Sets what the limit of a namespace has counted, if it is still what it was; returns whether it was.
    func setArrival(_ arrival: CoreInstant, after meta: ShardMeta, in place: ShardPlace) async throws(DurableError)
        -> Bool

    // MARK: - Looking

    /// Returns the names of all namespaces.
    func names() async throws(DurableError) -> [String]
    /// Returns what a status needs of a shard beside its counts.
    func look(at place: ShardPlace, _ meta: ShardMeta) async throws(DurableError) -> ShardLook
    /// Returns rows from a start on: by their keys, those with a prefix.
    func page(of place: ShardPlace, from start: RowStart, _ prefix: [UInt8], atMost size: Int)
        async throws(DurableError)
        -> RowPage
    /// Calls a function for each key with a prefix, and perhaps for others: with its row, or without, if it has only
    /// entries of the inbox. Those that change meanwhile may be seen before or after.
    func scan(_ place: ShardPlace, prefix: [UInt8], _ body: (_ key: [UInt8], _ row: StoredRow?) -> Void)
        async throws(DurableError)
    /// Returns how many runs each worker has.
    func holders(in place: ShardPlace) async throws(DurableError) -> [Int64: Int]
    /// Returns how submits of a key have ended, those with the highest numbers first.
    func ends(of key: [UInt8], in place: ShardPlace, atMost limit: Int) async throws(DurableError) -> [StoredEnd]
    /// Returns how submits of all keys have ended, the newest first.
    func newestEnds(in place: ShardPlace, atMost limit: Int) async throws(DurableError)
        -> [(key: [UInt8], end: StoredEnd)]
    /// Returns a dead run, and where it is; nil if there is none with that number.
    func findDead(_ run: Int64, in namespace: String) async throws(DurableError) -> (ShardPlace, StoredDead)?
    /// Calls a function for dead runs by when they died, until it returns false.
    func scanDead(_ place: ShardPlace, newestFirst: Bool, atMost limit: Int, _ body: (StoredDead) -> Bool)
        async throws(DurableError)
    /// Returns the values of a dead run.
    func values(of dead: StoredDead, collects: Bool, in place: ShardPlace) async throws(DurableError) -> [[UInt8]]
    /// Returns keys that have entries in the inbox, those with the oldest first where the store knows them.
    func keysWithEntries(in place: ShardPlace, atMost limit: Int) async throws(DurableError) -> [[UInt8]]
}

extension ShardedStore {
    package func place(of key: [UInt8], in namespace: String) async throws(DurableError) -> ShardPlace {
        ShardPlace(namespace, shard(of: key, among: try await shards(of: namespace)))
    }

    /// Returns all shards of a namespace.
    package func places(of namespace: String) async throws(DurableError) -> [ShardPlace] {
        (0..<(try await shards(of: namespace))).map { ShardPlace(namespace, $0) }
    }

    /// Makes steps, those of one key in their order.
    package func make(_ steps: [KeyStep]) async {
        await makeOnce(steps)
        // What could not be made because the server has lost the namespace.
        let lost = steps.filter { if case .noPolicy? = $0.failure { true } else { false } }
        if lost.isEmpty { return }
        for name in Set(lost.map(\.namespace)) where (try? await reopen(name)) == true {
            await makeOnce(lost.filter { $0.namespace == name })
        }
    }

    private func makeOnce(_ steps: [KeyStep]) async {
        if steps.isEmpty { return }
        let deadline = ContinuousClock.now + options.timeLimit
        var errors: [DurableError?] = []
        for step in steps {
            step.deadline = deadline
            do throws(DurableError) {
                step.shard = try await place(of: step.key, in: step.namespace).shard
                errors.append(nil)
            } catch {
                errors.append(error)
            }
        }
        // The last of the steps resumes it, once.
        await withUnsafeContinuation { continuation in
            _ = StepGroup(steps) { continuation.resume() }
            for (step, error) in zip(steps, errors) {
                if let error { step.finish(error) } else { add(step) }
            }
        }
    }

    package func step<Answer: Sendable>(
        _ kind: StepAccess.Kind, on key: [UInt8], in namespace: String,
        _ body: @escaping @Sendable (inout LoadedTable, DurableNamespace) throws(DurableError) -> Answer
    ) async throws(DurableError) -> Answer {
        let call = KeyCall(namespace, key) { table throws(DurableError) in try body(&table, table.namespace) }
        call.isWorkers = kind == .works
        return try await make(call)
    }

    /// Makes a step on a key.
    package func make<Answer: Sendable>(_ call: KeyCall<Answer>) async throws(DurableError) -> Answer {
        await make([call])
        return try call.answer.get()
    }

    // MARK: - Calls

    package func submit(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>] {
        let limits = options.limits
        let calls = batch.map { submission in
            let call = KeyCall(submission.namespace, submission.key) { table throws(DurableError) in
                try submission.checkSize(by: limits)
                return try table.submit(submission, in: table.namespace, at: table.now)
            }
            if let token = submission.token { call.tokens = [token] }
            call.bytes = submission.value.count
            return call
        }
        await make(calls)
        await forgetSome()
        return calls.map(\.answer)
    }
}
