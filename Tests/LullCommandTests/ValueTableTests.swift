import Testing

@testable import LullCommand

@Suite("The values of a trace")
struct ValueTableTests {
    @Test func `are stored unchanged at any length`() {
        var values = ValueTable()
        let texts = [0, 1, 15, 16, 17, 32, 33, 4096, 4097, 1 << 20].flatMap { length in
            (0..<40).map { Array(repeating: UInt8($0), count: length) }
        }
        let numbers = texts.map { text in text.withUnsafeBufferPointer { values.add($0) } }
        for (text, number) in zip(texts, numbers) { #expect(Array(values[number]) == text) }
    }

    @Test func `reuse the memory of removed ones`() {
        var values = ValueTable()
        let first = withBytes("first") { values.add($0) }
        for length in [10, 100, 1000, 10_000] {
            let text = String(repeating: "x", count: length)
            values.remove(withBytes(text) { values.add($0) })
            let capacity = values.capacity
            for _ in 0..<10_000 {
                let number = withBytes(text) { values.add($0) }
                values.remove(number)
            }
            #expect(values.capacity == capacity)
        }
        #expect(Array(values[first]) == Array("first".utf8))
    }

    @Test func `release much memory when removed`() {
        var values = ValueTable()
        let text = String(repeating: "x", count: 1000)
        let numbers = (0..<5000).map { _ in withBytes(text) { values.add($0) } }
        #expect(values.capacity >= 5_000_000)
        for number in numbers { values.remove(number) }
        #expect(values.capacity < 1_100_000)
    }
}
