/// The executions of one key: those that have started, and the one that is due and waits (<doc:Semantics>, section 7).
///
/// A key has this only while it has one or the other. An execution that has started runs, and then stays until the
/// driver has told its outcome. The values that wait lie in the cell behind it (``Slab``).
package struct KeyExecutions {
    /// An execution that has started, until its outcome has been told.
    struct Run {
        let serial: UInt64
        /// The number of values that it handles, with those that share it.
        var size: Int
        /// The number of submits behind them.
        var count: Int
        /// The instant of the oldest of these.
        let first: CoreInstant
        var phase: Phase
        /// A number that the driver has attached; `UInt.max` for none. An even one says that the handler has not begun,
        /// if it is synchronous.
        var attachment: UInt
        /// The callers that wait for its end.
        var waiters: [WaiterID]

        init(serial: UInt64, size: Int, due: Gate.Due, waiters: [WaiterID]) {
            self.serial = serial
            self.size = size
            count = due.count
            first = due.first
            phase = .running
            attachment = .max
            self.waiters = waiters
        }

        var state: RunState {
            switch phase {
            case .running: .running
            case .superseded, .cancelled, .replaced: .cancelling
            case .interrupted: .interrupting
            case .expired: .expired
            case .telling: .telling
            }
        }

        /// Whether the handler has begun, as far as the driver says.
        var hasEntered: Bool { attachment & 1 == 1 }
    }

    /// What an execution that has started is doing.
    enum Phase: Equatable {
        /// Its handler runs.
        case running
        /// The same, and it is being cancelled: a newer value takes its place.
        case superseded
        /// The same, and its values go back if it throws: a newer value is to be handled with them.
        case interrupted
        /// The same, and it is being cancelled by a `cancel` that includes what is running.
        case cancelled
        /// The same, and it is being cancelled since its time limit is over: if it throws, it has failed.
        case expired
        /// The same, and its submits have ended already, since a newer value fell due.
        case replaced
        /// Its handler has ended, and this many steps of telling its outcome have not.
        case telling(Int)
    }

    /// Values that are due and have not started: with `maxBatch` in parts, the first of which starts next. Or values
    /// that an interrupted execution has given back, and that are held until a newer one falls due.
    struct Waiting {
        /// A caller that waits, and for how many values. It does not wait for what came after them.
        struct Waiter {
            let id: WaiterID
            var values: Int
        }

        /// The number of values in all.
        var size: Int
        var due: Gate.Due
        /// The number in the order in which values fell due; that of a rest counts from its place behind what waits.
        var dueNumber: UInt64
        /// Whether a part has started, so that this is the rest.
        var isRest = false
        /// Whether the values are held: they have no due instant.
        var isHeld = false
        var waiters: [Waiter] = []

        /// Removes the first of several values.
        mutating func dropFirst() {
            due.count -= 1
            size -= 1
            for index in waiters.indices { waiters[index].values -= 1 }
            waiters.removeAll { $0.values == 0 }
        }

        /// Removes a part of this size, less than all, and returns its share of what is due.
        ///
        /// Afterwards ``waiters`` are those that wait for a later part, too.
        mutating func takePart(_ part: Int) -> Gate.Due {
            var dueNow = due
            dueNow.count = part
            due.count -= part
            size -= part
            isRest = true
            for index in waiters.indices { waiters[index].values -= part }
            waiters.removeAll { $0.values <= 0 }
            return dueNow
        }
    }

    /// The slot of the key.
    let slot: UInt32
    /// The position in the queue of starts; `UInt32.max` while not there.
    var queuePosition: UInt32
    /// Almost always the only run: the others need an allocation.
    var run: Run?
    /// Runs that started beside it, under ``OverlapPolicy/concurrent``.
    var others: [Run]
    var waiting: Waiting?
    /// Whether the values that wait are in the cell: not yet, if the owner has still to move them.
    var hasValues = false
    /// What goes with the values that wait: the owner's business.
    var companion: Companion?

    init(slot: UInt32) {
        self.slot = slot
        queuePosition = .max
        others = []
    }

    /// Whether an execution has started whose outcome has not been told.
    var hasStarted: Bool { run != nil || !others.isEmpty }

    /// Whether the handler runs for the key.
    var isRunning: Bool {
        if let run, run.state != .telling { return true }
        return others.contains { $0.state != .telling }
    }

    /// Whether the outcome of an execution is being told.
    var isTelling: Bool { run?.state == .telling || others.contains { $0.state == .telling } }

    /// Whether a value waits or is held. Comparing ``waiting`` with nil would copy it.
    var isWaiting: Bool {
        switch waiting {
        case .some: true
        case .none: false
        }
    }

    mutating func add(_ new: Run) {
        if run == nil { run = new } else { others.append(new) }
    }

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
    mutating func endStep(_ serial: UInt64) -> Int? {
        var left: Int?
        changeRuns { run in
            guard run.serial == serial, case .telling(let steps) = run.phase else { return }
            run.phase = .telling(steps - 1)
            left = steps - 1
        }
        return left
    }

    /// Whether values are held.
    var isHeld: Bool { waiting?.isHeld == true }

    /// Marks the runs that are not being cancelled yet, and returns their serial numbers.
    ///
    /// - Parameter wait: Runs whose oldest submit came this long before `now`, or longer, are left alone.
    mutating func cancelRuns(_ reason: Phase, at now: CoreInstant, within wait: CoreDuration = .infinite) -> [UInt64] {
        var serials: [UInt64] = []
        changeRuns { run in
            guard run.phase == .running, wait == .infinite || run.first.advanced(by: wait) > now else { return }
            run.phase = reason
            serials.append(run.serial)
        }
        return serials
    }

    /// Marks the runs whose handlers run as replaced, and returns them as they were.
    mutating func replaceRuns() -> [Run] {
        var replaced: [Run] = []
        changeRuns { run in
            guard run.phase == .running || run.phase == .cancelled || run.phase == .expired else { return }
            replaced.append(run)
            run.phase = .replaced
        }
        return replaced
    }

    /// Lets runs that are being cancelled for this reason end as cancelled.
    mutating func cancel(_ reason: Phase) {
        changeRuns { run in if run.phase == reason { run.phase = .cancelled } }
    }

    mutating func changeRuns(_ body: (inout Run) -> Void) {
        if run != nil { body(&run!) }  // Proof: the condition.
        for index in others.indices { body(&others[index]) }
    }

    /// The run with a serial number, if it is one of this key.
    func find(_ serial: UInt64) -> Run? {
        if let only = run, only.serial == serial { return only }
        return others.first { $0.serial == serial }
    }

    /// Puts what an interrupted run has handled in front of what waits, as one execution, and lets its waiters wait for
    /// that.
    ///
    /// - Parameter waitsForBoth: Called for a caller that waited for the run and for what waited: it waits for one less
    ///   now.
    mutating func addInFront(_ run: Run, collects: Bool, waitsForBoth: (WaiterID) -> Void) {
        guard var joined = waiting.take() else { return }
        if collects {
            joined.size += run.size
            for index in joined.waiters.indices { joined.waiters[index].values += run.size }
        }
        joined.due.count += run.count
        joined.due.first = min(joined.due.first, run.first)
        for waiter in run.waiters {
            if joined.waiters.contains(where: { $0.id == waiter }) {
                waitsForBoth(waiter)
            } else {
                joined.waiters.append(Waiting.Waiter(id: waiter, values: run.size))
            }
        }
        waiting = joined
    }

    /// Lets a caller wait for the ends of what runs and what waits.
    ///
    /// - Returns: The number of executions that it waits for.
    mutating func add(_ waiter: WaiterID) -> Int {
        var awaited = 0
        changeRuns { run in
            run.waiters.append(waiter)
            awaited += 1
        }
        if !isHeld, let size = waiting?.size {
            waiting?.waiters.append(Waiting.Waiter(id: waiter, values: size))
            awaited += 1
        }
        return awaited
    }

    /// Removes a caller that waits.
    ///
    /// - Returns: The number of executions that it waited for.
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
    mutating func removeAndShrink(at index: Int) {
        if count == 1 { self = [] } else { remove(at: index) }
    }
}

/// A key whose waiting value may start as soon as `maxConcurrent` allows: in order of due instants, equal ones in the
/// order in which the values fell due.
///
/// It leaves the queue as soon as its key waits no longer, so that no call has to skip millions that were cancelled: a
/// key's executions know its position there.
struct QueuedStart: HeapElement {
    /// When the value fell due.
    let at: CoreInstant
    /// The number of the value in the order in which values fell due.
    let dueNumber: UInt64
    /// The index of the key's executions.
    let executions: UInt32

    func precedes(_ other: QueuedStart) -> Bool {
        at == other.at ? dueNumber < other.dueNumber : at < other.at
    }
}
