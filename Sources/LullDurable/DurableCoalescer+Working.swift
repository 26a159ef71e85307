internal import Foundation
internal import Lull
public import LullCore

extension DurableCoalescer {
    /// Runs the handler for everything that falls due in the namespace, whichever process submitted it, until the task is
    /// cancelled.
    ///
    /// Any number of workers may share a namespace, on one machine or, if the store allows it, on many. Each key has at
    /// most one run at a time, and different keys run in parallel.
    ///
    /// When the task is cancelled, the worker claims nothing more. Running handlers have the `grace` to end; then they are
    /// cancelled, and their runs go back to the store without having spent an attempt. The worker gives up a handler that
    /// ignores its cancellation half-way between the end of the grace and the end of the lease. The call returns when
    /// all handlers have ended, and therefore no later than a `lease` after the cancellation.
    ///
    /// A handler that throws has failed, and its run is tried again after a delay, under the rules of `retry`. While a
    /// handler runs, the worker renews its lease each time a third of it has passed. If that fails for so long that
    /// another worker takes over, the handler is cancelled, and ``DurableFailure/leaseLost(_:)`` is reported. Whatever the
    /// handler had done stays done: that is why it receives a ``DurableExecution/fence``. A handler that never returns
    /// occupies its key and its slot, and nothing else.
    ///
    /// In a namespace that restarts runs (``DurableWhileRunning/restart(interrupting:)``), a handler is cancelled when a newer value of
    /// its key interrupts the run. If it then throws, that is no failure, and the value starts with the newer one.
    ///
    /// After a failed call the worker calls the store again, less and less often. It repeats the report of an execution
    /// until the store has recorded it.
    ///
    /// The program stops with a message if a setting breaks a rule.
    ///
    /// - Parameters:
    ///   - maxConcurrent: The largest number of handlers that run at once; at least 1.
    ///   - lease: How long a run is this worker's unless it renews the lease: so long the work of a worker that has died
    ///     waits before another worker takes it over. More than zero.
    ///   - retry: When, and how often, a run whose handler threw is tried again.
    ///   - grace: How long handlers may go on after the task has been cancelled; shorter than the lease. By default half
    ///     of the lease, at most ten seconds.
    ///   - onFailure: Called for everything that goes wrong. Without it, a line is written to standard error.
    ///   - fileID: The file that a message about a wrong setting names; leave it out.
    ///   - line: The line that this message names; leave it out.
    ///   - handler: Handles one execution, on the actor on which it was written; the value is decoded there, too. It may
    ///     call anything on the same debouncer.
    /// - Throws: The error that makes the store unusable, such as ``DurableError/closed``. Running handlers are cancelled
    ///   then.
    public func run(
        maxConcurrent: Int = 8, lease: Duration = .seconds(30), retry: RetryPolicy = RetryPolicy(),
        grace: Duration? = nil, onFailure: (@Sendable (DurableFailure) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext
        handler: @escaping @Sendable @isolated(any) (DurableExecution<Key, Value>) async throws -> Void
    ) async throws(DurableError) {
        let configuration = WorkerStateMachine.Configuration(
            namespace: namespace, owner: .random(in: .min ... .max), maxConcurrent: maxConcurrent,
            lease: CoreDuration(lease), backoff: retry, grace: grace.map { CoreDuration($0) },
            watches: whileRunning != .queue, fileID: fileID, line: line)
        try await WorkerDriver(configuration, store, clock, counts, onFailure, handler).run()
    }

    /// The counts of the workers that were started from this debouncer and its copies.
    public var counters: DurableCounters { counts.value }
}

/// The argument of a worker's handler: the key, the values, and the numbers that let it do the work exactly once.
///
/// A run may be handed out more than once; ``runID`` and ``values`` are the same each time. What to do about that:
/// <doc:WorkThatSurvives>.
public struct DurableExecution<Key: DurableKey, Value: Codable & Sendable>: Sendable {
    /// The key.
    public let key: Key
    /// The values: one, or with `collect` all of them in the order in which they were submitted. Never empty.
    public let values: [Value]
    /// The id of the run: the same number in every attempt, and in no other execution of the store. Send it along as an
    /// idempotency key, so that the receiver recognises a value that it has received before.
    public let runID: Int64
    /// The fence, which grows with every claim of the key. Send it along, so that the receiver can refuse a stale worker,
    /// whose number is lower than one that it has seen for that key.
    public let fence: Int64
    /// The numbers of the submits that the execution covers: see ``DurableReceipt/generation``.
    public let submits: ClosedRange<Int64>
    /// The number of submits behind the execution: at least as many as ``values``.
    public let count: Int
    /// Why the values fell due (<doc:Semantics>, section 3).
    public let edge: Edge
    /// The number of this attempt, from 1.
    public let attempt: Int

    /// The value; with `collect` the last one.
    public var value: Value { values[values.count - 1] }

    init(_ run: DurableRun) throws {
        guard let key = Key(durableBytes: run.key) else {
            throw UndecodableBytes(description: "no key of the type \(Key.self) has the bytes of \(run.summary)")
        }
        guard !run.values.isEmpty else { throw UndecodableBytes(description: "\(run.summary) has no value") }
        values = try decodeValues(run.values, as: Value.self, of: run.summary)
        self.key = key
        runID = run.id
        fence = run.fence
        submits = run.submits
        count = run.count
        edge = run.edge
        attempt = run.attempt
    }
}

/// Decodes the values of a run, as a store has them.
///
/// - Parameter subject: What the error names.
func decodeValues<Value: Decodable>(
    _ values: [[UInt8]], as type: Value.Type, of subject: String
) throws(UndecodableBytes) -> [Value] {
    let decoder = JSONDecoder()
    do {
        return try values.map { try decoder.decode(Value.self, from: Data($0)) }
    } catch {
        throw UndecodableBytes(description: "the value of \(subject) is no \(Value.self): \(error)")
    }
}
