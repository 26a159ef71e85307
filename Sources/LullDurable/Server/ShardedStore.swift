internal import Lull
package import LullCore

/// A store whose rows are in shards of a server, each key in one of them: the calls that are steps on single keys.
///
/// They are made by a ``StepRunner``. What concerns a namespace as a whole is the store's own.
package protocol ShardedStore: ServerStore, KeyStepStore where Table == LoadedTable {
    /// Returns the shard of a key.
    func place(of key: [UInt8], in namespace: String) async throws(DurableError) -> ShardPlace
    /// Makes a step.
    func add(_ step: KeyStep)
    /// Opens a namespace again that this store has opened and the server has lost.
    ///
    /// - Returns: Whether there was one.
    func reopen(_ namespace: String) async throws(DurableError) -> Bool
}

extension ShardedStore {
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

    /// Makes steps, and returns all answers, or throws the first error.
    private func answers<Answer: Sendable>(to calls: [KeyCall<Answer>]) async throws(DurableError) -> [Answer] {
        await make(calls)
        var answers: [Answer] = []
        for call in calls { answers.append(try call.answer.get()) }
        return answers
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

    /// Flushes or cancels keys, each in a step of its own.
    package func change(
        _ change: DurableChange, _ keys: [[UInt8]], in namespace: String
    ) async throws(DurableError) -> [Int] {
        try await answers(
            to: keys.map { key in
                KeyCall(namespace, key) { table throws(DurableError) in
                    try table.change(change, key, in: table.namespace, at: table.now)
                }
            }
        )
    }

    /// Flushes or cancels those keys that meet the conditions of a selection, or counts them, each in a step of its
    /// own.
    package func change(
        _ change: DurableChange, _ keys: [[UInt8]], matching selection: DurableSelection, since began: CoreInstant,
        in namespace: String
    ) async throws(DurableError) -> Int {
        try await answers(
            to: keys.map { key in
                KeyCall(namespace, key) { table throws(DurableError) in
                    var sweep = try table.sweep(of: table.namespace, matching: selection, at: began)
                    try table.change(change, &sweep, atMost: 1, in: table.namespace, at: table.now)
                    return sweep.count
                }
            }
        ).reduce(0, +)
    }

    /// Flushes or cancels what comes from one submitter alone, each key in a step of its own.
    package func change(
        _ change: DurableChange, _ keys: [[UInt8]], submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> ChangeSum {
        let sums = try await answers(
            to: keys.map { key in
                KeyCall(namespace, key) { table throws(DurableError) in
                    try table.change(change, submittedBy: submitter, in: table.namespace, at: table.now)
                }
            }
        )
        return sums.reduce(into: ChangeSum(), +=)
    }

    /// Gives a dead run of a key another series of attempts.
    package func retry(_ run: Int64, of key: [UInt8], in namespace: String) async throws(DurableError) -> DurableRetry {
        let call = KeyCall(namespace, key) { table throws(DurableError) in
            try table.retry(run, in: table.namespace, at: table.now)
        }
        call.dead = run
        return try await make(call)
    }

    /// Deletes a dead run of a key, and returns whether there was one.
    package func discard(_ run: Int64, of key: [UInt8], in namespace: String) async throws(DurableError) -> Bool {
        let call = KeyCall(namespace, key) { table throws(DurableError) in
            try table.discard(run, in: table.namespace)
        }
        call.dead = run
        return try await make(call)
    }
}
