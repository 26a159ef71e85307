internal import CLullCommand

/// What `--watch` does: shows something every second until a signal comes, on a terminal in place, elsewhere one after the other.
enum Watch {
    /// Shows what a function appends.
    static func run(
        _ output: inout OutputBuffer, _ append: (inout [UInt8]) throws(Failure) -> Void
    ) throws(Failure) -> Int32 {
        let signals = try Signals()
        let isTerminal = isatty(STDOUT_FILENO) != 0
        while true {
            // Go to the upper left corner and clear the screen.
            if isTerminal { output.bytes.append(string: "\u{1B}[H\u{1B}[J") }
            try append(&output.bytes)
            if case .closed = try output.drain() { return ExitStatus.success }
            var interests = [
                pollfd(descriptor: signals.descriptor, Int32(POLLIN)), pollfd(hangUpOf: STDOUT_FILENO),
            ]
            if poll(&interests, 2, 1000) > 0 {
                if Int32(interests[1].revents) & Int32(POLLERR | POLLHUP) != 0 { return ExitStatus.success }
                if let number = signals.received().first(where: Signals.isEnding) { Signals.end(by: number) }
            }
        }
    }
}
