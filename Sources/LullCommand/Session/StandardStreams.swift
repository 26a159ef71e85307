internal import CLullCommand
internal import LullCore

/// A descriptor to write to, and the bytes that wait to be written there.
///
/// ``write()`` never blocks: the caller waits for `poll`, and each call writes no more than fits. A slow reader slows
/// the program down, but signals still get through.
struct OutputBuffer {
    enum WriteResult {
        case written
        /// The reader has closed its end.
        case closed
    }

    let descriptor: Int32
    var bytes: [UInt8] = []
    /// The number of bytes already written.
    private var position = 0
    /// How much a descriptor takes without blocking once `poll` has reported it writable.
    private let writableSize: Int

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        writableSize = lull_is_file(descriptor) != 0 ? 1 << 20 : Int(PIPE_BUF)
    }

    var isEmpty: Bool { bytes.isEmpty }

    /// Writes once, after `poll` has reported the descriptor writable.
    mutating func write() throws(Failure) -> WriteResult {
        try write(atMost: writableSize)
    }

    private mutating func write(atMost limit: Int) throws(Failure) -> WriteResult {
        let count = bytes.withUnsafeBytes { bytes in
            CLullCommand.write(descriptor, bytes.baseAddress.map { $0 + position }, min(bytes.count - position, limit))
        }
        if count < 0 {
            let code = lull_errno()
            switch code {
            case EPIPE: return .closed
            case EINTR, EAGAIN, EWOULDBLOCK: return .written
            default: throw .system("cannot write", code)
            }
        }
        position += count
        if position == bytes.count { clear() }
        return .written
    }

    mutating func clear() {
        position = 0
        // Keeps the capacity of a usual iteration, releases that of a burst.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
    }

    /// Writes everything and blocks until that is done. For use where signals keep their default actions.
    mutating func drain() throws(Failure) -> WriteResult {
        while !isEmpty {
            var interest = pollfd(descriptor: descriptor, Int32(POLLOUT))
            if case .closed = try write(atMost: bytes.count) { return .closed }
            if !isEmpty { poll(&interest, 1, -1) }
        }
        return .written
    }
}

extension OutputBuffer {
    /// Prints what a function appends on standard output.
    static func print(_ append: (inout [UInt8]) -> Void) throws(Failure) {
        var output = OutputBuffer(STDOUT_FILENO)
        append(&output.bytes)
        _ = try output.drain()
    }

    static func print(_ text: String) throws(Failure) { try print { $0.append(string: text) } }

    /// Prints what has been done. That it was done is what the exit status says, even if this cannot be printed.
    ///
    /// - Parameters:
    ///   - done: What has been done, for a message.
    ///   - text: What to print, if it is not that.
    static func printDone(_ done: String, as text: [UInt8]? = nil) -> Int32 {
        do throws(Failure) {
            try print { $0 += text ?? Array((done + "\n").utf8) }
        } catch {
            report(["\(done), but that cannot be printed (\(error.message))"])
        }
        return ExitStatus.success
    }

    /// Prints messages on standard error.
    static func report(_ messages: [String]) {
        var log = OutputBuffer(STDERR_FILENO)
        for message in messages { log.report(message) }
        // A failure to write a message cannot be reported.
        _ = try? log.drain()
    }

    /// - Returns: The exit status: 1 if there are any.
    static func end(reporting messages: [String]) -> Int32 {
        report(messages)
        return messages.isEmpty ? ExitStatus.success : ExitStatus.commandFailed
    }

    /// The longest message, in columns: two lines of a screen, three of a narrow one.
    private static var messageLimit: Int { 240 }
    /// The longest word in a long message; such words are usually quoted from arguments or data.
    private static var wordLimit: Int { 80 }

    /// Appends a message: one line that starts with the program's name.
    ///
    /// A message quotes arguments, file names and keys, which may be long and contain anything. What is too long loses
    /// its middle, because a message starts with what is wrong and ends with what to do.
    ///
    /// - Parameter isCut: False for a message of nothing but fixed words and numbers, all of which matter.
    mutating func report(_ message: String, isCut: Bool = true) {
        var line = "lull: " + Terminal.plain(message)
        if isCut, line.utf8.count > Self.wordLimit {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            line = words.map { Terminal.cutInTheMiddle(String($0), to: Self.wordLimit) }.joined(separator: " ")
            line = Terminal.cutInTheMiddle(line, to: Self.messageLimit)
        }
        bytes.append(string: line + "\n")
    }
}

/// The standard output and standard error of a session, and the exit status that follows from what happened to them.
struct StandardStreams {
    var output = OutputBuffer(STDOUT_FILENO)
    /// Messages, on standard error.
    var log = OutputBuffer(STDERR_FILENO)
    /// The exit status, failed commands aside.
    var status = ExitStatus.success
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

    mutating func report(_ message: @autoclosure () -> String, of kind: String, at now: CoreInstant) {
        limiter.report(message(), of: kind, at: now, to: &log)
    }

    mutating func reportCounts() {
        limiter.reportCounts(to: &log)
    }

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
