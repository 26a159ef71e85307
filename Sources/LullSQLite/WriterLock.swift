internal import CLullFiles
internal import LullDurable

/// A fair lock between all processes that write to a file.
///
/// It consists of two locks, on files beside the one that they guard. A writer takes *want*, then *write*, then releases *want*. So
/// a writer that commits without pause does not get *write* again while another one, which holds *want*, waits for it.
/// SQLite's own lock has no such order.
final class WriterLock {
    private let want: Int32
    private let write: Int32
    private let path: String
    /// The lock files as they were opened.
    private let marks: [(path: String, identity: FileMark.Identity)]
    private(set) var isHeld = false
    /// When it was released, if this process had to wait for another one before.
    private var released: ContinuousClock.Instant?
    private var hadToWait = false
    /// The longest pause between two attempts, in nanoseconds.
    private static let longestPause: Int64 = 250_000

    /// Opens the lock files, and creates them if needed, with the permissions of the file that they guard. Nothing is ever written
    /// to them, and they are never removed.
    init(besides path: String) throws(DurableError) {
        self.path = path
        let names = (want: path + "-want", write: path + "-write")
        want = lull_lock_open(names.want, path)
        write = lull_lock_open(names.write, path)
        marks = [
            (names.want, FileMark(open: want).identity), (names.write, FileMark(open: write).identity),
        ]
        // When this throws, `deinit` closes what was opened.
        for (name, descriptor) in [(names.want, want), (names.write, write)] where descriptor < 0 {
            switch -descriptor {
            case EPERM:
                throw .unusable(
                    "\(name) can be locked by users who may not write \(path): let its owner remove it while nothing "
                        + "uses the store")
            case let code:
                throw .unusable("\(name) cannot be opened for writing: \(String(cString: strerror(code)))")
            }
        }
    }

    /// The name of a lock file that was deleted or replaced; nil if there is none.
    var missing: String? {
        marks.first { FileMark(of: $0.path).identity != $0.identity }?.path
    }

    deinit {
        for descriptor in [want, write] where descriptor >= 0 { close(descriptor) }
    }

    /// Acquires the lock.
    ///
    /// - Parameter patience: How long to wait.
    func acquire(within patience: Duration) throws(DurableError) {
        precondition(!isHeld, "the writer lock is held already")
        let now = ContinuousClock.now
        let end = now.advanced(by: patience)
        // A process that comes back at once would overtake all those that try at intervals: lets them go first.
        if let released, patience > .zero, now - released < .nanoseconds(Self.longestPause) {
            lull_pause(Self.longestPause)
        }
        released = nil
        let hasWaited = try take(want, until: end)
        defer { lull_lock_release(want) }
        hadToWait = try take(write, until: end) || hasWaited
        isHeld = true
    }

    func release() {
        lull_lock_release(write)
        isHeld = false
        released = hadToWait ? .now : nil
    }

    /// Takes a lock by trying at intervals: a call that waits in the kernel has no timeout.
    ///
    /// - Returns: Whether it had to wait.
    private func take(_ lock: Int32, until end: ContinuousClock.Instant) throws(DurableError) -> Bool {
        var pause: Int64 = 50_000
        while true {
            let code = lull_lock_try(lock)
            if code == 0 { return pause > 50_000 }
            guard lull_lock_is_busy(code) != 0 else {
                throw .refused("\(path) cannot be locked (error \(code))")
            }
            guard ContinuousClock.now < end else {
                throw .refused("\(path) is locked by another process for too long")
            }
            lull_pause(pause)
            pause = min(2 * pause, Self.longestPause)
        }
    }
}
