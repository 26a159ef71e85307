import LullReference
import Testing

@testable import LullCore

@Suite("Index of keys")
struct KeyIndexTests {
    @Test("a key is found by its hash and a look at the key itself")
    func find() {
        #expect(KeyIndex().find(5) { _ in true } == nil)
        var index = KeyIndex(keys: 4, places: 3)
        #expect(index.find(5) { _ in true } == nil)
        index.insert(5, place: 0)
        index.insert(5, place: 1)
        index.insert(9, place: 2)
        #expect(index.find(5) { $0 == 0 } == 0)
        #expect(index.find(5) { $0 == 1 } == 1)
        #expect(index.find(5) { _ in false } == nil)
        #expect(index.find(5 + 64) { _ in true } == nil, "no key with such a part of the hash")
        index.remove(5, place: 0)
        #expect(index.find(5) { $0 == 1 } == 1)
        #expect(index.find(9) { $0 == 2 } == 2)
        #expect(index.checkInvariants() == [])
    }

    @Test("a part of the hash keeps most other keys from being looked at")
    func fewComparisons() {
        var index = KeyIndex(keys: 50_000, places: 100_000)
        let hash = { (place: UInt32) in place &* 0x9E37_79B9 }
        for place in 0..<100_000 as Range<UInt32> { index.insert(hash(place), place: place) }
        var comparisons = 0
        for place in 0..<100_000 as Range<UInt32> {
            let found = index.find(hash(place)) {
                comparisons += 1
                return $0 == place
            }
            #expect(found == place)
        }
        #expect(comparisons < 101_000)
    }

    @Test("the last place there can be is a place like any other", arguments: [0, .max] as [UInt32])
    func lastPlace(hash: UInt32) {
        let bound = Int(Int32.max)
        var index = KeyIndex(keys: 1, places: bound)
        let last = UInt32(bound) - 1
        #expect(index.hasRoom(for: last) && !index.hasRoom(for: last + 1))
        index.insert(hash, place: last)
        #expect(index.find(hash) { $0 == last } == last)
        index.remove(hash, place: last)
        #expect(index.find(hash) { _ in true } == nil)
    }

    @Test("what has been removed is not found, whatever its hash was", arguments: [0, 1, .max - 1, .max] as [UInt32])
    func removed(hash: UInt32) {
        var index = KeyIndex(keys: 5, places: 5)
        for place in 0..<5 as Range<UInt32> { index.insert(hash, place: place) }
        index.remove(hash, place: 1)
        index.remove(hash, place: 2)
        var seen: [UInt32] = []
        #expect(
            index.find(
                hash,
                matches: {
                    seen.append($0); return false
                }) == nil)
        #expect(seen == [0, 3, 4])
        index.insert(hash, place: 2)
        #expect(index.find(hash) { $0 == 2 } == 2)
        #expect(index.used == 5, "it takes the place of one that was removed")
        for place in [3, 4, 0, 2] as [UInt32] { index.remove(hash, place: place) }
        #expect(index.used == 0, "nothing is left when all are")
        #expect(index.checkInvariants() == [])
    }

    @Test("it agrees with a dictionary, however alike the hashes are", arguments: [1, 3, 64, 5000, .max] as [UInt32])
    func random(hashes: UInt32) {
        var random = SplitMix(seed: UInt64(hashes))
        var index = KeyIndex()
        var dictionary: [UInt32: UInt32] = [:]
        let (steps, range) = hashes < 64 ? (1500, 80 as UInt32) : (6000, 1000)
        var rebuilt = 0
        for step in 0..<steps {
            let place = UInt32.random(in: 0..<range, using: &random)
            // A place has the same hash all the time.
            let hash = (place &* 0x9E37_79B9) % hashes
            if let known = dictionary[place] {
                #expect(index.find(known) { $0 == place } == place)
                index.remove(known, place: place)
                dictionary[place] = nil
            } else {
                #expect(index.find(hash) { $0 == place } == nil)
                if !index.hasRoom(for: place) {
                    index = KeyIndex(keys: dictionary.count + 1, places: Int(range))
                    for (place, hash) in dictionary { index.insert(hash, place: place) }
                    rebuilt += 1
                }
                index.insert(hash, place: place)
                dictionary[place] = hash
            }
            if step % 50 == 0 { #expect(index.checkInvariants() == []) }
        }
        #expect(index.count == dictionary.count)
        for (place, hash) in dictionary { #expect(index.find(hash) { $0 == place } == place) }
        #expect(rebuilt < 100, "room lasts")
    }

    @Test("an engine's index grows and shrinks with the number of keys")
    func size() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        #expect(engine.index.entries.isEmpty)
        for key in 0..<100_000 { _ = engine.submit(key, for: key, at: .origin) }
        #expect(engine.index.entries.count == 131_072)
        // The last one of all keeps its place, above many empty blocks: to go through them has to be paid for.
        for key in 0..<99_999 { _ = engine.cancel(key, at: .origin) }
        #expect(engine.index.entries.count <= 8192)
        #expect(engine.isPending(99_999, at: .origin) && !engine.isPending(0, at: .origin))
        _ = engine.cancel(99_999, at: .origin)
        #expect(engine.index.entries.count <= 64)
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
        #expect(engine.index.entries.count <= 4096)
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
        for name in 0..<200 { _ = engine.submit(name, for: Key(name: name), at: .origin) }
        #expect(engine.openKeys == 200)
        for name in stride(from: 0, to: 200, by: 3) { _ = engine.cancel(Key(name: name), at: .origin) }
        for name in 0..<200 { #expect(engine.isPending(Key(name: name), at: .origin) == (name % 3 != 0)) }
        #expect(engine.checkInvariants() == [])
    }
}
