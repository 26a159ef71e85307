internal import Foundation
internal import Lull
public import LullCore

extension DurableDebouncer {
    /// Works until the task is cancelled: runs the handler for what falls due in the namespace, whichever process has
    /// submitted it.
    ///
    /// Any number of workers may share a namespace, on one machine or, with a store that allows it, on many. Each key
    /// has at most one run at a time, and different keys run side by side.
    ///
    /// When the task is cancelled, nothing more is claimed. The handlers have the time of `grace` to end; those that
    /// have not are cancelled, and their runs go back to the store without having spent an attempt. A handler that does
    /// not heed that either is given up half-way from there to the end of the lease. So the call returns when all have
    /// ended, and no later than a `lease` after the cancellation.
    ///
    /// A handler that throws has failed, and its run is tried again after a while, under the rules of `retry`. While a
    /// handler runs, its lease is renewed each time a third of it has passed. If that fails for so long that another
    /// worker takes over, the handler is cancelled, and ``DurableFailure/leaseLost(_:)`` is reported; what it had done
    /// it has done, which is why it is given a ``DurableExecution/fence``. A handler that never returns keeps its key
    /// and its slot, and nothing else.
    ///
    /// A store that does not answer is asked again, more and more rarely. What a handler has done is reported until the
    /// store has it.
    ///
    /// Stops with a message if a setting breaks a rule.
    ///
    /// - Parameters:
    ///   - maxConcurrent: How many handlers may run at once, at least 1.
    ///   - lease: For how long a run is this worker's unless it asks for more time: how long the work of a worker that
    ///     has died lies before another one takes it over. More than zero.
    ///   - retry: When a run whose handler threw is tried again, and how often.
    ///   - grace: How long handlers may go on when the task has been cancelled; shorter than the lease. By default half
    ///     of the lease, at most ten seconds.
    ///   - onFailure: Told of everything that goes wrong. Without it, a line is written to standard error.
    ///   - handler: Handles one execution, on the actor where it was written, where its value is decoded, too. It may
    ///     call anything on the same debouncer.
    /// - Throws: What makes the store unusable, ``DurableError/closed`` among it. Handlers that run are cancelled then.
    public func run(
        maxConcurrent: Int = 8, lease: Duration = .seconds(30), retry: RetryPolicy = RetryPolicy(),
        grace: Duration? = nil, onFailure: (@Sendable (DurableFailure) async -> Void)? = nil,
        @_inheritActorContext
        handler: @escaping @Sendable @isolated(any) (DurableExecution<Key, Value>) async throws -> Void
    ) async throws(DurableError) {
        let settings = Worker.Settings(
            namespace: namespace, owner: .random(in: .min ... .max), maxConcurrent: maxConcurrent,
            lease: CoreDuration(lease), backoff: retry, grace: grace.map { CoreDuration($0) })
        let shell = WorkerShell(settings, store, clock, tally, onFailure, on: handler.isolation) { run in
            try await handler(try DurableExecution(run))
        }
        try await shell.run()
    }

    /// What the workers that were started from this debouncer and its copies have done so far.
    public var counters: DurableCounters { tally.value }
}

/// What the handler of a worker is given: the key, the values, and what it takes to do the work exactly once.
///
/// A run may be handed out more than once: ``runID`` and ``values`` are the same each time. What to do about that:
/// <doc:WorkThatSurvives>.
public struct DurableExecution<Key: DurableKey, Value: Codable & Sendable>: Sendable {
    /// The key.
    public let key: Key
    /// The values: one, or with `collect` all of them in the order in which they were submitted. Never empty.
    public let values: [Value]
    /// The same number in every attempt, and in no other execution of the store: send it along as an idempotency key,
    /// so that the receiver recognises a value that it has had.
    public let runID: Int64
    /// Grows with every claim of the key: send it along, so that the receiver can refuse a stale worker, which comes
    /// with a lower number than it has seen for that key.
    public let fence: Int64
    /// The numbers of the submits that the execution stands for: see ``DurableReceipt/generation``.
    public let submits: ClosedRange<Int64>
    /// How many submits are behind it: at least as many as ``values``.
    public let count: Int
    /// Why the values fell due (<doc:Semantics>, section 3).
    public let edge: Edge
    /// How often the run has been started, from 1.
    public let attempt: Int

    /// The value; with `collect` the last one.
    public var value: Value { values[values.count - 1] }

    init(_ run: DurableRun) throws {
        guard let key = Key(durableBytes: run.key) else {
            throw UndecodableBytes(description: "no key of the type \(Key.self) has the bytes of \(run.summary)")
        }
        guard !run.values.isEmpty else { throw UndecodableBytes(description: "\(run.summary) has no value") }
        let decoder = JSONDecoder()
        do {
            values = try run.values.map { try decoder.decode(Value.self, from: Data($0)) }
        } catch {
            throw UndecodableBytes(description: "the value of \(run.summary) is no \(Value.self): \(error)")
        }
        self.key = key
        runID = run.id
        fence = run.fence
        submits = run.submits
        count = run.count
        edge = run.edge
        attempt = run.attempt
    }
}
