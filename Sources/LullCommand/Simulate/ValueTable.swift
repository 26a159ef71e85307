/// Names a value in a ``ValueTable``.
struct ValueNumber {
    fileprivate let cell: UInt32
    fileprivate let count: UInt32

    /// Names no value.
    static let none = ValueNumber(cell: 0, count: 0)
}

/// The values of a trace that are still to be shown.
///
/// The engine handles their numbers, which costs it nothing. A value lies in a cell of 16, 32, 64 … bytes; cells of one size
/// lie side by side, and the cell of a value that is gone is used for the next one of its size.
struct ValueTable: ~Copyable {
    /// The cells of one size.
    private struct Shelf {
        let cellSize: Int
        var memory: UnsafeMutablePointer<UInt8>?
        /// The number of cells that there is memory for.
        var capacity = 0
        /// The number of cells that have been used.
        var used: UInt32 = 0
        /// Those of them that are free again.
        var free: [UInt32] = []
    }

    /// By size.
    private var shelves: [Shelf] = []

    /// The memory of a shelf that has become empty is kept up to this size.
    private static let keptBytes = 1 << 20

    deinit {
        for shelf in shelves { shelf.memory?.deallocate() }
    }

    /// The number of bytes that there is memory for.
    var capacity: Int { shelves.reduce(0) { $0 + $1.capacity * $1.cellSize } }

    /// Keeps a copy of a value.
    mutating func add(_ text: ByteSlice) -> ValueNumber {
        let shelf = Self.shelf(text.count)
        while shelves.count <= shelf { shelves.append(Shelf(cellSize: 16 << shelves.count)) }
        let cell = shelves[shelf].free.popLast() ?? newCell(shelf)
        let number = ValueNumber(cell: cell, count: UInt32(text.count))
        if let start = text.baseAddress { place(of: number).update(from: start, count: text.count) }
        return number
    }

    /// A value. The bytes are good until the next ``add(_:)``.
    subscript(number: ValueNumber) -> ByteSlice {
        ByteSlice(start: place(of: number), count: Int(number.count))
    }

    /// Forgets a value.
    mutating func remove(_ number: ValueNumber) {
        let shelf = Self.shelf(Int(number.count))
        shelves[shelf].free.append(number.cell)
        if shelves[shelf].free.count == shelves[shelf].used { giveBack(shelf) }
    }

    /// Which shelf has the cells for so many bytes.
    private static func shelf(_ count: Int) -> Int {
        count <= 16 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount - 4
    }

    private func place(of number: ValueNumber) -> UnsafeMutablePointer<UInt8> {
        let shelf = shelves[Self.shelf(Int(number.count))]
        // Proof: a number is given out with a cell, and a shelf has memory while one of its cells is used.
        return shelf.memory.unsafelyUnwrapped + Int(number.cell) * shelf.cellSize
    }

    private mutating func newCell(_ index: Int) -> UInt32 {
        var shelf = shelves[index]
        if shelf.used == shelf.capacity {
            let capacity = max(shelf.capacity * 2, 4096 / shelf.cellSize, 1)
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * shelf.cellSize)
            if let old = shelf.memory {
                memory.update(from: old, count: shelf.capacity * shelf.cellSize)
                old.deallocate()
            }
            shelf.memory = memory
            shelf.capacity = capacity
        }
        shelf.used += 1
        shelves[index] = shelf
        return shelf.used - 1
    }

    private mutating func giveBack(_ index: Int) {
        guard shelves[index].capacity * shelves[index].cellSize > Self.keptBytes else { return }
        shelves[index].memory?.deallocate()
        shelves[index] = Shelf(cellSize: shelves[index].cellSize)
    }
}
