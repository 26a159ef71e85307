internal import CLullCommand

/// Where the handler writes the numbers of signals that have come.
///
/// Proof for `nonisolated(unsafe)`: it is set once, before the first handler is installed, and never again.
nonisolated(unsafe) private var wakeDescriptor: Int32 = -1

/// Signals as something to poll for: the handler does nothing but write the number into a pipe.
struct Signals {
    /// To be polled for reading.
    let descriptor: Int32

    /// Signals that end the program.
    static func isEnding(_ number: Int32) -> Bool {
        number == SIGINT || number == SIGTERM || number == SIGHUP
    }

    /// Signals that ask for the counters.
    static func asksForStatistics(_ number: Int32) -> Bool {
        #if canImport(Darwin)
            number == SIGUSR1 || number == SIGINFO
        #else
            number == SIGUSR1
        #endif
    }

    /// Starts to collect signals.
    init() throws(Failure) {
        let (reading, writing) = try Pipe.make()
        guard lull_add_flags(reading, 0, O_NONBLOCK) == 0, lull_add_flags(writing, 0, O_NONBLOCK) == 0 else {
            throw .system("cannot make a pipe")
        }
        descriptor = reading
        wakeDescriptor = writing
        var numbers = [SIGINT, SIGTERM, SIGUSR1, SIGCHLD]
        #if canImport(Darwin)
            numbers.append(SIGINFO)
        #endif
        // A program that `nohup` started outlives its terminal.
        if lull_is_ignored(SIGHUP) == 0 { numbers.append(SIGHUP) }
        for number in numbers {
            lull_handle(number) { number in
                let code = lull_errno()
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(wakeDescriptor, &byte, 1)
                lull_set_errno(code)
            }
        }
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
    }

    /// The numbers of the signals that have come, in order.
    func received() -> [Int32] {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? bytes[..<count].map { Int32($0) } : []
    }

    /// Ends the program as the signal would have ended it, so that its parent sees the truth.
    static func end(by number: Int32) -> Never {
        lull_default(number)
        raise(number)
        _exit(128 + number)
    }
}

/// Pipes that commands do not inherit.
enum Pipe {
    static func make() throws(Failure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0, lull_add_flags(ends[0], FD_CLOEXEC, 0) == 0, lull_add_flags(ends[1], FD_CLOEXEC, 0) == 0
        else { throw .system("cannot make a pipe") }
        return (ends[0], ends[1])
    }
}
