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
