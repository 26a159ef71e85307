package import LullCore

extension Duration {
    /// Makes a standard duration from one of a policy or a record.
    package init(_ duration: CoreDuration) {
        self = .nanoseconds(duration.nanoseconds)
    }
}
