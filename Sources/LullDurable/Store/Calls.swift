public import LullCore

// What callers of a store say, and what it answers.

/// A submit as a store is given it, with key and value as bytes; for implementers of a store.
public struct DurableSubmission: Hashable, Sendable {
    /// The name of the namespace.
    public var namespace: String
    /// The bytes of its key.
    public var key: [UInt8]
    /// The bytes of the value.
    public var value: [UInt8]
    /// The quiet period of this submit in place of the namespace's, if it has one.
    public var wait: CoreDuration?
    /// A name for the submit: repeated with the same token, it counts once.
    public var token: String?
    /// Where it comes from: a random number, new at each start of a process, so that the process can flush or cancel
    /// what it alone has submitted. Nil, and 0, are nobody's.
    public var submitter: Int64?

    /// Makes a submit; without `wait`, `token` and `submitter`, an ordinary one.
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

/// The receipt for a submit that has been recorded: what ``DurableDebouncer/state(of:)`` and
/// ``DurableDebouncer/wait(for:atMost:)`` take, in any process that uses the store. It is `Codable`, so it can be kept.
public struct DurableReceipt: Hashable, Sendable, Codable {
    /// The name of the namespace.
    public var namespace: String
    /// The bytes of its key.
    public var key: [UInt8]
    /// The number of the submit: greater than those of all earlier submits of the key.
    public var generation: Int64
    /// How long after the submit the value is due if nothing more is submitted: zero if at once, nil if it was
    /// absorbed.
    public var dueIn: Duration?
    /// When the value is due, in nanoseconds of the store's own time; nil if it was absorbed.
    public var due: Int64?

    /// Makes a receipt; for implementers of a store.
    public init(namespace: String, key: [UInt8], generation: Int64, dueIn: Duration?, due: Int64?) {
        self.namespace = namespace
        self.key = key
        self.generation = generation
        self.dueIn = dueIn
        self.due = due
    }
}

/// What a worker asks a store for when it can take more runs; for implementers of a store.
public struct DurableClaim: Hashable, Sendable {
    /// The name of the namespace.
    public var namespace: String
    /// The worker, the lease that it asks for, and how many attempts a run may have.
    public var terms: DurableRow.Claim
    /// The ids of the runs that the worker knows it has. Other runs that are leased to it are handed out again: the
    /// answer that held them was lost.
    public var holding: [Int64]
    /// How many more runs it can take.
    public var limit: Int

    /// Makes a claim.
    public init(namespace: String, terms: DurableRow.Claim, holding: [Int64] = [], limit: Int) {
        self.namespace = namespace
        self.terms = terms
        self.holding = holding
        self.limit = limit
    }

    /// What a store answers to a claim.
    public struct Answer: Hashable, Sendable {
        /// The runs that are now the worker's.
        public var runs: [DurableRun]
        /// Runs that this call has found dead, since the lease of their last attempt had expired; without their values.
        public var dead: [DurableRun]
        /// For how long nothing more can be claimed unless something is submitted: zero if the limit was reached, nil
        /// if nothing is left.
        public var next: Duration?
        /// What to give to ``DurableStore/wait(in:after:atMost:)``, so that nothing submitted since is missed.
        public var mark: Int64

        /// Makes an answer.
        public init(runs: [DurableRun], dead: [DurableRun] = [], next: Duration?, mark: Int64) {
            self.runs = runs
            self.dead = dead
            self.next = next
            self.mark = mark
        }
    }
}

/// A run as a store hands it to a worker, with key and values as bytes; its handler sees a ``DurableExecution``.
public struct DurableRun: Hashable, Sendable {
    /// The bytes of its key.
    public var key: [UInt8]
    /// The bytes of its values: one, or with `collect` all of them in order.
    public var values: [[UInt8]]
    /// The same in every attempt: ``DurableExecution/runID``.
    public var id: Int64
    /// Grows with every claim of the key: ``DurableExecution/fence``.
    public var fence: Int64
    /// The numbers of the submits that it stands for: see ``DurableReceipt/generation``.
    public var submits: ClosedRange<Int64>
    /// The number of submits behind it.
    public var count: Int
    /// Why it fell due.
    public var edge: Edge
    /// When it fell due, in the store's time.
    public var due: CoreInstant
    /// The instant of the oldest submit behind it, in the store's time.
    public var first: CoreInstant
    /// How often it has been started, from 1.
    public var attempt: Int

    /// Makes what a worker is given from a row's run; for implementers of a store.
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

/// What a worker says of a run that it has; for implementers of a store.
public struct DurableReport: Hashable, Sendable {
    /// The name of the namespace.
    public var namespace: String
    /// The bytes of its key.
    public var key: [UInt8]
    /// The id of the run.
    public var run: Int64
    /// The fence with which the worker has it: the report counts only if the run still has it.
    public var fence: Int64
    /// The number of the worker.
    public var owner: Int64
    /// What it says of the run.
    public var word: Word

    /// Makes a report.
    public init(namespace: String, key: [UInt8], run: Int64, fence: Int64, owner: Int64, _ word: Word) {
        self.namespace = namespace
        self.key = key
        self.run = run
        self.fence = fence
        self.owner = owner
        self.word = word
    }

    /// What a worker can say of a run.
    public enum Word: Hashable, Sendable {
        /// The handler is still running; the lease is to last for this time from now.
        case heartbeat(lease: CoreDuration)
        /// The handler returned.
        case completed
        /// The handler threw, with this text. The run may be tried again after a time; nil if that was its last
        /// attempt.
        case failed(String, retry: CoreDuration?)
        /// The run goes back to the store without having spent an attempt.
        case released
    }

    /// What a store answers to a report.
    public enum Answer: Hashable, Sendable {
        /// The report has been recorded.
        case accepted
        /// The same report had been recorded before: an answer was lost.
        case alreadyDone
        /// The run is no longer the worker's: another worker has taken it over. Nothing was recorded.
        case leaseLost
    }
}

/// The answers to several calls of a worker that were made together: see ``DurableStore/exchange(_:_:)``.
public struct DurableExchange: Sendable {
    /// One for each report, in their order.
    public var reports: [Result<DurableReport.Answer, DurableError>]
    /// The answer to the claim, if there was one.
    public var claim: Result<DurableClaim.Answer, DurableError>?

    /// Makes answers; for implementers of a store.
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
