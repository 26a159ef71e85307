import Testing

@testable import Lull

@Suite("A queue in a ring")
struct FifoTests {
    private final class Token: Sendable {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    private func popFirst<Element>(_ fifo: inout Fifo<Element>) -> Element? {
        let place = UnsafeMutablePointer<Element>.allocate(capacity: 1)
        defer { place.deallocate() }
        return fifo.moveFirst(to: place) ? place.move() : nil
    }

    private func all<Element>(_ fifo: inout Fifo<Element>) -> [Element] {
        var all: [Element] = []
        while let first = popFirst(&fifo) { all.append(first) }
        return all
    }

    @Test("hands out elements in order, round its end and while it grows and shrinks")
    func order() {
        var fifo = Fifo<String>()
        var (next, expected) = (0, 0)
        for step in 0..<2000 {
            for _ in 0..<(step < 1000 ? 2 : 0) {
                fifo.append("\(next)")
                next += 1
            }
            let first = popFirst(&fifo)
            #expect(first == (expected < next ? "\(expected)" : nil))
            expected += 1
        }
        let (isEmpty, capacity) = (fifo.isEmpty, fifo.capacity)
        #expect(isEmpty)
        #expect(capacity <= 64)
    }

    @Test("gives up the elements that fulfil a condition and keeps the order of both")
    func moving() {
        var fifo = Fifo<Int>()
        var odd = Fifo<Int>()
        for number in 0..<20 { fifo.append(number) }
        for _ in 0..<10 { _ = popFirst(&fifo) }
        for number in 20..<26 { fifo.append(number) }
        fifo.move(to: &odd) { $0 % 2 == 1 }
        let hasMoved = odd.contains { $0 == 25 } && !fifo.contains { $0 == 25 }
        #expect(hasMoved)
        let (even, uneven) = (all(&fifo), all(&odd))
        #expect(even == Array(stride(from: 10, to: 26, by: 2)))
        #expect(uneven == Array(stride(from: 11, to: 26, by: 2)))
    }

    @Test("releases what is left in it")
    func release() {
        weak var left: Token?
        do {
            var fifo = Fifo<Token>()
            let token = Token(1)
            left = token
            for _ in 0..<15 { fifo.append(Token(0)) }
            for _ in 0..<15 { _ = popFirst(&fifo) }
            fifo.append(token)
            fifo.append(Token(2))
            #expect(left != nil)
        }
        #expect(left == nil)
    }
}
