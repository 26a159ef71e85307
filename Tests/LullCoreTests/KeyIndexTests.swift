import LullReference
import Testing

@testable import LullCore

@Suite("Index of keys")
struct KeyIndexTests {
    /// An index of places whose hashes are a function of theirs.
    private final class Table {
        var index = KeyIndex()
        let hashOf: (UInt32) -> UInt
        /// The number of hashes that the index has asked for.
        var hashed = 0
        /// The most that one call has asked for.
        var worst = 0

        init(_ hashOf: @escaping (UInt32) -> UInt) { self.hashOf = hashOf }

        func insert(_ place: UInt32) {
            guard !index.insert(hashOf(place), place: place) else { return }
            var count = 0
            index.makeRoom(for: hashOf(place), place: place) {
                count += 1
                return self.hashOf($0)
            }
            note(count)
            let isThere = index.insert(hashOf(place), place: place)
            #expect(isThere)
        }

        func remove(_ place: UInt32) {
            guard index.remove(hashOf(place), place: place) else { return }
            var count = 0
            index.giveBack(near: hashOf(place)) {
                count += 1
                return self.hashOf($0)
            }
            note(count)
        }

        private func note(_ count: Int) {
            hashed += count
            worst = max(worst, count)
        }

        func has(_ place: UInt32) -> Bool { index.find(hashOf(place)) { $0 == place } == place }

        var broken: [String] { index.checkInvariants(hashOf: hashOf) }
    }

    private static func mixed(_ place: UInt32) -> UInt {
        var random = SplitMix(seed: UInt64(place))
        return UInt(truncatingIfNeeded: random.next())
    }

    @Test("a key is found by its hash and a look at the key itself")
    func find() {
        #expect(KeyIndex().find(5) { _ in true } == nil)
        let table = Table { $0 == 2 ? 9 : 5 }
        for place in 0..<3 as Range<UInt32> { table.insert(place) }
        #expect(table.index.find(5) { $0 == 0 } == 0)
        #expect(table.index.find(5) { $0 == 1 } == 1)
        #expect(table.index.find(5) { _ in false } == nil)
        #expect(table.index.find(5 + 64) { _ in true } == nil, "no key with such a part of the hash")
        table.remove(0)
        #expect(table.has(1) && table.has(2) && !table.has(0))
        #expect(table.broken == [])
    }

    @Test("a part of the hash keeps most other keys from being looked at")
    func fewComparisons() {
        let table = Table(Self.mixed)
        for place in 0..<100_000 as Range<UInt32> { table.insert(place) }
        var comparisons = 0
        for place in 0..<100_000 as Range<UInt32> {
            let found = table.index.find(Self.mixed(place)) {
                comparisons += 1
                return $0 == place
            }
            #expect(found == place)
        }
        #expect(comparisons < 101_000)
        #expect(table.broken == [])
    }

    @Test("the last place there can be is a place like any other", arguments: [0, .max] as [UInt])
    func lastPlace(hash: UInt) {
        let table = Table { _ in hash }
        let last = UInt32(Int32.max) - 1
        for place in [0, 1000, last] { table.insert(place) }
        #expect(table.has(last) && table.has(1000) && table.has(0), "places are given more bits of the entries")
        table.remove(last)
        #expect(!table.has(last))
        #expect(table.broken == [])
    }

    @Test("what has been removed is not found, whatever its hash was", arguments: [0, 1, .max - 1, .max] as [UInt])
    func removed(hash: UInt) {
        let table = Table { _ in hash }
        for place in 0..<5 as Range<UInt32> { table.insert(place) }
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
        #expect(table.index.allSegments[0].segment.used == 5, "it takes the place of one that was removed")
        for place in [3, 4, 0, 2] as [UInt32] { table.remove(place) }
        #expect(table.index.allSegments[0].segment.used == 0, "nothing is left when all are")
        #expect(table.broken == [])
    }

    @Test(
        "it agrees with a set, however alike the hashes are",
        arguments: [1, 3, 64, 5000, 1 << 32, 1 << 40, .max] as [UInt64])
    func random(hashes: UInt64) {
        var random = SplitMix(seed: hashes)
        // The upper bits alone differ with many hashes, or the lower ones alone with few.
        let table = Table { UInt(truncatingIfNeeded: UInt64(Self.mixed($0)) % hashes) }
        var set: Set<UInt32> = []
        let (steps, range) = hashes < 64 ? (1500, 80 as UInt32) : (40_000, 8000)
        for step in 0..<steps {
            // The number of keys swings.
            let grows = step / (steps / 5) % 2 == 0
            let place = UInt32.random(in: 0..<range, using: &random)
            if set.contains(place), !grows || random.oneIn(3) {
                table.remove(place)
                set.remove(place)
            } else if !set.contains(place), grows || random.oneIn(3) {
                #expect(!table.has(place))
                table.insert(place)
                set.insert(place)
            }
            if step % 500 == 0 { #expect(table.broken == []) }
        }
        #expect(table.index.count == set.count)
        for place in set { #expect(table.has(place)) }
        for place in set { table.remove(place) }
        #expect(table.index.count == 0 && table.index.capacity <= 64 && table.index.depth == 0)
        #expect(table.broken == [])
    }

    @Test("no call moves more than one segment's keys while many come and go, and memory follows them up and down")
    func boundedWork() {
        let keys = 300_000 as UInt32
        let table = Table(Self.mixed)
        for place in 0..<keys { table.insert(place) }
        #expect(table.index.footprint <= Int(keys) * 12)
        #expect(table.hashed <= Int(keys) * 2)
        #expect(table.broken == [])
        // Others in their place, one by one.
        for place in 0..<keys {
            table.remove(place)
            table.insert(place + keys)
        }
        #expect(table.index.footprint <= Int(keys) * 14)
        #expect(table.broken == [])
        for place in keys..<keys * 2 {
            table.remove(place)
            if place == keys * 19 / 10 { #expect(table.index.footprint <= Int(keys) / 10 * 40) }
        }
        #expect(table.worst <= 410)
        #expect(table.hashed <= Int(keys) * 8)
        #expect(table.index.footprint <= 512)
        #expect(table.broken == [])
    }

    @Test("hashes that differ in few bits make a segment grow, and not the directory")
    func alike() {
        let table = Table { UInt($0) & 1 << UInt(UInt.bitWidth / 2) | UInt($0) }
        for place in 0..<5000 as Range<UInt32> { table.insert(place) }
        #expect(table.index.directoryCount <= 32)
        #expect(table.broken == [])
        for place in 0..<5000 as Range<UInt32> { table.remove(place) }
        #expect(table.index.footprint <= 512)
    }

    // MARK: - In an engine

    @Test("an engine's index grows and shrinks with the number of keys")
    func size() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        #expect(engine.index.footprint == 0)
        _ = engine.submit(0, for: 0, at: .origin)
        #expect(engine.index.footprint <= 64)
        for key in 1..<100_000 { _ = engine.submit(key, for: key, at: .origin) }
        #expect(engine.index.footprint <= 100_000 * 12)
        // The last one of all keeps its place, above many empty blocks.
        for key in 0..<99_999 { _ = engine.cancel(key, at: .origin) }
        #expect(engine.index.footprint <= 8192)
        #expect(engine.isPending(99_999, at: .origin) && !engine.isPending(0, at: .origin))
        _ = engine.cancel(99_999, at: .origin)
        #expect(engine.index.footprint <= 512)
        #expect(engine.checkInvariants() == [])
    }

    @Test("keys that come and go leave nothing behind that makes a search long or the index large")
    func churn() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        for key in 0..<1000 { _ = engine.submit(key, for: key, at: .origin) }
        for key in 1000..<50_000 {
            _ = engine.cancel(key - 1000, at: .origin)
            _ = engine.submit(key, for: key, at: .origin)
        }
        #expect(engine.index.capacity <= 4096)
        #expect((49_000..<50_000).allSatisfy { engine.isPending($0, at: .origin) })
        #expect(engine.checkInvariants() == [])
    }

    @Test("keys whose hashes are all the same are told apart by the engine")
    func collidingKeys() throws {
        struct Key: Hashable {
            var name: Int
            func hash(into hasher: inout Hasher) {}
        }
        var engine = Engine<Key, Int>(try Setup(.debounce(10)))
        for name in 0..<2000 { _ = engine.submit(name, for: Key(name: name), at: .origin) }
        #expect(engine.openKeyCount == 2000)
        for name in stride(from: 0, to: 2000, by: 3) { _ = engine.cancel(Key(name: name), at: .origin) }
        for name in 0..<2000 { #expect(engine.isPending(Key(name: name), at: .origin) == (name % 3 != 0)) }
        #expect(engine.checkInvariants() == [])
    }
}
