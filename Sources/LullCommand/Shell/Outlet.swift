internal import CLullCommand

/// A descriptor to write to, and what is still to be written there.
///
/// It never waits: it is written to when `poll` says so, and then no more than fits. So a reader that is slow slows the
/// program down, but signals still come through.
struct Outlet {
    /// What came of writing.
    enum Written {
        case some
        /// Nobody reads any more.
        case closed
    }

    let descriptor: Int32
    /// What is to be written.
    var text: [UInt8] = []
    private var position = 0
    /// What can be written without waiting once `poll` has said that something can.
    private let stride: Int

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        stride = lull_is_file(descriptor) != 0 ? 1 << 20 : Int(PIPE_BUF)
    }

    var isEmpty: Bool { text.isEmpty }

    /// Writes once.
    mutating func write() throws(Failure) -> Written {
        try write(atMost: stride)
    }

    private mutating func write(atMost limit: Int) throws(Failure) -> Written {
        let count = text.withUnsafeBytes { bytes in
            CLullCommand.write(descriptor, bytes.baseAddress.map { $0 + position }, min(bytes.count - position, limit))
        }
        if count < 0 {
            let code = lull_errno()
            switch code {
            case EPIPE: return .closed
            case EINTR, EAGAIN, EWOULDBLOCK: return .some
            default: throw .system("cannot write", code)
            }
        }
        position += count
        if position == text.count { clear() }
        return .some
    }

    /// Forgets what is to be written.
    mutating func clear() {
        position = 0
        // A burst's memory is given back, a usual round's is kept.
        text.removeAll(keepingCapacity: text.capacity <= 1 << 20)
    }

    /// Writes everything, waiting as long as it takes: for where signals have their usual effect.
    mutating func drain() throws(Failure) -> Written {
        while !isEmpty {
            var interest = pollfd(descriptor: descriptor, Int32(POLLOUT))
            if case .closed = try write(atMost: text.count) { return .closed }
            if !isEmpty { poll(&interest, 1, -1) }
        }
        return .some
    }
}

extension Outlet {
    /// What a message may take: two lines of a screen, three of a narrow one.
    private static var limit: Int { 240 }
    /// What a word of it may take, which is most often not ours.
    private static var wordLimit: Int { 80 }

    /// Appends a message: one line, with the program's name in front.
    ///
    /// A message quotes arguments, file names and keys, which may have anything in them and any length. What is too long is taken
    /// out of the middle: a message begins with what is wrong, and ends with what to do.
    ///
    /// - Parameter isCut: False for what is made of our own words and numbers, all of which matter.
    mutating func report(_ message: String, isCut: Bool = true) {
        var line = "lull: " + Terminal.plain(message)
        if isCut, line.utf8.count > Self.wordLimit {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            line = words.map { Terminal.cutInTheMiddle(String($0), to: Self.wordLimit) }.joined(separator: " ")
            line = Terminal.cutInTheMiddle(line, to: Self.limit)
        }
        text.append(string: line + "\n")
    }
}

extension pollfd {
    /// An interest in events at a descriptor.
    init(descriptor: Int32, _ events: Int32) {
        self.init(fd: descriptor, events: Int16(events), revents: 0)
    }
}
