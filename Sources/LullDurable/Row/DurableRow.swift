package import LullCore

/// The state of one key in a durable store, and its transitions: the semantics of a durable debouncer, without a
/// database, a clock or a worker.
///
/// A store reads a row, calls the function for what happened with the instant at which it happened, and writes the row
/// back in the same atomic step. The functions return ranges that end in the step as ``EndedSubmits``, which the
/// store records in that step, too. Every submit of the key has a number, its *generation*. At any time the ranges of
/// the endings, the run, the ready and the pending value tile the generations from the first after ``born`` to
/// ``generation``, with no gap and no overlap.
///
/// A submit passes through these states:
///
/// | state | transition | next state |
/// |---|---|---|
/// | (new) | ``submit(_:at:wait:submitter:atLeast:by:_:)`` | pending; ready, if due; ended, if absorbed |
/// | ``pending`` | it falls due, or ``flush(at:by:_:)`` | ready |
/// | ``pending`` | ``cancel(at:by:_:)``, ``cancelPending(at:by:_:)`` | ended |
/// | ``ready`` | ``claim(_:at:by:sequence:rest:_:)`` | run, claimed |
/// | ``ready`` | ``cancel(at:by:_:)`` | ended |
/// | ``run``, claimed | ``complete(at:by:_:)``, or the last attempt has failed | ended |
/// | ``run``, claimed | ``fail(_:retry:at:by:_:)``, ``release(at:by:_:)`` | run, in backoff |
/// | ``run``, claimed | ``snooze(for:at:by:_:)`` | run, snoozed, which is a backoff without a failure |
/// | ``run``, claimed, interrupted | ``interrupted(at:by:_:)``, or it ends without being completed | ready or held |
/// | ``run``, claimed | another claim after the end of the lease | run, claimed; ended, if that was the last attempt |
/// | ``run``, in backoff | ``claim(_:at:by:sequence:rest:_:)`` | run, claimed |
/// | ``run``, in backoff | ``cancel(at:by:_:)``, or a newer value replaces a failed run | ended |
/// | ``run``, in backoff | a newer value, if the rules say to restart | ready or held |
/// | ended as dead | ``retry(_:newest:at:by:)`` | run, in backoff |
///
/// A *held* value is one that is ``ready`` and has no due instant (``Ready/isHeld``): it went back before anything
/// newer was due.
///
/// A key without a row is idle: no gate is open, and nothing is left to do.
package struct DurableRow: Hashable, Sendable {
    /// The number before the first submit of this row.
    package var born: Int64
    /// The number of the newest submit. A key never gets the same number twice.
    package var generation: Int64
    /// Every submit up to this one is in a claimed or an ended range.
    package var taken: Int64
    /// The state that determines when what is pending falls due.
    package var gate = Gate()
    /// The longest wait of a debounce, infinite without one, or the interval of a throttle; as it was at the latest
    /// submit.
    ///
    /// Changed durations apply from the next submit on. The quiet period is not needed: the gate has the instant at
    /// which it ends.
    package var span = CoreDuration.infinite
    /// The spacing of a debounce, zero without one; as it was at the latest submit.
    package var spacing = CoreDuration.zero
    /// The value that is not due yet. Submits change only this one.
    package var pending: Pending?
    /// The value that has fallen due and that no worker has claimed: frozen.
    package var ready: Ready?
    /// The run that a worker has claimed: at most one per key.
    package var run: Run?

    /// Creates the row of a key that had none.
    ///
    /// - Parameter base: A number that no submit of this key has exceeded: the highest ``generation`` of all rows that
    ///   the store has deleted.
    package init(base: Int64) {
        born = base
        generation = base
        taken = base
    }

    /// A value that is not due yet. The gate counts the submits behind it, and has the instant of the first.
    package struct Pending: Hashable, Sendable {
        /// The values.
        package var batch: Batch<DurablePayload>
        /// The instant of the latest submit behind it.
        package var last: CoreInstant
        /// The submitters of the submits behind it.
        package var submitter: Submitter

        /// Creates a pending value from what a store has of it.
        package init(batch: Batch<DurablePayload>, last: CoreInstant, submitter: Submitter = .unnamed) {
            self.batch = batch
            self.last = last
            self.submitter = submitter
        }
    }

    /// The submitters of a pending value, so that what comes from one submitter alone can be flushed or cancelled.
    package enum Submitter: Hashable, Sendable {
        /// No submit named its submitter.
        case unnamed
        /// All submits named this submitter.
        case one(Int64)
        /// The submits have several submitters, or some named theirs and some did not.
        case several

        /// Creates the value of a number, as stores hold it.
        package init(_ number: Int64?) {
            switch number {
            case nil: self = .unnamed
            case Self.severalNumber: self = .several
            case let number?: self = .one(number)
            }
        }

        /// The value as one number, as stores hold it; nil if no submitter was named.
        package var number: Int64? {
            switch self {
            case .unnamed: nil
            case .one(let number): number
            case .several: Self.severalNumber
            }
        }

        /// The number of ``several``, which is no submitter's number.
        package static let severalNumber: Int64 = 0
    }

    /// A value that has fallen due.
    package struct Ready: Hashable, Sendable {
        /// The values.
        package var batch: Batch<DurablePayload>
        /// The generations that the value covers.
        package var submits: ClosedRange<Int64>
        /// The number of submits behind the value. The range also covers submits that were absorbed while it was ready;
        /// they do not count.
        package var count: Int
        /// The instant of the oldest submit behind the value.
        package var first: CoreInstant
        /// When the value fell due; for values that became one, the earliest such instant. The far future for a held
        /// value (``isHeld``).
        package var due: CoreInstant
        /// Why the value fell due.
        package var cause: Cause
        /// For the rest of a batch, the instant from which it may start: when the part before it ended; for a value
        /// that a run between two attempts has joined, when it did. Nil for any other value, which may start when it
        /// has fallen due.
        package var since: CoreInstant?

        /// Creates a ready value from what a store has of it.
        package init(
            batch: Batch<DurablePayload>, submits: ClosedRange<Int64>, count: Int, first: CoreInstant, due: CoreInstant,
            cause: Cause, since: CoreInstant? = nil
        ) {
            self.batch = batch
            self.submits = submits
            self.count = count
            self.first = first
            self.due = due
            self.cause = cause
            self.since = since
        }

        /// The instant from which a worker may claim the value.
        package var startable: CoreInstant { since ?? due }
    }

    /// A run: a value that was handed to a worker, with the same id and the same range in every attempt.
    package struct Run: Hashable, Sendable {
        /// The value that was ready.
        package var value: Ready
        /// The id of the run, the same in every attempt.
        package var id: Int64
        /// The number of the latest claim, which grows with every claim; a worker that holds a lower one has lost the
        /// run.
        package var fence: Int64
        /// The worker that has or had the run.
        package var owner: Int64
        /// The number of the latest attempt, from 1.
        package var attempt: Int
        /// Whether a worker has the run.
        package var state: State
        /// How often it was snoozed.
        package var snoozes = 0
        /// When a worker got it for that attempt; nil if no attempt has begun.
        package var began: CoreInstant?
        /// The error of the latest failed attempt, in UTF-8: comparing strings would link the Unicode tables into
        /// Embedded programs.
        package var error: [UInt8]?
        /// When a newer value interrupted the run, which is never taken back; the far future if none ever does, because
        /// the run was dead before or cannot go back.
        package var mark: CoreInstant?

        /// Creates a run from what a store has of it.
        package init(
            value: Ready, id: Int64, fence: Int64, owner: Int64, attempt: Int, state: State,
            began: CoreInstant? = nil, error: [UInt8]? = nil, mark: CoreInstant? = nil
        ) {
            self.value = value
            self.id = id
            self.fence = fence
            self.owner = owner
            self.attempt = attempt
            self.state = state
            self.began = began
            self.error = error
            self.mark = mark
        }

        /// The state of a run between its claim and its end.
        package enum State: Hashable, Sendable {
            /// A worker has the run until this instant, and longer unless another worker claims it.
            case claimed(until: CoreInstant)
            /// No worker has the run; it may be claimed from this instant on.
            case backoff(until: CoreInstant)
            /// The same, and its handler has asked for that.
            case snoozed(until: CoreInstant)

            /// The instant from which the run may be claimed.
            package var end: CoreInstant {
                get {
                    switch self {
                    case .claimed(let end), .backoff(let end), .snoozed(let end): end
                    }
                }
                set {
                    switch self {
                    case .claimed: self = .claimed(until: newValue)
                    case .backoff: self = .backoff(until: newValue)
                    case .snoozed: self = .snoozed(until: newValue)
                    }
                }
            }
        }

        /// Whether no worker has the run.
        package var isInBackoff: Bool {
            if case .claimed = state { false } else { true }
        }

        /// Whether its handler has snoozed it.
        package var isSnoozed: Bool {
            if case .snoozed = state { true } else { false }
        }

        /// Whether a newer value takes its place when only the latest counts: it has failed, or was snoozed.
        package var givesWay: Bool { isInBackoff && (error != nil || isSnoozed) }
    }

    // MARK: - Queries

    /// The generations behind the pending value.
    package var pendingSubmits: ClosedRange<Int64>? { pending == nil ? nil : newestSubmits }

    /// The generations after those that are ready or taken.
    var newestSubmits: ClosedRange<Int64> { (ready?.submits.upperBound ?? taken) + 1...generation }

    /// Whether nothing is left of the key: the store deletes the row.
    package var isIdle: Bool { gate.phase == .idle && !hasWork }

    /// Returns whether the key has work or an open gate at `now`: a row that is kept for its spacing alone is not
    /// listed.
    package func isListed(at now: CoreInstant, by rules: DurableRules) -> Bool {
        var gate = gate
        return hasWork || gate.settle(at: now, by: policy(by: rules)) != nil || gate.isOpen
    }

    private var hasWork: Bool { pending != nil || ready != nil || run != nil }

    /// Returns the policy that applies to the row until its next submit.
    func policy(by rules: DurableRules) -> Policy {
        rules.policy.changed(span: span, spacing: spacing)
    }

    /// Returns when the pending value falls due.
    package func due(by rules: DurableRules) -> CoreInstant? {
        gate.due(by: policy(by: rules))
    }

    /// The instant from which a worker may claim something of this key in its present state: the end of a lease or a
    /// backoff, or the instant at which the ready value fell due.
    package var startable: CoreInstant? { run?.state.end ?? ready?.startable }

    /// Returns the first instant at which the row changes by itself or something may be claimed.
    package func wake(by rules: DurableRules) -> CoreInstant {
        let change = gate.phase == .idle ? .farFuture : gate.nextChange(by: policy(by: rules))
        return min(startable ?? .farFuture, change)
    }
}

/// A range of submits that ends: recorded once, in the step in which it does.
package struct EndedSubmits: Hashable, Sendable {
    /// The generations that end.
    package var submits: ClosedRange<Int64>
    /// How the range ends.
    package var how: EndKind
    /// The run, if the range had been claimed. The values of a dead run are retained, so that it can be retried.
    package var run: DurableRow.Run?

    /// Creates the end of a range that had not been claimed.
    init(_ submits: ClosedRange<Int64>, _ how: EndKind) {
        self.submits = submits
        self.how = how
    }

    /// Creates the end of a run.
    init(_ run: DurableRow.Run, _ how: EndKind) {
        submits = run.value.submits
        self.how = how
        self.run = run
    }
}

/// A value as a row holds it: its bytes, or a reference to the slot in which the store has them, so that a store need
/// not load what does not move.
///
/// A store that holds the values of ``/LullCore/CombinationRule/collect`` outside the row, each under its generation,
/// need not move them either: the ranges of the pending value, the ready value and the run determine which values
/// belong to which.
package enum DurablePayload: Hashable, Sendable {
    /// The bytes of one value, and the generation of its submit.
    case bytes([UInt8], of: Int64)
    /// All the values that the store has, before this step, in that slot of the row, in order.
    case stored(Slot)

    /// The slots of a row that can hold a value.
    package enum Slot: Hashable, Sendable {
        /// ``DurableRow/pending``.
        case pending
        /// ``DurableRow/ready``.
        case ready
        /// ``DurableRow/run``.
        case run
    }
}

// The rules that hold for a row between any two steps. Tests of stores check them, as do tests of other implementations
// of the steps.

extension DurableRow {
    /// Returns the rules of the row's own data that do not hold; empty unless there is a bug.
    package func checkInvariants() -> [String] {
        var broken = InvariantReport()
        broken.unless(born <= taken && taken <= generation, "born \(born) ≤ taken \(taken) ≤ generation \(generation)")
        broken.unless((pending != nil) == (gate.count > 0), "something is pending exactly if the gate counts it")
        broken.unless(pending == nil || gate.isOpen, "the gate is open while something is pending")
        broken.unless(pending != nil || gate.phase != .full, "a full gate has something pending")
        broken.unless(gate.phase != .resting || gate.latest > .farPast, "a resting gate has a latest due instant")
        broken.unless(gate.phase != .idle || gate.latest == .farPast, "an idle gate has no latest due instant")
        var next = taken
        if let ready {
            broken.unless(ready.submits.lowerBound == next + 1, "what is ready begins after \(next)")
            next = ready.submits.upperBound
        }
        if pending != nil {
            broken.unless(
                gate.count <= generation - next, "\(gate.count) submits are pending, from \(next + 1) to \(generation)")
        } else {
            broken.unless(next == generation, "the newest submit is \(next), not \(generation)")
        }
        if let ready {
            broken.unless(1...ready.submits.count ~= ready.count, "\(ready.count) submits are in \(ready.submits)")
            broken.unless(ready.first <= ready.due, "nothing is due before it was submitted")
            broken.unless(ready.due <= ready.startable, "nothing may start before it is due")
        }
        if let run {
            broken.unless(run.value.submits.upperBound <= taken, "the run's submits have been taken")
            broken.unless(run.fence >= run.id, "the run's fence is not older than the run")
            broken.unless(run.attempt >= (run.isInBackoff ? 0 : 1), "the run has had \(run.attempt) attempts")
            broken.unless(!run.isInterrupted || !run.isInBackoff, "no worker has the run, which is interrupted")
            broken.unless(
                ready?.isHeld != true || run.value.submits.upperBound <= taken && run.mark == .farFuture,
                "a value is held beside a run that could go back")
        }
        return broken.rules
    }
}
