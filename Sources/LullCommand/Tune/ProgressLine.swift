internal import CLullCommand
internal import LullCore

/// A progress line on a terminal, for a long trace.
struct ProgressLine {
    private let size: Int?
    private let isShown: Bool
    private let clock = MonotonicClock()
    private let start: CoreInstant
    private var latest = CoreInstant.farPast
    private var hasShown = false

    /// - Parameter size: The number of bytes to read, if known.
    init(size: Int?) {
        self.size = size
        isShown = isatty(STDERR_FILENO) != 0
        start = clock.now
    }

    /// Updates the line: after the first second, and then ten times a second.
    mutating func show(_ position: Int, submits: Int) {
        guard isShown else { return }
        let now = clock.now
        guard start.duration(to: now) >= .seconds(1), latest.duration(to: now) >= .milliseconds(100) else { return }
        latest = now
        hasShown = true
        var line = "\r\u{1B}[K"
        if let size, size > 0 {
            let width = 30
            let done = min(width, position * width / size)
            line += "[\(String(repeating: "#", count: done))\(String(repeating: ".", count: width - done))] "
            line += "\(min(100, position * 100 / size)) %, "
        }
        write(line + "\(submits) submits")
    }

    /// Removes the line.
    mutating func end() {
        if hasShown { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        var log = OutputBuffer(STDERR_FILENO)
        log.bytes.append(string: text)
        // A failure to show progress does not concern the result.
        _ = try? log.drain()
    }
}
