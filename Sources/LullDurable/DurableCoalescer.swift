internal import Foundation
internal import Lull
internal import LullCore

/// The calls that ``DurableDebouncer`` and ``DurableThrottler`` have in common: submit, flush, cancel, work, and look.
/// Programs name one of those two.
///
/// An object is a handle on a namespace of a store, and costs nothing to make again. All handles on one namespace of
/// one store, in any process, share its keys; their key and value types have to agree. Every call may be made from any
/// task, thread or actor, and from inside a handler.
///
/// A worker or a tool that need not know when values fall due opens the namespace by its name alone, and as a
/// debouncer even if it is throttled:
///
/// ```swift
/// let sync = try await DurableDebouncer<String, Change>(namespace: "sync", in: store)
/// try await sync.run { execution in try await server.send(execution.value, named: execution.runID) }
/// ```
public class DurableCoalescer<Key: DurableKey, Value: Codable & Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: all properties are constants that are Sendable, and only this module makes
    // subclasses, which have none.

    /// The name under which the store holds these keys and their settings.
    public final let namespace: String
    final let store: any StoreCalls
    final let clock: WorkerClock
    /// Whether the values of an execution are to be folded into one: a rule of the namespace.
    private let isMerging: Bool
    private let fold: DurableFold<Value>?
    /// What a newer value of a key does to its run: a rule of the namespace.
    public final let whileRunning: DurableOverlapPolicy
    final let counts = Guarded(DurableCounters())

    init(
        _ rules: DurableRules?, changingPolicy: Bool, _ fold: DurableFold<Value>?, _ namespace: String,
        _ store: any DurableStore, _ clock: any Clock<Duration>
    ) async throws(DurableError) {
        let store = store.calls
        let opening = try await store.open(namespace, rules, changingPolicy: changingPolicy)
        if let line = opening.line(of: namespace) { logLine("Lull: \(line)", kind: "a policy was changed") }
        let stored = opening.rules
        if fold != nil, !stored.isMerging {
            throw .otherPolicy(namespace: namespace, stored: stored, given: stored.merging(true))
        }
        whileRunning = stored.whileRunning
        isMerging = stored.isMerging
        self.fold = fold
        self.namespace = namespace
        self.store = store
        self.clock = WorkerClock(clock)
    }

    /// Opens an existing namespace with the settings that the store has: for workers and tools that need not know them.
    ///
    /// - Parameters:
    ///   - namespace: The name under which it was created.
    ///   - store: The store that has it.
    ///   - fold: Folds a value into the one that is pending: what a worker needs, and nobody else, if the namespace was
    ///     created with `.merge`.
    ///   - clock: Measures the pauses of workers and of calls that wait.
    /// - Throws: ``DurableError/noPolicy(namespace:)`` if the namespace has never been opened with settings;
    ///   ``DurableError/otherPolicy(namespace:stored:given:)`` if its values are not to be merged, and `fold` is given.
    public convenience init(
        namespace: String, in store: any DurableStore,
        merging fold: (@Sendable (_ pending: inout Value, _ value: Value) -> Void)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(DurableError) {
        try await self.init(nil, changingPolicy: false, fold, namespace, store, clock)
    }
}

extension DurableRules {
    /// Returns the rules, or stops the program with the rule that is broken: the settings are part of its code.
    ///
    /// - Parameter combining: How values are combined; nil to collect them.
    static func checked<Value>(
        _ combining: Combination<Value>?, _ maxBatch: Int?, limit: RateLimit?, maxRunning: Int?,
        _ whileRunning: DurableOverlapPolicy, at site: SourceSite, _ make: () throws(PolicyError) -> Policy
    ) -> DurableRules {
        do {
            return try DurableRules(
                try make(), combination: combining?.core ?? .collect, isMerging: combining?.fold != nil,
                maxBatch: maxBatch, limit: limit, maxRunning: maxRunning, whileRunning: whileRunning)
        } catch {
            refuse("\(error)", at: site)
        }
    }

    /// Returns the rules with a policy of the right kind, or stops the program with the rule that is broken.
    static func checked<Value>(
        _ combining: Combination<Value>?, _ maxBatch: Int?, limit: RateLimit?, maxRunning: Int?,
        _ whileRunning: DurableOverlapPolicy, _ policy: Policy, is kind: Policy.Kind, at site: SourceSite
    ) -> DurableRules {
        switch (policy.kind, kind) {
        case (.throttle, .debounce):
            refuse("the policy is a throttle, which is what a DurableThrottler takes", at: site)
        case (.debounce, .throttle):
            refuse("the policy is a debounce, which is what a DurableDebouncer takes", at: site)
        default: checked(combining, maxBatch, limit: limit, maxRunning: maxRunning, whileRunning, at: site) { policy }
        }
    }
}

// The calls of producers.

extension DurableCoalescer {
    /// Submits a value under a key, and returns when the store has recorded it: from then on the value, or one that
    /// replaces it, is executed, whichever process dies.
    ///
    /// A submit costs a transaction of the store, which concurrent submits share. It needs no worker in this process:
    /// another process may call ``run(maxConcurrent:lease:retry:timeLimit:grace:onFailure:fileID:line:handler:)``.
    ///
    /// - Parameters:
    ///   - value: The value. The store holds it as JSON.
    ///   - key: The key, of at most ``DurableLimits/longestKey`` bytes.
    ///   - token: A name for the submit, in the namespace, that makes it repeatable: with the same token it counts
    ///     once, and the store gives its first answer again. When the store's answer is lost, a submit with a token is
    ///     repeated a few times before this call gives up. A token costs a second row in the store for as long as the
    ///     store retains tokens.
    ///   - context: Text that travels with the value and reaches the handler, such as a `traceparent`: at most
    ///     ``DurableLimits/longestContext`` bytes. See ``DurableExecution/context``.
    /// - Returns: A receipt for ``state(of:)`` and ``wait(for:atMost:)``. It is `Codable`, so you can save it.
    /// - Throws: ``DurableError/unknown(_:)`` if the value may or may not have been recorded; after every other error
    ///   it has certainly not been. What to do then: <doc:WorkThatSurvives>.
    @discardableResult
    public func submit(
        _ value: Value, for key: Key, token: String? = nil, context: String? = nil
    ) async throws(DurableError) -> DurableReceipt {
        try await submit(value, for: key, wait: nil, token: token, context: context)
    }

    func submit(
        _ value: Value, for key: Key, wait: CoreDuration?, token: String?, context: String?
    ) async throws(DurableError) -> DurableReceipt {
        let bytes: [UInt8]
        do {
            bytes = Array(try JSONEncoder().encode(value))
        } catch {
            throw .unencodable("\(error)")
        }
        let submission = DurableSubmission(
            namespace: namespace, key: key.durableBytes, value: bytes, wait: wait, token: token,
            context: context)
        for pause in token == nil ? [] : Self.pausesBeforeRepeating {
            do throws(DurableError) {
                return try await store.submit(submission)
            } catch {
                guard case .unknown = error else { throw error }
                do { try await clock.sleep(clock.now().advanced(by: pause)) } catch { break }
            }
        }
        return try await store.submit(submission)
    }

    /// The pauses before a submit is repeated.
    private static var pausesBeforeRepeating: [CoreDuration] { [100, 400, 1600].map { .milliseconds($0) } }

    /// Makes what is pending under a key, or waits for another attempt, executable now (<doc:Semantics>, section 5).
    ///
    /// Returns when the store has recorded that, not when the value has been executed: there may be no worker. To wait
    /// for the execution, use ``wait(for:atMost:)``.
    ///
    /// - Returns: Whether there was anything to execute.
    @discardableResult
    public func flush(_ key: Key) async throws(DurableError) -> Bool {
        try await store.flush(key.durableBytes, in: namespace) > 0
    }

    /// Makes what is pending under any key of the namespace, or waits for another attempt, executable now.
    ///
    /// The keys follow the order of their first submits. Returns when the store has recorded that.
    ///
    /// - Returns: The number of keys that had anything to execute.
    @discardableResult
    public func flush() async throws(DurableError) -> Int {
        try await store.flush(nil, in: namespace)
    }

    /// Discards what no worker has claimed under a key: what is pending, ready, or waiting for another attempt. A run
    /// that a worker has goes on.
    ///
    /// - Returns: The number of submits behind what was discarded.
    @discardableResult
    public func cancel(_ key: Key) async throws(DurableError) -> Int {
        try await store.cancel(key.durableBytes, in: namespace)
    }

    /// Discards what no worker has claimed, under every key of the namespace.
    ///
    /// - Returns: The number of submits behind what was discarded.
    @discardableResult
    public func cancel() async throws(DurableError) -> Int {
        try await store.cancel(nil, in: namespace)
    }

    /// Does the same for the keys of a selection, in steps: others submit and work in between.
    ///
    /// - Returns: The number of keys that had anything to execute.
    @discardableResult
    public func flush(matching selection: DurableSelection) async throws(DurableError) -> Int {
        try await store.change(.flush, .selection(selection), in: namespace).count
    }

    /// Discards what no worker has claimed under the keys of a selection, in steps: others submit and work in between.
    ///
    /// - Returns: The number of submits behind what was discarded.
    @discardableResult
    public func cancel(matching selection: DurableSelection) async throws(DurableError) -> Int {
        try await store.change(.cancel, .selection(selection), in: namespace).count
    }

    // MARK: - The state of a submit

    /// Returns the present state of a submit, with one call of the store.
    ///
    /// - Parameter receipt: The receipt that ``submit(_:for:token:context:)`` returned, in this process or another one.
    /// - Returns: The state; ``DurableState/forgotten`` if the submit ended longer ago than the store's
    ///   ``DurableLimits/retention``.
    public func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        try await store.state(of: receipt)
    }

    /// Waits until a submit has ended, which may need a worker in another process.
    ///
    /// ```swift
    /// let receipt = try await sync.submit(change, for: document)
    /// try await sync.flush(document)
    /// if try await sync.wait(for: receipt, atMost: .seconds(5)) == .executed { screen.showSaved() }
    /// ```
    ///
    /// It polls the store at intervals that grow with the wait, up to a quarter of a second.
    ///
    /// - Parameters:
    ///   - receipt: The receipt that ``submit(_:for:token:context:)`` returned.
    ///   - time: The longest time to wait.
    /// - Returns: How the submit has ended; its present state if it has not ended (``DurableState/isFinal``) when the
    ///   time is over or the task is cancelled.
    @discardableResult
    public func wait(for receipt: DurableReceipt, atMost time: Duration) async throws(DurableError) -> DurableState {
        let start = clock.now()
        let end = start.advanced(by: CoreDuration(time))
        while true {
            let state = try await store.state(of: receipt)
            let now = clock.now()
            if state.isFinal || now >= end || Task.isCancelled { return state }
            let pause = CoreDuration.nanoseconds(start.duration(to: now).nanoseconds / 4)
            let next = now.advanced(by: min(max(pause, .milliseconds(5)), .milliseconds(250)))
            try? await clock.sleep(min(next, end))
        }
    }
}

extension DurableState {
    /// Whether the state can no longer change by itself. A dead run can still be retried.
    public var isFinal: Bool {
        switch self {
        case .pending, .ready, .running, .waitingForRetry, .snoozed: false
        case .executed, .failed, .cancelled, .absorbed, .dead, .forgotten: true
        }
    }
}

extension DurableCoalescer {
    /// Runs the handler for everything that falls due in the namespace, whichever process submitted it, until the task
    /// is cancelled.
    ///
    /// Any number of workers may share a namespace, on one machine or, if the store allows it, on many. Each key has at
    /// most one run at a time, and different keys run in parallel.
    ///
    /// When the task is cancelled, the worker claims nothing more. Running handlers have the `grace` to end; then they
    /// are cancelled, and their runs go back to the store without having spent an attempt. The worker gives up a
    /// handler that ignores its cancellation half-way between the end of the grace and the end of the lease. The call
    /// returns when all handlers have ended, and therefore no later than a `lease` after the cancellation.
    ///
    /// A handler that throws has failed, and its run is tried again after a delay, under the rules of `retry`. It may
    /// throw what is to become of the run instead: `Snooze`, `RetryAfter`, `GiveUp` or ``PauseFor``. While a
    /// handler runs, the worker renews its lease each time a third of it has passed. If that fails for so long that
    /// another worker takes over, the handler is cancelled, and ``DurableFailure/leaseLost(_:)`` is reported. Whatever
    /// the handler had done stays done: that is why it receives a ``DurableExecution/fence``. A handler that never
    /// returns occupies its key and its slot, and nothing else.
    ///
    /// In a namespace that restarts runs (``DurableOverlapPolicy/restart(interrupting:)``), a handler is cancelled when
    /// a newer value of its key interrupts the run. If it then throws, that is not a failure, and the value starts with
    /// the newer one.
    ///
    /// With a `timeLimit`, a handler that has run that long is cancelled. If it then throws, whatever it throws, it has
    /// failed with `TimeLimitExceeded`; if it returns, it is executed. One that goes on is reported as
    /// ``DurableFailure/overdue(_:timeLimit:)``, and a lease after the limit the worker gives its lease up.
    ///
    /// After a failed call the worker calls the store again, less and less often. It repeats the report of an execution
    /// until the store has recorded it.
    ///
    /// The program stops with a message if a setting breaks a rule.
    ///
    /// - Parameters:
    ///   - maxConcurrent: The largest number of handlers that run at once; at least 1.
    ///   - lease: How long a run is this worker's unless it renews the lease: so long the work of a worker that has
    ///     died waits before another worker takes it over. More than zero.
    ///   - retry: When, and how often, a run whose handler threw is tried again.
    ///   - timeLimit: How long a handler may run before it is told to stop; more than zero. Nil for no limit.
    ///   - grace: How long handlers may go on after the task has been cancelled; shorter than the lease. By default
    ///     half of the lease, at most ten seconds.
    ///   - onFailure: Called for everything that goes wrong. Without it, a line is written to standard error.
    ///   - fileID: The file that a message about a wrong setting names; leave it out.
    ///   - line: The line that this message names; leave it out.
    ///   - handler: Handles one execution, on the actor on which it was written. Large values are decoded and folded
    ///     before, in the background. It may call anything on the same debouncer.
    /// - Throws: The error that makes the store unusable, such as ``DurableError/closed``. Running handlers are
    ///   cancelled then. ``DurableError/otherPolicy(namespace:stored:given:)`` at once if the namespace was created
    ///   with `.merge`, and opened here by its name alone, without a function that folds.
    public func run(
        maxConcurrent: Int = 8, lease: Duration = .seconds(30), retry: RetryPolicy = RetryPolicy(),
        timeLimit: Duration? = nil, grace: Duration? = nil,
        onFailure: (@Sendable (DurableFailure) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext
        handler: @escaping @Sendable @isolated(any) (DurableExecution<Key, Value>) async throws -> Void
    ) async throws(DurableError) {
        if isMerging, fold == nil {
            let stored = try await store.open(namespace, nil)
            throw .otherPolicy(namespace: namespace, stored: stored, given: stored.merging(false))
        }
        let configuration = WorkerStateMachine.Configuration(
            namespace: namespace, owner: .random(in: .min ... .max), maxConcurrent: maxConcurrent,
            lease: CoreDuration(lease), backoff: retry, grace: grace.map { CoreDuration($0) },
            timeLimit: timeLimit.map { CoreDuration($0) },
            watches: whileRunning != .queue, fileID: fileID, line: line)
        let tasks = HandlerTasks(clock, counts, fold, onFailure, handler)
        try await WorkerDriver(configuration, store, clock, tasks).run()
    }

    /// The counts of the workers that were started from this debouncer and its copies.
    public var counters: DurableCounters { counts.value }
}

// The calls for monitoring a namespace and handling its dead runs.

extension DurableCoalescer {
    /// Returns how much is pending, ready, running and dead in the namespace, and how late the oldest work is: for a
    /// dashboard or a health check. The cost grows with the number of keys that are not idle.
    public func status() async throws(DurableError) -> DurableStatus {
        guard let status = try await store.status().first(where: { $0.namespace == namespace }) else {
            throw .noPolicy(namespace: namespace)
        }
        return status
    }

    /// Pauses the namespace, for workers in all processes: from then on they begin nothing new, until ``resume()`` or,
    /// if a time is given, until that is over. Use it while what the handlers need is down, or during a deployment.
    ///
    /// Runs whose handlers have begun go on, and are reported. Submits are recorded, values fall due, and flushes and
    /// cancels work as always. A worker that was asking for work at that moment may still begin what it got.
    ///
    /// A namespace that is paused already stays so since the first time. Of two pauses, the one counts that lasts
    /// longer, and it gives the reason; one without a time lasts longest.
    ///
    /// - Parameters:
    ///   - reason: Why, for those who look at the ``status()``; the store keeps 500 characters.
    ///   - time: How long the pause lasts, in the store's time; a negative one counts as zero. Nil for a pause that
    ///     only ``resume()`` ends.
    /// - Returns: The pause as the store has it.
    @discardableResult
    public func pause(reason: String? = nil, for time: Duration? = nil) async throws(DurableError) -> DurablePause {
        try await store.pause(namespace, reason: reason, for: time.map { CoreDuration($0) })
    }

    /// Ends the pause of the namespace, and wakes its workers.
    ///
    /// - Returns: Whether it was paused.
    @discardableResult
    public func resume() async throws(DurableError) -> Bool {
        try await store.resume(namespace)
    }

    /// Returns keys that have anything pending, ready or running, in the order of their bytes.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the keys' bytes: strings are UTF-8, numbers decimal digits.
    ///   - limit: The largest number of keys to return.
    /// - Returns: The keys with their state; a key is nil if no key of this type has its bytes.
    public func list(prefix: String = "", limit: Int = 100) async throws(DurableError) -> [DurableListing<Key?>] {
        try await store.list(in: namespace, prefix: Array(prefix.utf8), from: [], limit: limit).map {
            $0.mapKey(Key.init(durableBytes:))
        }
    }

    /// Returns how submits have ended, the newest first: those that a newer value has replaced after a failure are
    /// nowhere else.
    ///
    /// The store remembers how submits ended for ``DurableLimits/retention``, and dead runs until they are retried or
    /// discarded. To learn the end of one submit, use ``state(of:)``. The cost grows with the limit, but for all keys
    /// of a Redis server with the number of retained ends.
    ///
    /// - Parameters:
    ///   - key: The key; nil for all keys.
    ///   - limit: The largest number of ends to return.
    /// - Returns: The ends; a key is nil if no key of this type has its bytes.
    public func ended(of key: Key? = nil, limit: Int = 100) async throws(DurableError) -> [DurableEnd<Key?>] {
        try await store.ended(of: key?.durableBytes, in: namespace, limit: limit).map {
            $0.mapKey(Key.init(durableBytes:))
        }
    }

    /// Returns the workers of the namespace, in all processes: where each runs, how many runs it holds, and when it
    /// was last seen. The cost grows with the number of workers and, on a Redis server, of the runs
    /// that they hold.
    public func workers() async throws(DurableError) -> [DurableWorker] {
        try await store.workers(in: namespace)
    }

    /// Returns runs that have used up their attempts, the oldest first. They stay until ``retry(_:)`` or
    /// ``discard(_:)``.
    ///
    /// For ways to handle them, see <doc:WorkThatSurvives>.
    ///
    /// - Parameter limit: The largest number of runs to return.
    /// - Returns: The runs; a key is nil if no key of this type has its bytes.
    public func dead(limit: Int = 100) async throws(DurableError) -> [DurableDeadRun<Key?>] {
        try await store.dead(in: namespace, limit: limit).map { $0.mapKey(Key.init(durableBytes:)) }
    }

    /// Gives a dead run another series of attempts, before anything newer of its key.
    ///
    /// With `latest`, the retry is refused if the key has been submitted again since: an old value must not overwrite a
    /// newer one. It is also refused while the key has another run, because a key never has two at once.
    ///
    /// - Parameter run: The ``DurableDeadRun/id`` of the run.
    /// - Returns: ``DurableRetry/accepted``, or why it was refused.
    @discardableResult
    public func retry(_ run: DurableRun.ID) async throws(DurableError) -> DurableRetry {
        try await store.retry(run.rawValue, in: namespace)
    }

    /// Retries the dead runs of a selection, the oldest first, some at a time.
    ///
    /// - Returns: How many were accepted, and how many were refused for which reason.
    @discardableResult
    public func retry(matching selection: DurableSelection) async throws(DurableError) -> [DurableRetry: Int] {
        var counts: [DurableRetry: Int] = [:]
        var rest = try await store.deadRuns(matching: selection, in: namespace)[...]
        while !rest.isEmpty {
            for answer in try await store.retry(Array(rest.prefix(DurableSelection.step)), in: namespace) {
                counts[answer, default: 0] += 1
            }
            rest = rest.dropFirst(DurableSelection.step)
        }
        return counts
    }

    /// Deletes the dead runs of a selection with their values, some at a time.
    ///
    /// - Returns: How many there were.
    @discardableResult
    public func discard(matching selection: DurableSelection) async throws(DurableError) -> Int {
        var count = 0
        var rest = try await store.deadRuns(matching: selection, in: namespace)[...]
        while !rest.isEmpty {
            count += try await store.discard(Array(rest.prefix(DurableSelection.step)), in: namespace)
            rest = rest.dropFirst(DurableSelection.step)
        }
        return count
    }

    /// Returns how many keys a flush or a cancel of a selection would change, and how many dead runs it has. The cost
    /// grows with the number of keys that are not idle.
    public func count(matching selection: DurableSelection) async throws(DurableError) -> DurableSelection.Count {
        try await store.count(matching: selection, in: namespace)
    }

    /// Deletes a dead run with its values.
    ///
    /// - Parameter run: The ``DurableDeadRun/id`` of the run.
    /// - Returns: Whether there was such a run.
    @discardableResult
    public func discard(_ run: DurableRun.ID) async throws(DurableError) -> Bool {
        try await store.discard(run.rawValue, in: namespace)
    }
}
