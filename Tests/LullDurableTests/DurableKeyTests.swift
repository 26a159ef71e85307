import Foundation
import Lull
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Keys are one key exactly if their bytes are equal.
@Suite("Durable keys")
struct DurableKeyTests {
    enum Category: String, DurableKey { case steps, sleep = "Schlaf" }

    @Test
    func `every key round-trips through its bytes`() throws {
        func check<Key: DurableKey>(_ key: Key) { #expect(Key(durableBytes: key.durableBytes) == key) }
        for text in ["", "a", "é", "\u{0}", "🦜", String(repeating: "x", count: 10_000)] { check(text) }
        for number in [0, 1, -1, Int.max, .min] { check(number) }
        check(UInt64.max)
        check(Int8.min)
        check(UUID())
        for category in [Category.steps, .sleep] { check(category) }
    }

    @Test
    func `bytes that no key has give none, and no two spellings give one key`() {
        #expect(String(durableBytes: [0xff]) == nil)
        for text in ["", " 1", "+1", "01", "-0", "1.0", "９", "9223372036854775808"] {
            #expect(Int(durableBytes: Array(text.utf8)) == nil)
        }
        #expect(UInt8(durableBytes: Array("256".utf8)) == nil)
        #expect(UUID(durableBytes: Array(UUID().uuidString.lowercased().utf8)) == nil)
        #expect(Category(durableBytes: Array("sleep".utf8)) == nil)
    }

    @Test
    func `strings that are equal but composed differently are two keys in a store and one in memory`() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        #expect(composed == decomposed && composed.durableBytes != decomposed.durableBytes)
        let fixture = WorkerFixture()
        let sync = try await fixture.debouncer()
        for (value, key) in [(1, composed), (2, decomposed)] { try await sync.submit(value, for: key) }
        // Optionals of strings would be equal too.
        #expect(try await sync.list().map { $0.key?.durableBytes } == [decomposed, composed].map(\.durableBytes))
        let found = Record<String>()
        let worker = fixture.work(sync) { found.add("\($0.value) \($0.key.utf8.count)") }
        await fixture.advance(2)
        #expect(found.all.sorted() == ["1 5", "2 6"])
        worker.cancel()
        try await worker.value

        let handled = Record<Int>()
        let levels = KeyedDebouncer(for: .seconds(2), clock: fixture.clock) { (_: String, value: Int) in
            handled.add(value)
        }
        levels.submit(1, for: composed)
        levels.submit(2, for: decomposed)
        await fixture.advance(2)
        #expect(handled.all == [2])
        // Normalised, they are one key everywhere.
        let one = [composed, decomposed].map { $0.precomposedStringWithCanonicalMapping.durableBytes }
        #expect(one[0] == one[1])
    }

    @Test
    func `keys are readable in a listing`() {
        #expect(String(decoding: (-42).durableBytes, as: UTF8.self) == "-42")
        #expect(Category.sleep.durableBytes == Array("Schlaf".utf8))
    }
}
