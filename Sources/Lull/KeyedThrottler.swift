public import Dispatch
public import LullCore
/// Runs a handler for each key at most once an interval, with the key's newest value.
///
/// ```swift
/// let sync = KeyedThrottler(every: .seconds(120)) { (category: Category, _: Void) in
///     try await server.sync(category)
/// }
/// sync.submit(for: .steps)
/// ```
///
/// It may be used from any thread, task or actor. All keys, and all throttlers, share one timer. A submit costs a look at the clock, a lock
/// and a look-up, whatever the number of keys; a key's memory is given back when it is idle. What falls due when:
/// <doc:Semantics>, section 4.
///
/// `==` and `hash(into:)` of a key run while the throttler's lock is held. They must be quick, must not block, and must not
/// call the throttler: that would wait for itself for ever. Keys and values are released without the lock; their `deinit`
/// may call anything.
public final class KeyedThrottler<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>:
    KeyedCoalescer<Key, Value, Output>, @unchecked Sendable  // See the superclass.
{
    /// Makes a throttler whose handler runs in a task of its own, on the actor where it was written.
    ///
    /// In the initialiser of a `lazy var` the compiler does not pass the actor on: there, write
    /// `{ @MainActor [weak self] … in … }`.
    ///
    /// The program stops with a message if a setting breaks a rule (<doc:Semantics>, section 10). Check settings that
    /// come from a file or a server with `Policy.throttle`, and use the initialiser that takes a policy.
    ///
    /// - Parameters:
    ///   - interval: The length of a window. With zero nothing is coalesced.
    ///   - edges: Whether a window executes at its beginning, at its end, or at both.
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
    ///   - handler: Handles a key's value. It may throw, and may call anything on the same throttler.
    public convenience init(
        every interval: Duration, edges: Edges = [.leading, .trailing], combining: Combining<Value> = .latest,
        whileRunning: WhileRunning = .queue, options: ThrottleOptions = ThrottleOptions(),
        clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Key, Value) async throws -> Output
    ) {
        self.init(
            options.settings(every: interval, edges: edges, combining.core, whileRunning), clock,
            onFailure, SourceSite(fileID, line),
            .task(on: handler.isolation, combining) { key, value in try await handler(key, value) })
    }

    /// Makes a throttler with a policy that was made, and so checked, before: for settings from a file or a server.
    ///
    /// A policy of the other kind stops the program with a message, and so do options that the policy has, too.
    ///
    /// - Parameters:
    ///   - policy: When values fall due: what `Policy.throttle` has returned.
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
    ///   - handler: Handles a key's value. It may throw, and may call anything on the same throttler.
    public convenience init(
        policy: Policy, combining: Combining<Value> = .latest, whileRunning: WhileRunning = .queue,
        options: ThrottleOptions = ThrottleOptions(), clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Key, Value) async throws -> Output
    ) {
        self.init(
            options.settings(policy, combining.core, whileRunning), clock, onFailure, SourceSite(fileID, line),
            .task(on: handler.isolation, combining) { key, value in try await handler(key, value) })
    }

    /// Makes a throttler whose handler is synchronous and runs on a queue: for code without Swift concurrency.
    ///
    /// A serial `queue` is shared by whatever else runs there, other keys included: a handler that blocks delays the rest. A
    /// synchronous handler is never interrupted. With the default clock neither timer nor handler needs a thread of the
    /// cooperative pool. The other parameters are those of the form without `on`.
    public convenience init(
        every interval: Duration, on queue: DispatchQueue, edges: Edges = [.leading, .trailing],
        combining: Combining<Value> = .latest, whileRunning: WhileRunning = .queue,
        options: ThrottleOptions = ThrottleOptions(), clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        handler: @escaping @Sendable (Key, Value) throws -> Output
    ) {
        self.init(
            options.settings(every: interval, edges: edges, combining.core, whileRunning), clock,
            onFailure, SourceSite(fileID, line),
            .queue(queue, combining) { key, value in try handler(key, value) })
    }

    /// Makes a throttler whose handler gets all the values behind an execution, in order, in a task of its own.
    ///
    /// The values are kept until then: give a `maxCount` where many may come.
    /// `maxCount` says when to execute; how many values one execution gets is bounded by `maxBatch`, if it is given, and
    /// the rest follows in further ones (<doc:Semantics>, section 8). `.cancelRunning` is refused, since the values of
    /// what it cancels would be lost: take `.queue`. The other parameters are those of the form without `collecting`.
    public convenience init(
        collectingEvery interval: Duration, edges: Edges = [.leading, .trailing],
        whileRunning: WhileRunning = .queue, options: ThrottleOptions = ThrottleOptions(),
        clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Key, [Value]) async throws -> Output
    ) {
        self.init(
            options.settings(every: interval, edges: edges, .collect, whileRunning), clock,
            onFailure, SourceSite(fileID, line),
            .task(on: handler.isolation, collecting: { key, values in try await handler(key, values) }))
    }

    /// Makes a throttler whose handler gets all the values behind an execution, in order, on a queue.
    ///
    /// All else is as in the forms with `collecting` and with `on`.
    public convenience init(
        collectingEvery interval: Duration, on queue: DispatchQueue, edges: Edges = [.leading, .trailing],
        whileRunning: WhileRunning = .queue, options: ThrottleOptions = ThrottleOptions(),
        clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error, Key) async -> Void)? = nil, fileID: StaticString = #fileID,
        line: UInt = #line,
        handler: @escaping @Sendable (Key, [Value]) throws -> Output
    ) {
        self.init(
            options.settings(every: interval, edges: edges, .collect, whileRunning), clock,
            onFailure, SourceSite(fileID, line),
            .queue(queue, collecting: { key, values in try handler(key, values) }))
    }
}
