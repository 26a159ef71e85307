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

/// Limits repeated messages: logs one of each kind a minute, and counts the others.
struct MessageLimiter {
    private struct Kind {
        /// Follows the count in a message, such as "records skipped: over --max-keys".
        let name: String
        var count = 0
        /// The count as of the latest message, the messages logged singly included.
        var reported = 0
        var next = CoreInstant.farPast
    }

    private static let interval = CoreDuration.seconds(60)

    /// A handful, in order of their first messages.
    private var kinds: [Kind] = []

    /// Counts a message, and logs it unless one of its kind was logged within the last minute.
    ///
    /// - Parameter kind: The kind, as it follows a count.
    mutating func report(
        _ message: @autoclosure () -> String, of kind: String, at now: CoreInstant, to log: inout OutputBuffer
    ) {
        let index = kinds.firstIndex { $0.name == kind } ?? kinds.count
        if index == kinds.count { kinds.append(Kind(name: kind)) }
        kinds[index].count += 1
        guard kinds[index].next <= now else { return }
        kinds[index].next = now.advanced(by: Self.interval)
        if kinds[index].count == kinds[index].reported + 1 {
            log.report(message())
        } else {
            log.report(Self.line(kinds[index]))
        }
        kinds[index].reported = kinds[index].count
    }

    /// Logs the count of each kind that has grown since it was logged.
    mutating func reportCounts(to log: inout OutputBuffer) {
        for index in kinds.indices where kinds[index].reported < kinds[index].count {
            log.report(Self.line(kinds[index]))
            kinds[index].reported = kinds[index].count
        }
    }

    /// The count with its digits in groups of three: `999,000 records skipped`.
    private static func line(_ kind: Kind) -> String {
        let digits = String(kind.count).reversed().enumerated().map { $0 > 0 && $0 % 3 == 0 ? "\($1)," : "\($1)" }
        return digits.reversed().joined() + " \(kind.name)"
    }
}
