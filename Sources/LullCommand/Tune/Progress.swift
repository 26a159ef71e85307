internal import CLullCommand
internal import LullCore

/// Says on a terminal how far a long reading has come.
struct Progress {
    private let size: Int?
    private let isShown: Bool
    private let clock = Clock()
    private let start: CoreInstant
    private var latest = CoreInstant.farPast
    private var hasShown = false

    /// - Parameter size: The number of bytes to read, where that is known.
    init(size: Int?) {
        self.size = size
        isShown = isatty(STDERR_FILENO) != 0
        start = clock.now
    }

    /// Shows where we are, after a second and then ten times a second.
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

    /// Takes the line away.
    mutating func end() {
        if hasShown { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        var log = Outlet(STDERR_FILENO)
        log.text.append(string: text)
        // If it cannot be shown, the result can still be.
        _ = try? log.drain()
    }
}
