internal import CLullCommand

/// Cuts what is read into records, without copying them: one large buffer, and a search for the terminator in it.
struct RecordReader: ~Copyable {
    /// What comes next in the buffer.
    enum Next {
        /// A record without its terminator. The bytes are good until the next ``fill()``.
        case record(ByteSlice)
        /// A record that is longer than ``longest``; it is skipped whole.
        case tooLong
        /// Nothing that is complete: more must be read.
        case incomplete
    }

    /// What came of reading.
    enum Filled {
        case bytes
        /// There are no bytes just now, or a signal came.
        case nothing
        case end
    }

    /// The length up to which a record is taken, in bytes.
    static let longest = 16 << 20
    private static let stride = 256 << 10

    let descriptor: Int32
    let terminator: UInt8
    /// The number of the record that ``next()`` gave last, from 1.
    private(set) var number = 0

    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// What is not yet given out lies from here …
    private var start = 0
    /// … to here.
    private var end = 0
    /// No terminator lies before this.
    private var searched = 0
    /// Whether the rest of a record that is too long is still to come.
    private var isSkipping = false
    private var isAtEnd = false

    init(_ descriptor: Int32, terminator: UInt8) {
        self.descriptor = descriptor
        self.terminator = terminator
        capacity = 2 * Self.stride
        memory = .allocate(capacity: capacity)
    }

    deinit {
        memory.deallocate()
    }

    /// Reads once. To be called when ``next()`` has nothing more.
    mutating func fill() throws(Failure) -> Filled {
        makeRoom()
        let count = read(descriptor, memory + end, Self.stride)
        if count < 0 {
            let code = lull_errno()
            if code == EINTR || code == EAGAIN || code == EWOULDBLOCK { return .nothing }
            throw .system("cannot read", code)
        }
        isAtEnd = count == 0
        end += count
        return isAtEnd ? .end : .bytes
    }

    /// Makes what has been read so far all there is.
    mutating func finish() {
        isAtEnd = true
    }

    /// The beginning of what has been read and not been given out.
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
        if capacity - end < Self.stride {
            let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2)
            larger.update(from: memory, count: end)
            memory.deallocate()
            memory = larger
            capacity *= 2
        }
    }

    /// Gives out the next record.
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

    /// What is left has no terminator. At the end of the input it is a record all the same.
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
