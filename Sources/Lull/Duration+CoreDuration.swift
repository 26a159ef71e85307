package import LullCore

extension Duration {
    /// Makes a standard duration from one of a policy or a record.
    package init(_ duration: CoreDuration) {
        self = .nanoseconds(duration.nanoseconds)
    }

    /// The duration for messages, to the millisecond.
    package var text: String {
        let milliseconds = Int64(min(max(self / .milliseconds(1), 0), 1e15))
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(Double(milliseconds) / 1000) s"
    }
}
