// What becomes of a value that is due: section 7 of the semantics. It depends on how long handlers take, not on time.
extension Engine {
    /// Reports the end of an execution.
    ///
    /// - Returns: What became of its submits, and what is to be done next.
    @inlinable
    public mutating func ended(_ run: RunID, _ ending: Ending) -> (Verdict, Actions<Key, Value>) {
        var actions = Actions<Key, Value>()
        let place = slots.contains(run.slot) ? slots[run.slot].pointee.lane : .max
        // A key with a running execution stays.
        if place != .max { _ = reach(run.slot, &actions) }
        guard place != .max, case let lane = lanes[place], let ended = lane.pointee.remove(run.serial) else {
            preconditionFailure("an execution that is not running was reported as ended")
        }
        active -= 1
        tally.running -= ended.size
        let verdict: Verdict
        switch (ending, ended.told) {
        case (.returned, _):
            verdict = .executed
            tally.executed += ended.size
        case (.threw, .nothing):
            verdict = .failed
            tally.failed += ended.size
        case (.threw, .superseded):
            verdict = .superseded
            tally.superseded += ended.size
        case (.threw, .cancelled):
            verdict = .cancelled
            tally.cancelled += ended.size
        }
        redeem(ended.tickets, &actions)

        // What waited for the key waits for a slot now; under `.concurrent` it did from the beginning.
        if setup.whileRunning != .concurrent { queueForSlot(place) }
        grantSlots(&actions)
        retire(place, &actions)
        return (verdict, actions)
    }

    /// Whether an execution has been told to stop.
    ///
    /// Between ``Action/start(_:)`` and the handler lie a queue or an actor that may be busy: a shell that asks right
    /// before it enters the handler can leave it out, and report the end as ``Ending/threw``.
    @inlinable
    public func isCancelling(_ run: RunID) -> Bool {
        state(of: run) == .cancelling
    }

    /// Whether an execution has started and not ended.
    @inlinable
    public func isRunning(_ run: RunID) -> Bool { state(of: run) != .ended }

    /// What is known of an execution.
    @inlinable
    public func state(of run: RunID) -> RunState {
        guard let lane = lane(of: run), let found = lane.pointee.find(run.serial) else { return .ended }
        return found.told == .nothing ? .running : .cancelling
    }

    /// Keeps a number of the shell's with an execution that is running; `UInt32.max` for none.
    @inlinable
    @discardableResult
    public mutating func attach(_ number: UInt32, to run: RunID) -> RunState {
        var state = RunState.ended
        guard let lane = lane(of: run) else { return state }
        lane.pointee.changeRuns { other in
            guard other.serial == run.serial else { return }
            other.attachment = number
            state = other.told == .nothing ? .running : .cancelling
        }
        return state
    }

    /// The number that the shell has given to an execution that is running, if it has.
    @inlinable
    public func attachment(of run: RunID) -> UInt32? {
        guard let lane = lane(of: run), let found = lane.pointee.find(run.serial), found.attachment != .max else {
            return nil
        }
        return found.attachment
    }

    @inlinable
    func lane(of run: RunID) -> UnsafeMutablePointer<Lane<Value>>? {
        guard slots.contains(run.slot), case let place = slots[run.slot].pointee.lane, place != .max else { return nil }
        return lanes[place]
    }

    /// Starts what has fallen due, or finds it a place to wait.
    @inlinable
    mutating func fallDue(
        _ slot: UInt32, _ batch: consuming Batch<Value>, _ ripe: Gate.Due, _ actions: inout Actions<Key, Value>
    ) {
        let owner = slots[slot]
        var place = owner.pointee.lane
        if place == .max {
            place = lanes.insert(Lane(slot: slot))
            owner.pointee.lane = place
        }
        let lane = lanes[place]
        if setup.whileRunning == .skip, ripe.edge != .flush, lane.pointee.isRunning {
            drop(batch, of: owner.pointee.key, .absorbed, &actions)
            return
        }
        turns += 1
        if !lane.pointee.isWaiting, !isBlocked(lane), active < setup.maxConcurrent, batch.size <= setup.maxBatch,
            slotQueue.count == 0
        {
            return start(place, batch, ripe, [], &actions)
        }
        if let earlier = lane.pointee.waiting.take() {
            backlog -= earlier.size
            leaveSlotQueue(lane)
            lane.pointee.waiting = join(batch, ripe, to: earlier, of: slot, &actions)
        } else {
            lane.pointee.waiting = Waiting(batch, ripe, turn: turns, maxBatch: setup.maxBatch)
        }
        backlog += lane.pointee.waiting?.size ?? 0
        if setup.whileRunning == .cancelRunning { tell(.superseded, lane, &actions) }
        guard !isBlocked(lane) else { return }
        queueForSlot(place)
        // Slots are given to this key alone: where others queue, the call that is giving slots goes on with that.
        while slotQueue.count == 1, active < setup.maxConcurrent, !isGrantingSlots { startFirst(&actions) }
    }

    /// Lets a due value replace, or join, the one that waits: counts are added, and `first` is the earlier's.
    @inlinable
    mutating func join(
        _ later: Batch<Value>, _ ripe: Gate.Due, to earlier: consuming Waiting<Value>, of slot: UInt32,
        _ actions: inout Actions<Key, Value>
    ) -> Waiting<Value> {
        if setup.combination == .collect {
            earlier.collect(later, maxBatch: setup.maxBatch)
        } else if let lost = earlier.batch.add(later, by: setup.combination) {
            drop(lost, of: slots[slot].pointee.key, setup.combination.fateOfDisplaced, &actions)
        }
        earlier.ripe.at = ripe.at
        earlier.ripe.edge = ripe.edge
        earlier.ripe.count += ripe.count
        earlier.turn = turns
        return earlier
    }

    @inlinable
    func isBlocked(_ lane: UnsafeMutablePointer<Lane<Value>>) -> Bool {
        setup.whileRunning != .concurrent && lane.pointee.isRunning
    }

    /// Queues a lane for a slot, if something waits there.
    @inlinable
    mutating func queueForSlot(_ place: UInt32) {
        let lane = lanes[place]
        guard lane.pointee.isWaiting, let ripe = lane.pointee.waiting?.ripe else { return }
        let isRest = lane.pointee.waiting?.isRest == true
        if isRest {
            // What is left of a batch queues behind all that waits by now: its key does not hold back the others.
            turns += 1
            lane.pointee.waiting?.turn = turns
        }
        let entry = SlotQueue.Entry(at: isRest ? now : ripe.at, turn: lane.pointee.waiting?.turn ?? turns, lane: place)
        slotQueue.insert(entry) { lane, index in
            let lane = lanes[lane]
            lane.pointee.queueIndex = index
        }
    }

    /// Takes a lane out of the queue for slots, if it is there.
    @inlinable
    mutating func leaveSlotQueue(_ lane: UnsafeMutablePointer<Lane<Value>>) {
        let index = lane.pointee.queueIndex
        guard index != .max else { return }
        lane.pointee.queueIndex = .max
        slotQueue.remove(at: Int(index)) { lane, index in
            let lane = lanes[lane]
            lane.pointee.queueIndex = index
        }
    }

    /// Starts waiting values while there are slots for them.
    ///
    /// A call for all keys that is under way reaches a key before it gets a slot. Where it reaches many, which it may all cancel,
    /// the rest is left to ``continueSweep(_:limit:)``.
    @inlinable
    mutating func grantSlots(_ actions: inout Actions<Key, Value>) {
        var reached = 0
        isGrantingSlots = true
        while active < setup.maxConcurrent, let entry = slotQueue.first, reached < 64 {
            let slot = lanes[entry.lane].pointee.slot
            if isBehind(slot) {
                _ = reach(slot, &actions)
                reached += 1
            } else {
                startFirst(&actions)
            }
        }
        isGrantingSlots = false
    }

    /// Starts what is first in the queue for slots, or a part of it.
    @inlinable
    mutating func startFirst(_ actions: inout Actions<Key, Value>) {
        guard let entry = slotQueue.first else { return }
        let lane = lanes[entry.lane]
        leaveSlotQueue(lane)
        if lane.pointee.waiting?.hasParts == true, let part = lane.pointee.waiting?.takePart() {
            backlog -= part.batch.size
            start(entry.lane, part.batch, part.ripe, part.tickets, &actions)
            if !isBlocked(lane) { queueForSlot(entry.lane) }
            return
        }
        guard let waiting = lane.pointee.waiting.take() else {
            preconditionFailure("a key waits for a slot and has no value waiting: this is a bug in LullCore")
        }
        backlog -= waiting.size
        start(entry.lane, waiting.batch, waiting.ripe, waiting.watches.map { $0.ticket }, &actions)
        recount(lane.pointee.slot)
    }

    @inlinable
    mutating func start(
        _ place: UInt32, _ batch: consuming Batch<Value>, _ ripe: Gate.Due, _ tickets: [WaiterID],
        _ actions: inout Actions<Key, Value>
    ) {
        let lane = lanes[place]
        let size = batch.size
        serials += 1
        active += 1
        tally.pending -= size
        tally.running += size
        lane.pointee.add(Lane.Run(serial: serials, size: size, tickets: tickets))
        let slot = lane.pointee.slot
        let run = RunID(slot: slot, serial: serials)
        actions.add(.start(Execution(run: run, key: slots[slot].pointee.key, batch: batch, ripe: ripe)))
    }

    /// Tells the running executions of a lane to stop.
    @inlinable
    mutating func tell(
        _ told: Lane<Value>.Told, _ lane: UnsafeMutablePointer<Lane<Value>>, _ actions: inout Actions<Key, Value>
    ) {
        for serial in lane.pointee.tell(told) {
            actions.more.append(.cancel(RunID(slot: lane.pointee.slot, serial: serial)))
        }
    }

    /// Hands out values that were pending or waiting and are not executed.
    @inlinable
    mutating func drop(_ batch: consuming Batch<Value>, of key: Key, _ fate: Fate, _ actions: inout Actions<Key, Value>)
    {
        tally.pending -= batch.size
        tally.add(batch.size, fate)
        actions.more.append(.settle(key, batch, fate))
    }

    /// Drops a lane, and perhaps its key, if nothing runs or waits there.
    @inlinable
    mutating func retire(_ place: UInt32, _ actions: inout Actions<Key, Value>) {
        let lane = lanes[place]
        guard !lane.pointee.isRunning, !lane.pointee.isWaiting else { return }
        let slot = lane.pointee.slot
        let owner = slots[slot]
        lanes.discard(place)
        owner.pointee.lane = .max
        recount(slot)
        if !owner.pointee.gate.isOpen { forget(slot, &actions) }
    }

    /// Drops what waits at a key.
    @inlinable
    mutating func dropWaiting(_ place: UInt32, _ actions: inout Actions<Key, Value>) {
        guard place != .max, case let lane = lanes[place], let waiting = lane.pointee.waiting.take() else { return }
        leaveSlotQueue(lane)
        backlog -= waiting.size
        let tickets = waiting.watches.map { $0.ticket }
        drop(waiting.takeAll(), of: slots[lane.pointee.slot].pointee.key, .cancelled, &actions)
        redeem(tickets, &actions)
        recount(lane.pointee.slot)
    }

    // MARK: - Tickets

    /// Makes a ticket wait for what runs and waits, of one key or of all.
    ///
    /// - Returns: Whether there is anything to wait for. If so, ``Action/resume(_:)`` will come for the ticket, once.
    @inlinable
    public mutating func addWaiter(_ ticket: WaiterID, for key: Key? = nil) -> Bool {
        var awaited = 0
        if let key {
            let place = slotIndex(of: key)
            if place != .max, slots[place].pointee.lane != .max {
                awaited = add(ticket, to: lanes[slots[place].pointee.lane])
            }
        } else {
            lanes.forEach { _, lane in awaited += add(ticket, to: lane) }
        }
        if awaited > 0 { tickets[ticket] = awaited }
        return awaited > 0
    }

    @inlinable
    func add(_ ticket: WaiterID, to lane: UnsafeMutablePointer<Lane<Value>>) -> Int {
        var awaited = 0
        if lane.pointee.run != nil {
            lane.pointee.run?.tickets.append(ticket)
            awaited += 1
        }
        for other in lane.pointee.others.indices {
            lane.pointee.others[other].tickets.append(ticket)
            awaited += 1
        }
        if let size = lane.pointee.waiting?.size {
            lane.pointee.waiting?.watches.append(Waiting.Watch(ticket: ticket, values: size))
            awaited += 1
        }
        return awaited
    }

    @inlinable
    mutating func redeem(_ redeemed: [WaiterID], _ actions: inout Actions<Key, Value>) {
        for ticket in redeemed {
            guard let left = tickets[ticket] else { continue }
            if left > 1 {
                tickets[ticket] = left - 1
            } else {
                tickets[ticket] = nil
                actions.more.append(.resume(ticket))
            }
        }
    }
}
