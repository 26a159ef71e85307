internal import Lull
internal import LullCore

/// Durations as people write them: a number with a unit, or several.
enum DurationText {
    private static let units: [(names: [String], length: Int64)] = [
        (["w"], 604_800_000_000_000), (["d"], 86_400_000_000_000), (["h"], 3_600_000_000_000), (["m"], 60_000_000_000),
        (["s"], 1_000_000_000), (["ms"], 1_000_000), (["us", "µs", "μs"], 1000), (["ns"], 1),
    ]

    /// Reads `500ns`, `250us`, `300ms`, `1.5s`, `2m`, `1h`, `3d`, `1w`, several of them as in `59m50s`, or a zero, or
    /// says what is wrong.
    ///
    /// Fractions of a nanosecond are cut off; what exceeds the range is ``CoreDuration/infinite``.
    static func read(_ text: String) throws(Refusal) -> CoreDuration {
        func refusal(_ why: String) -> Refusal { Refusal(reason: "\"\(text)\" \(why)") }
        let isNegative = text.hasPrefix("-")
        var rest = Array(text.utf8.dropFirst(isNegative ? 1 : 0))[...]
        var total: Int64? = 0
        var last = Int64.max
        repeat {
            let number = rest.withUnsafeBufferPointer { DecimalNumber($0) }
            rest = rest.dropFirst(number?.end ?? 0)
            let bytes = rest.prefix { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(bytes.count)
            let name = String(decoding: bytes, as: UTF8.self)
            let unit = name.isEmpty ? 0 : units.first { $0.names.contains(name) }?.length
            guard let number, let unit, unit < last else {
                throw refusal(
                    "is not a duration: write a number with one of the units ns, us, ms, s, m, h, d, w, such as 300ms")
            }
            if isNegative, number.digits > 0 { throw refusal("is negative: a duration is zero or more") }
            if unit == 0, number.digits > 0 { throw refusal("has no unit: write \(text)s or \(text)ms") }
            last = unit
            let sum = number.scaled(by: UInt128(unit)).flatMap { part in total?.addingReportingOverflow(part) }
            total = sum.flatMap { $0.overflow ? nil : $0.partialValue }
        } while !rest.isEmpty
        return total.map { CoreDuration(nanoseconds: $0) } ?? .infinite
    }
}

// MARK: - Writing

extension DurationText {
    /// Returns a duration as ``read(_:)`` reads it.
    static func exact(_ duration: CoreDuration) -> String {
        let texts = [long(duration.nanoseconds), short(duration.nanoseconds)]
        return texts.compactMap(\.self).first { (try? read($0)) == duration } ?? "\(duration)"
    }

    /// Returns a duration for people: from a minute on in the two largest units, as `59m50s`, and below that with three
    /// significant digits in one.
    static func rounded(_ nanoseconds: Int64) -> String {
        long(nanoseconds) ?? short(roundedToThreeDigits(nanoseconds))
    }

    static func rounded(_ duration: Duration) -> String { rounded(CoreDuration(duration).nanoseconds) }

    /// Returns the two largest units; nil below a minute.
    private static func long(_ nanoseconds: Int64) -> String? {
        guard roundedToThreeDigits(nanoseconds) >= 60_000_000_000 else { return nil }
        let seconds = nanoseconds / 1_000_000_000 + (nanoseconds % 1_000_000_000 < 500_000_000 ? 0 : 1)
        // The smaller unit, how many make the larger one, and how many make the next larger one.
        let units: [(large: String, small: String, length: Int64, count: Int64, end: Int64)] = [
            ("m", "s", 1, 60, 3600), ("h", "m", 60, 60, 1440), ("d", "h", 3600, 24, 2400),
        ]
        for unit in units {
            let number = (seconds + unit.length / 2) / unit.length
            guard number < unit.end else { continue }
            let rest = number % unit.count
            return "\(number / unit.count)\(unit.large)" + (rest == 0 ? "" : "\(rest)\(unit.small)")
        }
        return "\((seconds + 43_200) / 86_400)d"
    }

    /// Returns up to three digits after the point, in seconds or a smaller unit.
    private static func short(_ nanoseconds: Int64) -> String {
        guard let unit = units.suffix(4).first(where: { nanoseconds >= $0.length }), unit.length > 1 else {
            return "\(nanoseconds)ns"
        }
        return decimal(thousandths: nanoseconds / (unit.length / 1000)) + unit.names[0]
    }

    private static func roundedToThreeDigits(_ number: Int64) -> Int64 {
        var step: Int64 = 1
        while number / step >= 1000 { step *= 10 }
        let (sum, overflow) = number.addingReportingOverflow(step / 2)
        return overflow ? number : sum / step * step
    }

    private static func decimal(thousandths: Int64) -> String {
        var digits = String(thousandths % 1000 + 1000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(thousandths / 1000)\(digits.isEmpty ? "" : ".")\(digits)"
    }
}

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

/// Parses RFC 3339 times such as `2024-05-01T12:00:00.25+02:00` into Unix time.
///
/// Foundation's parser returns a `Date`, a `Double` that is not exact to the nanosecond, and refuses some of these
/// times: lower-case letters, a blank for the T, leap seconds.
enum Timestamp {
    /// Parses a time; digits beyond the ninth after the point are cut off.
    ///
    /// A leap second is the first second of the next minute, as in Unix time.
    static func parse(_ text: ByteSlice) throws(Fault) -> CoreInstant {
        var reader = Reader(text: text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
            let second = reader.number(2), let nanosecond = reader.fraction(), let offset = reader.offset(),
            reader.position == text.count, (1...12).contains(month), day >= 1, hour <= 23, minute <= 59, second <= 60
        else { throw .noTime }
        let days = daysSince1970(year, month, day)
        guard days < daysSince1970(year, month + 1, 1) else { throw .noTime }
        let seconds = Int128(days * 86400 + hour * 3600 + minute * 60 + second - offset)
        guard let nanoseconds = Int64(exactly: seconds * 1_000_000_000 + Int128(nanosecond)) else { throw .outOfRange }
        return CoreInstant(nanoseconds: nanoseconds)
    }

    enum Fault: Error, Equatable {
        case noTime
        /// More than 292 years from 1970.
        case outOfRange
    }

    /// Counts years from March on, so that a leap day is the last day of its year. Month 13 is the January of the next
    /// year.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let marchYear = (month > 2 ? year : year - 1) + 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let days = marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear
        return days - 719_468 - 146_097
    }

    private struct Reader {
        let text: ByteSlice
        var position = 0

        mutating func skip(_ byte: Unicode.Scalar) -> Bool {
            guard position < text.count, text[position] == UInt8(ascii: byte) else { return false }
            position += 1
            return true
        }

        mutating func digit() -> Int? {
            guard position < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[position]) else {
                return nil
            }
            position += 1
            return Int(text[position - 1] - UInt8(ascii: "0"))
        }

        mutating func number(_ digits: Int) -> Int? {
            var number = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                number = number * 10 + digit
            }
            return number
        }

        /// Nanoseconds; zero without a fraction.
        mutating func fraction() -> Int? {
            guard skip(".") else { return 0 }
            var nanoseconds = 0
            var unit = 100_000_000
            let start = position
            while let digit = digit() {
                nanoseconds += digit * unit
                unit /= 10
            }
            return position > start ? nanoseconds : nil
        }

        /// Seconds east of UTC.
        mutating func offset() -> Int? {
            if skip("Z") || skip("z") { return 0 }
            let isWest = skip("-")
            guard isWest || skip("+"), let hours = number(2), skip(":"), let minutes = number(2), hours <= 23,
                minutes <= 59
            else { return nil }
            return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
    }
}

// MARK: - Shares, counts and sizes

/// Shares in percent.
enum Percent {
    /// Returns a share between 0 and 1 with one digit after the point: `77.3 %`.
    static func shown(_ share: Double) -> String {
        let tenths = Int(share * 1000 + 0.5)
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// Parses `90%` or `97.5%`; returns nil for anything else.
    static func parse(_ text: String) -> Double? {
        guard text.last == "%", let number = Double(text.dropLast()), (0...100).contains(number) else { return nil }
        return number / 100
    }
}

/// Returns a number with its noun: `1 key`, `2 keys`.
func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

/// Returns `1.5 MB`, rounded up so that only nothing is shown as nothing.
func megabytes(_ bytes: Int64) -> String {
    let tenths = (bytes + 99_999) / 100_000
    return "\(tenths / 10).\(tenths % 10) MB"
}
