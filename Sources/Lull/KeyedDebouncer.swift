public import Dispatch
public import LullCore
/// Runs a handler for each key once the burst of submits under that key has come to rest, with the key's newest value.
///
/// ```swift
/// let levels = KeyedDebouncer(for: .seconds(2), maxWait: .seconds(10)) { (device: DeviceID, level: Int) in
///     try await hub.set(level, on: device)
/// }
/// levels.submit(7, for: lamp)
/// levels.submit(8, for: lamp, after: .seconds(5))
/// ```
///
/// It may be used from any thread, task or actor. All keys, and all debouncers, share one timer. A submit costs a look at the clock, a lock
/// and a look-up, whatever the number of keys; a key's memory is given back when it is idle. What falls due when:
/// <doc:Semantics>, section 3.
///
/// `==` and `hash(into:)` of a key run while the debouncer's lock is held. They must be quick, must not block, and must not
/// call the debouncer: that would wait for itself for ever. Keys and values are released without the lock; their `deinit`
/// may call anything.
///
/// Strings that look alike are one key here, as `==` has it, whether an accent is composed or not; in a store of `LullDurable`,
/// where bytes decide, they are two. Where it matters, normalise them: `name.precomposedStringWithCanonicalMapping`.
public final class KeyedDebouncer<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>:
    KeyedCoalescer<Key, Value, Output>, @unchecked Sendable  // See the superclass.
{
    /// Submits a value under a key with a delay of its own, in place of the debouncer's wait
    /// (<doc:Semantics>, section 3).
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - delay: The quiet period from now on; a negative one counts as zero. It may exceed `maxWait`, which then
    ///     rules.
    @inlinable
    public func submit(_ value: Value, for key: Key, after delay: Duration) {
        runtime.submit(value, for: key, wait: CoreDuration(delay))
    }

    /// Submits a value under a key with a delay of its own, and calls back with what became of it.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - delay: The quiet period from now on; a negative one counts as zero.
    ///   - completion: Called once, in a task of its own on the actor where it was written.
    public func submit(
        _ value: Value, for key: Key, after delay: Duration,
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        runtime.submit(
            value, for: key, wait: CoreDuration(delay), promise: runtime.promise(for: key, completion))
    }

    /// Submits a value under a key with a delay of its own, and returns what became of it.
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit keeps its course.
    @inlinable
    public nonisolated(nonsending) func outcome(
        of value: Value, for key: Key, after delay: Duration
    ) async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: value, for: key, wait: CoreDuration(delay))
    }
}

extension KeyedDebouncer {
    /// Makes a debouncer whose handler runs in a task of its own, on the actor where it was written.
    ///
    /// In the initialiser of a `lazy var` the compiler does not pass the actor on: there, write
    /// `{ @MainActor [weak self] … in … }`.
    ///
    /// The program stops with a message if a setting breaks a rule (<doc:Semantics>, section 10). Check settings that
    /// come from a file or a server with `Policy.debounce`, and use the initialiser that takes a policy.
    ///
    /// - Parameters:
    ///   - wait: The quiet period after which a burst is at rest. With zero nothing is coalesced.
    ///   - maxWait: No value waits longer than this; at least `wait`. Without it, a stream that never pauses is never
    ///     executed.
    ///   - edges: Whether a burst executes at its beginning, when it has come to rest, or at both.
    ///   - combining: How the values behind one execution become the one that the handler gets.
    ///   - whileRunning: What becomes of a value that falls due while the handler is still busy with an earlier one of
    ///     its key (<doc:WhileAHandlerRuns>). `.cancelRunning` together with `.merge` is refused, since it would lose
    ///     values.
    ///   - options: Limits and rarer settings; the defaults suit most programs.
    ///   - clock: Measures the waits; a test gives the `ManualClock` of `LullTesting` (<doc:Testing>). The default goes
    ///     on while the machine sleeps.
    ///   - onFailure: Called with the error and the key of every execution whose handler throws. Without it, an error
    ///     that no caller takes, by awaiting the outcome or by a completion, is written to standard error, with
    ///     `fileID` and `line`.
    ///   - fileID: The file that such a message names; leave it out.
    ///   - line: The line that such a message names; leave it out.
    ///   - handler: Handles a key's value. It may throw, and may call anything on the same debouncer.
    public convenience init(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing,
        combining: Combining<Value> = .latest, whileRunning: WhileRunning = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Key, Value) async throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, combining.core, whileRunning), clock,
            onFailure, SourceSite(fileID, line),
            .task(on: handler.isolation, combining) { key, value in try await handler(key, value) })
    }

    /// Makes a debouncer with a policy that was made, and so checked, before: for settings from a file or a server.
    ///
    /// A policy of the other kind stops the program with a message, and so do options that the policy has, too.
    ///
    /// - Parameters:
    ///   - policy: When values fall due: what `Policy.debounce` has returned.
    ///   - combining: How the values behind one execution become the one that the handler gets.
    ///   - whileRunning: What becomes of a value that falls due while the handler is still busy with an earlier one of
    ///     its key (<doc:WhileAHandlerRuns>). `.cancelRunning` together with `.merge` is refused, since it would lose
    ///     values.
    ///   - options: Limits and rarer settings; the defaults suit most programs.
    ///   - clock: Measures the waits; a test gives the `ManualClock` of `LullTesting` (<doc:Testing>). The default goes
    ///     on while the machine sleeps.
    ///   - onFailure: Called with the error and the key of every execution whose handler throws. Without it, an error
    ///     that no caller takes, by awaiting the outcome or by a completion, is written to standard error, with
    ///     `fileID` and `line`.
    ///   - fileID: The file that such a message names; leave it out.
    ///   - line: The line that such a message names; leave it out.
    ///   - handler: Handles a key's value. It may throw, and may call anything on the same debouncer.
    public convenience init(
        policy: Policy, combining: Combining<Value> = .latest, whileRunning: WhileRunning = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Key, Value) async throws -> Output
    ) {
        self.init(
            options.settings(policy, combining.core, whileRunning), clock, onFailure, SourceSite(fileID, line),
            .task(on: handler.isolation, combining) { key, value in try await handler(key, value) })
    }

    /// Makes a debouncer whose handler is synchronous and runs on a queue: for code without Swift concurrency.
    ///
    /// A serial `queue` is shared by whatever else runs there, other keys included: a handler that blocks delays the rest. A
    /// synchronous handler is never interrupted. With the default clock neither timer nor handler needs a thread of the
    /// cooperative pool. The other parameters are those of the form without `on`.
    public convenience init(
        for wait: Duration, on queue: DispatchQueue, maxWait: Duration? = nil, edges: Edges = .trailing,
        combining: Combining<Value> = .latest, whileRunning: WhileRunning = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        handler: @escaping @Sendable (Key, Value) throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, combining.core, whileRunning), clock,
            onFailure, SourceSite(fileID, line),
            .queue(queue, combining) { key, value in try handler(key, value) })
    }

    /// Makes a debouncer whose handler gets all the values behind an execution, in order, in a task of its own.
    ///
    /// The values are kept until then: give a `maxCount` or a `maxWait` where many may come.
    /// `maxCount` says when to execute; how many values one execution gets is bounded by `maxBatch`, if it is given, and
    /// the rest follows in further ones (<doc:Semantics>, section 8). `.cancelRunning` is refused, since the values of
    /// what it cancels would be lost: take `.queue`. The other parameters are those of the form without `collecting`.
    public convenience init(
        collectingFor wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing,
        whileRunning: WhileRunning = .queue, options: DebounceOptions = DebounceOptions(),
        clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Key, [Value]) async throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, .collect, whileRunning), clock,
            onFailure, SourceSite(fileID, line),
            .task(on: handler.isolation, collecting: { key, values in try await handler(key, values) }))
    }

    /// Makes a debouncer whose handler gets all the values behind an execution, in order, on a queue.
    ///
    /// All else is as in the forms with `collecting` and with `on`.
    public convenience init(
        collectingFor wait: Duration, on queue: DispatchQueue, maxWait: Duration? = nil, edges: Edges = .trailing,
        whileRunning: WhileRunning = .queue, options: DebounceOptions = DebounceOptions(),
        clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        handler: @escaping @Sendable (Key, [Value]) throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, .collect, whileRunning), clock,
            onFailure, SourceSite(fileID, line),
            .queue(queue, collecting: { key, values in try handler(key, values) }))
    }
}
