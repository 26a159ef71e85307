public import LullCore

/// Runs a handler for each key, with the key's newest value, at most once per interval.
///
/// ```swift
/// let sync = KeyedThrottler(every: .seconds(120)) { (category: Category, _: Void) in
///     try await server.sync(category)
/// }
/// sync.submit(for: .steps)
/// ```
///
/// Use it from any thread, task or actor. All keys, and all throttlers, share one timer. A submit reads the clock,
/// takes a lock and looks the key up, at a cost that does not depend on the number of keys; an idle key takes no
/// memory. For the exact rules, see <doc:Semantics>, section 4.
///
/// `==` and `hash(into:)` of a key run while the throttler's lock is held. They must be quick, must not block, and must
/// not call the throttler, which would deadlock. What they say of a key must not change while it is in use; the program
/// stops with a message when a key is to be forgotten and has another hash. Keys and values are released without the
/// lock; their `deinit` may call anything.
public final class KeyedThrottler<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>:
    KeyedCoalescer<Key, Value, Output>, @unchecked Sendable  // See the superclass.
{
    /// Changes the interval from the next window on: for a setting that the user of an app may change.
    ///
    /// A window that has begun ends when it would have. The program stops with a message if the interval is negative.
    public func setInterval(_ interval: Duration, fileID: StaticString = #fileID, line: UInt = #line) {
        runtime.setWait(interval, at: SourceSite(fileID, line))
    }

    /// Creates a throttler whose handler runs in a task of its own, on the actor of the closure.
    ///
    /// In the initialiser of a `lazy var` the compiler does not infer the actor. There, write
    /// `{ @MainActor [weak self] … in … }`.
    ///
    /// If a setting breaks a rule (<doc:Semantics>, section 10), the program stops with a message.
    /// `Policy.throttle`, which throws, checks settings from a file or a server.
    ///
    /// For code with queues, `LullDispatch` has a form with `on: queue`.
    ///
    /// - Parameters:
    ///   - interval: The length of a window. Zero coalesces nothing.
    ///   - edges: Whether a window is executed at its beginning, at its end, or both.
    ///   - maxCount: As soon as this many submits are pending, they are executed; at least 1, and only with the
    ///     trailing edge. It decides when to execute; ``ThrottleOptions/maxBatch`` decides how much the handler gets.
    ///     Nil for no limit.
    ///   - combining: How the values of one execution become the one that the handler gets.
    ///   - removingDuplicates: Whether two values are the same: an execution whose value is the same as the one that
    ///     its key has executed last is left out, and its submits end as ``Outcome/absorbed`` (<doc:Semantics>, section
    ///     7). For `Equatable` values, give `==`.
    ///   - whileRunning: The rule for a value that falls due while the handler is still running for its key
    ///     (<doc:WhileAHandlerRuns>). `.cancelRunning` with `.merge` is refused, since it would lose values: use
    ///     `.restart`.
    ///   - options: Limits and less common settings. The defaults suit most programs.
    ///   - clock: Measures the waits. The default goes on while the machine sleeps. For tests, `LullTesting` has
    ///     `ManualClock` (<doc:Testing>).
    ///   - onFailure: Called with the error and the key of every execution whose handler throws, on the actor of the
    ///     closure. Without it, an error that no awaiting caller or completion receives is written to standard error,
    ///     with `fileID` and `line`.
    ///   - fileID: The file that this message names; leave it out.
    ///   - line: The line that this message names; leave it out.
    ///   - handler: Handles a key's value. It may throw, and may call anything on the same throttler.
    public convenience init(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        combining: Combination<Value> = .latest,
        removingDuplicates: (@Sendable (Value, Value) -> Bool)? = nil, whileRunning: OverlapPolicy = .queue,
        options: ThrottleOptions = ThrottleOptions(),
        clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error, Key) async -> Void)? = nil,
        fileID: StaticString = #fileID,
        line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Key, Value) async throws -> Output
    ) {
        self.init(
            options.checked(
                every: interval, edges: edges, maxCount: maxCount, combining.core, whileRunning,
                at: SourceSite(fileID, line)),
            clock, onFailure, removingDuplicates: removingDuplicates,
            .inTask(combining.fold, handler))
    }

    /// Creates a throttler whose handler gets all values of an execution, in order, in a task of its own.
    ///
    /// The values are kept until then: give a `maxCount` if there may be many. `maxCount` decides when to execute;
    /// `maxBatch` bounds how many values one execution gets, and the rest follows in further executions
    /// (<doc:Semantics>, section 8). `.cancelRunning` is refused, since the values of a cancelled execution would be
    /// lost; use `.restart`. The other parameters are those of the form without `collecting`.
    public convenience init(
        collectingEvery interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        whileRunning: OverlapPolicy = .queue, options: ThrottleOptions = ThrottleOptions(),
        clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error, Key) async -> Void)? = nil,
        fileID: StaticString = #fileID,
        line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Key, [Value]) async throws -> Output
    ) {
        self.init(
            options.checked(
                every: interval, edges: edges, maxCount: maxCount, .collect, whileRunning,
                at: SourceSite(fileID, line)),
            clock, onFailure,
            .inTask(collecting: handler))
    }
}

extension KeyedThrottler where Value == Void {
    /// Creates a throttler without a value, whose handler runs in a task of its own, on the actor of the closure.
    ///
    /// The parameters are those of the form with a value.
    public convenience init(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        whileRunning: OverlapPolicy = .queue,
        options: ThrottleOptions = ThrottleOptions(), clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error, Key) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        @_inheritActorContext handler: @escaping @Sendable @isolated(any) (Key) async throws -> Output
    ) {
        self.init(
            options.checked(
                every: interval, edges: edges, maxCount: maxCount, .latest, whileRunning, at: SourceSite(fileID, line)),
            clock, onFailure,
            .inTask(handler))
    }
}
