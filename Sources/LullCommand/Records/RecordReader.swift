internal import CLullCommand

/// Splits what is read into records without copying them: it searches one large buffer for the terminator.
///
/// The buffer is unsafe memory for the benchmark row "lull filter, a line": records are handed out as pointers into it.
struct RecordReader: ~Copyable {
    enum Next {
        /// A record without its terminator. The bytes are valid until the next ``fill()``.
        case record(ByteSlice)
        /// A record longer than ``longest``, which is skipped whole.
        case tooLong
        /// No complete record is left: read more.
        case incomplete
    }

    /// The greatest length of a record, in bytes.
    static let longest = 16 << 20
    private static let readSize = 256 << 10

    let descriptor: Int32
    let terminator: UInt8
    /// The number of the latest record, from 1.
    private(set) var number = 0

    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// The start of the bytes that were not returned yet.
    private var start = 0
    /// Their end.
    private var end = 0
    /// There is no terminator before this position.
    private var searched = 0
    /// Whether the rest of a record that is too long is still to be read.
    private var isSkipping = false
    private var isAtEnd = false

    init(_ descriptor: Int32, terminator: UInt8) {
        self.descriptor = descriptor
        self.terminator = terminator
        capacity = 2 * Self.readSize
        memory = .allocate(capacity: capacity)
    }

    deinit {
        memory.deallocate()
    }

    /// Reads once. Call it when ``next()`` has returned ``Next/incomplete``.
    ///
    /// - Returns: False at the end of the input. True, too, if no bytes are available now, or a signal interrupted the
    ///   read.
    mutating func fill() throws(Failure) -> Bool {
        makeRoom()
        let count = read(descriptor, memory + end, Self.readSize)
        if count < 0 {
            let code = lull_errno()
            if code == EINTR || code == EAGAIN || code == EWOULDBLOCK { return true }
            throw .system("cannot read", code)
        }
        isAtEnd = count == 0
        end += count
        return !isAtEnd
    }

    /// Ends the input after the bytes that have been read.
    mutating func finish() {
        isAtEnd = true
    }

    /// Returns the first of the bytes that were read and not returned yet.
    func unread(upTo limit: Int) -> [UInt8] {
        Array(ByteSlice(start: memory + start, count: min(limit, end - start)))
    }

    private mutating func makeRoom() {
        if start > 0 {
            memory.update(from: memory + start, count: end - start)
            end -= start
            searched -= start
            start = 0
        }
        if capacity - end < Self.readSize {
            let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2)
            larger.update(from: memory, count: end)
            memory.deallocate()
            memory = larger
            capacity *= 2
        }
    }

    mutating func next() -> Next {
        while true {
            guard let found = memchr(memory + searched, Int32(terminator), end - searched) else {
                return nextUnfinished()
            }
            let stop = found.assumingMemoryBound(to: UInt8.self) - memory
            let record = ByteSlice(start: memory + start, count: stop - start)
            start = stop + 1
            searched = start
            if isSkipping {
                isSkipping = false
                continue
            }
            number += 1
            return record.count > Self.longest ? .tooLong : .record(record)
        }
    }

    /// Handles bytes without a terminator, which are a record only at the end of the input.
    private mutating func nextUnfinished() -> Next {
        let rest = ByteSlice(start: memory + start, count: end - start)
        searched = end
        if isSkipping || rest.count > Self.longest {
            start = end
            defer { isSkipping = true }
            if isSkipping { return .incomplete }
            number += 1
            return .tooLong
        }
        guard isAtEnd, !rest.isEmpty else { return .incomplete }
        start = end
        number += 1
        return .record(rest)
    }
}
