/// The executions of one key: those that run, and the one that has fallen due and waits (<doc:Semantics>, section 7).
///
/// A key has a lane only while it has one or the other.
@frozen
@usableFromInline
struct Lane<Value> {
    /// An execution that is running.
    @frozen
    @usableFromInline
    struct Run {
        @usableFromInline let serial: UInt64
        /// The number of submits that it handles.
        @usableFromInline let size: Int
        /// What it was told, if it was told to stop.
        @usableFromInline var told: Told
        /// Who waits for its end.
        @usableFromInline var tickets: [Ticket]

        @inlinable
        init(serial: UInt64, size: Int, tickets: [Ticket]) {
            self.serial = serial
            self.size = size
            told = .nothing
            self.tickets = tickets
        }
    }

    @frozen
    @usableFromInline
    enum Told {
        case nothing
        case superseded
        case cancelled
    }

    /// A value that is due and has not started.
    @frozen
    @usableFromInline
    struct Waiting {
        @usableFromInline var batch: Batch<Value>
        @usableFromInline var ripe: Gate.Ripe
        /// The order in which values fell due.
        @usableFromInline var turn: UInt64
        @usableFromInline var tickets: [Ticket]

        @inlinable
        init(batch: Batch<Value>, ripe: Gate.Ripe, turn: UInt64) {
            self.batch = batch
            self.ripe = ripe
            self.turn = turn
            tickets = []
        }
    }

    /// The slot of the key.
    @usableFromInline let slot: UInt32
    /// Almost always the only run: the others need an allocation.
    @usableFromInline var run: Run?
    /// Runs that started beside it, under ``WhileRunning/concurrent``.
    @usableFromInline var others: [Run]
    @usableFromInline var waiting: Waiting?

    @inlinable
    init(slot: UInt32) {
        self.slot = slot
        others = []
    }

    @inlinable
    var isRunning: Bool { run != nil || !others.isEmpty }

    /// Asked in place of a look at what waits, which would be copied.
    @inlinable
    var isWaiting: Bool {
        switch waiting {
        case .some: true
        case .none: false
        }
    }

    @inlinable
    mutating func add(_ new: Run) {
        if run == nil { run = new } else { others.append(new) }
    }

    @inlinable
    mutating func remove(_ serial: UInt64) -> Run? {
        if let found = run, found.serial == serial {
            run = nil
            return found
        }
        guard let index = others.firstIndex(where: { $0.serial == serial }) else { return nil }
        return others.remove(at: index)
    }

    /// Tells runs to stop that were not told before, and returns their names.
    @inlinable
    mutating func tell(_ told: Told) -> [UInt64] {
        var serials: [UInt64] = []
        if let only = run, only.told == .nothing {
            run?.told = told
            serials.append(only.serial)
        }
        for index in others.indices where others[index].told == .nothing {
            others[index].told = told
            serials.append(others[index].serial)
        }
        return serials
    }
}

/// The keys that wait for one of the slots of `maxConcurrent`, in order of due instants, equal ones in the order in
/// which the values fell due: a binary heap.
///
/// Whoever leaves the queue by another way than its front is found out when it is popped: its lane's turn is another
/// one.
@frozen
@usableFromInline
struct SlotQueue {
    @frozen
    @usableFromInline
    struct Entry {
        @usableFromInline let at: CoreInstant
        @usableFromInline let turn: UInt64
        @usableFromInline let lane: UInt32

        @inlinable
        init(at: CoreInstant, turn: UInt64, lane: UInt32) {
            self.at = at
            self.turn = turn
            self.lane = lane
        }

        @inlinable
        func precedes(_ other: Entry) -> Bool {
            at == other.at ? turn < other.turn : at < other.at
        }
    }

    @usableFromInline var heap: [Entry] = []

    @inlinable
    init() {}

    @inlinable
    mutating func push(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    @inlinable
    mutating func pop() -> Entry? {
        guard let front = heap.first, let end = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return front }
        heap[0] = end
        siftDown(from: 0)
        return front
    }

    @inlinable
    mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var child = parent * 2 + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
            guard heap[child].precedes(heap[parent]) else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }

    /// Drops the entries that no longer hold.
    @inlinable
    mutating func sweep(keeping holds: (Entry) -> Bool) {
        heap.removeAll { !holds($0) }
        for index in (0..<heap.count / 2).reversed() { siftDown(from: index) }
    }
}
