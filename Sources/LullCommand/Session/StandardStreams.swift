internal import CLullCommand
internal import LullCore

/// What a session writes to standard output and standard error, and the exit status that follows from it.
struct StandardStreams {
    var output = OutputBuffer(STDOUT_FILENO)
    /// Messages, on standard error.
    var log = OutputBuffer(STDERR_FILENO)
    /// The exit status, failed commands aside.
    var status = ExitStatus.success
    /// The number of skipped records.
    private(set) var skipped = 0
    private var limiter = MessageLimiter()

    // MARK: - Messages

    /// Logs a failure and makes its status the exit status.
    mutating func fail(_ failure: Failure) {
        status = failure.status
        log.report(failure.message)
    }

    /// Sets the exit status unless an earlier problem has set it.
    mutating func setStatus(_ status: Int32) {
        if self.status == ExitStatus.success { self.status = status }
    }

    /// Logs that a record is skipped, or with `isStrict` why it ends the input.
    ///
    /// - Parameter kind: The part of the reason that other records share; nil if that is all of it.
    mutating func refuse(_ line: Int, _ why: String, kind: String? = nil, isStrict: Bool, at now: CoreInstant) {
        skipped += 1
        guard !isStrict else { return log.report("line \(line): \(why)") }
        report("line \(line) skipped: \(why)", of: "records skipped: \(kind ?? why)", at: now)
    }

    /// Logs a message that may repeat: the first of its kind, later only their number.
    mutating func report(_ message: @autoclosure () -> String, of kind: String, at now: CoreInstant) {
        limiter.report(message(), of: kind, at: now, to: &log)
    }

    /// Logs the number of messages that were counted but not logged.
    mutating func reportCounts() {
        limiter.reportCounts(to: &log)
    }

    // MARK: - Writing

    var areEmpty: Bool { output.isEmpty && log.isEmpty }

    /// Writes part of the output after `poll` has returned these events for it.
    mutating func writeOutput(_ events: Int16) throws(Failure) -> OutputBuffer.WriteResult {
        guard output.isEmpty else { return try output.write() }
        return Int32(events) & Int32(POLLERR | POLLHUP) != 0 ? .closed : .written
    }

    /// Writes part of the messages, and drops them if they cannot be written: no other stream could report that.
    mutating func writeLog() {
        do {
            if case .closed = try log.write() { log.clear() }
        } catch {
            log.clear()
        }
    }

    /// Returns what a session polls, in this order: signals, alarm, input, output, log.
    ///
    /// - Parameters:
    ///   - input: The descriptor to read, or -1. It is not polled while output or messages wait to be written.
    ///   - watchesOutput: Whether to report that the reader of the output has closed its end.
    func interests(signals: Int32, alarm: Int32, input: Int32, watchesOutput: Bool) -> [pollfd] {
        let isWriting = !output.isEmpty
        return [
            pollfd(descriptor: signals, Int32(POLLIN)),
            pollfd(descriptor: alarm, Int32(POLLIN)),
            pollfd(descriptor: areEmpty ? input : -1, Int32(POLLIN)),
            pollfd(descriptor: watchesOutput || isWriting ? output.descriptor : -1, isWriting ? Int32(POLLOUT) : 0),
            pollfd(descriptor: log.isEmpty ? -1 : log.descriptor, Int32(POLLOUT)),
        ]
    }
}
