// Keys and values: where they lie, and how they are moved.
//
// The cell of a slot has the key, and behind it what is pending: exactly if the gate counts some submits. The cell of a key's
// executions has what waits to start, if ``KeyExecutions/hasValues`` is set. Where all values are kept these are a ``Batch``
// and a ``WaitingValues``, otherwise one value. Which of them is known at run time, so that the latter needs no more memory.
//
// No nested generic type, tuple or optional lies on the way of a value that stays alone: unspecialised code looks up the
// metadata of each.
extension Engine {
    @inlinable
    @inline(__always)
    var collects: Bool { core.setup.combination == .collect }

    // MARK: - Layout

    /// The least multiple of an alignment that is not less.
    @inlinable
    @inline(__always)
    static func align(_ offset: Int, _ alignment: Int) -> Int { (offset + alignment - 1) & ~(alignment - 1) }

    /// The alignment of a value, and of a value with arrays beside it.
    @inlinable
    @inline(__always)
    static var valueAlignment: Int { max(MemoryLayout<Value>.alignment, MemoryLayout<UnsafeRawPointer>.alignment) }

    // A stride rather than a size: moving a value without a size, such as `()`, writes a byte.

    @inlinable
    @inline(__always)
    static var keyOffset: Int { align(MemoryLayout<SlotEngine.Slot>.stride, MemoryLayout<Key>.alignment) }

    @inlinable
    @inline(__always)
    static var valueOffset: Int { align(keyOffset + MemoryLayout<Key>.stride, valueAlignment) }

    @inlinable
    @inline(__always)
    static var waitingOffset: Int { align(MemoryLayout<KeyExecutions>.stride, valueAlignment) }

    @inlinable
    @inline(__always)
    static func key(of slot: UnsafeMutablePointer<SlotEngine.Slot>) -> UnsafeMutablePointer<Key> {
        (UnsafeMutableRawPointer(slot) + keyOffset).assumingMemoryBound(to: Key.self)
    }

    /// The pending value, unless all are kept.
    @inlinable
    @inline(__always)
    static func value(of slot: UnsafeMutablePointer<SlotEngine.Slot>) -> UnsafeMutablePointer<Value> {
        (UnsafeMutableRawPointer(slot) + valueOffset).assumingMemoryBound(to: Value.self)
    }

    /// The pending values, where all are kept.
    @inlinable
    @inline(__always)
    static func batch(of slot: UnsafeMutablePointer<SlotEngine.Slot>) -> UnsafeMutablePointer<Batch<Value>> {
        (UnsafeMutableRawPointer(slot) + valueOffset).assumingMemoryBound(to: Batch<Value>.self)
    }

    /// The value that waits, unless all are kept.
    @inlinable
    @inline(__always)
    static func waitingValue(of executions: UnsafeMutablePointer<KeyExecutions>) -> UnsafeMutablePointer<Value> {
        (UnsafeMutableRawPointer(executions) + waitingOffset).assumingMemoryBound(to: Value.self)
    }

    /// The values that wait, where all are kept.
    @inlinable
    @inline(__always)
    static func waitingValues(
        of executions: UnsafeMutablePointer<KeyExecutions>
    ) -> UnsafeMutablePointer<WaitingValues<Value>> {
        (UnsafeMutableRawPointer(executions) + waitingOffset).assumingMemoryBound(to: WaitingValues<Value>.self)
    }

    @inlinable
    static func slotSlab(collects: Bool) -> Slab<SlotEngine.Slot> {
        let size = collects ? MemoryLayout<Batch<Value>>.stride : MemoryLayout<Value>.stride
        let alignment = max(MemoryLayout<SlotEngine.Slot>.alignment, MemoryLayout<Key>.alignment, valueAlignment)
        return Slab(stride: align(valueOffset + size, alignment), alignment: alignment) { from, to in
            key(of: to).moveInitialize(from: key(of: from), count: 1)
            guard from.pointee.gate.count > 0 else { return }
            if collects {
                batch(of: to).moveInitialize(from: batch(of: from), count: 1)
            } else {
                value(of: to).moveInitialize(from: value(of: from), count: 1)
            }
        }
    }

    @inlinable
    static func executionsSlab(collects: Bool) -> Slab<KeyExecutions> {
        let values = collects ? MemoryLayout<WaitingValues<Value>>.stride : MemoryLayout<Value>.stride
        let alignment = max(MemoryLayout<KeyExecutions>.alignment, valueAlignment)
        return Slab(stride: align(waitingOffset + values, alignment), alignment: alignment) { from, to in
            guard to.pointee.hasValues else { return }
            if collects {
                waitingValues(of: to).moveInitialize(from: waitingValues(of: from), count: 1)
            } else {
                waitingValue(of: to).moveInitialize(from: waitingValue(of: from), count: 1)
            }
        }
    }

    @inlinable
    func deinitializeCells() {
        let collects = collects
        core.slots.forEach { _, slot in
            Self.key(of: slot).deinitialize(count: 1)
            guard slot.pointee.gate.count > 0 else { return }
            if collects {
                Self.batch(of: slot).deinitialize(count: 1)
            } else {
                Self.value(of: slot).deinitialize(count: 1)
            }
        }
        core.keyExecutions.forEach { _, executions in
            guard executions.pointee.hasValues else { return }
            if collects {
                Self.waitingValues(of: executions).deinitialize(count: 1)
            } else {
                Self.waitingValue(of: executions).deinitialize(count: 1)
            }
        }
    }

    // MARK: - Actions

    /// Does what the core asks for, and returns what is left for the driver.
    @inlinable
    mutating func takeActions() -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        takeActions(&actions)
        return actions
    }

    @inlinable
    mutating func takeActions(_ results: inout Actions<Key, Value>) {
        if core.movesAlarm {
            core.movesAlarm = false
            results.movesAlarm = true
        }
        if core.actionCount > 0 { perform(&results) }
    }

    /// Does what the core asks for. Values and keys leave in the results, to be released outside the driver's lock.
    @inlinable
    @inline(never)
    mutating func perform(_ results: inout Actions<Key, Value>) {
        for position in 0..<core.actionCount {
            switch core.actions[position] {
            case .start(let slot, let executions, let values, let serial, let due):
                let batch = executions == .max ? takePending(slot) : takeWaiting(executions, values)
                let run = RunID(slot: slot, serial: serial)
                let key = Self.key(of: core.slots[slot]).pointee
                results.add(.start(Execution(run: run, key: key, batch: batch, due: due)))
            case .wait(let slot, let executions): wait(slot, executions)
            case .settle(let slot, let fate):
                results.add(.settle(Self.key(of: core.slots[slot]).pointee, takePending(slot), fate))
            case .settleWaiting(let slot, let executions, let fate):
                let batch = takeWaiting(executions, .max)
                results.add(.settle(Self.key(of: core.slots[slot]).pointee, batch, fate))
            case .cancel(let run): results.add(.cancel(run))
            case .resume(let waiter): results.add(.resume(waiter))
            case .release(let slot):
                release(slot, &results)
            case .retire(let executions): core.free(executions: executions)
            }
        }
        core.clearActions()
    }

    @inlinable
    mutating func release(_ index: UInt32, _ results: inout Actions<Key, Value>) {
        let slot = core.slots[index]
        KeyIndex.check(KeyIndex.hash(Self.key(of: slot).pointee) == slot.pointee.hash)
        if !_isPOD(Key.self) { results.add(.release(Self.key(of: slot).move())) }
        core.free(slot: index)
    }

    /// Moves out what is pending in a slot.
    @inlinable
    @inline(__always)
    func takePending(_ index: UInt32) -> Batch<Value> {
        let slot = core.slots[index]
        return collects ? Self.batch(of: slot).move() : Batch(Self.value(of: slot).move())
    }

    /// Moves out this number of the values that wait, from the front, or all if they are fewer.
    @inlinable
    @inline(never)
    mutating func takeWaiting(_ index: UInt32, _ count: Int) -> Batch<Value> {
        let executions = core.keyExecutions[index]
        let values = Self.waitingValues(of: executions)
        if collects, count < values.pointee.count { return values.pointee.takeFirst(count) }
        executions.pointee.hasValues = false
        return collects ? values.move().takeAll() : Batch(Self.waitingValue(of: executions).move())
    }

    /// Keeps the values of an interrupted execution: in front of what waits there, or in its place, or alone.
    @inlinable
    @inline(never)
    mutating func putBack(_ values: Batch<Value>, of run: RunID, _ results: inout Actions<Key, Value>) {
        let slot = core.slots[run.slot]
        let executions = core.keyExecutions[slot.pointee.executions]
        let key = Self.key(of: slot).pointee
        if !executions.pointee.hasValues {
            if collects {
                Self.waitingValues(of: executions).initialize(to: WaitingValues(values))
            } else {
                Self.waitingValue(of: executions).initialize(to: values.value)
            }
            executions.pointee.hasValues = true
        } else if collects {
            let waiting = Self.waitingValues(of: executions)
            waiting.pointee.prepend(values)
        } else if core.setup.combination == .first {
            let waiting = Self.waitingValue(of: executions)
            results.add(.settle(key, Batch(waiting.pointee), .absorbed))
            waiting.pointee = values.value
        } else {
            results.add(.settle(key, values, .superseded))
        }
    }

    /// Moves what is pending in a slot to where it waits: behind what is there.
    @inlinable
    @inline(never)
    mutating func wait(_ index: UInt32, _ number: UInt32) {
        let (slot, executions) = (core.slots[index], core.keyExecutions[number])
        if !collects {
            Self.waitingValue(of: executions).moveInitialize(from: Self.value(of: slot), count: 1)
        } else if executions.pointee.hasValues {
            let values = Self.waitingValues(of: executions)
            values.pointee.append(Self.batch(of: slot).move())
        } else {
            Self.waitingValues(of: executions).initialize(to: WaitingValues(Self.batch(of: slot).move()))
        }
        executions.pointee.hasValues = true
    }
}

/// Values that wait to start, where all are kept (<doc:Semantics>, sections 7 and 8).
@usableFromInline
struct WaitingValues<Value> {
    /// The first values, in reverse: parts are taken from the end, which moves each value out once.
    @usableFromInline var front: [Value]
    /// The later ones.
    @usableFromInline var rest: Batch<Value>

    @inlinable
    init(_ batch: consuming Batch<Value>) {
        front = []
        rest = batch
    }

    @inlinable
    var count: Int { front.count + rest.size }

    @usableFromInline
    mutating func append(_ later: Batch<Value>) { rest.append(later) }

    @usableFromInline
    mutating func prepend(_ earlier: Batch<Value>) { front.append(contentsOf: earlier.values.reversed()) }

    /// Removes and returns the first values, fewer than all. The first time, all are moved.
    @usableFromInline
    mutating func takeFirst(_ count: Int) -> Batch<Value> {
        if front.count < count {
            front = rest.earlier.reversed() + front
            rest.earlier = []
        }
        var part: [Value] = []
        part.reserveCapacity(count - 1)
        for _ in 1..<count { part.append(front.removeLast()) }
        var batch = Batch(front.removeLast())
        batch.earlier = part
        return batch
    }

    /// All values.
    @inlinable
    consuming func takeAll() -> Batch<Value> {
        if !front.isEmpty { rest.earlier = front.reversed() + rest.earlier }
        return rest
    }
}
