package import LullCore

extension Duration {
    /// Makes a standard duration from one of a policy or a record.
    package init(_ duration: CoreDuration) {
        self = .nanoseconds(duration.nanoseconds)
    }

    /// The duration for messages, to the millisecond.
    package var text: String {
        let milliseconds = max(0, CoreDuration(self).nanoseconds / 1_000_000)
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000)
        if rest == 0 { return "\(seconds) s" }
        var (fraction, places) = (rest, 3)
        while fraction % 10 == 0 { (fraction, places) = (fraction / 10, places - 1) }
        let zeros = (places > 1 && fraction < 10 ? "0" : "") + (places > 2 && fraction < 100 ? "0" : "")
        return "\(seconds).\(zeros)\(fraction) s"
    }
}
