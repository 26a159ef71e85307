public import LullCore

extension Duration {
    /// Makes a standard duration from one of a policy or a record: `Duration(policy.wait)`.
    public init(_ duration: CoreDuration) {
        self = .nanoseconds(duration.nanoseconds)
    }
}
