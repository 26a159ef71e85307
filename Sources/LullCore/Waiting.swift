/// A value that is due and has not started: with `maxBatch` in parts, the first of which starts next
/// (<doc:Semantics>, sections 7 and 8).
@frozen
@usableFromInline
struct Waiting<Value> {
    /// A ticket, and how many values it waits for: what has started, or stood behind, is none of its business.
    @frozen
    @usableFromInline
    struct Watch {
        @usableFromInline let ticket: WaiterID
        @usableFromInline var values: Int

        @inlinable
        init(ticket: WaiterID, values: Int) {
            self.ticket = ticket
            self.values = values
        }
    }

    /// What the next start gets.
    @usableFromInline var batch: Batch<Value>
    /// What later starts get, in order. Those before `firstPart` have been taken out.
    @usableFromInline var parts: [Batch<Value>?]
    @usableFromInline var firstPart: UInt32
    /// Whether a part of it has started.
    @usableFromInline var isRest: Bool
    /// The number of values in all.
    @usableFromInline var size: Int
    @usableFromInline var ripe: Gate.Due
    /// The order in which values fell due, or what is left of one queued for a slot.
    @usableFromInline var turn: UInt64
    @usableFromInline var watches: [Watch]

    @inlinable
    init(_ batch: consuming Batch<Value>, _ ripe: Gate.Due, turn: UInt64, maxBatch: Int) {
        size = batch.size
        self.ripe = ripe
        self.turn = turn
        isRest = false
        watches = []
        parts = []
        firstPart = 0
        guard size > maxBatch else {
            self.batch = batch
            return
        }
        // The values are moved to parts at once: taking them out of one array at each start would look at all of them again.
        self.batch = Batch(batch.earlier[0])
        for value in batch.earlier.dropFirst() { append(value, maxBatch: maxBatch) }
        append(batch.value, maxBatch: maxBatch)
    }

    @inlinable
    mutating func append(_ value: Value, maxBatch: Int) {
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
    @inlinable
    mutating func collect(_ later: Batch<Value>, maxBatch: Int) {
        size += later.size
        if maxBatch == .max {
            batch.append(later)
        } else {
            for value in later.earlier { append(value, maxBatch: maxBatch) }
            append(later.value, maxBatch: maxBatch)
        }
    }

    /// Whether more than one start is needed for what is here.
    @inlinable
    var hasParts: Bool { firstPart < UInt32(parts.count) }

    /// Takes the part that starts, where another one follows. In place: a copy would hold on to all other parts.
    ///
    /// - Returns: It, what its execution is told, and the tickets that wait for no later part.
    @inlinable
    mutating func takePart() -> (batch: Batch<Value>, ripe: Gate.Due, tickets: [WaiterID]) {
        let part = batch
        // Proof: this is called where a part follows, and those from `firstPart` on have not been taken out.
        batch = parts[Int(firstPart)].take()!
        firstPart += 1
        if firstPart == UInt32(parts.count) || firstPart * 2 > UInt32(parts.count) + 64 {
            parts.removeFirst(Int(firstPart))
            firstPart = 0
        }
        isRest = true
        size -= part.size
        var its = ripe
        its.count = part.size
        ripe.count -= part.size
        for index in watches.indices { watches[index].values -= part.size }
        var tickets: [WaiterID] = []
        for watch in watches where watch.values <= 0 { tickets.append(watch.ticket) }
        if !tickets.isEmpty { watches.removeAll { $0.values <= 0 } }
        return (part, its, tickets)
    }

    /// All values, when none of them is executed.
    @inlinable
    consuming func takeAll() -> Batch<Value> {
        var all = batch
        for part in parts[Int(firstPart)...] {
            if let part { all.append(part) }
        }
        return all
    }
}
