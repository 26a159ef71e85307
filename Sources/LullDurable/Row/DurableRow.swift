public import LullCore

/// What a durable store keeps for one key, and every step that it can take: the meaning of a durable debouncer, without
/// a database, a clock or a worker.
///
/// A store reads a row, tells it what happened and at which instant, and writes it back in the same atomic step. What
/// comes to its end on the way is handed out as ``DurableEnding``s, which the store records in that step too. Every submit
/// of the key has a number, its *generation*; at any time the ranges of the endings, the run, the ready and the pending value
/// tile the generations from the first after ``born`` to ``generation``, with no gap and no overlap.
///
/// A key without a row is at rest: no gate is open, nothing is left to do.
public struct DurableRow: Hashable, Sendable {
    /// The number before the first submit of this row.
    public var born: Int64
    /// The number of the newest submit. A key never gets the same number twice.
    public var generation: Int64
    /// Every submit up to this one is in a claimed or an ended range.
    public var taken: Int64
    /// The state that decides when what is pending falls due.
    public var gate = Gate()
    /// The longest wait of a debounce, or the interval of a throttle, as it was at the latest submit: changed durations hold
    /// from the next submit on.
    public var span = CoreDuration.infinite
    /// What is not due yet. Submits change only this.
    public var pending: Pending?
    /// What has fallen due and no worker has taken: frozen.
    public var ready: Ready?
    /// What a worker has taken: at most one a key.
    public var run: Run?

    /// Makes the row of a key that had none.
    ///
    /// - Parameter base: A number that no submit of this key has exceeded: the highest ``generation`` of all rows that the
    ///   store has deleted.
    public init(base: Int64) {
        born = base
        generation = base
        taken = base
    }

    /// A value that is not due yet. The submits behind it, and the instant of the first, are the gate's to count.
    public struct Pending: Hashable, Sendable {
        /// The values.
        public var batch: Batch<DurablePayload>
        /// The instant of the latest submit behind it.
        public var last: CoreInstant
        /// Where the submits behind it come from.
        public var submitter: Submitter

        /// Makes a pending value from what a store has of it.
        public init(batch: Batch<DurablePayload>, last: CoreInstant, submitter: Submitter = .unnamed) {
            self.batch = batch
            self.last = last
            self.submitter = submitter
        }
    }

    /// Where submits come from, so that what one submitter alone has submitted can be flushed or cancelled.
    public enum Submitter: Hashable, Sendable {
        /// None of them named its submitter.
        case unnamed
        /// All of them named this one.
        case one(Int64)
        /// They have several submitters, or some named theirs and some did not.
        case several

        /// The submitter of submits that named this number.
        public init(_ number: Int64?) {
            switch number {
            case nil: self = .unnamed
            case Self.severalNumber: self = .several
            case let number?: self = .one(number)
            }
        }

        /// The same as one number, as stores keep it; nil if none was named.
        public var number: Int64? {
            switch self {
            case .unnamed: nil
            case .one(let number): number
            case .several: Self.severalNumber
            }
        }

        /// No submitter's number.
        public static let severalNumber: Int64 = 0
    }

    /// A value that has fallen due.
    public struct Ready: Hashable, Sendable {
        /// The values.
        public var batch: Batch<DurablePayload>
        /// The generations that it covers.
        public var submits: ClosedRange<Int64>
        /// The number of submits behind it. Ones that were absorbed while it was ready are covered, but not behind it.
        public var count: Int
        /// The instant of the oldest submit behind it.
        public var first: CoreInstant
        /// When it fell due; of values that became one, the oldest such instant.
        public var due: CoreInstant
        /// Why it fell due.
        public var edge: Edge
        /// Of the rest of a batch, since when it may start: since the part before it ended. Nil of anything else, which may
        /// start when it has fallen due.
        public var since: CoreInstant?

        /// Makes a ready value from what a store has of it.
        public init(
            batch: Batch<DurablePayload>, submits: ClosedRange<Int64>, count: Int, first: CoreInstant, due: CoreInstant,
            edge: Edge, since: CoreInstant? = nil
        ) {
            self.batch = batch
            self.submits = submits
            self.count = count
            self.first = first
            self.due = due
            self.edge = edge
            self.since = since
        }

        /// From when on a worker may claim it.
        public var startable: CoreInstant { since ?? due }
    }

    /// A run: a value that was handed to a worker, with the same range and the same name in every attempt.
    public struct Run: Hashable, Sendable {
        /// What was ready, as it was.
        public var value: Ready
        /// Names the run in every attempt.
        public var id: Int64
        /// Grows with every claim; a worker that holds a lower one has lost the run.
        public var fence: Int64
        /// The worker that has it, or had it.
        public var owner: Int64
        /// How often it has been handed out, from 1.
        public var attempt: Int
        /// Whether a worker has it.
        public var state: State
        /// Why its latest attempt failed, in UTF-8: comparing strings would bring the tables of Unicode into Embedded programs.
        public var error: [UInt8]?

        /// Makes a run from what a store has of it.
        public init(
            value: Ready, id: Int64, fence: Int64, owner: Int64, attempt: Int, state: State, error: [UInt8]? = nil
        ) {
            self.value = value
            self.id = id
            self.fence = fence
            self.owner = owner
            self.attempt = attempt
            self.state = state
            self.error = error
        }

        /// Where a run is between its claim and its end.
        public enum State: Hashable, Sendable {
            /// A worker has it until this instant, and longer if nobody else takes it.
            case claimed(until: CoreInstant)
            /// No worker has it; it may be claimed from this instant on.
            case backoff(until: CoreInstant)

            /// From when on it may be claimed.
            public var end: CoreInstant {
                switch self {
                case .claimed(let end), .backoff(let end): end
                }
            }
        }

        /// Whether no worker has it.
        public var isInBackoff: Bool {
            if case .backoff = state { true } else { false }
        }
    }

    // MARK: - Questions

    /// The generations behind what is pending.
    public var pendingSubmits: ClosedRange<Int64>? {
        pending == nil ? nil : generation - Int64(gate.count) + 1...generation
    }

    /// Whether nothing is left of the key: the store deletes the row.
    public var isAtRest: Bool { !gate.isOpen && pending == nil && ready == nil && run == nil }

    /// When what is pending falls due.
    public func due(by rules: DurableRules) -> CoreInstant? {
        gate.due(by: rules.policy(over: span))
    }

    /// From when on a worker may claim something of this key, as it is: the end of a lease, of a backoff, or the instant at
    /// which the ready value fell due.
    public var startable: CoreInstant? { run?.state.end ?? ready?.startable }

    /// The first instant at which the row has something to tell: nothing happens to it earlier by itself.
    public func wake(by rules: DurableRules) -> CoreInstant {
        let change = gate.isOpen ? gate.nextChange(by: rules.policy(over: span)) : .farFuture
        return min(startable ?? .farFuture, change)
    }
}

/// The settings that all keys of a namespace share: when values fall due, and how they are combined.
public struct DurableRules: Hashable, Sendable {
    /// When values fall due.
    public var policy: Policy
    /// How the values behind one run become one.
    public var combination: Combination
    /// How many values one run gets at most, if there is a limit (<doc:Semantics>, section 8). Holds from the next claim on.
    public let maxBatch: Int?

    /// Makes the rules of a namespace without a limit on what one run gets.
    public init(_ policy: Policy, combination: Combination = .latest) {
        self.policy = policy
        self.combination = combination
        maxBatch = nil
    }

    /// Makes the rules of a namespace with a limit on what one run gets; nil for none.
    ///
    /// - Throws: ``/LullCore/PolicyError`` if the limit is less than 1, or if a run gets a single value anyway.
    public init(_ policy: Policy, combination: Combination, maxBatch: Int?) throws(PolicyError) {
        if let maxBatch {
            if maxBatch < 1 { throw .maxBatchBelowOne(maxBatch) }
            if combination != .collect { throw .maxBatchOfOneValue(maxBatch) }
        }
        self.policy = policy
        self.combination = combination
        self.maxBatch = maxBatch
    }

    /// Whether a claim takes only the first values of what is ready.
    public func splits(_ ready: DurableRow.Ready) -> Bool {
        combination == .collect && ready.count > maxBatch ?? .max
    }

    /// The policy as it was at a row's latest submit, as far as it matters until the next one.
    func policy(over span: CoreDuration) -> Policy {
        policy.kind == .throttle ? policy.changed(wait: span) : policy.changed(longestWait: span)
    }
}

/// A value as a row holds it: its bytes, or where the store has them, so that a store need not load what does not move.
///
/// A store that holds the values of ``/LullCore/Combination/collect`` beside the row, each under its generation, need not move them either:
/// the ranges of the pending value, of the ready one and of the run say which are whose.
public enum DurablePayload: Hashable, Sendable {
    /// The bytes of one value, and the generation of its submit.
    case bytes([UInt8], of: Int64)
    /// What lies, as the store has it before this step, in that place of the row: all the values there, in order.
    case stored(Place)

    /// The places of a row in which a value can lie.
    public enum Place: Hashable, Sendable {
        /// ``DurableRow/pending``.
        case pending
        /// ``DurableRow/ready``.
        case ready
        /// ``DurableRow/run``.
        case run
    }
}

/// The end of a range of submits: recorded once, in the step in which it happens.
public struct DurableEnding: Hashable, Sendable {
    /// The generations that end.
    public var submits: ClosedRange<Int64>
    /// How they end.
    public var how: How
    /// The run, if the range had been claimed. Of a dead one the values are kept, so that it can be tried again.
    public var run: DurableRow.Run?

    /// How a range ends.
    public enum How: Hashable, Sendable, CaseIterable {
        /// The handler returned.
        case completed
        /// The handler threw, and a newer value of the key took the run's place.
        case failed
        /// It was cancelled before a worker had it.
        case cancelled
        /// It fell into a leading-only window that another value had opened.
        case absorbed
        /// Every attempt that it was allowed has failed.
        case dead

        /// The name of the end as stores and reports write it.
        public var name: StaticString {
            switch self {
            case .completed: "completed"
            case .failed: "failed"
            case .cancelled: "cancelled"
            case .absorbed: "absorbed"
            case .dead: "dead"
            }
        }
    }

    /// The end of a range that had not been claimed.
    init(_ submits: ClosedRange<Int64>, _ how: How) {
        self.submits = submits
        self.how = how
    }

    /// The end of a run.
    init(_ run: DurableRow.Run, _ how: How) {
        submits = run.value.submits
        self.how = how
        self.run = run
    }
}
