public import LullCore

extension CoreDuration {
    /// A standard duration in whole nanoseconds, rounded towards zero; what cannot be counted becomes
    /// ``/LullCore/CoreDuration/infinite``.
    @inlinable
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        self.init(nanoseconds: overflow || carry ? (duration < .zero ? .min : .max) : sum)
    }
}

extension Duration {
    /// The same length as a standard duration.
    @inlinable
    public init(_ duration: CoreDuration) {
        self = .nanoseconds(duration.nanoseconds)
    }
}

extension Policy {
    /// A debounce (<doc:Semantics>, section 3), checked: for settings that come from outside.
    ///
    /// - Parameters:
    ///   - wait: The quiet period, zero or more.
    ///   - maxWait: No value waits longer than this; at least `wait`.
    ///   - edges: Where in a burst values are executed.
    ///   - delayRule: Whether a shorter delay of a single call replaces a longer one that is running.
    ///   - maxCount: This many submits are executed at once; at least 1, and only with the trailing edge.
    /// - Throws: ``LullCore/PolicyError`` naming the value and the rule that it breaks.
    public static func debounce(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, delayRule: DelayRule = .restart,
        maxCount: Int? = nil
    ) throws(PolicyError) -> Policy {
        try debounce(
            wait: CoreDuration(wait), maxWait: maxWait.map { CoreDuration($0) }, edges: edges, delayRule: delayRule,
            maxCount: maxCount)
    }

    /// A throttle (<doc:Semantics>, section 4), checked: for settings that come from outside.
    ///
    /// - Parameters:
    ///   - interval: The length of a window, zero or more.
    ///   - edges: Whether a window executes at its beginning, at its end, or at both.
    ///   - maxCount: This many submits are executed at once; at least 1, and only with the trailing edge.
    /// - Throws: ``LullCore/PolicyError`` naming the value and the rule that it breaks.
    public static func throttle(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil
    ) throws(PolicyError) -> Policy {
        try throttle(interval: CoreDuration(interval), edges: edges, maxCount: maxCount)
    }
}
