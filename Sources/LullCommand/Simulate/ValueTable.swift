/// Names a value in a ``ValueTable``.
struct ValueNumber {
    let value: UInt32
}

/// The values of a trace that are still to be shown.
///
/// The engine handles their numbers, which costs it nothing, and the memory of a value that is gone is used for the next.
struct ValueTable {
    private var texts: [[UInt8]] = []
    private var free: [UInt32] = []

    /// More memory than this is not kept for the next value.
    private static let limit = 4096

    /// Keeps a copy of a value.
    mutating func add(_ text: ByteSlice) -> ValueNumber {
        guard let number = free.popLast() else {
            texts.append(Array(text))
            return ValueNumber(value: UInt32(texts.count - 1))
        }
        texts[Int(number)].append(contentsOf: text)
        return ValueNumber(value: number)
    }

    subscript(number: ValueNumber) -> [UInt8] { texts[Int(number.value)] }

    /// Forgets a value.
    mutating func remove(_ number: ValueNumber) {
        let index = Int(number.value)
        texts[index].removeAll(keepingCapacity: texts[index].capacity <= Self.limit)
        free.append(number.value)
    }
}
