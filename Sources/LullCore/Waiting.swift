/// A value that is due and has not started: with `maxBatch` in parts, the first of which starts next
/// (<doc:Semantics>, sections 7 and 8).
@frozen
@usableFromInline
struct Waiting<Value> {
    /// A ticket, and how many values it waits for: what has started, or stood behind, is none of its business.
    @frozen
    @usableFromInline
    struct Watch {
        @usableFromInline let ticket: Ticket
        @usableFromInline var values: Int

        @inlinable
        init(ticket: Ticket, values: Int) {
            self.ticket = ticket
            self.values = values
        }
    }

    /// What the next start gets.
    @usableFromInline var batch: Batch<Value>
    /// What later starts get, in order. Those before `firstPart` have been taken out.
    @usableFromInline var parts: [Batch<Value>?]
    @usableFromInline var firstPart: Int
    /// The number of values in all.
    @usableFromInline var size: Int
    @usableFromInline var ripe: Gate.Ripe
    /// The instant and the number that decide when it gets a slot.
    @usableFromInline var queuedAt: CoreInstant
    @usableFromInline var turn: UInt64
    /// Whether a part of it has started.
    @usableFromInline var isRest: Bool
    @usableFromInline var watches: [Watch]

    @inlinable
    init(_ batch: consuming Batch<Value>, _ ripe: Gate.Ripe, turn: UInt64, maxBatch: Int) {
        size = batch.size
        self.ripe = ripe
        queuedAt = ripe.at
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

    /// Takes the part that starts.
    ///
    /// - Returns: It, the tickets that wait for no later one, and what is left, if anything is.
    @inlinable
    consuming func takeNext() -> (batch: Batch<Value>, tickets: [Ticket], rest: Waiting?) {
        let part = batch
        guard firstPart < parts.count, let next = parts[firstPart] else {
            return (part, watches.map { $0.ticket }, nil)
        }
        parts[firstPart] = nil
        batch = next
        firstPart += 1
        if firstPart == parts.count || firstPart * 2 > parts.count + 64 {
            parts.removeFirst(firstPart)
            firstPart = 0
        }
        isRest = true
        size -= part.size
        ripe.count -= part.size
        var tickets: [Ticket] = []
        for index in watches.indices { watches[index].values -= part.size }
        for watch in watches where watch.values <= 0 { tickets.append(watch.ticket) }
        watches.removeAll { $0.values <= 0 }
        return (part, tickets, self)
    }

    /// All values, when none of them is executed.
    @inlinable
    consuming func takeAll() -> Batch<Value> {
        var all = batch
        for part in parts[firstPart...] {
            if let part { all.append(part) }
        }
        return all
    }
}
