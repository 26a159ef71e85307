internal import CLullCommand

/// A descriptor to write to, and the bytes that wait to be written there.
///
/// ``write()`` never blocks: the caller waits for `poll`, and each call writes no more than fits. A slow reader slows the program
/// down, but signals still get through.
struct OutputBuffer {
    enum WriteResult {
        case written
        /// The reader has closed its end.
        case closed
    }

    let descriptor: Int32
    /// The bytes to write.
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

    /// Discards the bytes to write.
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

    /// Prints a text on standard output.
    static func print(_ text: String) throws(Failure) { try print { $0.append(string: text) } }

    /// Prints messages on standard error.
    static func report(_ messages: [String]) {
        var log = OutputBuffer(STDERR_FILENO)
        for message in messages { log.report(message) }
        // A failure to write a message cannot be reported.
        _ = try? log.drain()
    }

    /// Prints messages about what has failed.
    ///
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
    /// A message quotes arguments, file names and keys, which may be long and contain anything. What is too long loses its middle,
    /// because a message starts with what is wrong and ends with what to do.
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
