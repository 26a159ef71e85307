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
