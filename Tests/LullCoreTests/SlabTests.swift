import LullReference
import Testing

@testable import LullCore

@Suite("Slab")
struct SlabTests {
    @Test
    func `an element keeps its index until it is removed`() {
        var slab = Slab<String>()
        let indices = (0..<200).map { slab.insert("\($0)") }
        #expect(Set(indices).count == 200)
        #expect(slab.count == 200)
        for (number, index) in indices.enumerated() { #expect(slab[index].pointee == "\(number)") }
        #expect(slab.remove(indices[17]) == "17")
        #expect(slab.contains(indices[17]) == false)
        #expect(slab.contains(indices[18]) == true)
        #expect(slab.contains(100_000) == false)
        #expect(slab.insert("again") == indices[17])
        #expect(slab.checkInvariants() == [])
    }

    @Test
    func `one element needs memory for one`() {
        var slab = Slab<Int>()
        let index = slab.insert(7)
        #expect(index == 0)
        #expect(slab.blocks(of: 0)[0].capacity == 1)
        #expect(slab.remove(index) == 7)
        #expect(slab.insert(8) == 0)
        #expect(slab.blocks(of: 0)[0].capacity == 1)
    }

    @Test
    func `a range of blocks can be visited alone: elements that stay are seen once, in order`() {
        var slab = Slab<Int>()
        #expect(slab.blockCount == 0)
        let indices = (0..<200_000).map { slab.insert($0) }
        #expect(slab.blockCount == 3125)
        // A whole segment without elements, and a part of another one.
        for index in indices[65_536..<131_072] { _ = slab.remove(index) }
        for index in indices[140_000..<150_000] { _ = slab.remove(index) }
        var seen: [UInt32] = []
        for start in stride(from: 0, to: slab.blockCount, by: 100) {
            let before = seen.count
            slab.forEach(inBlocks: start..<start + 100) { index, element in
                #expect(indices[element.pointee] == index)
                seen.append(index)
            }
            #expect(seen.count - before <= 6400)
        }
        let remaining = [indices[..<65_536], indices[131_072..<140_000], indices[150_000...]]
        #expect(seen == Array(remaining.joined()))
        #expect(slab.checkInvariants() == [])
    }

    @Test
    func `a segment is given back with its last element, and filled again later`() {
        var slab = Slab<Int>()
        let indices = (0..<200_000).map { slab.insert($0) }
        #expect(slab.allSegments.count == 4)
        for index in indices[65_536..<131_072] { _ = slab.remove(index) }
        #expect(slab.allSegments[1].blocks == nil)
        #expect(slab.checkInvariants() == [])
        for _ in 0..<65_536 { #expect(slab.insert(1) >> 16 == 1) }
        #expect(slab.checkInvariants() == [])
        for index in indices { _ = slab.remove(index) }
        #expect(slab.allSegments.count == 1 && slab.blockCount == 1)
        #expect(slab.footprint <= 128)
        #expect(slab.checkInvariants() == [])
        #expect(slab.insert(1) == 0)
    }

    @Test
    func `a block is given back with its last element`() {
        var slab = Slab<Int>()
        let indices = (0..<640).map { slab.insert($0) }
        #expect(slab.blockCount == 10)
        for index in indices[64..<128] { _ = slab.remove(index) }
        #expect(slab.blocks(of: 0)[1].memory == nil)
        #expect(slab.checkInvariants() == [])
        for _ in 0..<64 { #expect(slab.insert(0) / 64 == 1) }
        for index in indices { _ = slab.remove(index) }
        #expect(slab.blockCount == 1)
        #expect(slab.blocks(of: 0)[0].capacity == 0)
        #expect(slab.checkInvariants() == [])
    }

    @Test
    func `the memory of blocks is handed out, to be freed later; if it is not taken, little of it is kept`() {
        var slab = Slab<Int>()
        let indices = (0..<64 * 100).map { slab.insert($0) }
        // The memory of smaller blocks.
        slab.discarded.take().free()
        for index in indices[..<(64 * 5)] { slab.discard(index) }
        let taken = slab.discarded.take()
        // The first block stays.
        let (takenCount, leftCount) = (taken.count, slab.discarded.count)
        #expect(takenCount == 4)
        #expect(leftCount == 0)
        taken.free()
        for index in indices[(64 * 5)...] { slab.discard(index) }
        let keptCount = slab.discarded.count
        #expect((1...DiscardedMemory.limit).contains(keptCount))
        #expect(slab.checkInvariants() == [])
    }

    @Test
    func `its elements are released with it`() {
        final class Token {}
        weak var removed: Token?
        weak var kept: Token?
        do {
            var slab = Slab<Token>()
            for _ in 0..<100 { _ = slab.insert(Token()) }
            let (first, second) = (Token(), Token())
            (removed, kept) = (first, second)
            let index = slab.insert(first)
            _ = slab.insert(second)
            _ = slab.remove(index)
        }
        #expect(removed == nil)
        #expect(kept == nil)
    }

    @Test(arguments: 0..<10)
    func `it agrees with a dictionary on random calls`(seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        var slab = Slab<String>()
        var dictionary: [UInt32: String] = [:]
        for step in 0..<4000 {
            // The number of elements swings between none and a few hundred.
            let grows = step / 700 % 2 == 0 ? !random.oneIn(3) : random.oneIn(3)
            if grows {
                let index = slab.insert("\(step)")
                #expect(dictionary[index] == nil)
                dictionary[index] = "\(step)"
            } else if let index = dictionary.keys.min(by: { $0 &* 2_654_435_761 < $1 &* 2_654_435_761 }) {
                #expect(slab.remove(index) == dictionary.removeValue(forKey: index))
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
