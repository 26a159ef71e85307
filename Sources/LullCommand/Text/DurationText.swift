internal import Lull
internal import LullCore

/// Durations as people write them: a number with a unit.
enum DurationText {
    /// The reason why a text is no duration.
    enum Fault: Error, Equatable {
        case noUnit
        case negative
        case nonsense
    }

    /// Parses `500ns`, `250us`, `300ms`, `1.5s`, `2m`, `1h`, or a zero.
    ///
    /// Fractions of a nanosecond are cut off; what exceeds the range is ``CoreDuration/infinite``.
    static func parse(_ text: ByteSlice) throws(Fault) -> CoreDuration {
        let isNegative = text.first == UInt8(ascii: "-")
        let text = text.part((isNegative ? 1 : 0)..<text.count)
        guard let number = DecimalNumber(text) else { throw .nonsense }
        let unit: UInt128
        switch String(decoding: text[number.end...], as: UTF8.self) {
        case "": if number.digits == 0 { unit = 0 } else { throw isNegative ? .negative : .noUnit }
        case "ns": unit = 1
        case "us", "µs", "μs": unit = 1000
        case "ms": unit = 1_000_000
        case "s": unit = 1_000_000_000
        case "m": unit = 60_000_000_000
        case "h": unit = 3_600_000_000_000
        default: throw .nonsense
        }
        if isNegative, number.digits > 0 { throw .negative }
        return number.scaled(by: unit).map { CoreDuration(nanoseconds: $0) } ?? .infinite
    }

    /// Parses a string.
    static func parse(_ text: String) throws(Fault) -> CoreDuration {
        let bytes = Array(text.utf8)
        let result: Result<CoreDuration, Fault> = bytes.withUnsafeBufferPointer { bytes in
            do throws(Fault) { return .success(try parse(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Parses a text, or says what is wrong with it.
    static func read(_ text: String) throws(Refusal) -> CoreDuration {
        do throws(Fault) { return try parse(text) } catch {
            throw Refusal(reason: "\"\(text)\" \(error.explanation(of: text))")
        }
    }
}

// MARK: - Writing

extension DurationText {
    private static let units: [(name: String, length: Int64)] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)]
    /// With the length from which on each is used: 106 days say more than 9,140,000 seconds.
    private static let longUnits: [(name: String, length: Int64, from: Int64)] = [
        ("d", 86_400_000_000_000, 172_800_000_000_000), ("h", 3_600_000_000_000, 7_200_000_000_000),
    ]

    /// Returns a duration in a suitable unit, with up to three digits after the point; from two hours on, with three digits in all.
    private static func shown(_ nanoseconds: Int64) -> String {
        long(nanoseconds) ?? short(nanoseconds)
    }

    private static func long(_ nanoseconds: Int64) -> String? {
        guard let unit = longUnits.first(where: { nanoseconds >= $0.from }) else { return nil }
        return decimal(thousandths: roundedToThreeDigits(nanoseconds / (unit.length / 1000))) + unit.name
    }

    private static func short(_ nanoseconds: Int64) -> String {
        guard let unit = units.first(where: { nanoseconds >= $0.length }) else { return "\(nanoseconds)ns" }
        return decimal(thousandths: nanoseconds / (unit.length / 1000)) + unit.name
    }

    /// Returns a duration in the largest unit that is exact, as ``parse(_:)`` reads it.
    static func exact(_ duration: CoreDuration) -> String {
        for text in [shown(duration.nanoseconds), short(duration.nanoseconds)] where (try? parse(text)) == duration {
            return text
        }
        return "\(duration)"
    }

    /// Returns a duration as people write it in an option: `1m`, not `60s`.
    static func option(_ duration: CoreDuration) -> String {
        for (name, length) in [("h", Int64(3_600_000_000_000)), ("m", 60_000_000_000)] where duration > .zero {
            if duration.nanoseconds % length == 0 { return "\(duration.nanoseconds / length)\(name)" }
        }
        return exact(duration)
    }

    /// Returns a duration with three significant digits in a suitable unit, for tables.
    static func rounded(_ nanoseconds: Int64) -> String {
        long(nanoseconds) ?? shown(roundedToThreeDigits(nanoseconds))
    }

    static func rounded(_ duration: Duration) -> String { rounded(CoreDuration(duration).nanoseconds) }

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

extension DurationText.Fault {
    /// The fault, for the end of a message.
    func explanation(of text: String) -> String {
        switch self {
        case .noUnit: "has no unit: write \(text)s or \(text)ms"
        case .negative: "is negative: a duration is zero or more"
        case .nonsense:
            "is not a duration: write a number with one of the units ns, us, ms, s, m, h, such as 300ms or 1.5s"
        }
    }
}
