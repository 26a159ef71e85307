// Submitting: sections 3 and 4 of the semantics.
extension Engine {
    /// Offers a value under a key (<doc:Semantics>, sections 3 and 4).
    ///
    /// `wait` is the delay of this call alone; a negative one counts as zero. A throttle ignores it.
    @inlinable
    public mutating func submit(
        _ value: consuming Value, for key: Key, at instant: CoreInstant, wait: CoreDuration? = nil
    ) -> Actions<Key, Value> {
        let place = slotIndex(of: key)
        switch submitFastPath(&value, at: place, at: instant, wait: wait) {
        case .displaced(let fate): return Actions(displaced: value, fate)
        case .collected: return Actions()
        case .needsSlowPath: return submitSlowPath(value, for: key, at: place, at: instant, wait: wait)
        }
    }

    /// What the short way of a submit has come to.
    @frozen
    @usableFromInline
    package enum FastPathResult {
        /// A value has lost its place, and this becomes of it.
        case displaced(Fate)
        /// The value is kept beside the others.
        case collected
        /// Nothing has been done: it is a case for ``Engine/submitSlowPath(_:for:at:at:wait:)``.
        case needsSlowPath
    }

    /// The short way of a submit: a burst goes on, and all that is left to do is to release a value.
    ///
    /// By far the most frequent case. It has no ``Actions``: to make them, look through them and release them took a quarter
    /// of a submit.
    ///
    /// - Parameters:
    ///   - value: What is submitted; afterwards the one that lost its place, to be released outside the shell's lock.
    ///   - place: What ``slotIndex(of:)`` says of the key.
    @inlinable
    @inline(__always)
    package mutating func submitFastPath(
        _ value: inout Value, at place: UInt32, at instant: CoreInstant, wait: CoreDuration?
    ) -> FastPathResult {
        let now = tick(instant)
        guard place != .max, !needsLongWay else { return .needsSlowPath }
        let slot = slots[place]
        guard slot.pointee.isOpen(beyond: now) else { return .needsSlowPath }
        // A copy decides, since it may turn out not to be as simple as that.
        var gate = slot.pointee.gate
        let decision = gate.submit(at: now, wait: wait, by: setup.policy)
        guard gate.quiet >= slot.pointee.scheduled else { return .needsSlowPath }
        let exchange: FastPathResult
        switch decision {
        case .join where gate.count > 1 && setup.combination == .latest:
            // Proof: another submit has joined before, so there is a batch.
            swap(&slot.pointee.batch!.value, &value)
            tally.superseded += 1
            exchange = .displaced(.superseded)
        case .join where gate.count > 1 && setup.combination == .collect:
            collect(value, into: slot)
            exchange = .collected
        case .join where gate.count > 1, .absorb:
            tally.absorbed += 1
            exchange = .displaced(.absorbed)
        default:
            return .needsSlowPath
        }
        slot.pointee.gate = gate
        tally.submitted += 1
        return exchange
    }

    @inlinable
    @inline(never)
    mutating func collect(_ value: Value, into slot: UnsafeMutablePointer<Slot>) {
        tally.pending += 1
        _ = slot.pointee.batch?.add(value, by: .collect)
    }

    /// The long way of a submit, which every case may go.
    ///
    /// - Parameter found: What ``slotIndex(of:)`` says of the key.
    @inlinable
    @inline(never)
    package mutating func submitSlowPath(
        _ value: consuming Value, for key: Key, at found: UInt32, at instant: CoreInstant, wait: CoreDuration?
    ) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = tick(instant)
        tally.submitted += 1
        guard !isClosed else {
            reject(value, .shutDown, &actions)
            return actions
        }
        var place = found == .max || reach(found, &actions) ? found : .max
        if place == .max || slots[place].pointee.gate.nextChangeOrIdle(by: setup.policy) <= now {
            place = beginBurst(key, place, now, &actions)
            actions.dueBeforeCall = UInt32(clamping: actions.more.count)
            guard place != .max else {
                reject(value, .overCapacity, &actions)
                return actions
            }
        }
        let slot = slots[place]
        let decision = slot.pointee.gate.submit(at: now, wait: wait, by: setup.policy)
        take(value, decision, place, &actions)
        return actions
    }

    /// Does with a value what its gate has decided.
    @inlinable
    mutating func take(
        _ value: consuming Value, _ decision: Gate.Decision, _ place: UInt32, _ actions: inout Actions<Key, Value>
    ) {
        let slot = slots[place]
        switch decision {
        case .join:
            let isFirst = slot.pointee.batch == nil
            combine(value, into: slot, &actions)
            if isFirst || slot.pointee.gate.quiet < slot.pointee.scheduled { schedule(place, &actions) }
        case .absorb:
            tally.absorbed += 1
            actions.displaced = value
            actions.fate = .absorbed
            if slot.pointee.gate.quiet < slot.pointee.scheduled { rest(place, &actions) }
        case .lead:
            tally.pending += 1
            let ripe = Gate.Due(at: now, edge: .leading, count: 1, first: now)
            fallDue(place, Batch(value), ripe, &actions)
            rest(place, &actions)
        case .complete(let ripe):
            combine(value, into: slot, &actions)
            fallDue(place, takeBatch(slot), ripe, &actions)
            rest(place, &actions)
        }
    }

    /// Combines a value with the pending ones, if there are any.
    @inlinable
    mutating func combine(
        _ value: consuming Value, into slot: UnsafeMutablePointer<Slot>, _ actions: inout Actions<Key, Value>
    ) {
        guard slot.pointee.batch != nil else {
            tally.pending += 1
            slot.pointee.batch = Batch(value)
            return
        }
        switch setup.combination {
        case .latest: tally.superseded += 1
        case .first: tally.absorbed += 1
        case .collect: tally.pending += 1
        }
        actions.displaced = slot.pointee.batch?.add(value, by: setup.combination)
        actions.fate = setup.combination.fateOfDisplaced
    }

    @inlinable
    @inline(never)
    mutating func reject(_ value: consuming Value, _ why: Rejection, _ actions: inout Actions<Key, Value>) {
        tally.rejected += 1
        actions.displaced = value
        actions.fate = .rejected(why)
    }
}
