// Policies in the durations of the standard library.

extension CoreDuration {
    /// Creates a duration from a standard one, in whole nanoseconds, rounded down, so that a negative one stays negative; what
    /// is too long to count becomes ``infinite``.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(rest < 0 ? nanoseconds - 1 : nanoseconds)
        self.init(nanoseconds: overflow || carry ? (duration < .zero ? .min : .max) : sum)
    }
}

extension Policy {
    /// Returns a debounce with these settings (<doc:Semantics>, section 3), or throws: checks settings that come from a file
    /// or a server before a debouncer gets them.
    ///
    /// ```swift
    /// do {
    ///     let policy = try Policy.debounce(for: settings.wait, maxWait: settings.maxWait)
    ///     save = Debouncer(policy: policy) { (draft: Draft) in try await api.save(draft) }
    /// } catch {
    ///     log.error("in the settings: \(error)")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - wait: The quiet period, zero or more.
    ///   - maxWait: No value waits longer than this; at least `wait`.
    ///   - edges: The ends of a burst at which values are executed.
    ///   - delayRule: Whether a shorter delay of a single call replaces a longer one that is running.
    ///   - maxCount: Executes at once when this many submits are pending; at least 1, and only with the trailing edge.
    ///   - spacing: The least time between two due instants of a key, zero or more, and only with the trailing edge. Zero and
    ///     nil mean that there is no limit.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    public static func debounce(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, delayRule: DelayRule = .restart,
        maxCount: Int? = nil, spacing: Duration? = nil
    ) throws(PolicyError) -> Policy {
        let policy = try debounce(
            wait: CoreDuration(wait), maxWait: maxWait.map { CoreDuration($0) }, edges: edges, delayRule: delayRule,
            maxCount: maxCount, spacing: spacing.map { CoreDuration($0) })
        if let maxWait, maxWait < wait {
            // They differ by less than a nanosecond. With the wait rounded up, the error names two that differ.
            throw .maxWaitBelowWait(maxWait: CoreDuration(maxWait), wait: CoreDuration(wait + .nanoseconds(1)))
        }
        return policy
    }

    /// Returns a throttle with these settings (<doc:Semantics>, section 4), or throws: checks settings that come from a file
    /// or a server before a throttler gets them.
    ///
    /// - Parameters:
    ///   - interval: The length of a window, zero or more.
    ///   - edges: Whether values are executed at the beginning of a window, at its end, or at both.
    ///   - maxCount: Executes at once when this many submits are pending; at least 1, and only with the trailing edge.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    public static func throttle(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil
    ) throws(PolicyError) -> Policy {
        try throttle(interval: CoreDuration(interval), edges: edges, maxCount: maxCount)
    }
}
