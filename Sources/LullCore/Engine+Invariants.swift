// What is true between any two calls of an engine. Only tests ask: it costs a look at everything there is.

/// Collects what is broken.
package struct Broken {
    package var rules: [String] = []

    package init() {}

    package mutating func unless(_ holds: Bool, _ rule: @autoclosure () -> String) {
        if !holds { rules.append(rule()) }
    }
}

extension Engine {
    /// The rules of the engine's own data that do not hold; empty unless there is a bug.
    func checkInvariants() -> [String] {
        var broken = Broken()
        checkSlots(&broken)
        checkLanes(&broken)
        checkCounters(&broken)
        broken.rules += deadlines.checkInvariants().map { "deadlines: \($0)" }
        broken.rules += idleQueue.checkInvariants().map { "idle queue: \($0)" }
        broken.rules += index.checkInvariants { KeyIndex.hash(slots[$0].pointee.key) }.map { "index: \($0)" }
        broken.rules += slots.checkInvariants().map { "slots: \($0)" }
        broken.rules += lanes.checkInvariants().map { "lanes: \($0)" }
        return broken.rules
    }

    private func checkSlots(_ broken: inout Broken) {
        var open = 0
        slots.forEach { place, slot in
            let slot = slot.pointee
            let gate = slot.gate
            let found = index.find(KeyIndex.hash(slot.key)) { slots[$0].pointee.key == slot.key }
            broken.unless(found == place, "the index finds key \(place) where it is")
            broken.unless(
                (slot.batch != nil) == (gate.count > 0), "key \(place) has values exactly if its gate counts some")
            broken.unless(gate.count == 0 || gate.isOpen, "the gate of key \(place) is open when something is pending")
            broken.unless(gate.isOpen || slot.lane != .max, "key \(place) is forgotten when nothing is left of it")
            let expected = setup.combination == .collect ? gate.count : 1
            broken.unless(
                slot.batch.map { $0.size == expected } ?? true, "key \(place) keeps the right number of values")
            let entry = DeadlineQueue.Entry(at: slot.scheduled, slot: place, birth: slot.birth)
            if slot.batch != nil {
                broken.unless(slot.scheduled <= gate.pendingDue(by: setup.policy), "key \(place) is looked at in time")
                broken.unless(ring <= slot.scheduled, "the alarm rings in time for key \(place)")
                broken.unless(
                    holds(entry, pending: true) && deadlines.contains(entry), "the deadlines have key \(place)")
            } else if gate.isOpen {
                broken.unless(slot.scheduled <= gate.quiet, "key \(place) is forgotten in time")
                broken.unless(
                    holds(entry, pending: false) && idleQueue.contains(entry), "key \(place) will be forgotten")
            }
            let isWaiting = slot.lane != .max && lanes[slot.lane].pointee.waiting != nil
            broken.unless(slot.isCounted == (gate.isOpen || isWaiting), "key \(place) is counted exactly if it is open")
            if slot.isCounted { open += 1 }
            broken.unless(slot.birth <= births, "the burst of key \(place) has begun")
            broken.unless(
                slot.lane == .max || lanes[slot.lane].pointee.slot == place, "key \(place) has a lane of its own")
        }
        broken.unless(index.count == slots.count, "the index has as many keys as there are")
        broken.unless(openCount == open, "\(open) keys are counted as open, not \(openCount)")
        broken.unless(recent == .max || slots.contains(recent), "the most recent key is there")
        let bound = 2 * slots.count + 64
        broken.unless(deadlines.count <= bound || deadlines.isCompacted, "the deadlines are compacted")
        broken.unless(idleQueue.count <= bound || idleQueue.isCompacted, "the idle queue is compacted")
    }

    private func checkLanes(_ broken: inout Broken) {
        var running = 0
        var awaited: [WaiterID: Int] = [:]
        lanes.forEach { place, lane in
            let lane = lane.pointee
            let runs = lane.others + (lane.run.map { [$0] } ?? [])
            running += runs.count
            broken.unless(
                slots.contains(lane.slot) && slots[lane.slot].pointee.lane == place, "lane \(place) has a key")
            broken.unless(!runs.isEmpty || lane.waiting != nil, "lane \(place) is not kept empty")
            broken.unless(
                runs.count < 2 || setup.whileRunning == .concurrent, "the runs of lane \(place) do not overlap")
            if let waiting = lane.waiting {
                let isBlocked = setup.whileRunning != .concurrent && !runs.isEmpty
                let index = Int(lane.queueIndex)
                let isQueued = index < slotQueue.count && slotQueue[index].lane == place
                let sizes = ([waiting.batch] + waiting.parts.compactMap { $0 }).map { $0.size }
                broken.unless(sizes.reduce(0, +) == waiting.size, "what waits in lane \(place) is counted")
                broken.unless(sizes.allSatisfy { $0 <= setup.maxBatch }, "no part in lane \(place) is too large")
                broken.unless(
                    sizes.dropLast().dropFirst().allSatisfy { $0 == setup.maxBatch }, "parts in lane \(place) are full")
                broken.unless(
                    !isQueued || slotQueue[index].turn == waiting.turn, "lane \(place) stands where it should")
                broken.unless(isBlocked != isQueued, "what waits in lane \(place) waits for its key or for a slot")
                broken.unless(
                    isBlocked || active >= setup.maxConcurrent || !sweeps.isEmpty,
                    "no slot is free while lane \(place) waits")
            } else {
                broken.unless(lane.queueIndex == .max, "lane \(place) does not queue with nothing waiting")
            }
            for ticket in runs.flatMap({ $0.tickets }) + (lane.waiting?.watches.map { $0.ticket } ?? []) {
                awaited[ticket, default: 0] += 1
            }
        }
        broken.unless(active == running, "\(running) executions are running, not \(active)")
        broken.unless(active <= setup.maxConcurrent, "no more executions run than may")
        for ticket in sweeps.compactMap({ $0.ticket }) { awaited[ticket, default: 0] += 1 }
        broken.unless(tickets == awaited, "every ticket waits for as many executions as have it")
        for child in 0..<slotQueue.count {
            let entry = slotQueue[child]
            broken.unless(
                child == 0 || !entry.precedes(slotQueue[(child - 1) / 2]), "the queue for slots is a heap")
            broken.unless(lanes[entry.lane].pointee.queueIndex == UInt32(child), "entry \(child) is known to its lane")
        }
    }

    private func checkCounters(_ broken: inout Broken) {
        var (pending, waiting, running) = (0, 0, 0)
        slots.forEach { _, slot in pending += slot.pointee.batch?.size ?? 0 }
        lanes.forEach { _, lane in
            waiting += lane.pointee.waiting?.size ?? 0
            running += (lane.pointee.run?.size ?? 0) + lane.pointee.others.reduce(0) { $0 + $1.size }
        }
        broken.unless(backlog == waiting, "\(waiting) submits wait, not \(backlog)")
        broken.unless(
            tally.pending == pending + waiting, "\(pending + waiting) submits are pending, not \(tally.pending)")
        broken.unless(tally.running == running, "\(running) submits are running, not \(tally.running)")
        broken.unless(tally.addUp, "the counters add up")
    }
}
