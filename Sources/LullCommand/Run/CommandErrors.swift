internal import CLullCommand

/// What a command writes on standard error: it goes on to ours as it is written, and the end of it is kept for messages.
struct CommandErrors {
    /// How many bytes of it are kept.
    static let most = 1024

    /// The end of what was written, up to twice as much as is kept.
    private var end: [UInt8] = []
    private var isCut = false

    /// Whether the last line has no end yet.
    var isLineOpen: Bool { end.last.map { $0 != UInt8(ascii: "\n") } ?? false }

    mutating func append(_ bytes: some BidirectionalCollection<UInt8>) {
        let last = bytes.suffix(Self.most)
        if last.count < bytes.count { isCut = true }
        end += last
        guard end.count > 2 * Self.most else { return }
        end.removeFirst(end.count - Self.most)
        isCut = true
    }

    /// The last lines, without empty ones and without what is not for a terminal.
    var lines: [String] {
        var kept = end.suffix(Self.most)
        let isCut = isCut || kept.count < end.count
        // A line, or a letter, that is not whole.
        if isCut, let newline = kept.dropLast().firstIndex(of: UInt8(ascii: "\n")) {
            kept = kept[(newline + 1)...]
        } else if isCut {
            kept = kept.drop { $0 & 0xC0 == 0x80 }
        }
        return kept.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.compactMap { line in
            let text = Terminal.plain(String(decoding: line, as: UTF8.self))
            return text.allSatisfy(\.isWhitespace) ? nil : text
        }
    }

    // MARK: - Reading

    /// What came of reading.
    enum Received {
        case some
        /// There is nothing more now.
        case nothing
        /// Nobody can write any more.
        case end
    }

    /// What a pipe holds at most on most systems: what is read at once then consists of whole writes, so that lines of several
    /// commands do not get into each other.
    private static let piece = 1 << 16

    /// Reads once from a command's pipe.
    static func receive(from pipe: Int32, _ handle: (ArraySlice<UInt8>) -> Void) -> Received {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.piece) { buffer, filled in
            repeat {
                count = read(pipe, buffer.baseAddress, Self.piece)
            } while count < 0 && lull_errno() == EINTR
            filled = max(0, count)
        }
        if count > 0 { handle(bytes[...]) }
        return count > 0 ? .some : count == 0 || lull_errno() != EAGAIN ? .end : .nothing
    }
}
