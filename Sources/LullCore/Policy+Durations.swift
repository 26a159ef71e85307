// Policies in the durations of the standard library.

extension CoreDuration {
    /// Makes it from a standard duration, in whole nanoseconds, rounded towards zero; what is too long to count becomes
    /// ``infinite``.
    @inlinable
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        self.init(nanoseconds: overflow || carry ? (duration < .zero ? .min : .max) : sum)
    }
}

extension Policy {
    /// Checks the settings of a debounce (<doc:Semantics>, section 3): for settings from a file or a server, before
    /// they are given to a debouncer.
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
    ///   - edges: Where in a burst values are executed.
    ///   - delayRule: Whether a shorter delay of a single call replaces a longer one that is running.
    ///   - maxCount: This many submits are executed at once; at least 1, and only with the trailing edge.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    public static func debounce(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, delayRule: DelayRule = .restart,
        maxCount: Int? = nil
    ) throws(PolicyError) -> Policy {
        try debounce(
            wait: CoreDuration(wait), maxWait: maxWait.map { CoreDuration($0) }, edges: edges, delayRule: delayRule,
            maxCount: maxCount)
    }

    /// Checks the settings of a throttle (<doc:Semantics>, section 4): for settings from a file or a server, before
    /// they are given to a throttler.
    ///
    /// - Parameters:
    ///   - interval: The length of a window, zero or more.
    ///   - edges: Whether a window executes at its beginning, at its end, or at both.
    ///   - maxCount: This many submits are executed at once; at least 1, and only with the trailing edge.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    public static func throttle(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil
    ) throws(PolicyError) -> Policy {
        try throttle(interval: CoreDuration(interval), edges: edges, maxCount: maxCount)
    }
}
