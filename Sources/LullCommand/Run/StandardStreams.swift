internal import CLullCommand
internal import LullCore

/// The standard output and standard error of a session, and the exit status that follows from what happened to them.
struct StandardStreams {
    var output: OutputStream
    /// Messages, on standard error.
    var log: OutputStream
    /// The exit status, failed commands aside.
    var status = ExitStatus.success
    private(set) var skipped = 0
    private var limiter = MessageLimiter()

    /// - Parameter waker: Woken when a part of them has been written.
    init(_ waker: Waker) {
        output = OutputStream(STDOUT_FILENO, waker)
        log = OutputStream(STDERR_FILENO, waker)
    }

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

    mutating func report(_ message: @autoclosure () -> String, of kind: String, at now: CoreInstant) {
        limiter.report(message(), of: kind, at: now, to: &log.bytes)
    }

    mutating func reportCounts() {
        limiter.reportCounts(to: &log.bytes)
    }

    /// - Parameter executionFailed: Whether an execution has failed, which shows unless there was a worse problem.
    func exitStatus(executionFailed: Bool) -> Int32 {
        status == ExitStatus.success && executionFailed ? ExitStatus.commandFailed : status
    }

    // MARK: - Writing

    var areEmpty: Bool { output.isEmpty && log.isEmpty }

    /// Begins to write what there is.
    mutating func beginWriting() {
        output.beginWriting()
        log.beginWriting()
    }
}
