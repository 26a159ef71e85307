/// Identifies a value in a ``ValueTable``.
struct ValueNumber {
    fileprivate let slot: UInt32
    fileprivate let count: UInt32

    /// Identifies no value.
    static let none = ValueNumber(slot: 0, count: 0)
}

/// The values of a trace that may still be shown.
///
/// The engine handles their numbers, which need no reference counting. A value lies in a slot of 16, 32, 64 … bytes; slots of one
/// size are contiguous, and a free slot is reused for the next value of its size. The memory is unsafe for
/// the benchmark row "lull simulate as JSONL".
struct ValueTable: ~Copyable {
    /// The slots of one size.
    private struct SizeClass {
        let slotSize: Int
        var memory: UnsafeMutablePointer<UInt8>?
        /// The number of slots that are allocated.
        var capacity = 0
        /// The number of slots that have ever been used.
        var used: UInt32 = 0
        /// The slots that are free again.
        var free: [UInt32] = []
    }

    /// In order of slot size.
    private var sizeClasses: [SizeClass] = []

    /// The memory of a size class without values is kept up to this size.
    private static let retainedBytes = 1 << 20

    deinit {
        for sizeClass in sizeClasses { sizeClass.memory?.deallocate() }
    }

    var capacity: Int { sizeClasses.reduce(0) { $0 + $1.capacity * $1.slotSize } }

    /// Stores a copy of a value.
    mutating func add(_ text: ByteSlice) -> ValueNumber {
        let sizeClass = Self.sizeClass(text.count)
        while sizeClasses.count <= sizeClass { sizeClasses.append(SizeClass(slotSize: 16 << sizeClasses.count)) }
        let slot = sizeClasses[sizeClass].free.popLast() ?? newSlot(sizeClass)
        let number = ValueNumber(slot: slot, count: UInt32(text.count))
        if let start = text.baseAddress { address(of: number).update(from: start, count: text.count) }
        return number
    }

    /// Returns a value. The bytes are valid until the next ``add(_:)``.
    subscript(number: ValueNumber) -> ByteSlice {
        ByteSlice(start: address(of: number), count: Int(number.count))
    }

    mutating func remove(_ number: ValueNumber) {
        let sizeClass = Self.sizeClass(Int(number.count))
        sizeClasses[sizeClass].free.append(number.slot)
        if sizeClasses[sizeClass].free.count == sizeClasses[sizeClass].used { release(sizeClass) }
    }

    /// Returns the index of the size class for this number of bytes.
    private static func sizeClass(_ count: Int) -> Int {
        count <= 16 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount - 4
    }

    private func address(of number: ValueNumber) -> UnsafeMutablePointer<UInt8> {
        let sizeClass = sizeClasses[Self.sizeClass(Int(number.count))]
        // Proof: every number has a slot, and a size class has memory while any of its slots is used.
        return sizeClass.memory.unsafelyUnwrapped + Int(number.slot) * sizeClass.slotSize
    }

    private mutating func newSlot(_ index: Int) -> UInt32 {
        var sizeClass = sizeClasses[index]
        if sizeClass.used == sizeClass.capacity {
            let capacity = max(sizeClass.capacity * 2, 4096 / sizeClass.slotSize, 1)
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * sizeClass.slotSize)
            if let old = sizeClass.memory {
                memory.update(from: old, count: sizeClass.capacity * sizeClass.slotSize)
                old.deallocate()
            }
            sizeClass.memory = memory
            sizeClass.capacity = capacity
        }
        sizeClass.used += 1
        sizeClasses[index] = sizeClass
        return sizeClass.used - 1
    }

    private mutating func release(_ index: Int) {
        guard sizeClasses[index].capacity * sizeClasses[index].slotSize > Self.retainedBytes else { return }
        sizeClasses[index].memory?.deallocate()
        sizeClasses[index] = SizeClass(slotSize: sizeClasses[index].slotSize)
    }
}
