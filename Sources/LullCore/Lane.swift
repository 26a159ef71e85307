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
        /// A number that the shell has given it; `UInt32.max` for none.
        @usableFromInline var attachment: UInt32
        /// What waits for its end.
        @usableFromInline var tickets: [WaiterID]

        @inlinable
        init(serial: UInt64, size: Int, tickets: [WaiterID]) {
            self.serial = serial
            self.size = size
            told = .nothing
            attachment = .max
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

    /// The slot of the key.
    @usableFromInline let slot: UInt32
    /// Where the lane stands in the queue for a slot of `maxConcurrent`; `UInt32.max` while it does not.
    @usableFromInline var queueIndex: UInt32
    /// Almost always the only run: the others need an allocation.
    @usableFromInline var run: Run?
    /// Runs that started beside it, under ``WhileRunning/concurrent``.
    @usableFromInline var others: [Run]
    @usableFromInline var waiting: Waiting<Value>?

    @inlinable
    init(slot: UInt32) {
        self.slot = slot
        queueIndex = .max
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

    /// Tells runs to stop that were not told before, and returns their serial numbers.
    @inlinable
    mutating func tell(_ told: Told) -> [UInt64] {
        var serials: [UInt64] = []
        changeRuns { run in
            guard run.told == .nothing else { return }
            run.told = told
            serials.append(run.serial)
        }
        return serials
    }

    /// Lets runs that were told to stop for a newer value end as cancelled: that value has been cancelled.
    @inlinable
    mutating func cancelSuperseded() {
        changeRuns { run in if run.told == .superseded { run.told = .cancelled } }
    }

    @inlinable
    mutating func changeRuns(_ body: (inout Run) -> Void) {
        if run != nil { body(&run!) }  // Proof: it was just seen to be there.
        for index in others.indices { body(&others[index]) }
    }

    /// The run with a serial number, if it is one of this lane.
    @inlinable
    func find(_ serial: UInt64) -> Run? {
        if let only = run, only.serial == serial { return only }
        return others.first { $0.serial == serial }
    }
}
