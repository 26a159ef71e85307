import LullReference
import Testing

@testable import LullCore

@Suite("Index of keys")
struct KeyIndexTests {
    @Test("a key is found by its hash and a look at the key itself")
    func find() {
        var index = KeyIndex()
        #expect(index.find(5) { _ in true } == nil)
        index.insert(5, place: 0)
        index.insert(5, place: 1)
        index.insert(9, place: 2)
        #expect(index.find(5) { $0 == 0 } == 0)
        #expect(index.find(5) { $0 == 1 } == 1)
        #expect(index.find(5) { _ in false } == nil)
        #expect(index.find(6) { _ in true } == nil)
        index.remove(5, place: 0)
        #expect(index.find(5) { $0 == 1 } == 1)
        #expect(index.find(9) { $0 == 2 } == 2)
        #expect(index.checkInvariants() == [])
    }

    @Test("the last place there can be is a place like any other")
    func lastPlace() {
        var index = KeyIndex()
        let last = UInt32.max - 1
        index.insert(.max, place: last)
        #expect(index.find(.max) { $0 == last } == last)
    }

    @Test("it agrees with a dictionary, however alike the hashes are", arguments: [1, 3, 64, 5000, .max] as [UInt32])
    func random(hashes: UInt32) {
        var random = SplitMix(seed: UInt64(hashes))
        var index = KeyIndex()
        var dictionary: [UInt32: UInt32] = [:]
        let (steps, range) = hashes < 64 ? (1500, 80 as UInt32) : (6000, 1000)
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
                index.insert(hash, place: place)
                dictionary[place] = hash
            }
            if step % 50 == 0 { #expect(index.checkInvariants() == []) }
        }
        #expect(index.count == dictionary.count)
        for (place, hash) in dictionary { #expect(index.find(hash) { $0 == place } == place) }
    }

    @Test("it shrinks with the number of keys")
    func shrinking() {
        var index = KeyIndex()
        for place in 0..<100_000 as Range<UInt32> { index.insert(place &* 0x9E37_79B9, place: place) }
        #expect(index.entries.count <= 262_144)
        for place in 0..<100_000 as Range<UInt32> { index.remove(place &* 0x9E37_79B9, place: place) }
        #expect(index.entries.count <= 64)
        #expect(index.checkInvariants() == [])
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
