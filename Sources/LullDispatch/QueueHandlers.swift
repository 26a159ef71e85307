public import Dispatch
public import Lull

// Debouncers and throttlers whose handlers are synchronous and run on a queue: for code without Swift concurrency.

extension Debouncer {
    /// Creates a debouncer with a synchronous handler that runs on a queue.
    ///
    /// ```swift
    /// let write = Debouncer(for: .seconds(1), on: queue) { (text: String) in try file.write(text) }
    /// ```
    ///
    /// A handler that blocks delays everything else on a serial `queue`. A synchronous handler is never interrupted.
    /// With the default clock, neither timer nor handler needs a thread of the cooperative pool. For all values of an
    /// execution, submit arrays with `combining: .merge { $0 += $1 }`. The other parameters are those of the form
    /// without `on`.
    public convenience init(
        for wait: Duration, on queue: DispatchQueue, maxWait: Duration? = nil, edges: Edges = .trailing,
        maxCount: Int? = nil, combining: Combination<Value> = .latest,
        removingDuplicates: (@Sendable (Value, Value) -> Bool)? = nil, whileRunning: OverlapPolicy = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (Value) throws -> Output
    ) {
        self.init(
            options.checked(
                for: wait, maxWait: maxWait, edges: edges, maxCount: maxCount, combining.core, whileRunning,
                at: SourceSite(fileID, line)),
            clock, onFailure, removingDuplicates: removingDuplicates,
            .queue(queue, combining.fold) { _, value in try handler(value) })
    }
}

extension KeyedDebouncer {
    /// Creates a debouncer with a synchronous handler that runs on a queue.
    ///
    /// A handler that blocks delays everything else on a serial `queue`, other keys included. Everything else is as in
    /// the form of ``/Lull/Debouncer`` with a queue.
    public convenience init(
        for wait: Duration, on queue: DispatchQueue, maxWait: Duration? = nil, edges: Edges = .trailing,
        maxCount: Int? = nil, combining: Combination<Value> = .latest,
        removingDuplicates: (@Sendable (Value, Value) -> Bool)? = nil, whileRunning: OverlapPolicy = .queue,
        options: DebounceOptions = DebounceOptions(), clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error, Key) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (Key, Value) throws -> Output
    ) {
        self.init(
            options.checked(
                for: wait, maxWait: maxWait, edges: edges, maxCount: maxCount, combining.core, whileRunning,
                at: SourceSite(fileID, line)),
            clock, onFailure, removingDuplicates: removingDuplicates, .queue(queue, combining.fold, handler))
    }
}

extension Throttler {
    /// Creates a throttler with a synchronous handler that runs on a queue.
    ///
    /// Everything else is as in the form of ``/Lull/Debouncer`` with a queue.
    public convenience init(
        every interval: Duration, on queue: DispatchQueue, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        combining: Combination<Value> = .latest,
        removingDuplicates: (@Sendable (Value, Value) -> Bool)? = nil, whileRunning: OverlapPolicy = .queue,
        options: ThrottleOptions = ThrottleOptions(), clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (Value) throws -> Output
    ) {
        self.init(
            options.checked(
                every: interval, edges: edges, maxCount: maxCount, combining.core, whileRunning,
                at: SourceSite(fileID, line)),
            clock, onFailure, removingDuplicates: removingDuplicates,
            .queue(queue, combining.fold) { _, value in try handler(value) })
    }
}

extension KeyedThrottler {
    /// Creates a throttler with a synchronous handler that runs on a queue.
    ///
    /// A handler that blocks delays everything else on a serial `queue`, other keys included. Everything else is as in
    /// the form of ``/Lull/Debouncer`` with a queue.
    public convenience init(
        every interval: Duration, on queue: DispatchQueue, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        combining: Combination<Value> = .latest,
        removingDuplicates: (@Sendable (Value, Value) -> Bool)? = nil, whileRunning: OverlapPolicy = .queue,
        options: ThrottleOptions = ThrottleOptions(), clock: any Clock<Duration> = ContinuousClock(),
        @_inheritActorContext onFailure: (@Sendable @isolated(any) (any Error, Key) async -> Void)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (Key, Value) throws -> Output
    ) {
        self.init(
            options.checked(
                every: interval, edges: edges, maxCount: maxCount, combining.core, whileRunning,
                at: SourceSite(fileID, line)),
            clock, onFailure, removingDuplicates: removingDuplicates, .queue(queue, combining.fold, handler))
    }
}
