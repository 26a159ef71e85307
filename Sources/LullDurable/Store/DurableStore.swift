internal import Foundation
package import LullCore

/// A store of the pending work of durable debouncers and throttlers.
///
/// To use a store, create an `SQLiteStore` or a ``MemoryStore``, pass it to a ``DurableDebouncer`` or
/// ``DurableThrottler``, and ``close()`` it at the end. These make all other calls.
///
/// All stores are in this package; a new one has to be written in it. Each call is one atomic step at one instant of
/// the store's own time, and is committed before it returns. Every call is harmless to repeat. Callers give durations,
/// never instants. A store that can hold its rows still during a step implements `DurableTable` and gets its steps from
/// there. The conformance suite in the repository (`Tests/DurableConformance`) decides whether a store is correct.
///
/// Calls throw ``DurableError``. Cancelling the task that awaits a call does not undo the call.
public protocol DurableStore: Sendable {
    /// Opens a namespace: creates it with the given rules if it is new, and otherwise adopts their durations and
    /// counts.
    ///
    /// - Parameters:
    ///   - namespace: The name of the namespace.
    ///   - rules: The rules; nil to use those that the store has.
    /// - Returns: The rules that apply from now on.
    /// - Throws: ``DurableError/otherPolicy(namespace:stored:given:)`` if the kind of policy, the edges, the
    ///   combination or the rule for running runs differ; ``DurableError/noPolicy(namespace:)`` if it is new and no
    ///   rules are given.
    @discardableResult
    func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules

    /// Records a submit: gives it the key's next generation, and combines it with what is pending.
    ///
    /// - Returns: The receipt; for a token that was used before, the first receipt again.
    func submit(_ submission: DurableSubmission) async throws(DurableError) -> DurableReceipt

    /// Does to the gate of a key what a submit would, without a value: an open gate of a debounce stays open for
    /// longer. Nothing else changes.
    ///
    /// - Parameters:
    ///   - key: The bytes of the key.
    ///   - namespace: The name of the namespace.
    ///   - wait: The quiet period from this call on, in place of the namespace's; nil for that one.
    /// - Returns: Whether the gate was open.
    @discardableResult
    func touch(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool

    /// Makes what is pending, held or between two attempts ready now, and the gate idle: for one key, or for all, in
    /// the order of their first submits. All keys are those that are there when the call begins; they may change in
    /// several steps.
    ///
    /// - Returns: The number of keys that had anything to flush.
    @discardableResult
    func flush(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int

    /// Drops what no worker has, for one key or for all: those that are there when the call begins. They may change in
    /// several steps.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    func cancel(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int

    /// Flushes the keys of a selection, in the order of their first submits, as ``flush(_:in:)`` does all: in steps, so
    /// that others can write in between. Whether a key meets the conditions is decided in the step that changes it.
    ///
    /// - Returns: The number of keys that had anything to flush.
    @discardableResult
    func flush(matching selection: DurableSelection, in namespace: String) async throws(DurableError) -> Int

    /// Cancels the keys of a selection: see ``flush(matching:in:)``.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    func cancel(matching selection: DurableSelection, in namespace: String) async throws(DurableError) -> Int

    /// Returns how much a selection has. It may read many rows, and locks none.
    func count(matching selection: DurableSelection, in namespace: String) async throws(DurableError)
        -> DurableSelectionCount

    /// Makes ready now what is pending and comes from one submitter alone (``DurableSubmission/submitter``), and the
    /// gate idle, in the order of the first submits. What is ready, claimed or between two attempts does not change.
    ///
    /// - Returns: The keys, each with its newest generation; and the number of keys whose pending value comes from
    ///   several submitters, perhaps including this one: those values stay pending.
    func flush(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int)

    /// Drops what is pending and comes from one submitter alone, and makes the gate idle. What is ready, claimed or
    /// between two attempts does not change.
    ///
    /// - Returns: The number of submits behind what was dropped; and the number of keys whose pending value comes from
    ///   several submitters, perhaps including this one: those values stay pending.
    func cancel(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (cancelled: Int, mixed: Int)

    /// Hands out runs that may start, in the order of the instants from which they may. With a `maxBatch`, a run gets
    /// the first values of what is ready, and the rest may start when that run has ended.
    func claim(_ claim: DurableClaim) async throws(DurableError) -> DurableClaim.Answer

    /// Records a worker's report that a run has ended or goes on.
    func report(_ report: DurableReport) async throws(DurableError) -> DurableReport.Answer

    /// Makes several calls of a worker together, as ``report(_:)`` and then ``claim(_:)`` would, each with its own
    /// answer.
    ///
    /// There is a default implementation. A store whose calls can share a transaction makes all of them in one.
    func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange

    /// Waits until there may be something to claim earlier than the store said at `mark`, at most for a time.
    ///
    /// Returns at once if that has happened since. It may return too early, but must never miss anything, including
    /// what other processes submit.
    func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError)

    /// Returns those runs of a worker that newer values have interrupted, in a namespace that restarts runs.
    ///
    /// Waits until there is one, at most for a time. It may return none sooner, and it may miss one: the answer to a
    /// heartbeat is the guarantee.
    ///
    /// - Parameters:
    ///   - worker: The worker's number.
    ///   - known: Runs that the worker knows of.
    ///   - namespace: The name of the namespace.
    ///   - time: How long to wait; zero to look only.
    func interruptions(
        of worker: Int64, besides known: [Int64], in namespace: String, atMost time: Duration
    ) async throws(DurableError) -> [Int64]

    /// Returns the present state of a submit.
    func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState

    /// Returns all namespaces, by name, with their counts.
    func status() async throws(DurableError) -> [DurableStatus]

    /// Returns keys that have anything pending, ready or running and begin with a prefix, in the order of their bytes.
    func list(
        in namespace: String, prefix: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>]

    /// Returns how submits of a key, or of all keys, have ended, the newest first, as far as the store retains it. Dead
    /// runs are among them.
    func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableEnd<[UInt8]>]

    /// Records that a worker is there, and where: it says so when it starts, and then every minute. What workers said
    /// more than a day ago is forgotten.
    func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError)

    /// Returns the workers that have announced themselves within the last 150 seconds, or that have runs; by host,
    /// process and number.
    func workers(in namespace: String) async throws(DurableError) -> [DurableWorker]

    /// Returns runs that have used up their attempts, the oldest first.
    func dead(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>]

    /// Returns the numbers of the dead runs of a selection, the oldest first.
    func deadRuns(matching selection: DurableSelection, in namespace: String) async throws(DurableError) -> [Int64]

    /// Retries dead runs in their order, each as ``retry(_:in:)`` would. A store that can does it in one transaction.
    ///
    /// - Returns: What has become of each.
    func retryAll(_ runs: [Int64], in namespace: String) async throws(DurableError) -> [DurableRetry]

    /// Deletes dead runs with their values, and returns how many there were. A store that can does it in one
    /// transaction.
    @discardableResult
    func discardAll(_ runs: [Int64], in namespace: String) async throws(DurableError) -> Int

    /// Gives a dead run another series of attempts, before anything newer of its key. Refuses if the key has another
    /// run now or, with `latest`, a newer generation.
    func retry(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry

    /// Deletes a dead run with its values.
    ///
    /// - Returns: Whether there was such a run.
    @discardableResult
    func discard(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool

    /// Deletes a namespace that has no work and no dead runs: its rules, its counters, how its submits have ended, and
    /// the answers to its tokens. It can be opened again, with any rules. Numbers of submits and runs do not begin
    /// again.
    ///
    /// Stop what uses the namespace first: its later calls throw ``DurableError/noPolicy(namespace:)``, unless the
    /// store opens namespaces again that a server has lost.
    ///
    /// - Throws: ``DurableError/hasWork(_:)`` if it has work or dead runs; ``DurableError/noPolicy(namespace:)`` if
    ///   there is no such namespace.
    func forget(_ namespace: String) async throws(DurableError)

    /// Pauses a namespace: from then on a claim hands out nothing and takes nothing over, until ``resume(_:)``. Nothing
    /// else changes: runs that workers have go on and are reported; submits, flushes and cancels are recorded, and
    /// values fall due.
    ///
    /// A namespace that is paused already stays so since the first time, with the new reason if there is one.
    ///
    /// - Parameters:
    ///   - namespace: The name of the namespace.
    ///   - reason: Why, for people; the store keeps 500 characters. Nil for no reason.
    /// - Returns: The pause as the store has it.
    @discardableResult
    func pause(_ namespace: String, reason: String?) async throws(DurableError) -> DurablePause

    /// Ends the pause of a namespace, and wakes its workers.
    ///
    /// - Returns: Whether it was paused.
    @discardableResult
    func resume(_ namespace: String) async throws(DurableError) -> Bool

    /// Ends this process's use of the store. It answers earlier calls first; later calls, and workers, throw
    /// ``DurableError/closed``.
    func close() async
}

/// What the `lull` command needs of a store beside what debouncers do.
package protocol StoreForCommands: DurableStore {
    /// Records submits in their order, each with an answer of its own.
    ///
    /// - Throws: An error if none of them was recorded.
    func submit(_ batch: [DurableSubmission]) async throws(DurableError) -> [Result<DurableReceipt, DurableError>]

    /// Flushes or cancels some keys, and returns the count for each. A store that can does it in one transaction.
    func change(
        _ change: DurableChange, _ keys: [[UInt8]], in namespace: String
    ) async throws(DurableError) -> [Int]

    /// Returns a page of the keys that are not idle, from `start` on.
    func list(
        in namespace: String, prefix: [UInt8], from start: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>]

    /// Returns keys with work by when they change next: first those with a value that waits for a worker, then by when
    /// what is pending falls due, the next attempt begins, or the lease ends.
    ///
    /// They are the first by the instants at which they wake, which may be too early, since a submit only moves them
    /// earlier. So a key may be missing that changes before one that is there. It reads about as many rows as it
    /// returns, however many there are: at most four times as many as the limit, of which those are left out that have
    /// nothing but an open gate.
    func upcoming(in namespace: String, limit: Int) async throws(DurableError) -> [DurableListing<[UInt8]>]

    /// Returns some of the dead runs of a selection, without their values and contexts.
    ///
    /// - Parameter newestFirst: Whether those that died last come first, and not those that died first.
    func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>]

    /// Returns a dead run with its values; nil if there is none with that number.
    func deadRun(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableDeadRun<[UInt8]>?

    /// Returns the store's time.
    func presentInstant(in namespace: String) async throws(DurableError) -> CoreInstant

    /// Throws if nothing that is recorded now would last. Only a file can be deleted under its users.
    func check() async throws(DurableError)
}

extension StoreForCommands {
    package func change(
        _ change: DurableChange, _ keys: [[UInt8]], in namespace: String
    ) async throws(DurableError) -> [Int] {
        var counts: [Int] = []
        for key in keys {
            switch change {
            case .flush: counts.append(try await flush(key, in: namespace))
            case .cancel: counts.append(try await cancel(key, in: namespace))
            }
        }
        return counts
    }

    package func check() async throws(DurableError) {}
}

extension DurableStore {
    /// Retries the runs one after the other.
    public func retryAll(_ runs: [Int64], in namespace: String) async throws(DurableError) -> [DurableRetry] {
        var answers: [DurableRetry] = []
        for run in runs { answers.append(try await retry(run, in: namespace)) }
        return answers
    }

    /// Discards the runs one after the other.
    @discardableResult
    public func discardAll(_ runs: [Int64], in namespace: String) async throws(DurableError) -> Int {
        var count = 0
        for run in runs where try await discard(run, in: namespace) { count += 1 }
        return count
    }

    /// Makes the calls separately and concurrently.
    public func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        async let claimed = answer(to: claim)
        let reported = await withTaskGroup { group in
            for (index, report) in reports.enumerated() {
                group.addTask { (index, await answer(to: report)) }
            }
            return await group.reduce(into: [:]) { answers, answer in answers[answer.0] = answer.1 }
        }
        return await DurableExchange(reports: reports.indices.compactMap { reported[$0] }, claim: claimed)
    }

    func answer(to report: DurableReport) async -> Result<DurableReport.Answer, DurableError> {
        do { return .success(try await self.report(report)) } catch { return .failure(error) }
    }

    func answer(to claim: DurableClaim?) async -> Result<DurableClaim.Answer, DurableError>? {
        guard let claim else { return nil }
        do { return .success(try await self.claim(claim)) } catch { return .failure(error) }
    }
}
