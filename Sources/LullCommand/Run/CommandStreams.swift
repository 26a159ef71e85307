internal import CLullCommand
internal import LullCore

/// Makes pipes that commands do not inherit, and reads from them.
enum Pipe {
    static func make(isBlocking: Bool = true) throws(Failure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        let flags = isBlocking ? 0 : O_NONBLOCK
        guard pipe(&ends) == 0, ends.allSatisfy({ lull_add_flags($0, FD_CLOEXEC, flags) == 0 }) else {
            throw .system("cannot make a pipe")
        }
        return (ends[0], ends[1])
    }

    enum Received {
        case some
        /// The pipe is empty.
        case nothing
        /// All writers have closed their end.
        case end
    }

    /// The capacity of a pipe on most systems. A read of this size returns whole writes, so lines of different commands
    /// do not mix.
    private static let readSize = 1 << 16

    /// Reads once from a command's pipe.
    static func receive(from pipe: Int32, _ handle: (ArraySlice<UInt8>) -> Void) -> Received {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.readSize) { buffer, filled in
            repeat {
                count = read(pipe, buffer.baseAddress, Self.readSize)
            } while count < 0 && lull_errno() == EINTR
            filled = max(0, count)
        }
        if count > 0 { handle(bytes[...]) }
        return count > 0 ? .some : count == 0 || lull_errno() != EAGAIN ? .end : .nothing
    }
}

/// Makes the standard input of a command: a nameless file that has all of it before the command starts.
///
/// A pipe would have to be filled while the command runs. If this program were killed meanwhile, the command would read
/// a part of the input followed by an ordinary end of file.
enum CommandInput {
    private static let chunkSize = 1 << 16

    /// - Returns: A descriptor positioned at its start.
    static func file(_ batch: Batch<Record>, terminator: UInt8) throws(Failure) -> Int32 {
        let file = lull_nameless_file()
        guard file >= 0 else { throw .system("the file for its standard input cannot be created") }
        var output = OutputBuffer(file)
        do throws(Failure) {
            for record in batch.values {
                output.bytes += record
                output.bytes.append(terminator)
                if output.bytes.count > chunkSize { _ = try output.drain() }
            }
            _ = try output.drain()
        } catch {
            close(file)
            throw error.of("its standard input")
        }
        lseek(file, 0, SEEK_SET)
        return file
    }
}

/// The end of what a command wrote on standard error, for messages.
struct StandardErrorTail {
    /// The number of bytes that are kept.
    static let limit = 1024

    /// The last bytes, up to twice as many as are kept.
    private var end: [UInt8] = []
    private var isCut = false

    var isLineOpen: Bool { end.last.map { $0 != UInt8(ascii: "\n") } ?? false }

    mutating func append(_ bytes: some BidirectionalCollection<UInt8>) {
        let last = bytes.suffix(Self.limit)
        if last.count < bytes.count { isCut = true }
        end += last
        guard end.count > 2 * Self.limit else { return }
        end.removeFirst(end.count - Self.limit)
        isCut = true
    }

    /// The last lines, without empty ones and without control characters.
    var lines: [String] {
        var kept = end.suffix(Self.limit)
        let isCut = isCut || kept.count < end.count
        // Drop a line, or a character, that lacks its beginning.
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
}
