internal import CLullCommand
internal import LullCore

/// Bytes to write to a descriptor, by calls that block until that is done.
///
/// For files, and where signals keep their default actions. Elsewhere nothing that is written may block the program:
/// ``OutputStream``.
struct OutputBuffer {
    enum WriteResult {
        case written
        /// The reader has closed its end.
        case closed
    }

    let descriptor: Int32
    var bytes: [UInt8] = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Writes everything.
    mutating func drain() throws(Failure) -> WriteResult {
        var position = 0
        defer { bytes.emptyAfterWriting() }
        while position < bytes.count {
            guard let count = try Self.write(bytes[position...], to: descriptor) else { return .closed }
            position += count
        }
        return .written
    }

    /// Writes once, and waits where the descriptor does not block.
    ///
    /// - Returns: How many bytes were written; nil if the reader has closed its end.
    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(Failure) -> Int? {
        let count = bytes.withUnsafeBytes { CLullCommand.write(descriptor, $0.baseAddress, $0.count) }
        guard count < 0 else { return count }
        let code = lull_errno()
        switch code {
        case EPIPE: return nil
        case EINTR: return 0
        case EAGAIN, EWOULDBLOCK:
            var interest = pollfd(descriptor: descriptor, Int32(POLLOUT))
            poll(&interest, 1, -1)
            return 0
        default: throw .system("cannot write", code)
        }
    }
}

extension [UInt8] {
    /// Keeps the capacity of a usual iteration, and releases that of a burst.
    mutating func emptyAfterWriting() { removeAll(keepingCapacity: capacity <= 1 << 20) }
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

    mutating func report(_ message: String, isCut: Bool = true) { bytes.append(message: message, isCut: isCut) }
}

extension [UInt8] {
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
    mutating func append(message: String, isCut: Bool = true) {
        var line = "lull: " + Terminal.plain(message)
        if isCut, line.utf8.count > Self.wordLimit {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            line = words.map { Terminal.cutInTheMiddle(String($0), to: Self.wordLimit) }.joined(separator: " ")
            line = Terminal.cutInTheMiddle(line, to: Self.messageLimit)
        }
        append(string: line + "\n")
    }
}

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
        _ message: @autoclosure () -> String, of kind: String, at now: CoreInstant, to log: inout [UInt8]
    ) {
        let index = kinds.firstIndex { $0.name == kind } ?? kinds.count
        if index == kinds.count { kinds.append(Kind(name: kind)) }
        kinds[index].count += 1
        guard kinds[index].next <= now else { return }
        kinds[index].next = now.advanced(by: Self.interval)
        if kinds[index].count == kinds[index].reported + 1 {
            log.append(message: message())
        } else {
            log.append(message: Self.line(kinds[index]))
        }
        kinds[index].reported = kinds[index].count
    }

    /// Logs the count of each kind that has grown since it was logged.
    mutating func reportCounts(to log: inout [UInt8]) {
        for index in kinds.indices where kinds[index].reported < kinds[index].count {
            log.append(message: Self.line(kinds[index]))
            kinds[index].reported = kinds[index].count
        }
    }

    /// The count with its digits in groups of three: `999,000 records skipped`.
    private static func line(_ kind: Kind) -> String {
        let digits = String(kind.count).reversed().enumerated().map { $0 > 0 && $0 % 3 == 0 ? "\($1)," : "\($1)" }
        return digits.reversed().joined() + " \(kind.name)"
    }
}
