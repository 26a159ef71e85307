import Foundation
import LullCore
import Testing

@testable import LullCommand

@Suite("Durations")
struct DurationTests {
    @Test(arguments: [
        ("500ns", 500), ("250us", 250_000), ("250µs", 250_000), ("300ms", 300_000_000), ("1.5s", 1_500_000_000),
        ("2m", 120_000_000_000), ("1h", 3_600_000_000_000), ("0", 0), ("0.0", 0), ("-0", 0), ("0s", 0),
        ("00.50s", 500_000_000),
        ("0.0000000019s", 1), ("1.9ns", 1), ("0.333333333333333333333333h", 1_199_999_999_999),
        ("9223372036.854775807s", Int64.max), ("9223372036.854775808s", Int64.max),
        ("1000000000000000000000000h", Int64.max), ("1d", 86_400_000_000_000), ("2w", 1_209_600_000_000_000),
        ("59m50s", 3_590_000_000_000), ("1h1.5s", 3_601_500_000_000), ("15000w15000d", Int64.max),
    ])
    func `are parsed exactly`(_ text: String, _ nanoseconds: Int64) throws {
        #expect(try DurationText.read(text) == CoreDuration(nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        ("5", "has no unit"), ("0.1", "has no unit"), ("-1s", "is negative"), ("-5", "is negative"),
        ("-0.1ns", "is negative"), ("1h30", "has no unit"),
    ])
    func `are refused with a reason`(_ text: String, _ reason: String) {
        #expect(Self.refusal(of: text).contains("\"\(text)\" \(reason)"))
    }

    @Test(arguments: [
        "", "s", ".5s", "1.s", "1 s", "1e3s", "+1s", "1y", "50s59m", "1s1s", "1S", "nan", "inf", "1.2.3s", "--1s",
        "1s ", "٣s",
    ])
    func `other text is no duration`(_ text: String) {
        #expect(Self.refusal(of: text).contains("\"\(text)\" is not a duration"))
    }

    private static func refusal(of text: String) -> String {
        do { return "\(try DurationText.read(text)) was read" } catch { return error.reason }
    }
}

@Suite("Decimal seconds")
struct DecimalSecondsTests {
    @Test(arguments: [
        ("0", 0), ("-0", 0), ("12.5", 12_500_000_000), ("1714560000.123456789", 1_714_560_000_123_456_789),
        ("1.9999999999", 1_999_999_999), ("-1.9999999999", -1_999_999_999), ("1e3", 1_000_000_000_000),
        ("1.5E+2", 150_000_000_000),
        ("15e-1", 1_500_000_000), ("1e-9", 1), ("1e-10", 0), ("123456789e-12", 123_456), ("0e999999999999999999999", 0),
        ("0.000e400", 0), ("1e-999999999999999999999", 0), ("9223372036.854775807", Int64.max),
        ("-9223372036.854775807", -Int64.max), ("0.00000000000000000001e20", 1_000_000_000),
        ("100000000000000000000e-20", 1_000_000_000), ("0.1e1", 1_000_000_000),
    ])
    func `are parsed exactly`(_ text: String, _ nanoseconds: Int64) {
        #expect(withBytes(text) { DecimalSeconds.parse($0) } == CoreInstant(nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "9223372036.854775808", "1e10", "-1e10", "1e400", "1e999999999999999999999", "99999999999999999999", "1e18",
        "2e9999",
    ])
    func `instants out of range are refused`(_ text: String) {
        #expect(withBytes(text) { DecimalSeconds.parse($0) } == nil)
    }

    @Test(arguments: [
        (0, "0"), (1, "0.000000001"), (-1, "-0.000000001"), (12_800_000_000, "12.8"), (-500_000_000, "-0.5"),
        (1_000_000_000, "1"), (Int64.max, "9223372036.854775807"), (Int64.min, "-9223372036.854775808"),
        (100_000_000_000, "100"), (1_050_000_000, "1.05"),
    ])
    func `are written without trailing zeros`(_ nanoseconds: Int64, _ expected: String) {
        var text: [UInt8] = []
        DecimalSeconds.append(nanoseconds, to: &text)
        #expect(String(decoding: text, as: UTF8.self) == expected)
    }

    @Test func `the fast path agrees with the slow one`() {
        var random = SeededRandom(seed: 8)
        for _ in 0..<20_000 {
            let digits = (0..<Int.random(in: 1...12, using: &random)).map { _ in Int.random(in: 0...9, using: &random) }
            let places = (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...9, using: &random) }
            let whole = digits.map(String.init).joined().drop { $0 == "0" }
            let fraction = places.isEmpty ? "" : "." + places.map(String.init).joined()
            let text = (whole.isEmpty ? "0" : String(whole)) + fraction
            // With an exponent, the number takes the slow path.
            let long = withBytes(text + "e0") { DecimalSeconds.parse($0) }
            #expect(withBytes(text) { DecimalSeconds.parse($0) } == long, "\(text)")
        }
    }

    @Test func `are read back as written`() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<20_000 {
            let nanoseconds =
                Int64.random(in: -Int64.max...Int64.max, using: &random) >> Int64.random(in: 0..<60, using: &random)
            var text: [UInt8] = []
            DecimalSeconds.append(nanoseconds, to: &text)
            #expect(text.withUnsafeBufferPointer { DecimalSeconds.parse($0) }?.nanoseconds == nanoseconds)
        }
    }
}

@Suite("RFC 3339 times")
struct TimestampTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2024-05-01T12:00:00.25+02:00", 1_714_557_600_250_000_000),
        ("2024-05-01t10:00:00.250z", 1_714_557_600_250_000_000), ("2024-05-01 10:00:00Z", 1_714_557_600_000_000_000),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000_000_000), ("2000-02-29T23:59:60Z", 951_868_800_000_000_000),
        ("1969-12-31T23:59:59.9999999999Z", -1), ("1969-12-31T19:00:00-05:00", 0), ("1970-01-01T00:00:00-00:00", 0),
        ("1677-09-21T00:12:43.145224193Z", -Int64.max), ("2262-04-11T23:47:16.854775807Z", Int64.max),
    ])
    func `are parsed as Unix time`(_ text: String, _ nanoseconds: Int64) throws {
        #expect(try withBytes(text) { try Timestamp.parse($0) } == CoreInstant(nanoseconds: nanoseconds))
    }

    @Test(arguments: [
        "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z",
        "2024-04-31T00:00:00Z",
        "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z", "2024-01-01T00:00:00", "2024-01-01",
        "2024-01-01T00:00:00+0200", "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00.Z", "24-01-01T00:00:00Z", "",
        "2024-01-01T00:00:00Z ", "2024-01-01T00:00:00ZZ", "12.5",
    ])
    func `other text is refused`(_ text: String) {
        #expect(throws: Timestamp.Fault.noTime) { try withBytes(text) { try Timestamp.parse($0) } }
    }

    @Test(arguments: ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2262-04-11T23:47:16.854775808Z"])
    func `times out of range have their own fault`(_ text: String) {
        #expect(throws: Timestamp.Fault.outOfRange) { try withBytes(text) { try Timestamp.parse($0) } }
    }

    @Test func `agree with Foundation`() throws {
        let formatter = ISO8601DateFormatter()
        var random = SeededRandom(seed: 3)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -9_000_000_000...9_000_000_000, using: &random)
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(try withBytes(text) { try Timestamp.parse($0) }.nanoseconds == seconds * 1_000_000_000, "\(text)")
        }
    }
}

@Suite("Bytes as text")
struct ByteTextTests {
    @Test func `UTF-8 validation agrees with Swift`() {
        var random = SeededRandom(seed: 11)
        let starts: [UInt8] = [
            0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF, 0x9F, 0xA0, 0x8F, 0x90,
        ]
        for _ in 0..<50_000 {
            let bytes = (0..<Int.random(in: 0...6, using: &random)).map { _ in starts.randomElement(using: &random) ?? 0
            }
            let isValid = String(validating: bytes, as: UTF8.self) != nil
            #expect(bytes.withUnsafeBufferPointer(UTF8Text.isValid) == isValid, "\(bytes)")
        }
    }
}

/// SplitMix64: for one seed, the same numbers everywhere.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
