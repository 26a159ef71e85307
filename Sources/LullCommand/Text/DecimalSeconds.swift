internal import LullCore

/// Instants as decimal seconds, exact to the nanosecond in both directions.
///
/// `Double`, which the standard library and Foundation parse into, is not exact for Unix time in nanoseconds; and a trace has a
/// number on each line, as the benchmark rows "lull simulate" measure.
enum DecimalSeconds {
    /// Parses a JSON number; digits beyond the ninth after the point are cut off.
    ///
    /// - Returns: Nil for an instant more than 292 years from the origin.
    static func parse(_ number: ByteSlice) -> CoreInstant? {
        if let nanoseconds = parseShort(number) { return CoreInstant(nanoseconds: nanoseconds) }
        let isNegative = number.first == UInt8(ascii: "-")
        var digits = Digits(number.part((isNegative ? 1 : 0)..<number.count))
        // The power of ten of the current digit. The digits down to 10⁻⁹ make up the nanoseconds.
        var power = digits.powerOfFirst
        var nanoseconds: UInt64 = 0
        while power >= -9 {
            guard let digit = digits.next() else {
                // Only zeros are left, and zero times any power of ten is zero.
                if nanoseconds == 0 { break }
                guard power + 10 <= 19, let scaled = times(nanoseconds, powerOfTen: power + 10) else { return nil }
                nanoseconds = scaled
                break
            }
            let (product, overflow) = nanoseconds.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            if overflow || carry { return nil }
            nanoseconds = sum
            power -= 1
        }
        guard let magnitude = Int64(exactly: nanoseconds) else { return nil }
        return CoreInstant(nanoseconds: isNegative ? -magnitude : magnitude)
    }

    /// Appends an instant or a duration in seconds, with as many digits after the point as it needs.
    static func append(_ nanoseconds: Int64, to text: inout [UInt8]) {
        text.append(upTo: 21) { $0.put(seconds: nanoseconds) }
    }

    /// Returns an instant as text.
    static func text(_ instant: CoreInstant) -> String {
        var text: [UInt8] = []
        append(instant.nanoseconds, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Parses the common case of ``parse(_:)``: no sign, up to nine digits on either side of the point. Returns nil for all others.
    private static func parseShort(_ number: ByteSlice) -> Int64? {
        var position = 0
        var value: Int64 = 0
        while position < number.count {
            let digit = number[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            value = value &* 10 &+ Int64(digit)
            position += 1
        }
        guard position > 0, position <= 9 else { return nil }
        if position == number.count { return value &* 1_000_000_000 }
        let places = number.count - position - 1
        guard number[position] == UInt8(ascii: "."), places <= 9 else { return nil }
        for _ in 0..<places {
            position += 1
            let digit = number[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int64(digit)
        }
        return value &* powersOfTen[9 - places]
    }

    private static let powersOfTen: [Int64] = [
        1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
    ]

    private static func times(_ number: UInt64, powerOfTen: Int) -> UInt64? {
        var product = number
        for _ in 0..<powerOfTen {
            let (next, overflow) = product.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            product = next
        }
        return product
    }

    /// The digits of an unsigned JSON number, without its point, exponent and leading zeros.
    private struct Digits {
        let text: ByteSlice
        var position = 0
        /// The end of the mantissa.
        var end: Int
        /// The power of ten of the first digit that ``next()`` returns.
        var powerOfFirst = 0

        init(_ text: ByteSlice) {
            self.text = text
            end = text.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? text.count
            let point = text.prefix(end).firstIndex(of: UInt8(ascii: ".")) ?? end
            powerOfFirst = point - 1 + Self.exponent(text.part(min(end + 1, text.count)..<text.count))
            while position < end, text[position] == UInt8(ascii: "0") || text[position] == UInt8(ascii: ".") {
                if text[position] != UInt8(ascii: ".") { powerOfFirst -= 1 }
                position += 1
            }
            // Zero has no digits, whatever its exponent.
            if position == end { powerOfFirst = -10 }
        }

        mutating func next() -> UInt8? {
            if position < end, text[position] == UInt8(ascii: ".") { position += 1 }
            guard position < end else { return nil }
            position += 1
            return text[position - 1] - UInt8(ascii: "0")
        }

        /// Returns the exponent, limited to a value that no mantissa in memory can compensate.
        private static func exponent(_ text: ByteSlice) -> Int {
            var exponent = 0
            for byte in text where byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") {
                exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), 1 << 40)
            }
            return text.first == UInt8(ascii: "-") ? -exponent : exponent
        }
    }
}
