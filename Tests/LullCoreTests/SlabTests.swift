import LullReference
import Testing

@testable import LullCore

@Suite("Slab")
struct SlabTests {
    @Test("an element stays where it was put until it is removed")
    func places() {
        var slab = Slab<String>()
        let places = (0..<200).map { slab.insert("\($0)") }
        #expect(Set(places).count == 200)
        #expect(slab.count == 200)
        for (number, place) in places.enumerated() { #expect(slab[place].pointee == "\(number)") }
        #expect(slab.remove(places[17]) == "17")
        #expect(slab.contains(places[17]) == false)
        #expect(slab.contains(places[18]) == true)
        #expect(slab.contains(100_000) == false)
        #expect(slab.insert("again") == places[17])
        #expect(slab.checkInvariants() == [])
    }

    @Test("one element needs one place")
    func small() {
        var slab = Slab<Int>()
        let place = slab.insert(7)
        #expect(place == 0)
        #expect(slab.blocks(of: 0)[0].capacity == 1)
        #expect(slab.remove(place) == 7)
        #expect(slab.insert(8) == 0)
        #expect(slab.blocks(of: 0)[0].capacity == 1)
    }

    @Test("a range of blocks can be looked at alone: elements that stay are seen once, in order")
    func portions() {
        var slab = Slab<Int>()
        #expect(slab.blockCount == 0)
        let places = (0..<200_000).map { slab.insert($0) }
        #expect(slab.blockCount == 3125)
        // A whole segment without elements, and a part of another one.
        for place in places[65_536..<131_072] { _ = slab.remove(place) }
        for place in places[140_000..<150_000] { _ = slab.remove(place) }
        var seen: [UInt32] = []
        for start in stride(from: 0, to: slab.blockCount, by: 100) {
            let before = seen.count
            slab.forEach(inBlocks: start..<start + 100) { place, element in
                #expect(places[element.pointee] == place)
                seen.append(place)
            }
            #expect(seen.count - before <= 6400)
        }
        #expect(seen == Array(places[..<65_536] + places[131_072..<140_000] + places[150_000...]))
        #expect(slab.checkInvariants() == [])
    }

    @Test("a segment is given back with its last element, and filled again later")
    func segments() {
        var slab = Slab<Int>()
        let places = (0..<200_000).map { slab.insert($0) }
        #expect(slab.allSegments.count == 4)
        for place in places[65_536..<131_072] { _ = slab.remove(place) }
        #expect(slab.allSegments[1].blocks == nil)
        #expect(slab.checkInvariants() == [])
        for _ in 0..<65_536 { #expect(slab.insert(1) >> 16 == 1) }
        #expect(slab.checkInvariants() == [])
        for place in places { _ = slab.remove(place) }
        #expect(slab.allSegments.count == 1 && slab.blockCount == 1)
        #expect(slab.footprint <= 128)
        #expect(slab.checkInvariants() == [])
        #expect(slab.insert(1) == 0)
    }

    @Test("a block is given back with its last element")
    func blocks() {
        var slab = Slab<Int>()
        let places = (0..<640).map { slab.insert($0) }
        #expect(slab.blockCount == 10)
        for place in places[64..<128] { _ = slab.remove(place) }
        #expect(slab.blocks(of: 0)[1].memory == nil)
        #expect(slab.checkInvariants() == [])
        for _ in 0..<64 { #expect(slab.insert(0) / 64 == 1) }
        for place in places { _ = slab.remove(place) }
        #expect(slab.blockCount == 1)
        #expect(slab.blocks(of: 0)[0].capacity == 0)
        #expect(slab.checkInvariants() == [])
    }

    @Test("the memory of blocks is handed out, to be freed later; if nobody takes it, little of it is kept")
    func discarded() {
        var slab = Slab<Int>()
        let places = (0..<64 * 100).map { slab.insert($0) }
        // What was outgrown.
        slab.discarded.take().free()
        for place in places[..<(64 * 5)] { slab.discard(place) }
        let taken = slab.discarded.take()
        // The first block stays.
        let (takenCount, leftCount) = (taken.count, slab.discarded.count)
        #expect(takenCount == 4)
        #expect(leftCount == 0)
        taken.free()
        for place in places[(64 * 5)...] { slab.discard(place) }
        let keptCount = slab.discarded.count
        #expect((1...Discarded.limit).contains(keptCount))
        #expect(slab.checkInvariants() == [])
    }

    @Test("what is in it is released with it")
    func release() {
        final class Token {}
        weak var removed: Token?
        weak var kept: Token?
        do {
            var slab = Slab<Token>()
            for _ in 0..<100 { _ = slab.insert(Token()) }
            let (first, second) = (Token(), Token())
            (removed, kept) = (first, second)
            let place = slab.insert(first)
            _ = slab.insert(second)
            _ = slab.remove(place)
        }
        #expect(removed == nil)
        #expect(kept == nil)
    }

    @Test("it agrees with a dictionary on random calls", arguments: 0..<10)
    func random(seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        var slab = Slab<String>()
        var dictionary: [UInt32: String] = [:]
        for step in 0..<4000 {
            // The number of elements swings between none and a few hundred.
            let grows = step / 700 % 2 == 0 ? !random.oneIn(3) : random.oneIn(3)
            if grows {
                let place = slab.insert("\(step)")
                #expect(dictionary[place] == nil)
                dictionary[place] = "\(step)"
            } else if let place = dictionary.keys.min(by: { $0 &* 2_654_435_761 < $1 &* 2_654_435_761 }) {
                #expect(slab.remove(place) == dictionary.removeValue(forKey: place))
            }
            if step % 100 == 0 {
                var found: [UInt32: String] = [:]
                slab.forEach { found[$0] = $1.pointee }
                #expect(found == dictionary)
                #expect(slab.checkInvariants() == [])
            }
        }
    }
}
