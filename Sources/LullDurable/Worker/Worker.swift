internal import Lull
package import LullCore

/// Decides what a worker does: what it claims and when, when it sends heartbeats, what an answer means, when it tries again,
/// and how it stops. No store, no clock, no task: a value that takes events with their instants, and says what is to be done.
///
/// Whoever drives it, a shell with tasks and a clock or a simulation in virtual time, does this:
///
/// - It hands ``Event/woke`` in, to begin with and whenever ``alarm`` has come; an alarm that has moved later may ring early.
/// - It carries out every ``Action`` that ``handle(_:at:)`` returns, in any order, and hands in what comes of it:
///
///   | action | event |
///   |---|---|
///   | `claim` | `claimed`, with the store's answer or its error |
///   | `report` | `reported`, with the same report and the answer or error |
///   | `listen` | `heard`, when the store's ``DurableStore/wait(in:after:atMost:)`` has returned |
///   | `start` | `ended`, when the handler has; perhaps never |
///   | `cancel` | none: `ended` will come, if the handler heeds it |
///
/// - It is done when ``isFinished``.
///
/// Instants are the worker's own, on any clock that does not run back; the store's time is never looked at. There is at most
/// one claim and one `listen` on its way at a time, and at most one handler of a run.
package struct Worker: Sendable {
    /// What a worker is told at its start.
    package struct Settings: Sendable {
        package var namespace: String
        /// Random, and new at each start.
        package var owner: Int64
        /// How many handlers run at most.
        package var maxConcurrent: Int
        package var lease: CoreDuration
        package var backoff: RetryPolicy
        /// How long handlers may go on when the worker is told to stop; shorter than the lease.
        package var grace: CoreDuration
        /// Whether the values of a run are kept after its start, for those who want them in messages.
        package var keepsValues: Bool

        package init(
            namespace: String, owner: Int64, maxConcurrent: Int = 8, lease: CoreDuration = .seconds(30),
            backoff: RetryPolicy = RetryPolicy(), grace: CoreDuration? = nil,
            keepsValues: Bool = true
        ) {
            require(maxConcurrent >= 1, "the maxConcurrent is \(maxConcurrent), but must be 1 or more")
            require(lease > .zero, "the lease is \(lease), but must be more than zero")
            // Handlers that do not heed their cancellation have the other half.
            let grace = grace ?? min(.seconds(10), .nanoseconds(lease.nanoseconds / 2))
            require(
                grace >= .zero && grace < lease,
                "the grace is \(grace), but must be zero or more, and shorter than the lease of \(lease)")
            self.namespace = namespace
            self.owner = owner
            self.maxConcurrent = maxConcurrent
            self.lease = lease
            self.backoff = backoff
            self.grace = grace
            self.keepsValues = keepsValues
        }
    }

    /// What happens to a worker.
    package enum Event: Sendable {
        /// It begins, or its alarm has rung.
        case woke
        /// A claim was answered.
        case claimed(Result<DurableClaim.Answer, DurableError>)
        /// There may be something to claim.
        case heard(Result<Void, DurableError>)
        /// A handler has returned, or thrown what this text says.
        case ended(run: Int64, error: String?)
        /// A report was answered.
        case reported(DurableReport, Result<DurableReport.Answer, DurableError>)
        /// The store was found to be unusable by whoever looked at it.
        case failed(DurableError)
        /// It is to claim nothing more, and is done when its handlers are; they have all the time they need.
        case draining
        /// It is to stop.
        case stopped
    }

    /// What a worker wants done.
    package enum Action: Sendable, Hashable {
        /// Ask the store for runs.
        case claim(DurableClaim)
        /// Wait until the store has more than it had at `mark`, at most for a time.
        case listen(after: Int64, atMost: CoreDuration)
        /// Tell the store of a run.
        case report(DurableReport)
        /// Run the handler.
        case start(DurableRun)
        /// Tell the handler of a run to stop.
        case cancel(run: Int64)
        /// Say that a run is no longer the worker's.
        case lost(DurableRun)
        /// Say that a run is dead, since the lease of its last attempt has expired.
        case died(DurableRun)
        /// Say that the store does not do what it is asked, and that it will be asked again.
        case trouble(DurableError)
    }

    /// What the worker looks for.
    enum Search: Hashable, Sendable {
        /// There may be something to claim.
        case hungry
        /// A claim that was sent then is on its way.
        case claiming(since: CoreInstant)
        /// There was nothing more at that mark, and will not be before that instant by itself.
        case sated(mark: Int64, until: CoreInstant)
        /// The store says when there is.
        case listening
    }

    /// A store that does not answer as it should.
    struct Trouble: Hashable, Sendable {
        /// How often in a row.
        var count: Int
        /// When it is asked again.
        var until: CoreInstant
    }

    /// The end of the worker, step by step.
    struct Stop: Hashable, Sendable {
        /// Handlers that still run are cancelled.
        var cancel: CoreInstant
        /// Those that have not heeded it are left to themselves; their runs are released.
        var release: CoreInstant
        /// The end, whatever the store says.
        var end: CoreInstant
    }

    let settings: Settings
    var jitter: Jitter
    var now = CoreInstant.farPast
    var search = Search.hungry
    var trouble: Trouble?
    var stop: Stop?
    /// The runs that the worker has, or had and whose handlers still run, by id.
    var held: [Int64: Held] = [:]
    /// Slots that are taken: handlers that run, and runs that will be started for certain.
    var taken = 0
    var actions: [Action] = []

    /// When the worker has to be woken at the latest.
    package internal(set) var alarm = CoreInstant.farFuture
    /// Why it cannot go on; nil if it was told to stop.
    package internal(set) var failure: DurableError?
    /// Whether it has nothing more to do, for ever.
    package private(set) var isFinished = false

    package init(_ settings: Settings) {
        self.settings = settings
        jitter = Jitter(seed: UInt64(bitPattern: settings.owner))
    }

    /// Takes an event, and says what is to be done.
    ///
    /// - Parameter now: The present. One before that of the last event counts as that.
    package mutating func handle(_ event: Event, at now: CoreInstant) -> [Action] {
        handle([event], at: now)
    }

    /// Takes events that have come together. One claim fills all the room that they make.
    package mutating func handle(_ events: [Event], at now: CoreInstant) -> [Action] {
        guard !isFinished else { return [] }
        self.now = max(self.now, now)
        for event in events { take(event) }
        // What is left of its handlers is only to be told to the store, which may not listen.
        if isDraining, taken == 0 { stopped() }
        seek()
        if let stop, self.now >= stop.end || held.isEmpty && !isClaiming {
            isFinished = true
            // Whoever drives it may go on until the last handler has returned, which it does not hear of any more.
            alarm = .farFuture
        }
        defer { actions = [] }
        return actions
    }

    private mutating func take(_ event: Event) {
        switch event {
        case .woke: woke()
        case .claimed(let result): claimed(result)
        case .heard(let result): heard(result)
        case .ended(let run, let error): ended(run, error)
        case .reported(let report, let result): reported(report, result)
        case .failed(let error): complain(error)
        case .draining: draining()
        case .stopped: stopped()
        }
    }

    /// Wants to be woken at an instant, too.
    mutating func wake(at instant: CoreInstant) {
        alarm = min(alarm, instant)
    }

    private mutating func woke() {
        sendHeartbeats()
        sendAgain()
        if let stop { goOnStopping(stop) }
        alarm = held.values.map { $0.alarm }.min() ?? .farFuture
        if let trouble, stop == nil, trouble.until > now { wake(at: trouble.until) }
        for step in [stop?.cancel, stop?.release, stop?.end] {
            if let step, step > now { wake(at: step) }
        }
    }
}
