import Testing

@testable import Lull

@Suite("A queue in chunks")
struct ChunksTests {
    @Test
    func `keeps the order, whatever comes and goes`() {
        var chunks = Chunks<Int>(for: 20)
        var plain: [Int] = []
        var random = SystemRandomNumberGenerator()
        for number in 0..<5000 {
            if Int.random(in: 0..<5, using: &random) < 3 {
                chunks.append(number)
                plain.append(number)
            } else if !plain.isEmpty {
                chunks.removeFirst()
                plain.removeFirst()
            }
            #expect(chunks.first == plain.first && chunks.count == plain.count)
            if number % 100 == 0 { #expect(Array(chunks.all) == plain) }
        }
    }

    @Test
    func `hands out what has been removed, a chunk at a time, and releases nothing before`() {
        final class Element {}
        var chunks = Chunks<Element>(for: 16)
        weak var first: Element?
        for number in 0..<40 {
            let element = Element()
            if number == 0 { first = element }
            chunks.append(element)
        }
        for _ in 0..<32 { chunks.removeFirst() }
        #expect(first != nil)
        var usedUp = chunks.takeUsedUp()
        #expect(usedUp.map(\.count) == [16, 16])
        #expect(chunks.takeUsedUp().isEmpty)
        #expect(first != nil)
        usedUp = []
        #expect(first == nil && usedUp.isEmpty)
    }

    @Test
    func `shares all but the last chunk with a copy that is kept`() {
        var chunks = Chunks<Int>(for: 1_000_000)
        for number in 0..<2500 { chunks.append(number) }
        let copy = chunks
        chunks.append(2500)
        chunks.removeFirst()
        #expect(Array(copy.all) == Array(0..<2500))
        #expect(Array(chunks.all) == Array(1...2500))
        let places = [chunks, copy].map { $0.chunks.map { $0.withUnsafeBufferPointer { $0.baseAddress } } }
        #expect(places[0].count == 3)
        #expect(places[0].dropLast() == places[1].dropLast())
    }
}
