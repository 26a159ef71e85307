public import LullCore

// What callers of a store say, and what it answers.

/// A value that is to be kept and executed.
public struct DurableSubmission: Hashable, Sendable {
    /// Where its key belongs.
    public var namespace: String
    /// The bytes of its key.
    public var key: [UInt8]
    /// The bytes of the value.
    public var value: [UInt8]
    /// The delay of this call alone.
    public var wait: CoreDuration?
    /// Names the submit, so that it can be repeated when its answer was lost: it counts once.
    public var token: String?
    /// Where it comes from: a random number, new at each start of a process, so that the process can flush or cancel what it
    /// alone has submitted. Nil, and 0, are nobody's.
    public var submitter: Int64?

    /// A submit of these parts.
    public init(
        namespace: String, key: [UInt8], value: [UInt8], wait: CoreDuration? = nil, token: String? = nil,
        submitter: Int64? = nil
    ) {
        self.namespace = namespace
        self.key = key
        self.value = value
        self.wait = wait
        self.token = token
        self.submitter = submitter
    }
}

/// The proof that a submit has been recorded: it will be executed, whatever dies.
public struct DurableReceipt: Hashable, Sendable, Codable {
    /// Where its key belongs.
    public var namespace: String
    /// The bytes of its key.
    public var key: [UInt8]
    /// Its number among the submits of the key: greater than all earlier ones.
    public var generation: Int64
    /// For how long it waits if nothing more is submitted; zero if it is due already, nil if it was absorbed.
    public var dueIn: Duration?
    /// When it is due, in nanoseconds of the store's own time; nil if it was absorbed.
    public var due: Int64?

    /// A receipt of these parts.
    public init(namespace: String, key: [UInt8], generation: Int64, dueIn: Duration?, due: Int64?) {
        self.namespace = namespace
        self.key = key
        self.generation = generation
        self.dueIn = dueIn
        self.due = due
    }
}

/// A worker's call for something to do.
public struct DurableClaim: Hashable, Sendable {
    /// Where to look.
    public var namespace: String
    /// Who asks, with its lease and its limit of attempts.
    public var terms: DurableRow.Claim
    /// The ids of the runs that the worker has. Others that are leased to it are handed out again: their answer was lost.
    public var holding: [Int64]
    /// How many more it can take.
    public var limit: Int

    /// A claim of these parts.
    public init(namespace: String, terms: DurableRow.Claim, holding: [Int64] = [], limit: Int) {
        self.namespace = namespace
        self.terms = terms
        self.holding = holding
        self.limit = limit
    }

    /// What there is to do.
    public struct Answer: Hashable, Sendable {
        /// The runs that are now the worker's.
        public var runs: [DurableRun]
        /// Runs that are dead since this call, as the lease of their last attempt had expired; without their values.
        public var dead: [DurableRun]
        /// How long nothing more can be claimed, if nothing is submitted; zero if the limit was reached, nil if nothing is left.
        public var next: Duration?
        /// For ``DurableStore/wait(in:after:atMost:)``.
        public var mark: Int64

        /// An answer of these parts.
        public init(runs: [DurableRun], dead: [DurableRun] = [], next: Duration?, mark: Int64) {
            self.runs = runs
            self.dead = dead
            self.next = next
            self.mark = mark
        }
    }
}

/// A run as a worker has it.
public struct DurableRun: Hashable, Sendable {
    /// The bytes of its key.
    public var key: [UInt8]
    /// The bytes of its values: one, or with `collect` all of them in order.
    public var values: [[UInt8]]
    /// The same in every attempt: an idempotency key.
    public var id: Int64
    /// Greater than that of everybody who had the run before: for whoever stands behind the handler and refuses stale writers.
    public var fence: Int64
    /// The generations that it covers.
    public var submits: ClosedRange<Int64>
    /// The number of submits behind it.
    public var count: Int
    /// Why it fell due.
    public var edge: Edge
    /// When it fell due, and the instant of the oldest submit behind it, in the store's time.
    public var due: CoreInstant
    /// The instant of the oldest submit behind it, in the store's time.
    public var first: CoreInstant
    /// From 1.
    public var attempt: Int

    /// A run of these parts.
    public init(key: [UInt8], values: [[UInt8]], run: DurableRow.Run) {
        self.key = key
        self.values = values
        id = run.id
        fence = run.fence
        submits = run.value.submits
        count = run.value.count
        edge = run.value.edge
        due = run.value.due
        first = run.value.first
        attempt = run.attempt
    }
}

/// A worker's word about a run that it has.
public struct DurableReport: Hashable, Sendable {
    /// Where its key belongs.
    public var namespace: String
    /// The bytes of its key.
    public var key: [UInt8]
    /// The run.
    public var run: Int64
    /// The fence with which the worker has it.
    public var fence: Int64
    /// The worker.
    public var owner: Int64
    /// What it says.
    public var word: Word

    /// A report of these parts.
    public init(namespace: String, key: [UInt8], run: Int64, fence: Int64, owner: Int64, _ word: Word) {
        self.namespace = namespace
        self.key = key
        self.run = run
        self.fence = fence
        self.owner = owner
        self.word = word
    }

    /// What can be said about a run.
    public enum Word: Hashable, Sendable {
        /// It goes on; the lease is to last for this time from now.
        case heartbeat(lease: CoreDuration)
        /// The handler returned.
        case completed
        /// The handler threw. After a time the run may be tried again; nil if it has had all its attempts.
        case failed(String, retry: CoreDuration?)
        /// It was not tried, and goes back: no attempt is spent.
        case released
    }

    /// What the store says to that.
    public enum Answer: Hashable, Sendable {
        /// It has been recorded.
        case accepted
        /// The same has been recorded before: an answer was lost.
        case alreadyDone
        /// The run is no longer the worker's.
        case leaseLost
    }
}

/// The answers to several calls of a worker: see ``DurableStore/exchange(_:_:)``.
public struct DurableExchange: Sendable {
    /// One for each report, in their order.
    public var reports: [Result<DurableReport.Answer, DurableError>]
    /// The answer to the claim, if there was one.
    public var claim: Result<DurableClaim.Answer, DurableError>?

    /// Answers of these parts.
    public init(
        reports: [Result<DurableReport.Answer, DurableError>], claim: Result<DurableClaim.Answer, DurableError>?
    ) {
        self.reports = reports
        self.claim = claim
    }

    /// The answers where nothing was done.
    package init(_ reports: [DurableReport], _ claim: DurableClaim?, failed error: DurableError) {
        self.init(reports: reports.map { _ in .failure(error) }, claim: claim.map { _ in .failure(error) })
    }
}
