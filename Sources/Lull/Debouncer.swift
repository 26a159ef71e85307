public import Dispatch
public import LullCore
/// Runs a handler once a burst of submits has come to rest, with the newest value.
///
/// ```swift
/// let save = Debouncer(for: .seconds(2)) { (draft: Draft) in try await api.save(draft) }
/// save(draft)                   // at every key stroke; returns at once
/// save.flush()                  // when the screen is left
/// ```
///
/// Without a value it is written `Debouncer(for: .seconds(2)) { … }`, and called as `save()`.
///
/// It may be used from any thread, task or actor. A submit costs a look at the clock and a lock, and no allocation; a
/// debouncer at rest costs nothing. How to begin: <doc:GettingStarted>. Which settings to take: <doc:ChoosingAPolicy>.
/// What exactly falls due when: <doc:Semantics>, section 3.
public final class Debouncer<Value: Sendable, Output: Sendable>:
    UnkeyedCoalescer<Value, Output>, @unchecked Sendable  // See the superclass.
{
    /// Submits a value with a delay of its own, in place of the debouncer's wait (<doc:Semantics>, section 3).
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - delay: The quiet period from now on; a negative one counts as zero. It may exceed `maxWait`, which then
    ///     rules.
    @inlinable
    public func submit(_ value: Value, after delay: Duration) {
        runtime.submit(value, for: NoKey(), wait: CoreDuration(delay))
    }

    /// Submits a value with a delay of its own, and calls back with what became of it.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - delay: The quiet period from now on; a negative one counts as zero.
    ///   - completion: Called once, in a task of its own on the actor where it was written.
    public func submit(
        _ value: Value, after delay: Duration,
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        runtime.submit(
            value, for: NoKey(), wait: CoreDuration(delay), promise: runtime.promise(for: NoKey(), completion))
    }

    /// Submits a value with a delay of its own, and returns what became of it.
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit keeps its course.
    @inlinable
    public nonisolated(nonsending) func outcome(
        of value: Value, after delay: Duration
    ) async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: value, for: NoKey(), wait: CoreDuration(delay))
    }
}

extension Debouncer {
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
    ///   - whileRunning: What becomes of a value that falls due while the handler is still busy with an earlier one
    ///     (<doc:WhileAHandlerRuns>). `.cancelRunning` together with `.merge` is refused, since it would lose values.
    ///   - options: Limits and rarer settings; the defaults suit most programs.
    ///   - clock: Measures the waits; a test gives the `ManualClock` of `LullTesting` (<doc:Testing>). The default goes
    ///     on while the machine sleeps.
    ///   - onFailure: Called with the error of every execution whose handler throws. Without it, an error that no
    ///     caller takes, by awaiting the outcome or by a completion, is written to standard error, with `fileID` and
    ///     `line`.
    ///   - fileID: The file that such a message names; leave it out.
    ///   - line: The line that such a message names; leave it out.
    ///   - handler: Handles the value. It may throw, and may call anything on the same debouncer.
    public convenience init(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing,
        combining: Combining<Value> = .latest, whileRunning: WhileRunning = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error) async -> Void)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Value) async throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, combining.core, whileRunning), clock,
            ignoringKey(onFailure), SourceSite(fileID, line),
            .task(on: handler.isolation, combining) { _, value in try await handler(value) })
    }

    /// Makes a debouncer with a policy that was made, and so checked, before: for settings from a file or a server.
    ///
    /// ```swift
    /// let policy = try Policy.debounce(for: settings.wait, maxWait: settings.maxWait)
    /// let save = Debouncer(policy: policy) { (draft: Draft) in try await api.save(draft) }
    /// ```
    ///
    /// A policy of the other kind stops the program with a message, and so do options that the policy has, too.
    ///
    /// - Parameters:
    ///   - policy: When values fall due: what `Policy.debounce` has returned.
    ///   - combining: How the values behind one execution become the one that the handler gets.
    ///   - whileRunning: What becomes of a value that falls due while the handler is still busy with an earlier one
    ///     (<doc:WhileAHandlerRuns>). `.cancelRunning` together with `.merge` is refused, since it would lose values.
    ///   - options: Limits and rarer settings; the defaults suit most programs.
    ///   - clock: Measures the waits; a test gives the `ManualClock` of `LullTesting` (<doc:Testing>). The default goes
    ///     on while the machine sleeps.
    ///   - onFailure: Called with the error of every execution whose handler throws. Without it, an error that no
    ///     caller takes, by awaiting the outcome or by a completion, is written to standard error, with `fileID` and
    ///     `line`.
    ///   - fileID: The file that such a message names; leave it out.
    ///   - line: The line that such a message names; leave it out.
    ///   - handler: Handles the value. It may throw, and may call anything on the same debouncer.
    public convenience init(
        policy: Policy, combining: Combining<Value> = .latest, whileRunning: WhileRunning = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error) async -> Void)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Value) async throws -> Output
    ) {
        self.init(
            options.settings(policy, combining.core, whileRunning), clock, ignoringKey(onFailure),
            SourceSite(fileID, line),
            .task(on: handler.isolation, combining) { _, value in try await handler(value) })
    }

    /// Makes a debouncer whose handler is synchronous and runs on a queue: for code without Swift concurrency.
    ///
    /// A serial `queue` is shared by whatever else runs there: a handler that blocks delays the rest. A
    /// synchronous handler is never interrupted. With the default clock neither timer nor handler needs a thread of the
    /// cooperative pool. The other parameters are those of the form without `on`.
    public convenience init(
        for wait: Duration, on queue: DispatchQueue, maxWait: Duration? = nil, edges: Edges = .trailing,
        combining: Combining<Value> = .latest, whileRunning: WhileRunning = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error) async -> Void)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (Value) throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, combining.core, whileRunning), clock,
            ignoringKey(onFailure), SourceSite(fileID, line),
            .queue(queue, combining) { _, value in try handler(value) })
    }

    /// Makes a debouncer whose handler gets all the values behind an execution, in order, in a task of its own.
    ///
    /// ```swift
    /// let upload = Debouncer(collectingFor: .seconds(5), options: .init(maxCount: 100)) { (events: [String]) in
    ///     try await server.upload(events)
    /// }
    /// ```
    ///
    /// The values are kept until then: give a `maxCount` or a `maxWait` where many may come.
    /// `maxCount` says when to execute; how many values one execution gets is bounded by `maxBatch`, if it is given, and
    /// the rest follows in further ones (<doc:Semantics>, section 8). `.cancelRunning` is refused, since the values of
    /// what it cancels would be lost: take `.queue`. The other parameters are those of the form without `collecting`.
    public convenience init(
        collectingFor wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing,
        whileRunning: WhileRunning = .queue, options: DebounceOptions = DebounceOptions(),
        clock: any Clock<Duration> = ContinuousClock(), onFailure: (@Sendable (any Error) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) ([Value]) async throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, .collect, whileRunning), clock,
            ignoringKey(onFailure), SourceSite(fileID, line),
            .task(on: handler.isolation, collecting: { _, values in try await handler(values) }))
    }

    /// Makes a debouncer whose handler gets all the values behind an execution, in order, on a queue.
    ///
    /// All else is as in the forms with `collecting` and with `on`.
    public convenience init(
        collectingFor wait: Duration, on queue: DispatchQueue, maxWait: Duration? = nil, edges: Edges = .trailing,
        whileRunning: WhileRunning = .queue, options: DebounceOptions = DebounceOptions(),
        clock: any Clock<Duration> = ContinuousClock(), onFailure: (@Sendable (any Error) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable ([Value]) throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, .collect, whileRunning), clock,
            ignoringKey(onFailure), SourceSite(fileID, line),
            .queue(queue, collecting: { _, values in try handler(values) }))
    }
}

extension Debouncer where Value == Void {
    /// Makes a debouncer without a value, whose handler runs in a task of its own, on the actor where it was written.
    ///
    /// The parameters are those of the form with a value.
    public convenience init(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, whileRunning: WhileRunning = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        onFailure: (@Sendable (any Error) async -> Void)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) () async throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, .latest, whileRunning), clock,
            ignoringKey(onFailure), SourceSite(fileID, line),
            .task(on: handler.isolation, .latest) { _, _ in try await handler() })
    }

    /// Makes a debouncer without a value, whose handler is synchronous and runs on a queue.
    ///
    /// The parameters are those of the form with a value.
    public convenience init(
        for wait: Duration, on queue: DispatchQueue, maxWait: Duration? = nil, edges: Edges = .trailing,
        whileRunning: WhileRunning = .queue, options: DebounceOptions = DebounceOptions(),
        clock: any Clock<Duration> = ContinuousClock(), onFailure: (@Sendable (any Error) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable () throws -> Output
    ) {
        self.init(
            options.settings(for: wait, maxWait: maxWait, edges: edges, .latest, whileRunning), clock,
            ignoringKey(onFailure), SourceSite(fileID, line),
            .queue(queue, .latest) { _, _ in try handler() })
    }
}
