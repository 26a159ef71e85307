internal import Dispatch
internal import Synchronization

/// A lock for state that lies beside it.
struct TestLock: ~Copyable, Sendable {
    private let mutex = Mutex<Void>(())

    func withLock<R>(_ body: () -> R) -> R {
        mutex._unsafeLock()
        defer { mutex._unsafeUnlock() }
        return body()
    }
}

/// Calls `body` after a while of real time.
func afterRealTime(_ duration: Duration, _ body: @escaping @Sendable () -> Void) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    DispatchQueue.global().asyncAfter(deadline: .now() + nanoseconds / 1e9, execute: body)
}
