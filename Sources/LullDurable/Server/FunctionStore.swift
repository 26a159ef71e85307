internal import Lull
package import LullCore

/// A store whose server has functions for the calls.
///
/// Of ``StoreCalls`` it implements those that are questions and steps of the server's own: `open`, `state`, `status`,
/// `list`, `upcoming`, `ended`, `announce`, `workers`, `deadRun`, `count`, `pause`, `resume`, `forget` and
/// `presentInstant`. The other calls are here. It puts submits together by a ``SubmitQueue``.
package protocol FunctionStore: ServerStore {
    /// Adds a submit; false if the store is closed.
    func add(_ entry: SubmitQueue.Entry) -> Bool

    /// Returns the shard of each submit, or why it cannot be recorded.
    func shards(of batch: [DurableSubmission]) async -> [Result<Int, DurableError>]

    /// See ``StoreCalls/submit(_:)``.
    func submit(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>]

    /// Changes keys, some at a time: see ``StoreCalls/change(_:_:in:)``.
    func changeRows(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum

    /// See ``StoreCalls/touch(_:in:wait:)``.
    func touchKey(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool

    /// Gives a dead run another series of attempts: see ``StoreCalls/retry(_:in:)``.
    func retryRun(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry

    /// Deletes a dead run, and returns whether there was one: see ``StoreCalls/discard(_:in:)``.
    func discardRun(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool

    /// Returns the dead runs that died first, with their values.
    func oldestDeadRuns(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>]

    /// Returns dead runs without their values: see ``StoreCalls/deadRuns(matching:in:newestFirst:limit:withValues:)``.
    func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>]

    /// Deletes a little of what is older than the limits say.
    func forgetStep(_ done: @escaping @Sendable (Forgotten) -> Void)
}

extension ChangeTarget {
    package var submitter: Int64? { if case .submitter(let submitter) = self { submitter } else { nil } }
    package var selection: DurableSelection? { if case .selection(let selection) = self { selection } else { nil } }
}

extension DurableChange {
    /// The name that the server's functions and scripts know: of a change of all work, or of what comes from one
    /// submitter alone.
    package func name(of target: ChangeTarget) -> String {
        switch self {
        case .flush: target.submitter == nil ? "flush" : "flushOwn"
        case .cancel: target.submitter == nil ? "cancel" : "cancelOwn"
        }
    }
}

/// What a step of forgetting has found.
package enum Forgotten: Sendable {
    case all
    /// There is more.
    case some
    /// This user of the server has no right to it.
    case refused
}

// MARK: - Producers

extension FunctionStore {
    package func submit(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>] {
        await record(batch)
    }

    package func record(_ batch: [DurableSubmission]) async -> [Result<DurableReceipt, DurableError>] {
        if batch.isEmpty { return [] }
        let deadline = ContinuousClock.now + options.timeLimit
        let shards = await shards(of: batch)
        let results = await SubmitQueue.answers(count: batch.count) { index, answer in
            do throws(DurableError) {
                try batch[index].checkSize(by: options.limits)
                let entry = SubmitQueue.Entry(
                    submission: batch[index], shard: try shards[index].get(), deadline: deadline, answer: answer)
                if !add(entry) { throw DurableError.closed }
            } catch {
                answer(.failure(error))
            }
        }
        await forgetSome()
        for (submission, result) in zip(batch, results) {
            guard case .success(let receipt) = result, let due = receipt.due else { continue }
            state.changeAndWake { state in
                state.wakeSignal.signal(CoreInstant(nanoseconds: due), in: submission.namespace)
                state.wakeSignal.signalInterruption(in: submission.namespace)
            }
        }
        return results
    }

    @discardableResult
    package func touch(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool {
        let wasOpen = try await touchKey(key, in: namespace, wait: wait)
        // With a delay of its own, something may be due sooner.
        if wait != nil { state.changeAndWake { $0.wakeSignal.signalAll(in: namespace) } }
        return wasOpen
    }

    @discardableResult
    package func change(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum {
        let sum: ChangeSum
        if case .keys(let keys) = target {
            var counts: [Int] = []
            for key in keys { counts.append(try await changeRows(change, .keys([key]), in: namespace).count) }
            sum = ChangeSum(of: counts)
        } else {
            sum = try await changeRows(change, target, in: namespace)
        }
        if change == .flush { state.changeAndWake { $0.wakeSignal.signalAll(in: namespace) } }
        return sum
    }

    package func retry(_ runs: [Int64], in namespace: String) async throws(DurableError) -> [DurableRetry] {
        var answers: [DurableRetry] = []
        for run in runs { answers.append(try await retryRun(run, in: namespace)) }
        return answers
    }

    @discardableResult
    package func discard(_ runs: [Int64], in namespace: String) async throws(DurableError) -> Int {
        var count = 0
        for run in runs where try await discardRun(run, in: namespace) { count += 1 }
        return count
    }

    package func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int, withValues: Bool
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        if withValues, selection == .all, !newestFirst { return try await oldestDeadRuns(in: namespace, limit: limit) }
        let found = try await deadRuns(matching: selection, in: namespace, newestFirst: newestFirst, limit: limit)
        if !withValues { return found }
        var whole: [DurableDeadRun<[UInt8]>] = []
        for run in found { if let run = try await deadRun(run.id, in: namespace) { whole.append(run) } }
        return whole
    }
}

// MARK: - Forgetting

extension FunctionStore {
    package func forgetSome() async { await forgetSome(now: false) }

    package func forgetSome(now isDue: Bool) async {
        let isTest = options.now != nil
        guard state.change({ $0.beginsForgetting(now: isDue || isTest) }) else { return }
        let state = state
        let note = { @Sendable (answer: Forgotten) in
            state.change { state in
                switch answer {
                case .all: break
                case .some: state.forgetSoon()
                case .refused: state.forgetAgain(in: .seconds(86400))
                }
            }
        }
        guard isTest else { return forgetStep(note) }
        await withCheckedContinuation { continuation in
            forgetStep { answer in
                note(answer)
                continuation.resume()
            }
        }
    }
}
