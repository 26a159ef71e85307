internal import CLullCommand
internal import LullCore

/// The standard output and standard error of a session, and the exit status that follows from what happened to them.
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

    /// The exit status of the session.
    ///
    /// - Parameter executionFailed: Whether an execution has failed, which shows unless there was a worse problem.
    func exitStatus(executionFailed: Bool) -> Int32 {
        status == ExitStatus.success && executionFailed ? ExitStatus.commandFailed : status
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
}
