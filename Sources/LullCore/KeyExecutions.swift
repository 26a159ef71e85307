/// The executions of one key: those that have started, and the one that is due and waits (<doc:Semantics>, section 7).
///
/// A key has this only while it has one or the other. An execution that has started runs, and then stays until the driver has
/// told its outcome.
@usableFromInline
struct KeyExecutions<Value> {
    /// An execution that has started, until its outcome has been told.
    @usableFromInline
    struct Run {
        @usableFromInline let serial: UInt64
        /// The number of submits that it handles.
        @usableFromInline let size: Int
        @usableFromInline var phase: Phase
        /// A number that the driver has attached; `UInt32.max` for none.
        @usableFromInline var attachment: UInt32
        /// The callers that wait for its end.
        @usableFromInline var waiters: [WaiterID]

        @inlinable
        init(serial: UInt64, size: Int, waiters: [WaiterID]) {
            self.serial = serial
            self.size = size
            phase = .running
            attachment = .max
            self.waiters = waiters
        }

        @inlinable
        var state: RunState {
            switch phase {
            case .running: .running
            case .superseded, .cancelled: .cancelling
            case .telling: .telling
            }
        }
    }

    /// What an execution that has started is doing.
    @usableFromInline
    enum Phase: Equatable {
        /// Its handler runs.
        case running
        /// The same, and it is being cancelled: a newer value takes its place.
        case superseded
        /// The same, and it is being cancelled by a `cancel` that includes what is running.
        case cancelled
        /// Its handler has ended, and this many steps of telling its outcome have not.
        case telling(Int)
    }

    /// The slot of the key.
    @usableFromInline let slot: UInt32
    /// The position in the queue of starts; `UInt32.max` while not there.
    @usableFromInline var queuePosition: UInt32
    /// Almost always the only run: the others need an allocation.
    @usableFromInline var run: Run?
    /// Runs that started beside it, under ``WhileRunning/concurrent``.
    @usableFromInline var others: [Run]
    @usableFromInline var waiting: WaitingBatch<Value>?

    @inlinable
    init(slot: UInt32) {
        self.slot = slot
        queuePosition = .max
        others = []
    }

    /// Whether an execution has started whose outcome has not been told.
    @inlinable
    var hasStarted: Bool { run != nil || !others.isEmpty }

    /// Whether the handler runs for the key.
    @inlinable
    var isRunning: Bool {
        if let run, run.state != .telling { return true }
        return others.contains { $0.state != .telling }
    }

    /// Whether a value waits. Comparing ``waiting`` with nil would copy it.
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

    /// The handler of a run has ended. The run stays for as many steps as its outcome is told in, and else is removed.
    ///
    /// - Returns: The run as it was; nil if its handler does not run.
    @inlinable
    mutating func end(_ serial: UInt64, telling steps: Int) -> Run? {
        guard let ended = steps == 0 ? remove(serial) : find(serial), ended.state != .telling else { return nil }
        guard steps > 0 else { return ended }
        changeRuns { run in
            guard run.serial == serial else { return }
            run.phase = .telling(steps)
            run.attachment = .max
        }
        return ended
    }

    /// Counts one step of telling less for a run, and returns how many are left; nil if there was none.
    @usableFromInline
    mutating func endStep(_ serial: UInt64) -> Int? {
        var left: Int?
        changeRuns { run in
            guard run.serial == serial, case .telling(let steps) = run.phase else { return }
            run.phase = .telling(steps - 1)
            left = steps - 1
        }
        return left
    }

    /// Marks the runs that are not being cancelled yet, and returns their serial numbers.
    @usableFromInline
    mutating func cancelRuns(_ reason: Phase) -> [UInt64] {
        var serials: [UInt64] = []
        changeRuns { run in
            guard run.phase == .running else { return }
            run.phase = reason
            serials.append(run.serial)
        }
        return serials
    }

    /// Lets runs that are cancelled for a newer value end as cancelled: that value has been cancelled.
    @usableFromInline
    mutating func cancelSuperseded() {
        changeRuns { run in if run.phase == .superseded { run.phase = .cancelled } }
    }

    @inlinable
    mutating func changeRuns(_ body: (inout Run) -> Void) {
        if run != nil { body(&run!) }  // Proof: the condition.
        for index in others.indices { body(&others[index]) }
    }

    /// The run with a serial number, if it is one of this key.
    @inlinable
    func find(_ serial: UInt64) -> Run? {
        if let only = run, only.serial == serial { return only }
        return others.first { $0.serial == serial }
    }

    /// Lets a caller wait for the ends of what runs and what waits.
    ///
    /// - Returns: The number of executions that it waits for.
    @usableFromInline
    mutating func add(_ waiter: WaiterID) -> Int {
        var awaited = 0
        changeRuns { run in
            run.waiters.append(waiter)
            awaited += 1
        }
        if let size = waiting?.size {
            waiting?.waiters.append(WaitingBatch.Waiter(id: waiter, values: size))
            awaited += 1
        }
        return awaited
    }

    /// Removes a caller that waits.
    ///
    /// - Returns: The number of executions that it waited for.
    @inlinable
    mutating func remove(_ waiter: WaiterID) -> Int {
        var awaited = 0
        changeRuns { run in
            guard let index = run.waiters.firstIndex(of: waiter) else { return }
            run.waiters.removeAndShrink(at: index)
            awaited += 1
        }
        if let index = waiting?.waiters.firstIndex(where: { $0.id == waiter }) {
            waiting?.waiters.removeAndShrink(at: index)
            awaited += 1
        }
        return awaited
    }
}

extension Array {
    /// Removes an element, and gives the memory back with the last one.
    @inlinable
    mutating func removeAndShrink(at index: Int) {
        if count == 1 { self = [] } else { remove(at: index) }
    }
}
