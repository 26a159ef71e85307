public import LullCore

/// Runs a handler with the newest value once a burst of submits has ended.
///
/// ```swift
/// let save = Debouncer(for: .seconds(2)) { (draft: Draft) in try await api.save(draft) }
/// save(draft)                   // at every keystroke; returns at once
/// await save.flushAndWait()     // when the screen is left: it has been saved
/// ```
///
/// Without a value, write `Debouncer(for: .seconds(2)) { … }`, and call it: `save()`.
///
/// Use it from any thread, task or actor. A submit reads the clock, takes a lock, and allocates nothing; an idle
/// debouncer costs nothing. To begin, see <doc:GettingStarted>; to choose settings, <doc:ChoosingAPolicy>; for the
/// exact rules, <doc:Semantics>, section 3.
public final class Debouncer<Value: Sendable, Output: Sendable>:
    UnkeyedCoalescer<Value, Output>, @unchecked Sendable  // See the superclass.
{
    /// Submits a value with a delay that replaces the debouncer's wait for this call (<doc:Semantics>, section 3).
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - delay: The quiet period from now on; a negative one counts as zero. If it exceeds `maxWait`, `maxWait`
    ///     wins.
    public func submit(_ value: Value, after delay: Duration) {
        runtime.submit(value, for: NoKey(), wait: CoreDuration(delay), promise: nil)
    }

    /// Submits a value with a delay for this call, as ``submit(_:after:)`` does: `save(draft, after: .seconds(5))`.
    public func callAsFunction(_ value: Value, after delay: Duration) {
        submit(value, after: delay)
    }

    /// Submits a value with a delay for this call, and passes its outcome to a completion.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - delay: The quiet period from now on; a negative one counts as zero.
    ///   - completion: Called once, in a task of its own on the actor of the closure.
    public func submit(
        _ value: Value, after delay: Duration,
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        runtime.submit(
            value, for: NoKey(), wait: CoreDuration(delay), promise: runtime.promise(for: NoKey(), completion))
    }

    /// Submits a value with a delay for this call, and returns its outcome.
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit stays in force.
    public nonisolated(nonsending) func outcome(
        of value: Value, after delay: Duration
    ) async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: value, for: NoKey(), wait: CoreDuration(delay))
    }
}

extension Debouncer {
    /// Changes the wait from the next submit on: for a setting that the user of an app may change
    /// (<doc:ChangingTheWait>).
    ///
    /// What is pending stays due when it was, until a submit restarts its quiet period. The program stops with a
    /// message if the wait is negative or exceeds `maxWait`.
    public func setWait(_ wait: Duration, fileID: StaticString = #fileID, line: UInt = #line) {
        runtime.setWait(wait, at: SourceSite(fileID, line))
    }

    /// Says "still busy" without a value: what is pending waits as long as after a submit (<doc:Semantics>, section 5).
    /// For a typing indicator, for example.
    ///
    /// `maxWait` still bounds the wait. With nothing pending and no burst going on, nothing happens.
    public func touch() {
        runtime.touch(NoKey())
    }

    /// Says "still busy", with a delay for this call in place of the debouncer's wait.
    ///
    /// - Parameter delay: The quiet period from now on; a negative one counts as zero.
    public func touch(after delay: Duration) {
        runtime.touch(NoKey(), wait: CoreDuration(delay))
    }

    /// Creates a debouncer whose handler runs in a task of its own, on the actor of the closure.
    ///
    /// In the initialiser of a `lazy var` the compiler does not infer the actor. There, write
    /// `{ @MainActor [weak self] … in … }`.
    ///
    /// If a setting breaks a rule (<doc:Semantics>, section 10), the program stops with a message.
    /// `Policy.debounce`, which throws, checks settings from a file or a server.
    ///
    /// For code with queues, `LullDispatch` has a form with `on: queue`.
    ///
    /// - Parameters:
    ///   - wait: The quiet period after which a burst has ended. Zero coalesces nothing.
    ///   - maxWait: The longest that a value waits; at least `wait`. Without it, a stream that never pauses is never
    ///     executed.
    ///   - edges: Whether a burst is executed at its beginning, at its end, or both.
    ///   - maxCount: As soon as this many submits are pending, they are executed; at least 1, and only with the
    ///     trailing edge. It decides when to execute; ``DebounceOptions/maxBatch`` decides how much the handler gets.
    ///     Nil for no limit.
    ///   - combining: How the values of one execution become the one that the handler gets.
    ///   - removingDuplicates: Whether two values are the same: an execution whose value is the same as the one that
    ///     was executed last is left out, and its submits end as ``Outcome/absorbed`` (<doc:Semantics>, section 7). For
    ///     `Equatable` values, give `==`.
    ///   - whileRunning: The rule for a value that falls due while the handler is still running
    ///     (<doc:WhileAHandlerRuns>). `.cancelRunning` with `.merge` is refused, since it would lose values: use
    ///     `.restart`.
    ///   - options: Limits and less common settings. The defaults suit most programs.
    ///   - clock: Measures the waits. The default goes on while the machine sleeps. For tests, `LullTesting` has
    ///     `ManualClock` (<doc:Testing>).
    ///   - onFailure: Called with the error of every execution whose handler throws, on the actor of the closure.
    ///     Without it, an error that no awaiting caller or completion receives is written to standard error, with
    ///     `fileID` and `line`.
    ///   - fileID: The file that this message names; leave it out.
    ///   - line: The line that this message names; leave it out.
    ///   - handler: Handles the value. It may throw, and may call anything on the same debouncer.
    public convenience init(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, maxCount: Int? = nil,
        combining: Combination<Value> = .latest,
        removingDuplicates: (@Sendable (Value, Value) -> Bool)? = nil, whileRunning: OverlapPolicy = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Value) async throws -> Output
    ) {
        self.init(
            options.checked(
                for: wait, maxWait: maxWait, edges: edges, maxCount: maxCount, combining.core, whileRunning,
                at: SourceSite(fileID, line)),
            clock, onFailure, removingDuplicates: removingDuplicates,
            .inTask(combining.fold, handler))
    }

    /// Creates a debouncer whose handler gets all values of an execution, in order, in a task of its own.
    ///
    /// ```swift
    /// let upload = Debouncer(collectingFor: .seconds(5), maxCount: 100) { (events: [String]) in
    ///     try await server.upload(events)
    /// }
    /// ```
    ///
    /// The values are kept until then: give a `maxCount` or a `maxWait` if there may be many. `maxCount` decides when
    /// to execute; `maxBatch` bounds how many values one execution gets, and the rest follows in further executions
    /// (<doc:Semantics>, section 8). `.cancelRunning` is refused, since the values of a cancelled execution would be
    /// lost; use `.restart`. The other parameters are those of the form without `collecting`.
    public convenience init(
        collectingFor wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, maxCount: Int? = nil,
        whileRunning: OverlapPolicy = .queue, options: DebounceOptions = DebounceOptions(),
        clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) ([Value]) async throws -> Output
    ) {
        self.init(
            options.checked(
                for: wait, maxWait: maxWait, edges: edges, maxCount: maxCount, .collect, whileRunning,
                at: SourceSite(fileID, line)),
            clock, onFailure,
            .inTask(collecting: handler))
    }
}

extension Debouncer where Value == Void {
    /// Creates a debouncer without a value, whose handler runs in a task of its own, on the actor of the closure.
    ///
    /// The parameters are those of the form with a value.
    public convenience init(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, maxCount: Int? = nil,
        whileRunning: OverlapPolicy = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) () async throws -> Output
    ) {
        self.init(
            options.checked(
                for: wait, maxWait: maxWait, edges: edges, maxCount: maxCount, .latest, whileRunning,
                at: SourceSite(fileID, line)),
            clock, onFailure,
            .inTask(handler))
    }
}
