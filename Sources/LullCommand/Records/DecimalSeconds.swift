internal import LullCore

/// Instants as decimal seconds, exact to the nanosecond in both directions.
///
/// `Double`, which the standard library and Foundation parse into, is not exact for Unix time in nanoseconds; and a
/// trace has a number on each line, as the benchmark rows "lull simulate" measure.
enum DecimalSeconds {
    /// Parses a JSON number; digits beyond the ninth after the point are cut off.
    ///
    /// - Returns: Nil for an instant more than 292 years from the origin.
    static func parse(_ number: ByteSlice) -> CoreInstant? {
        if let nanoseconds = parseShort(number) { return CoreInstant(nanoseconds: nanoseconds) }
        let isNegative = number.first == UInt8(ascii: "-")
        let text = number.part((isNegative ? 1 : 0)..<number.count)
        guard let decimal = DecimalNumber(text) else { return nil }
        var exponent = 0
        if decimal.end < text.count {
            let digits = String(decoding: text[(decimal.end + 1)...], as: UTF8.self)
            // Beyond these limits, no mantissa in memory can compensate it.
            exponent = min(max(Int(digits) ?? (digits.hasPrefix("-") ? .min : .max), -1 << 40), 1 << 40)
        }
        guard let nanoseconds = decimal.scaled(byTenTo: exponent + 9) else { return nil }
        return CoreInstant(nanoseconds: isNegative ? -nanoseconds : nanoseconds)
    }

    /// Appends an instant or a duration in seconds, with as many digits after the point as it needs.
    static func append(_ nanoseconds: Int64, to text: inout [UInt8]) {
        text.append(upTo: 21) { $0.put(seconds: nanoseconds) }
    }

    static func text(_ instant: CoreInstant) -> String {
        var text: [UInt8] = []
        append(instant.nanoseconds, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Parses the common case of ``parse(_:)``: no sign, up to nine digits on either side of the point. Returns nil for
    /// all others.
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
}

/// A decimal number without a sign: its first digits, which are all that matter of an instant or a duration, and a
/// power of ten.
struct DecimalNumber {
    private(set) var digits: UInt128 = 0
    private var power = 0
    /// Where it ends in the text.
    private(set) var end = 0

    /// Reads the number at the start of a text; returns nil if there is none, or none after its point.
    init?(_ text: ByteSlice) {
        var start = 0
        var isFraction = false
        while end < text.count {
            let digit = text[end] &- UInt8(ascii: "0")
            if digit < 10 {
                let isKept = digits < 1_000_000_000_000_000_000_000_000
                if isKept { digits = digits * 10 + UInt128(digit) }
                if isKept == isFraction { power += isFraction ? -1 : 1 }
            } else if text[end] == UInt8(ascii: "."), !isFraction, end > 0 {
                isFraction = true
                start = end + 1
            } else {
                break
            }
            end += 1
        }
        if end == start { return nil }
    }

    /// Returns the number times a unit of at most an hour in nanoseconds, and a power of ten, cut to a whole number;
    /// nil if that is out of range.
    func scaled(by unit: UInt128 = 1, byTenTo exponent: Int = 0) -> Int64? {
        var (value, power) = (digits * unit, power + exponent)
        while power > 0, value > 0 {
            if value > UInt128(Int64.max) { return nil }
            value *= 10
            power -= 1
        }
        while power < 0, value > 0 {
            value /= 10
            power += 1
        }
        return Int64(exactly: value)
    }
}
