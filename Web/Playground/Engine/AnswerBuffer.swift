/// A buffer of answers for the page to read: numbers in the module's memory, valid until the next call.
struct AnswerBuffer: ~Copyable {
    private(set) var numbers: UnsafeMutablePointer<Int64>
    private(set) var count = 0
    private var capacity = 256

    init() {
        numbers = .allocate(capacity: capacity)
    }

    deinit {
        numbers.deallocate()
    }

    mutating func clear() {
        count = 0
    }

    mutating func append(_ number: Int64) {
        if count == capacity { grow() }
        numbers[count] = number
        count += 1
    }

    mutating func append(_ number: Int) {
        append(Int64(number))
    }

    /// Appends a text, as its length and its bytes.
    mutating func append(_ text: String) {
        append(text.utf8.count)
        for byte in text.utf8 { append(Int64(byte)) }
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Int64>.allocate(capacity: 2 * capacity)
        larger.update(from: numbers, count: count)
        numbers.deallocate()
        numbers = larger
        capacity *= 2
    }
}
