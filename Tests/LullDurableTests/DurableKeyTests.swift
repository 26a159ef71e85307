import Foundation
import LullDurable
import Testing

/// Keys are equal exactly if their bytes are.
@Suite("Durable keys")
struct DurableKeyTests {
    enum Category: String, DurableKey { case steps, sleep = "Schlaf" }

    @Test("every key comes back from its bytes")
    func roundTrip() throws {
        func check<Key: DurableKey>(_ key: Key) { #expect(Key(durableBytes: key.durableBytes) == key) }
        for text in ["", "a", "é", "\u{0}", "🦜", String(repeating: "x", count: 10_000)] { check(text) }
        for number in [0, 1, -1, Int.max, .min] { check(number) }
        check(UInt64.max)
        check(Int8.min)
        check(UUID())
        for category in [Category.steps, .sleep] { check(category) }
    }

    @Test("bytes that no key has give none, and no two spellings give one key")
    func strange() {
        #expect(String(durableBytes: [0xff]) == nil)
        for text in ["", " 1", "+1", "01", "-0", "1.0", "９", "9223372036854775808"] {
            #expect(Int(durableBytes: Array(text.utf8)) == nil)
        }
        #expect(UInt8(durableBytes: Array("256".utf8)) == nil)
        #expect(UUID(durableBytes: Array(UUID().uuidString.lowercased().utf8)) == nil)
        #expect(Category(durableBytes: Array("sleep".utf8)) == nil)
    }

    @Test("keys are kept so that they can be read in a listing")
    func readable() {
        #expect(String(decoding: (-42).durableBytes, as: UTF8.self) == "-42")
        #expect(Category.sleep.durableBytes == Array("Schlaf".utf8))
    }
}
