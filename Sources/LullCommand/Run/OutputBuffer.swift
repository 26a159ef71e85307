internal import CLullCommand

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
