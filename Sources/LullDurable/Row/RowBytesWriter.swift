/// Writes parts as bytes.
package struct RowBytesWriter: RowCoder {
    package typealias Failure = Never

    package private(set) var result: [UInt8] = []
    private var latest = LatestNumbers()

    package init() { result.reserveCapacity(64) }

    package mutating func byte(_ byte: UInt8) { result.append(byte) }

    package mutating func number(
        _ name: StaticString, _ number: inout Int64, in range: ClosedRange<Int64>, usually usual: Int64?
    ) {
        if number == usual { byte(0) } else { write(number) }
    }

    package mutating func optional(_ name: StaticString, _ number: inout Int64?) {
        if let number { write(number) } else { byte(0) }
    }

    package mutating func word<Word: RowWord>(_ name: StaticString, _ word: inout Word) {
        byte(UInt8(clamping: Word.all.firstIndex(of: word) ?? 0))
    }

    package mutating func begin(_ slot: DurablePayload.Slot, if isThere: Bool) -> Bool {
        byte(isThere ? 1 : 0)
        return isThere
    }

    package mutating func end() {}
    package func require(_ condition: Bool, _ rule: StaticString) {}

    /// Bytes that may be missing, after their length.
    package mutating func bytes(_ bytes: [UInt8]?) {
        write(unsigned: UInt64(bytes.map { $0.count + 1 } ?? 0))
        if let bytes { result += bytes }
    }

    /// How the number is written, which is never 0, and its difference.
    private mutating func write(_ number: Int64) {
        let (kind, difference) = latest.code(number)
        byte(kind)
        write(unsigned: UInt64(bitPattern: difference << 1 ^ difference >> 63))
    }

    private mutating func write(unsigned number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(rest))
    }
}

/// The numbers before, from which the next ones are counted: of those of submits and runs (microseconds since 1970, and
/// more), and of instants (nanoseconds, years from their origin). Small numbers are as they are.
struct LatestNumbers {
    private var submit: Int64 = 0
    private var instant: Int64 = 0

    /// Returns how a number is written, from 1, and what is written.
    mutating func code(_ number: Int64) -> (kind: UInt8, difference: Int64) {
        switch number.magnitude {
        case ..<(1 << 44): return (1, number)
        case ..<(1 << 56):
            defer { submit = number }
            return (2, number &- submit)
        default:
            defer { instant = number }
            return (3, number &- instant)
        }
    }

    /// Returns the number that was written in this way; nil if there is no such way.
    mutating func number(_ kind: UInt8, _ difference: Int64) -> Int64? {
        switch kind {
        case 1: return difference
        case 2:
            submit = submit &+ difference
            return submit
        case 3:
            instant = instant &+ difference
            return instant
        default: return nil
        }
    }
}
