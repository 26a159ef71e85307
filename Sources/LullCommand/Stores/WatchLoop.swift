internal import CLullCommand
internal import CLullSystem

/// What `--watch` does: shows something every second until a signal comes, on a terminal in place, elsewhere one after
/// the other.
enum WatchLoop {
    /// Shows what a function appends.
    static func run(_ append: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) -> Int32 {
        let (signals, waker) = (try Signals(), try Waker())
        var output = OutputStream(STDOUT_FILENO, waker)
        let isTerminal = isatty(STDOUT_FILENO) != 0
        var next: Int64 = 0
        while true {
            let now = lull_nanoseconds_since_boot()
            if output.isEmpty, now >= next {
                next = now + 1_000_000_000
                // Go to the upper left corner and clear the screen.
                if isTerminal { output.bytes.append(string: "\u{1B}[H\u{1B}[J") }
                try append(&output.bytes)
                output.beginWriting()
            }
            var interests = [
                pollfd(descriptor: signals.descriptor, Int32(POLLIN)),
                pollfd(descriptor: waker.descriptor, Int32(POLLIN)),
                pollfd(hangUpOf: output.isEmpty ? output.descriptor : -1),
            ]
            let pause = Int32(max(0, next - now) / 1_000_000 + 1)
            guard poll(&interests, 3, output.isEmpty ? pause : -1) > 0 else { continue }
            if interests[2].revents != 0 { return ExitStatus.success }
            if let number = signals.received().first(where: Signals.isEnding) { Signals.end(by: number) }
            waker.acknowledge()
            if case .closed? = try output.takeResult() { return ExitStatus.success }
        }
    }
}
