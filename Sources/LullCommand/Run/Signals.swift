internal import CLullCommand

/// The pipe into which the signal handler writes the numbers of signals.
///
/// Proof for `nonisolated(unsafe)`: it is set once, before the first handler is installed, and never again.
nonisolated(unsafe) private var wakeDescriptor: Int32 = -1

/// Whether a signal that ends the program has come.
///
/// Proof for `nonisolated(unsafe)`: the signal handler alone writes it, always the same value, in one store.
nonisolated(unsafe) private var isEndRequested = false

/// Signals as a descriptor to poll: the handler only writes the signal's number into a pipe (the self-pipe trick).
struct Signals {
    /// Poll this for reading.
    let descriptor: Int32

    static func isEnding(_ number: Int32) -> Bool {
        number == SIGINT || number == SIGTERM || number == SIGHUP
    }

    /// Whether a signal that ends the program has come, even if it has not been received yet.
    static var isAskedToEnd: Bool { isEndRequested }

    static func asksForStatistics(_ number: Int32) -> Bool {
        #if canImport(Darwin)
            number == SIGUSR1 || number == SIGINFO
        #else
            number == SIGUSR1
        #endif
    }

    /// Lets all signals through: the parent process may have blocked some.
    static func unblock() {
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
    }

    init() throws(Failure) {
        (descriptor, wakeDescriptor) = try Pipe.make(isBlocking: false)
        var numbers = [SIGINT, SIGTERM, SIGUSR1, SIGCHLD]
        #if canImport(Darwin)
            numbers.append(SIGINFO)
        #endif
        // Under `nohup` the program outlives its terminal.
        if lull_is_ignored(SIGHUP) == 0 { numbers.append(SIGHUP) }
        for number in numbers {
            lull_handle(number) { number in
                let code = lull_errno()
                var byte = UInt8(truncatingIfNeeded: number)
                if Signals.isEnding(number) { isEndRequested = true }
                _ = write(wakeDescriptor, &byte, 1)
                lull_set_errno(code)
            }
        }
        Self.unblock()
    }

    /// Returns the numbers of the signals received since the last call, in order.
    func received() -> [Int32] {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? bytes[..<count].map { Int32($0) } : []
    }

    /// Ends the program by the signal's default action, so that its parent sees which signal ended it.
    static func end(by number: Int32) -> Never {
        lull_default(number)
        raise(number)
        _exit(128 + number)
    }
}
