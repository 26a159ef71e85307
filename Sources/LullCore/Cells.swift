/// Where the keys and values of an engine lie, and how they are moved: what a ``SlotEngine``, which decides, leaves to
/// its owner.
///
/// The key lies in the cell of its slot, and behind it what is pending: exactly if the gate counts some submits. What
/// waits to start lies in the cell of the key's executions, if ``KeyExecutions/hasValues`` is set. That is one value,
/// and beside it the slot's or the executions' ``Companion``. Where all values are kept they are in the companion, a
/// ``Collected``.
///
/// No nested generic type, tuple or optional lies on the way of a value: unspecialised code looks up the metadata of
/// each, which takes hundreds of instructions.
@usableFromInline
package enum Cells<Key, Value> {
    @usableFromInline package typealias Slot = UnsafeMutablePointer<SlotEngine.Slot>
    package typealias Executions = UnsafeMutablePointer<KeyExecutions>

    // MARK: - Layout

    /// The least multiple of an alignment that is not less.
    @inlinable
    @inline(__always)
    static func align(_ offset: Int, _ alignment: Int) -> Int { (offset + alignment - 1) & ~(alignment - 1) }

    // A stride rather than a size: moving a value without a size, such as `()`, writes a byte.

    @inlinable
    @inline(__always)
    static var keyOffset: Int { align(MemoryLayout<SlotEngine.Slot>.stride, MemoryLayout<Key>.alignment) }

    /// The key of a slot.
    @inlinable
    @inline(__always)
    package static func key(of slot: Slot) -> UnsafeMutablePointer<Key> {
        (UnsafeMutableRawPointer(slot) + keyOffset).assumingMemoryBound(to: Key.self)
    }

    /// The value that is pending in a slot, unless all are kept.
    @inlinable
    @inline(__always)
    package static func value(of slot: Slot) -> UnsafeMutablePointer<Value> {
        (UnsafeMutableRawPointer(slot) + align(keyOffset + MemoryLayout<Key>.stride, MemoryLayout<Value>.alignment))
            .assumingMemoryBound(to: Value.self)
    }

    /// The value in a cell behind something else, for an owner that has such cells itself.
    package static func value<Header>(behind header: UnsafeMutablePointer<Header>) -> UnsafeMutablePointer<Value> {
        (UnsafeMutableRawPointer(header) + align(MemoryLayout<Header>.stride, MemoryLayout<Value>.alignment))
            .assumingMemoryBound(to: Value.self)
    }

    /// The values that are kept beside a slot's key, or wait at its executions, where all are.
    @inlinable
    @inline(__always)
    package static func collected(_ companion: Companion?) -> Collected<Value> {
        // Proof: where all values are kept, every companion is of this class, and there is one wherever there are
        // values.
        unsafeDowncast(companion.unsafelyUnwrapped, to: Collected<Value>.self)
    }

    /// A slab for slots whose cells have a key and a value; no value where all are kept.
    private static func slots(collects: Bool) -> Slab<SlotEngine.Slot> {
        let keyEnd = keyOffset + MemoryLayout<Key>.stride
        let valueAlignment = collects ? 1 : MemoryLayout<Value>.alignment
        let end = align(keyEnd, valueAlignment) + (collects ? 0 : MemoryLayout<Value>.stride)
        let alignment = max(MemoryLayout<SlotEngine.Slot>.alignment, MemoryLayout<Key>.alignment, valueAlignment)
        return Slab(stride: align(end, alignment), alignment: alignment) { from, to in
            key(of: to).moveInitialize(from: key(of: from), count: 1)
            if !collects, to.pointee.gate.count > 0 { value(of: to).moveInitialize(from: value(of: from), count: 1) }
        }
    }

    /// The stride and the alignment of something with a cell for a value behind it.
    package static func layout<Header>(of type: Header.Type) -> (stride: Int, alignment: Int) {
        let alignment = max(MemoryLayout<Header>.alignment, MemoryLayout<Value>.alignment)
        let end = align(MemoryLayout<Header>.stride, MemoryLayout<Value>.alignment) + MemoryLayout<Value>.stride
        return (align(end, alignment), alignment)
    }

    /// A slab for executions whose cells have a value, unless all are kept.
    private static func executions(collects: Bool) -> Slab<KeyExecutions> {
        guard !collects else { return Slab() }
        let (stride, alignment) = layout(of: KeyExecutions.self)
        return Slab(stride: stride, alignment: alignment) { from, to in
            if to.pointee.hasValues { value(behind: to).moveInitialize(from: value(behind: from), count: 1) }
        }
    }

    /// An engine with nothing pending.
    package static func engine(_ setup: Setup) -> SlotEngine {
        let collects = setup.combination == .collect
        return SlotEngine(setup, slots: slots(collects: collects), executions: executions(collects: collects))
    }

    /// Deinitialises all keys and values: the last thing that the owner of an engine does.
    package static func deinitialize(_ engine: borrowing SlotEngine) {
        let collects = engine.collects
        engine.slots.forEach { _, slot in
            key(of: slot).deinitialize(count: 1)
            if !collects, slot.pointee.gate.count > 0 { value(of: slot).deinitialize(count: 1) }
        }
        guard !collects else { return }
        engine.keyExecutions.forEach { _, executions in
            if executions.pointee.hasValues { value(behind: executions).deinitialize(count: 1) }
        }
    }

    /// Does the same, and destroys the engine: for an owner in another module, where Embedded Swift cannot.
    package static func destroy(_ engine: consuming SlotEngine) { deinitialize(engine) }

    // MARK: - Moves

    /// Places a submitted value as the core says. Afterwards `value` and `companion` are what the owner has to release:
    /// a displaced value, or a copy of the one that is kept.
    package static func place(
        _ value: inout Value, _ companion: inout Companion?, _ placement: Placement, in slot: Slot, collects: Bool
    ) {
        switch placement {
        case .alone where collects:
            slot.pointee.companion = Collected<Value>(value, companion)
            companion = nil
        case .alone:
            Self.value(of: slot).initialize(to: value)
            slot.pointee.companion = companion
            companion = nil
        case .instead:
            let pending = Self.value(of: slot)
            swap(&pending.pointee, &value)
            swap(&slot.pointee.companion, &companion)
        case .behind:
            collected(slot.pointee.companion).append(value, companion)
            companion = nil
        case .displaced, .shared, .undecided: break
        }
    }

    /// Keeps a value behind the pending ones, without a companion.
    @inlinable
    package static func append(_ value: Value, to slot: Slot) {
        collected(slot.pointee.companion).append(value, nil)
    }

    /// Moves out what is pending in a slot.
    ///
    /// - Parameter destination: Gets the value, unless all are kept.
    /// - Returns: The companion.
    package static func takePending(
        _ slot: Slot, to destination: UnsafeMutablePointer<Value>, collects: Bool
    ) -> Companion? {
        if !collects { destination.moveInitialize(from: value(of: slot), count: 1) }
        return slot.pointee.companion.take()
    }

    /// Moves out this number of the values that wait, from the front, or all if they are fewer.
    ///
    /// - Parameter destination: Gets the value, unless all are kept.
    /// - Returns: The companion.
    package static func takeWaiting(
        _ executions: Executions, _ count: Int, to destination: UnsafeMutablePointer<Value>, collects: Bool
    ) -> Companion? {
        if collects {
            let values = collected(executions.pointee.companion)
            if count < values.count { return values.takeFirst(count) }
        } else {
            destination.moveInitialize(from: value(behind: executions), count: 1)
        }
        executions.pointee.hasValues = false
        return executions.pointee.companion.take()
    }

    /// Moves out the first of several values that wait, or without executions of those that are pending in a slot.
    package static func takeFirst(_ slot: Slot, _ executions: Executions?) -> Companion {
        collected(executions.map { $0.pointee.companion } ?? slot.pointee.companion).takeFirst(1)
    }

    /// Moves what is pending in a slot to where it waits: behind what is there.
    package static func wait(_ slot: Slot, _ executions: Executions, collects: Bool) {
        if collects, executions.pointee.hasValues {
            collected(executions.pointee.companion).append(collected(slot.pointee.companion))
            slot.pointee.companion = nil
            return
        }
        if !collects { value(behind: executions).moveInitialize(from: value(of: slot), count: 1) }
        executions.pointee.companion = slot.pointee.companion.take()
        executions.pointee.hasValues = true
    }

    /// Keeps a copy of the values of an interrupted execution: in front of what waits there, or in its place, or alone.
    ///
    /// - Parameters:
    ///   - value: The value, unless all are kept; nil then. Afterwards what the owner has to release.
    ///   - companion: The companion. Afterwards the companion of what is displaced.
    /// - Returns: The fate of what is displaced, if anything is.
    package static func putBack(
        _ value: UnsafeMutablePointer<Value>?, _ companion: inout Companion?, to executions: Executions,
        _ combination: CombinationRule
    ) -> NotExecutedError? {
        if !executions.pointee.hasValues {
            if let value { Self.value(behind: executions).initialize(from: value, count: 1) }
            executions.pointee.companion = companion.take()
            executions.pointee.hasValues = true
            return nil
        }
        switch combination {
        case .collect:
            collected(executions.pointee.companion).prepend(collected(companion))
            companion = nil
            return nil
        case .first:
            if let value { swap(&Self.value(behind: executions).pointee, &value.pointee) }
            swap(&executions.pointee.companion, &companion)
            return .absorbed
        case .latest:
            return .superseded
        }
    }
}
