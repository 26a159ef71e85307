/// Values that are due and have not started: with `maxBatch` in parts, the first of which starts next (<doc:Semantics>,
/// sections 7 and 8).
@usableFromInline
struct WaitingBatch<Value> {
    /// A caller that waits, and for how many values. It does not wait for what came after them.
    @usableFromInline
    struct Waiter {
        @usableFromInline let id: WaiterID
        @usableFromInline var values: Int

        init(id: WaiterID, values: Int) {
            self.id = id
            self.values = values
        }
    }

    /// The next part to start.
    @usableFromInline var batch: Batch<Value>
    /// Later parts, in order. Those before `firstPart` have been taken out.
    @usableFromInline var parts: [Batch<Value>?]
    @usableFromInline var firstPart: UInt32
    /// Whether a part has started, so that this is the rest.
    @usableFromInline var isRest: Bool
    /// The number of values in all.
    @usableFromInline var size: Int
    @usableFromInline var due: Gate.Due
    /// The number in the order in which values fell due; that of a rest counts from its place behind what waits.
    @usableFromInline var dueNumber: UInt64
    @usableFromInline var waiters: [Waiter]

    @inlinable
    init(_ batch: consuming Batch<Value>, _ due: Gate.Due, dueNumber: UInt64, maxBatch: Int) {
        size = batch.size
        self.due = due
        self.dueNumber = dueNumber
        isRest = false
        waiters = []
        parts = []
        firstPart = 0
        self.batch = batch
        if size > maxBatch { divide(maxBatch: maxBatch) }
    }

    /// Moves the values to parts, all at once: taking them out of one array at each start would visit all of them again.
    @usableFromInline
    mutating func divide(maxBatch: Int) {
        let all = batch
        batch = Batch(all.earlier[0])
        for value in all.earlier.dropFirst() { append(value, maxBatch: maxBatch) }
        append(all.value, maxBatch: maxBatch)
    }

    private mutating func append(_ value: Value, maxBatch: Int) {
        if parts.isEmpty {
            if batch.size < maxBatch {
                batch.append(value)
            } else {
                parts.append(Batch(value))
            }
        } else if let last = parts[parts.count - 1], last.size == maxBatch {
            parts.append(Batch(value))
        } else {
            parts[parts.count - 1]?.append(value)
        }
    }

    /// Adds the values of a later execution behind those that are here.
    @usableFromInline
    mutating func collect(_ later: Batch<Value>, maxBatch: Int) {
        size += later.size
        if maxBatch == .max {
            batch.append(later)
        } else {
            for value in later.earlier { append(value, maxBatch: maxBatch) }
            append(later.value, maxBatch: maxBatch)
        }
    }

    /// Whether more than one start is needed.
    @inlinable
    var hasParts: Bool { firstPart < UInt32(parts.count) }

    /// Removes the part that starts, where another one follows. In place: a copy would retain all other parts.
    ///
    /// - Returns: The part, its share of what is due, and the callers that wait: for this part, and of those the ones that
    ///   wait for a later part, too.
    @usableFromInline
    mutating func takePart() -> (batch: Batch<Value>, due: Gate.Due, waiters: [WaiterID], remaining: [Waiter]) {
        let part = batch
        // Proof: a part follows, and those from `firstPart` on have not been taken out.
        batch = parts[Int(firstPart)].take()!
        firstPart += 1
        if firstPart == UInt32(parts.count) || firstPart * 2 > UInt32(parts.count) + 64 {
            parts.removeFirst(Int(firstPart))
            firstPart = 0
        }
        isRest = true
        size -= part.size
        var dueNow = due
        dueNow.count = part.size
        due.count -= part.size
        let all = waiters.map { $0.id }
        for index in waiters.indices { waiters[index].values -= part.size }
        waiters.removeAll { $0.values <= 0 }
        return (part, dueNow, all, waiters)
    }

    /// All values, when none of them is executed.
    @usableFromInline
    consuming func takeAll() -> Batch<Value> {
        var all = batch
        for part in parts[Int(firstPart)...] {
            if let part { all.append(part) }
        }
        return all
    }
}
