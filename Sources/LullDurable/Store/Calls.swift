public import LullCore

// The arguments and answers of a store's calls.

/// A submit as a store receives it, with key and value as bytes.
package struct DurableSubmission: Hashable, Sendable {
    /// The name of the namespace.
    package var namespace: String
    /// The bytes of the key: at most ``DurableLimits/longestKey``.
    package var key: [UInt8]
    /// The bytes of the value.
    package var value: [UInt8]
    /// The quiet period of this submit, in place of the namespace's; nil for none of its own.
    package var wait: CoreDuration?
    /// A name for the submit: a submit that is repeated with the same token counts once.
    package var token: String?
    /// The submitter: a random number, new at each start of a process, with which the process can flush or cancel what
    /// it alone has submitted. Nil and 0 identify no submitter.
    package var submitter: Int64?
    /// Text that travels with the value, such as a `traceparent`: at most ``DurableLimits/longestContext`` bytes; nil
    /// for none. The empty text is none, too.
    package var context: String?

    /// Creates a submit, by default without a delay, a token, a submitter and a context.
    package init(
        namespace: String, key: [UInt8], value: [UInt8], wait: CoreDuration? = nil, token: String? = nil,
        submitter: Int64? = nil, context: String? = nil
    ) {
        self.namespace = namespace
        self.key = key
        self.value = value
        self.wait = wait
        self.token = token
        self.submitter = submitter
        self.context = context
    }

    /// Throws ``DurableError/keyTooLong(bytes:limit:)``, ``DurableError/tooLarge(bytes:limit:)`` or
    /// ``DurableError/contextTooLong(bytes:limit:)`` if the key, the value or the context has more bytes than is
    /// allowed: a store's ``StoreCalls/submit(_:)`` begins with it.
    package func checkSize(by limits: DurableLimits) throws(DurableError) {
        guard key.count <= DurableLimits.longestKey else {
            throw .keyTooLong(bytes: key.count, limit: DurableLimits.longestKey)
        }
        guard value.count <= limits.largestValue else {
            throw .tooLarge(bytes: value.count, limit: limits.largestValue)
        }
        guard let context else { return }
        guard context.utf8.count <= DurableLimits.longestContext else {
            throw .contextTooLong(bytes: context.utf8.count, limit: DurableLimits.longestContext)
        }
    }
}

/// The receipt for a submit that has been recorded.
///
/// Pass it to ``DurableCoalescer/state(of:)`` or ``DurableCoalescer/wait(for:atMost:)``, in any process that uses the
/// store. It is `Codable`, so you can save it.
public struct DurableReceipt: Hashable, Sendable, Codable {
    /// The name of the namespace.
    public var namespace: String
    /// The bytes of the key.
    public var key: [UInt8]
    /// The number of the submit: greater than those of all earlier submits of the key.
    public var generation: Int64
    /// How long after the submit the value falls due if nothing more is submitted, by the clock of the store: zero if
    /// it is due at once, nil if it was absorbed.
    public var dueIn: Duration?
    /// When the value falls due, in nanoseconds of the store's own time; nil if it was absorbed.
    package var due: Int64?

    /// Creates a receipt.
    package init(namespace: String, key: [UInt8], generation: Int64, dueIn: Duration?, due: Int64?) {
        self.namespace = namespace
        self.key = key
        self.generation = generation
        self.dueIn = dueIn
        self.due = due
    }
}

/// A worker's request for runs.
package struct DurableClaim: Hashable, Sendable {
    /// The name of the namespace.
    package var namespace: String
    /// The worker, the lease that it wants, and how many attempts a run may have.
    package var terms: Terms
    /// The ids of the runs that the worker knows it has. The store hands out again every other run that is leased to
    /// it: the answer with that run was lost.
    package var holding: [Int64]
    /// How many more runs the worker can take.
    package var limit: Int

    /// Creates a claim.
    package init(namespace: String, terms: Terms, holding: [Int64] = [], limit: Int) {
        self.namespace = namespace
        self.terms = terms
        self.holding = holding
        self.limit = limit
    }

    /// The terms of a claim.
    package struct Terms: Hashable, Sendable {
        /// The worker's number: random, and new at each of its starts.
        package var owner: Int64
        /// How long a run is the worker's unless the worker renews the lease.
        package var lease: CoreDuration
        /// How many attempts a run has before it is dead.
        package var maxAttempts: Int

        /// Creates the terms of a claim.
        package init(owner: Int64, lease: CoreDuration, maxAttempts: Int) {
            self.owner = owner
            self.lease = lease
            self.maxAttempts = maxAttempts
        }
    }

    /// The answer to a claim.
    package struct Answer: Hashable, Sendable {
        /// The runs that are now the worker's.
        package var runs: [DurableRun]
        /// Runs that died in this call because the lease of their last attempt had expired; without their values.
        package var dead: [DurableRun]
        /// How long it takes until more can be claimed, if nothing is submitted: zero if the limit was reached, nil if
        /// nothing is left.
        package var next: Duration?
        /// The argument for ``StoreCalls/wait(in:after:atMost:)`` with which no later submit is missed.
        package var mark: Int64
        /// Why and since when the namespace is paused, so that there are no runs; nil if it is not.
        package var pause: DurablePause?
        /// The instant of the claim in the store's time.
        package var now: CoreInstant?

        /// Creates an answer.
        package init(
            runs: [DurableRun], dead: [DurableRun] = [], next: Duration?, mark: Int64, pause: DurablePause? = nil
        ) {
            self.runs = runs
            self.dead = dead
            self.next = next
            self.mark = mark
            self.pause = pause
        }
    }
}

/// A run as a store hands it to a worker, with key and values as bytes. The handler receives a ``DurableExecution``.
public struct DurableRun: Hashable, Sendable, Identifiable {
    /// The number of a run, which no other run of the store has, and which is the same in every attempt.
    ///
    /// Its text is the number in decimal digits, as `lull` and logs show it: send it along as an idempotency key.
    public struct ID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The number, greater than zero.
        public let rawValue: Int64

        /// Creates the id with a number, such as one that was saved or typed.
        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }

        /// The number in decimal digits.
        public var description: String { "\(rawValue)" }
    }

    /// The bytes of the key.
    public var key: [UInt8]
    /// The bytes of the values: one, or with `collect` all of them in order.
    public var values: [[UInt8]]
    /// The id, the same in every attempt: ``DurableExecution/runID``.
    public var id: ID { ID(rawValue: number) }
    package var number: Int64
    /// The fence, which grows with every claim of the key: ``DurableExecution/fence``.
    public var fence: Int64
    /// The numbers of the submits that the run covers: see ``DurableReceipt/generation``.
    public var submits: ClosedRange<Int64>
    /// The number of submits behind the run.
    public var count: Int
    /// Why the run fell due.
    public var cause: Cause
    /// When the run fell due, in the store's time.
    package var due: CoreInstant
    /// The instant of the oldest submit behind the run, in the store's time.
    package var first: CoreInstant
    /// The number of this attempt, from 1.
    public var attempt: Int
    /// The context of the last of the values: see ``DurableExecution/context``; nil if it has none.
    public var context: String?

    /// Creates a run as a server has handed it out.
    ///
    /// - Parameter stored: The values as the store holds them, with their contexts.
    package init(
        key: [UInt8], stored: [[UInt8]], id: Int64, fence: Int64, submits: ClosedRange<Int64>, count: Int, cause: Cause,
        due: CoreInstant, first: CoreInstant, attempt: Int
    ) {
        self.key = key
        (values, context) = StoredValue.parts(of: stored)
        number = id
        self.fence = fence
        self.submits = submits
        self.count = count
        self.cause = cause
        self.due = due
        self.first = first
        self.attempt = attempt
    }

    /// Creates a worker's view of a row's run.
    ///
    /// - Parameter stored: The values as the store holds them, with their contexts.
    package init(key: [UInt8], stored: [[UInt8]], run: DurableRow.Run) {
        let value = run.value
        self.init(
            key: key, stored: stored, id: run.id, fence: run.fence, submits: value.submits, count: value.count,
            cause: value.cause, due: value.due, first: value.first, attempt: run.attempt)
    }
}

/// A worker's report on a run that it has.
package struct DurableReport: Hashable, Sendable {
    /// The name of the namespace.
    package var namespace: String
    /// The bytes of the key.
    package var key: [UInt8]
    /// The id of the run.
    package var run: Int64
    /// The fence of the worker's claim: the report counts only while it is the run's.
    package var fence: Int64
    /// The number of the worker.
    package var owner: Int64
    /// The kind of report.
    package var kind: Kind

    /// Creates a report.
    package init(namespace: String, key: [UInt8], run: Int64, fence: Int64, owner: Int64, _ kind: Kind) {
        self.namespace = namespace
        self.key = key
        self.run = run
        self.fence = fence
        self.owner = owner
        self.kind = kind
    }

    /// The kinds of report.
    package enum Kind: Hashable, Sendable {
        /// The handler is still running; the lease is extended to this time from now.
        case heartbeat(lease: CoreDuration)
        /// The handler returned.
        case completed
        /// The handler threw an error with this text. The run may be tried again after a delay; nil if that was its
        /// last attempt.
        case failed(String, retry: CoreDuration?)
        /// The run goes back to the store without having spent an attempt.
        case released
        /// The handler was cancelled for a newer value, and threw: the values of the run go back.
        case interrupted
    }

    /// The answer to a report.
    package enum Answer: Hashable, Sendable {
        /// The report has been recorded.
        case accepted
        /// The heartbeat has been recorded, and a newer value has interrupted the run: the handler is to be cancelled.
        case interrupted
        /// The same report had been recorded before, and its answer was lost.
        case alreadyDone
        /// Another worker has taken the run over. Nothing was recorded.
        case leaseLost
    }
}

/// The answers to calls that a worker made together: see ``StoreCalls/exchange(_:_:)``.
package struct DurableExchange: Sendable {
    /// The answers to the reports, in the order of the reports.
    package var reports: [Result<DurableReport.Answer, DurableError>]
    /// The answer to the claim, if there was one.
    package var claim: Result<DurableClaim.Answer, DurableError>?

    /// Creates the answers.
    package init(
        reports: [Result<DurableReport.Answer, DurableError>], claim: Result<DurableClaim.Answer, DurableError>?
    ) {
        self.reports = reports
        self.claim = claim
    }

    /// Creates the answers to calls that have all failed.
    package init(_ reports: [DurableReport], _ claim: DurableClaim?, failed error: DurableError) {
        self.init(reports: reports.map { _ in .failure(error) }, claim: claim.map { _ in .failure(error) })
    }
}
