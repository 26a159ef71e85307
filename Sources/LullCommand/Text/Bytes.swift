internal import CLullCommand

/// Borrowed bytes: a record in the read buffer, or a member of a trace's line.
///
/// The command works on bytes, not strings: they need no decoding, and need not even be text.
typealias ByteSlice = UnsafeBufferPointer<UInt8>

extension ByteSlice {
    func part(_ range: Range<Int>) -> ByteSlice {
        ByteSlice(rebasing: self[range])
    }

    func isEqual(to text: StaticString) -> Bool {
        isEqual(to: ByteSlice(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    func isEqual(to other: ByteSlice) -> Bool {
        guard count == other.count else { return false }
        guard let left = baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }

    /// The bytes for a message, cut to a readable length.
    var shown: String {
        let limit = 60
        return String(decoding: prefix(limit), as: UTF8.self) + (count > limit ? "…" : "")
    }
}

extension [UInt8] {
    /// The bytes as a string for the C library.
    var cString: [CChar] { map { CChar(bitPattern: $0) } + [0] }

    mutating func append(_ text: StaticString) {
        append(contentsOf: ByteSlice(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the text. The label keeps literals out, because making a `String` of one costs more.
    mutating func append(string text: String) {
        append(contentsOf: text.utf8)
    }
}

/// Checks bytes for well-formed UTF-8.
enum UTF8Text {
    static func isValid(_ text: ByteSlice) -> Bool {
        var position = 0
        while position < text.count {
            if text[position] < 0x80 {
                position = max(endOfPlain(in: text, from: position), position + 1)
            } else {
                let length = sequenceLength(in: text, at: position)
                if length == 0 { return false }
                position += length
            }
        }
        return true
    }

    /// Returns the end of the ASCII characters that need no escape in a JSON string: the position of the next quotation
    /// mark, backslash, control character or byte from 0x80 on, or the end of the text.
    ///
    /// It tests eight bytes at a time for the benchmark rows "lull simulate", which scan each byte of a trace.
    static func endOfPlain(in text: ByteSlice, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var position = start
        let bytes = UnsafeRawBufferPointer(text)
        while position + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            // A subtraction sets the highest bit of a byte that was too small, and may set those of bytes after it; the
            // first one set is right.
            let found =
                word | (word &- ones &* 0x20) | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
            let marks = found & (ones &* 0x80)
            if marks != 0 { return position + marks.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x20 || byte >= 0x80 || byte == 0x22 || byte == 0x5C { break }
            position += 1
        }
        return position
    }

    /// Returns the length of the well-formed sequence that starts at a byte from 0x80 on; 0 if there is none.
    static func sequenceLength(in text: ByteSlice, at position: Int) -> Int {
        var bytes = text[position...].makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        if case .valid(let scalar) = parser.parseScalar(from: &bytes) { return scalar.count }
        return 0
    }
}

/// A buffer that is filled from its end to its start, the order in which the digits of a number are computed.
///
/// It makes the lines of the benchmark row "lull simulate as JSONL", which took twice as long when appended member by
/// member.
struct BackwardWriter {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var start: Int

    fileprivate init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = memory
        start = memory.count
    }

    fileprivate var written: ByteSlice { ByteSlice(rebasing: memory[start...]) }

    mutating func put(_ byte: UInt8) {
        precondition(start > 0, "a short text is longer than was reckoned with")
        start -= 1
        memory.initializeElement(at: start, to: byte)
    }

    mutating func put(_ text: StaticString) {
        let count = text.utf8CodeUnitCount
        precondition(start >= count, "a short text is longer than was reckoned with")
        start -= count
        // Proof: the precondition has checked that there is room for `count` bytes.
        (memory.baseAddress.unsafelyUnwrapped + start).initialize(from: text.utf8Start, count: count)
    }

    mutating func put(bytes: some Collection<UInt8>) {
        let count = bytes.count
        precondition(start >= count, "a short text is longer than was reckoned with")
        start -= count
        _ = UnsafeMutableBufferPointer(rebasing: memory[start..<start + count]).initialize(from: bytes)
    }

    /// Prepends a number: up to 20 bytes.
    mutating func put(decimal number: Int) {
        putDigits(UInt64(number.magnitude))
        if number < 0 { put(UInt8(ascii: "-")) }
    }

    /// Prepends an instant or a duration in seconds, with as many digits after the point as it needs: up to 21 bytes.
    mutating func put(seconds nanoseconds: Int64) {
        var (seconds, fraction) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        if fraction > 0 {
            var places = 9
            while fraction % 1000 == 0 {
                fraction /= 1000
                places -= 3
            }
            while fraction % 10 == 0 {
                fraction /= 10
                places -= 1
            }
            for _ in 0..<places { fraction = putLastDigit(of: fraction) }
            put(UInt8(ascii: "."))
        }
        putDigits(seconds)
        if nanoseconds < 0 { put(UInt8(ascii: "-")) }
    }

    private mutating func putDigits(_ number: UInt64) {
        var rest = number
        repeat { rest = putLastDigit(of: rest) } while rest > 0
    }

    /// Prepends the last digit of a number, and returns the number without it.
    private mutating func putLastDigit(of number: UInt64) -> UInt64 {
        let rest = number / 10
        put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number &- rest &* 10))
        return rest
    }
}

extension [UInt8] {
    /// Appends a text of up to `capacity` bytes that `write` composes from its end.
    mutating func append(upTo capacity: Int, fromEnd write: (inout BackwardWriter) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { memory in
            var text = BackwardWriter(memory)
            write(&text)
            append(contentsOf: text.written)
        }
    }
}
