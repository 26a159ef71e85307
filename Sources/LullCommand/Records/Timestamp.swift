internal import LullCore

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
