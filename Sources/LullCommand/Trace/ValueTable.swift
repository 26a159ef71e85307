/// Identifies a value in a ``ValueTable``.
struct ValueNumber {
    fileprivate let slot: UInt32

    /// Identifies no value.
    static let none = ValueNumber(slot: 0)
}

/// The values of a trace that may still be shown.
///
/// The engine handles their numbers, which need no reference counting. A slot that is free again keeps its memory for
/// the next value: the benchmark row "lull simulate as JSONL" stores one for each record.
struct ValueTable {
    private var slots: [[UInt8]] = []
    /// The slots that are free again.
    private var free: [UInt32] = []

    /// The most memory that a free slot keeps: enough for a usual value.
    private static let retainedBytes = 256

    /// The memory of all values in bytes.
    var capacity: Int { slots.reduce(0) { $0 + $1.capacity } }

    /// Stores a copy of a value.
    mutating func add(_ text: ByteSlice) -> ValueNumber {
        guard let slot = free.popLast() else {
            slots.append(Array(text))
            return ValueNumber(slot: UInt32(slots.count - 1))
        }
        slots[Int(slot)].append(contentsOf: text)
        return ValueNumber(slot: slot)
    }

    subscript(number: ValueNumber) -> [UInt8] { slots[Int(number.slot)] }

    mutating func remove(_ number: ValueNumber) {
        let slot = Int(number.slot)
        slots[slot].removeAll(keepingCapacity: slots[slot].capacity <= Self.retainedBytes)
        free.append(number.slot)
    }
}
