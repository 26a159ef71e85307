internal import Lull
package import LullCore

/// A store whose rows are in shards of a server, each key in one of them: the calls that are steps on single keys.
///
/// They are made by a ``StepRunner``. What concerns a namespace as a whole is the store's own.
package protocol ShardedStore: StoreCalls {
    var options: ServerOptions { get }
    /// Returns the shard of a key.
    func place(of key: [UInt8], in namespace: String) async throws(DurableError) -> ShardPlace
    /// Makes a step.
    func add(_ step: KeyStep)
    /// Opens a namespace again that this store has opened and the server has lost.
    ///
    /// - Returns: Whether there was one.
    func reopen(_ namespace: String) async throws(DurableError) -> Bool
    /// Deletes a little of what is old, if that is due.
    func forgetSome() async
}

/// A step on a key that has not been made.
package struct KeyCall<Answer: Sendable>: Sendable {
    package var namespace: String
    package var key: [UInt8]
    package var tokens: [String] = []
    package var dead: Int64?
    package var bytes = 0
    /// Whether it is a worker's, which may work where there is no room for more.
    package var isWorkers = false
    package var body: @Sendable (inout LoadedTable) throws(DurableError) -> Answer

    package init(
        _ namespace: String, _ key: [UInt8],
        _ body: @escaping @Sendable (inout LoadedTable) throws(DurableError) -> Answer
    ) {
        (self.namespace, self.key, self.body) = (namespace, key, body)
    }
}

extension ShardedStore {
    /// Makes steps, those of one key in their order, each with an answer of its own.
    package func make<Answer: Sendable>(_ calls: [KeyCall<Answer>]) async -> [Result<Answer, DurableError>] {
        var results = await makeOnce(calls)
        // What could not be made because the server has lost the namespace.
        let lost = results.indices.filter { if case .failure(.noPolicy) = results[$0] { true } else { false } }
        for name in Set(lost.map { calls[$0].namespace }) where (try? await reopen(name)) == true {
            let own = lost.filter { calls[$0].namespace == name }
            for (index, result) in zip(own, await makeOnce(own.map { calls[$0] })) { results[index] = result }
        }
        return results
    }

    private func makeOnce<Answer: Sendable>(_ calls: [KeyCall<Answer>]) async -> [Result<Answer, DurableError>] {
        if calls.isEmpty { return [] }
        let deadline = ContinuousClock.now + options.timeLimit
        var places: [Result<ShardPlace, DurableError>] = []
        for call in calls {
            do throws(DurableError) {
                places.append(.success(try await place(of: call.key, in: call.namespace)))
            } catch {
                places.append(.failure(error))
            }
        }
        let answers = StepAnswers<Answer>(count: calls.count)
        await withCheckedContinuation { continuation in
            for (index, call) in calls.enumerated() {
                switch places[index] {
                case .failure(let error):
                    answers.note(.failure(error), at: index)
                    if answers.finish() { continuation.resume() }
                case .success(let place):
                    let body = call.body
                    var step = KeyStep(place, call.key, deadline: deadline) { table in
                        answers.note(Result { () throws(DurableError) in try body(&table) }, at: index)
                    } finish: { error in
                        if let error { answers.note(.failure(error), at: index) }
                        if answers.finish() { continuation.resume() }
                    }
                    step.tokens = call.tokens
                    step.dead = call.dead
                    step.bytes = call.bytes
                    step.isWorkers = call.isWorkers
                    add(step)
                }
            }
        }
        return answers.all
    }

    /// Makes a step on a key.
    package func make<Answer: Sendable>(_ call: KeyCall<Answer>) async throws(DurableError) -> Answer {
        try await make([call])[0].get()
    }

    // MARK: - Calls

    package func submit(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>] {
        let limits = options.limits
        let answers = await make(
            batch.map { submission in
                var call = KeyCall<DurableReceipt>(submission.namespace, submission.key) { table throws(DurableError) in
                    try submission.checkSize(by: limits)
                    return try table.submit(submission, in: table.namespace, at: table.now)
                }
                call.tokens = submission.token.map { [$0] } ?? []
                call.bytes = submission.value.count
                return call
            })
        await forgetSome()
        return answers
    }

    @discardableResult
    package func touch(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool {
        try await make(
            KeyCall(namespace, key) { table throws(DurableError) in
                try table.touch(key, wait: wait, in: table.namespace, at: table.now)
            })
    }

    /// Flushes or cancels keys, each in a step of its own.
    package func change(
        _ change: DurableChange, _ keys: [[UInt8]], in namespace: String
    ) async throws(DurableError) -> [Int] {
        try await make(
            keys.map { key in
                KeyCall(namespace, key) { table throws(DurableError) in
                    try table.change(change, key, in: table.namespace, at: table.now)
                }
            }
        ).all()
    }

    /// Flushes or cancels those keys that meet the conditions of a selection, or counts them, each in a step of its
    /// own.
    package func change(
        _ change: DurableChange, _ keys: [[UInt8]], matching selection: DurableSelection, since began: CoreInstant,
        in namespace: String
    ) async throws(DurableError) -> Int {
        try await make(
            keys.map { key in
                KeyCall(namespace, key) { table throws(DurableError) in
                    var sweep = try table.sweep(of: table.namespace, matching: selection, at: began)
                    try table.change(change, &sweep, atMost: 1, in: table.namespace, at: table.now)
                    return sweep.count
                }
            }
        ).all().reduce(0, +)
    }

    /// Flushes or cancels what comes from one submitter alone, each key in a step of its own.
    package func change(
        _ change: DurableChange, _ keys: [[UInt8]], submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> ChangeSum {
        let sums = try await make(
            keys.map { key in
                KeyCall(namespace, key) { table throws(DurableError) in
                    var sum = ChangeSum()
                    switch change {
                    case .flush:
                        (sum.flushed, sum.mixed) = try table.flush(
                            submittedBy: submitter, in: table.namespace, at: table.now)
                        sum.count = sum.flushed.count
                    case .cancel:
                        (sum.count, sum.mixed) = try table.cancel(
                            submittedBy: submitter, in: table.namespace, at: table.now)
                    }
                    return sum
                }
            }
        ).all()
        return sums.reduce(into: ChangeSum()) { all, sum in
            all.count += sum.count
            all.mixed += sum.mixed
            all.flushed += sum.flushed
        }
    }

    package func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        try await make(
            KeyCall(receipt.namespace, receipt.key) { table throws(DurableError) in
                try table.state(of: receipt, in: table.namespace, at: table.now)
            })
    }

    /// Gives a dead run of a key another series of attempts.
    package func retry(_ run: Int64, of key: [UInt8], in namespace: String) async throws(DurableError) -> DurableRetry {
        var call = KeyCall(namespace, key) { table throws(DurableError) in
            try table.retry(run, in: table.namespace, at: table.now)
        }
        call.dead = run
        return try await make(call)
    }

    /// Deletes a dead run of a key, and returns whether there was one.
    package func discard(_ run: Int64, of key: [UInt8], in namespace: String) async throws(DurableError) -> Bool {
        var call = KeyCall(namespace, key) { table throws(DurableError) in
            try table.discard(run, in: table.namespace)
        }
        call.dead = run
        return try await make(call)
    }
}

extension Array {
    /// Returns all answers, or throws the first error.
    fileprivate func all<Answer>() throws(DurableError) -> [Answer]
    where Element == Result<Answer, DurableError> {
        var answers: [Answer] = []
        for result in self { answers.append(try result.get()) }
        return answers
    }
}

/// The answers to steps that were made together.
private final class StepAnswers<Answer: Sendable>: Sendable {
    private let state: Guarded<(answers: [Result<Answer, DurableError>], missing: Int)>

    init(count: Int) {
        state = Guarded((Array(repeating: .failure(.closed), count: count), count))
    }

    func note(_ answer: Result<Answer, DurableError>, at index: Int) { state.change { $0.answers[index] = answer } }

    /// Notes that a step has ended, and returns whether it was the last one.
    func finish() -> Bool {
        state.change { state in
            state.missing -= 1
            return state.missing == 0
        }
    }

    var all: [Result<Answer, DurableError>] { state.value.answers }
}
