internal import Dispatch

/// Calls `body` after a duration of real time.
func afterRealTime(_ duration: Duration, _ body: @escaping @Sendable () -> Void) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    DispatchQueue.global().asyncAfter(deadline: .now() + nanoseconds / 1e9, execute: body)
}
