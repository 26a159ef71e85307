internal import CLullCommand

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

/// A pipe on which a command writes: it closes what has not been taken.
final class CommandPipe {
    let writing: Int32
    private var reading: Int32?

    init() throws(Failure) {
        let ends = try Pipe.make()
        (reading, writing) = (ends.reading, ends.writing)
        _ = lull_add_flags(ends.reading, 0, O_NONBLOCK)
    }

    deinit {
        close(writing)
        if let reading { close(reading) }
    }

    /// Returns the end that this process reads, which it closes itself.
    func takeReading() -> Int32 {
        guard let reading else { preconditionFailure("the end of a pipe was taken twice") }
        self.reading = nil
        return reading
    }
}
