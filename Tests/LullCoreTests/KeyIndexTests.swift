import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

@Suite("Index of keys")
struct KeyIndexTests {
    /// An index of slots whose hashes are a function of their numbers.
    private final class Table {
        var index = KeyIndex()
        let hashOf: (UInt32) -> UInt
        /// The number of hashes that the index has requested.
        var hashed = 0
        /// The most that one call has requested.
        var worst = 0

        init(_ hashOf: @escaping (UInt32) -> UInt) { self.hashOf = hashOf }

        func insert(_ slot: UInt32) {
            var count = 0
            index.insert(hashOf(slot), slot: slot) {
                count += 1
                return self.hashOf($0)
            }
            note(count)
        }

        func remove(_ slot: UInt32) {
            var count = 0
            index.remove(hashOf(slot), slot: slot) {
                count += 1
                return self.hashOf($0)
            }
            note(count)
        }

        private func note(_ count: Int) {
            hashed += count
            worst = max(worst, count)
        }

        func has(_ slot: UInt32) -> Bool { index.find(hashOf(slot)) { $0 == slot } == slot }

        var broken: [String] { index.checkInvariants(hashOf: hashOf) }
    }

    private static func mixed(_ slot: UInt32) -> UInt {
        var random = SplitMix(seed: UInt64(slot))
        return UInt(truncatingIfNeeded: random.next())
    }

    @Test
    func `a key is found by its hash and a comparison of the key itself`() {
        #expect(KeyIndex().find(5) { _ in true } == nil)
        let table = Table { $0 == 2 ? 9 : 5 }
        for slot in 0..<3 as Range<UInt32> { table.insert(slot) }
        #expect(table.index.find(5) { $0 == 0 } == 0)
        #expect(table.index.find(5) { $0 == 1 } == 1)
        #expect(table.index.find(5) { _ in false } == nil)
        #expect(table.index.find(5 + 64) { _ in true } == nil, "no key with such a part of the hash")
        table.remove(0)
        #expect(table.has(1) && table.has(2) && !table.has(0))
        #expect(table.broken == [])
    }

    @Test
    func `a part of the hash saves most comparisons with other keys`() {
        let table = Table(Self.mixed)
        for slot in 0..<100_000 as Range<UInt32> { table.insert(slot) }
        var comparisons = 0
        for slot in 0..<100_000 as Range<UInt32> {
            let found = table.index.find(Self.mixed(slot)) {
                comparisons += 1
                return $0 == slot
            }
            #expect(found == slot)
        }
        #expect(comparisons < 101_000)
        #expect(table.broken == [])
    }

    @Test(arguments: [0, .max] as [UInt])
    func `the greatest slot index is like any other`(hash: UInt) {
        let table = Table { _ in hash }
        let last = UInt32(Int32.max) - 1
        for slot in [0, 1000, last] { table.insert(slot) }
        #expect(table.has(last) && table.has(1000) && table.has(0), "slots are given more bits of the entries")
        table.remove(last)
        #expect(!table.has(last))
        #expect(table.broken == [])
    }

    @Test(arguments: [0, 1, .max - 1, .max] as [UInt])
    func `a removed key is not found, whatever its hash`(hash: UInt) {
        let table = Table { _ in hash }
        for slot in 0..<5 as Range<UInt32> { table.insert(slot) }
        table.remove(1)
        table.remove(2)
        var seen: [UInt32] = []
        let found = table.index.find(hash) {
            seen.append($0)
            return false
        }
        #expect(found == nil && seen == [0, 3, 4])
        table.insert(2)
        #expect(table.has(2))
        #expect(table.index.allSegments[0].segment.usedCount == 5, "it reuses the entry of a removed key")
        for slot in [3, 4, 0, 2] as [UInt32] { table.remove(slot) }
        #expect(table.index.allSegments[0].segment.usedCount == 0, "nothing is left when all are")
        #expect(table.broken == [])
    }

    @Test(arguments: [1, 3, 64, 5000, 1 << 32, 1 << 40, .max] as [UInt64])
    func `it agrees with a set, however alike the hashes are`(hashes: UInt64) {
        var random = SplitMix(seed: hashes)
        // The upper bits alone differ with many hashes, or the lower ones alone with few.
        let table = Table { UInt(truncatingIfNeeded: UInt64(Self.mixed($0)) % hashes) }
        var set: Set<UInt32> = []
        let (steps, range) = hashes < 64 ? (1500, 80 as UInt32) : (15_000, 4000)
        for step in 0..<steps {
            // The number of keys swings.
            let grows = step / (steps / 5) % 2 == 0
            let slot = UInt32.random(in: 0..<range, using: &random)
            if set.contains(slot), !grows || random.oneIn(3) {
                table.remove(slot)
                set.remove(slot)
            } else if !set.contains(slot), grows || random.oneIn(3) {
                #expect(!table.has(slot))
                table.insert(slot)
                set.insert(slot)
            }
            if step % 500 == 0 { #expect(table.broken == []) }
        }
        #expect(table.index.count == set.count)
        for slot in set { #expect(table.has(slot)) }
        for slot in set { table.remove(slot) }
        #expect(table.index.count == 0 && table.index.capacity <= 64 && table.index.depth == 0)
        #expect(table.broken == [])
    }

    @Test
    func `no call moves more than one segment's keys while many come and go, and memory follows them up and down`() {
        let keys = 300_000 as UInt32
        let table = Table(Self.mixed)
        for slot in 0..<keys { table.insert(slot) }
        #expect(table.index.footprint <= Int(keys) * 12)
        #expect(table.hashed <= Int(keys) * 2)
        #expect(table.broken == [])
        // Replaces each by another one.
        for slot in 0..<keys {
            table.remove(slot)
            table.insert(slot + keys)
        }
        #expect(table.index.footprint <= Int(keys) * 14)
        #expect(table.broken == [])
        for slot in keys..<keys * 2 {
            table.remove(slot)
            if slot == keys * 19 / 10 { #expect(table.index.footprint <= Int(keys) / 10 * 40) }
        }
        #expect(table.worst <= 410)
        #expect(table.hashed <= Int(keys) * 8)
        #expect(table.index.footprint <= 512)
        #expect(table.broken == [])
    }

    @Test
    func `hashes that differ in few bits make a segment grow, and not the directory`() {
        let table = Table { UInt($0) & 1 << UInt(UInt.bitWidth / 2) | UInt($0) }
        for slot in 0..<5000 as Range<UInt32> { table.insert(slot) }
        #expect(table.index.directoryCount <= 32)
        #expect(table.broken == [])
        for slot in 0..<5000 as Range<UInt32> { table.remove(slot) }
        #expect(table.index.footprint <= 512)
    }

    // MARK: - In an engine

    @Test
    func `an engine's index grows and shrinks with the number of keys`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        #expect(engine.core.keyIndex.footprint == 0)
        _ = engine.submit(0, for: 0, at: .origin)
        #expect(engine.core.keyIndex.footprint <= 64)
        for key in 1..<100_000 { _ = engine.submit(key, for: key, at: .origin) }
        #expect(engine.core.keyIndex.footprint <= 100_000 * 12)
        // The last key keeps its slot, above many empty blocks.
        for key in 0..<99_999 { _ = engine.cancel(key, at: .origin) }
        #expect(engine.core.keyIndex.footprint <= 8192)
        #expect(engine.nextDue(99_999, at: .origin) != nil && engine.nextDue(0, at: .origin) == nil)
        _ = engine.cancel(99_999, at: .origin)
        #expect(engine.core.keyIndex.footprint <= 512)
        #expect(engine.checkInvariants() == [])
    }

    @Test
    func `keys that come and go leave nothing behind that makes a search long or the index large`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        for key in 0..<1000 { _ = engine.submit(key, for: key, at: .origin) }
        for key in 1000..<50_000 {
            _ = engine.cancel(key - 1000, at: .origin)
            _ = engine.submit(key, for: key, at: .origin)
        }
        #expect(engine.core.keyIndex.capacity <= 4096)
        #expect((49_000..<50_000).allSatisfy { engine.nextDue($0, at: .origin) != nil })
        #expect(engine.checkInvariants() == [])
    }

    @Test
    func `the engine distinguishes keys whose hashes are all the same`() throws {
        struct Key: Hashable {
            var name: Int
            func hash(into hasher: inout Hasher) {}
        }
        var engine = Engine<Key, Int>(try Setup(.debounce(10)))
        for name in 0..<1000 { _ = engine.submit(name, for: Key(name: name), at: .origin) }
        #expect(engine.openKeyCount == 1000)
        for name in stride(from: 0, to: 1000, by: 3) { _ = engine.cancel(Key(name: name), at: .origin) }
        for name in 0..<1000 { #expect((engine.nextDue(Key(name: name), at: .origin) != nil) == (name % 3 != 0)) }
        #expect(engine.checkInvariants() == [])
    }
}
