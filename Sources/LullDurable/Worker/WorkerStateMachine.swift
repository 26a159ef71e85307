package import Lull
package import LullCore

/// The decisions of a worker: what it claims and when, when it sends heartbeats, what an answer means, when it tries
/// again, and how it stops. It has no store, no clock and no task: it takes events with their instants, and returns
/// actions.
///
/// Its phases:
///
/// | phase | event | next phase |
/// |---|---|---|
/// | working | `drain` | draining: claims nothing more; handlers take the time they need |
/// | working, draining | `stop` | stopping: claims nothing more; handlers have until the deadlines |
/// | draining | the last handler has ended | stopping |
/// | working, draining, stopping | the store is unusable | stopping, with ``failure`` set; nothing is reported |
/// | stopping | no run and no claim is left, or the last deadline has passed | finished |
/// | finished | any | finished: late events are ignored |
///
/// Inside these, `ClaimState` is the state of its search for runs, and `HeldRun.State` that of each run that it has. An
/// event that is impossible in the present state stops the program.
///
/// A driver, be it one with tasks and a clock or a simulation in virtual time, does this:
///
/// - It hands in ``Event/woke`` at the beginning and whenever ``alarm`` has come. An extra `woke` does no harm.
/// - It carries out every ``Action`` that ``handle(_:at:)`` returns, in any order, and hands in the event that follows:
///
///   | action | event |
///   |---|---|
///   | `claim` | `claimed`, with the store's answer or its error |
///   | `report` | `reported`, with the same report and the answer or error |
///   | `wait` | `waitEnded`, when the store's ``StoreCalls/wait(in:after:atMost:)`` has returned |
///   | `watch` | `watchEnded`, when the store's ``StoreCalls/interruptions(of:besides:in:atMost:)`` has returned |
///   | `start` | `handlerEnded`, when the handler has; perhaps never; or `notStarted` |
///   | `cancel` | none: `handlerEnded` follows if the handler reacts |
///   | `leaseLost`, `died`, `overdue`, `leaseGivenUp`, `storeFailed`, `paused`, `resumed` | none: they are for logs |
///
/// - Right before a handler begins, it looks whether ``leaseEnd(of:)`` has passed: the process may have been stopped.
///   Then it hands in `notStarted`.
/// - It is done when ``isFinished``.
///
/// Instants are the worker's own, on any clock that does not run back; the store's time is never used. At most one
/// claim, one `wait` and one `watch` are under way at a time, and at most one handler of a run.
package struct WorkerStateMachine: Sendable {
    /// An event in the life of a worker.
    package enum Event: Sendable {
        /// It begins, or its alarm is due.
        case woke
        /// A claim was answered.
        case claimed(Result<DurableClaim.Answer, DurableError>)
        /// The store's `wait` has returned: there may be something to claim.
        case waitEnded(Result<Void, DurableError>)
        /// The store's look for interruptions has returned these runs.
        case watchEnded(Result<[Int64], DurableError>)
        /// A handler has ended. One that the time limit has cancelled and that threw has failed with that, whatever it
        /// threw: the driver says so.
        case handlerEnded(run: Int64, HandlerEnd)
        /// This machine could not run a handler, or not before the end of the lease. The run goes back to the store
        /// without an attempt being spent, and the worker claims nothing for a while.
        case notStarted(run: Int64)
        /// A report was answered.
        case reported(DurableReport, Result<DurableReport.Answer, DurableError>)
        /// A call of the store that the worker did not ask for has failed.
        case storeFailed(DurableError)
        /// The worker is to claim nothing more and to finish when its handlers have ended, however long they take.
        case drain
        /// The worker is to stop.
        case stop
    }

    /// An action that the driver carries out for a worker.
    package enum Action: Sendable, Hashable {
        /// Tell the store that the worker is there. Nothing depends on whether that succeeds.
        case announce
        /// Ask the store for runs.
        case claim(DurableClaim)
        /// Wait until the store has more than it had at a mark, at most for a time.
        case wait(after: Int64, atMost: CoreDuration)
        /// Wait until newer values have interrupted runs, at most for a time. The worker knows of some.
        case watch(besides: [Int64], atMost: CoreDuration)
        /// Send a report to the store.
        case report(DurableReport)
        /// Run the handler.
        case start(DurableRun)
        /// Cancel the handler of a run; `exceeding` its time limit, or for another reason.
        case cancel(run: Int64, exceeding: TimeLimitExceeded? = nil)
        /// Report that a run is no longer the worker's.
        case leaseLost(DurableRun)
        /// Report that a run is dead because the lease of its last attempt has expired.
        case died(DurableRun)
        /// Report that a handler has gone on for as long again as its time limit.
        case overdue(DurableRun, TimeLimitExceeded)
        /// Report that a handler has gone on for a lease after its time limit, so that the worker lets the lease end.
        case leaseGivenUp(DurableRun)
        /// Report that the store has failed and will be called again.
        case storeFailed(DurableError)
        /// Report that the namespace is paused, or that its pause has another reason.
        case paused(DurablePause)
        /// Report that the namespace is not paused any more.
        case resumed
    }

    /// See the table at the top.
    enum Phase: Hashable, Sendable {
        case working
        case draining
        case stopping(Deadlines)
        case finished
    }

    /// The steps of a stop.
    struct Deadlines: Hashable, Sendable {
        /// When handlers that still run are cancelled.
        var cancelHandlers: CoreInstant
        /// When the runs of handlers that have not reacted are released.
        var releaseRuns: CoreInstant
        /// When the worker finishes, whatever the store answers.
        var end: CoreInstant
    }

    package let configuration: Configuration
    var jitter: Jitter
    var now = CoreInstant.farPast
    var phase = Phase.working
    var claimState = ClaimState.needed
    /// Whether a watch for interruptions is under way.
    var isWatching = false
    var outage: Outage?
    /// The pause of the namespace, as the latest claim has found it.
    var pause: DurablePause?
    /// The handlers that this machine could not run, since the last one that it could.
    var obstacle: Outage?
    /// The runs that the worker has, or had and whose handlers still run, by id.
    var runs: [Int64: HeldRun] = [:]
    /// The number of slots in use: by handlers that run, and by runs that will certainly be started.
    var usedSlots = 0
    /// When the worker announces itself next.
    var announcement: CoreInstant
    var actions: [Action] = []

    /// When the worker has to be woken at the latest.
    package internal(set) var alarm = CoreInstant.farFuture
    /// The error that made the store unusable; nil if there is none.
    package internal(set) var failure: DurableError?
    /// Whether it has nothing more to do, forever.
    package var isFinished: Bool { phase == .finished }

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        announcement = configuration.announces ? .farPast : .farFuture
        jitter = Jitter(seed: UInt64(bitPattern: configuration.owner))
    }

    /// Handles an event, and returns what is to be done.
    ///
    /// - Parameter now: The present. An instant before that of the last event counts as that one.
    package mutating func handle(_ event: Event, at now: CoreInstant) -> [Action] {
        handle([event], at: now)
    }

    /// Handles events that have come together. One claim fills all the slots that they free.
    package mutating func handle(_ events: [Event], at now: CoreInstant) -> [Action] {
        guard !isFinished else { return [] }
        self.now = max(self.now, now)
        for event in events { handle(event) }
        // Only reports are left, and the store may not accept them: from here on there are deadlines.
        if phase == .draining, usedSlots == 0 { stop() }
        claimIfPossible()
        watchIfNeeded()
        if case .stopping(let deadlines) = phase, self.now >= deadlines.end || runs.isEmpty && !isClaiming {
            phase = .finished
            // The driver may go on until the last handler has returned, which no longer concerns the worker.
            alarm = .farFuture
        }
        defer { actions = [] }
        return actions
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .woke: woke()
        case .claimed(let result): claimed(result)
        case .waitEnded(let result): waitEnded(result)
        case .watchEnded(let result): watchEnded(result)
        case .handlerEnded(let run, let end): handlerEnded(run, end)
        case .notStarted(let run): notStarted(run)
        case .reported(let report, let result): reported(report, result)
        case .storeFailed(let error): storeFailed(error)
        case .drain: drain()
        case .stop: stop()
        }
    }

    /// Moves the alarm to an instant, unless it is earlier already.
    mutating func wake(at instant: CoreInstant) {
        alarm = min(alarm, instant)
    }

    private mutating func woke() {
        enforceTimeLimits()
        sendHeartbeats()
        repeatFailedReports()
        if case .stopping(let deadlines) = phase { continueStopping(deadlines) }
        if now >= announcement {
            actions.append(.announce)
            announcement = now.advanced(by: DurableWorker.announcementInterval)
        }
        alarm = runs.values.map { $0.alarm }.min() ?? .farFuture
        wake(at: announcement)
        switch phase {
        case .working:
            for case let pause? in [outage, obstacle] where pause.retryAt > now { wake(at: pause.retryAt) }
        case .draining, .finished:
            break
        case .stopping(let deadlines):
            for step in [deadlines.cancelHandlers, deadlines.releaseRuns, deadlines.end] where step > now {
                wake(at: step)
            }
        }
    }

    // MARK: - Stopping

    private mutating func drain() {
        if phase == .working { phase = .draining }
    }

    /// Claims nothing more, and sets the deadlines of the handlers.
    private mutating func stop() {
        switch phase {
        case .working, .draining: break
        case .stopping, .finished: return
        }
        let half = (configuration.lease.nanoseconds - configuration.grace.nanoseconds) / 2
        let cancel = now.advanced(by: configuration.grace)
        phase = .stopping(
            Deadlines(
                cancelHandlers: cancel, releaseRuns: cancel.advanced(by: .nanoseconds(half)),
                end: now.advanced(by: configuration.lease)))
        wake(at: cancel)
    }

    /// Stops because the store cannot be used any more. Nothing is reported to it.
    mutating func stop(because error: DurableError) {
        failure = error
        let end = now.advanced(by: configuration.grace)
        phase = .stopping(Deadlines(cancelHandlers: now, releaseRuns: .farFuture, end: end))
        wake(at: end)
        runs = runs.filter { $0.value.isRunning }
        for run in runs.keys.sorted() { cancelHandler(run) }
    }

    private mutating func continueStopping(_ deadlines: Deadlines) {
        guard now >= deadlines.cancelHandlers else { return }
        for run in runs.keys.sorted() {
            cancelHandler(run)
            guard now >= deadlines.releaseRuns, let held = runs[run], held.isRunning else { continue }
            // One that has exceeded its time limit has spent its attempt.
            report(timeLimit(of: held).map { failed("\($0)", held.run) } ?? .released, of: run)
        }
    }
}

extension WorkerStateMachine {
    /// The configuration of a worker: its name in the store, and its limits.
    package struct Configuration: Sendable {
        package var namespace: String
        /// Random, and new at each start.
        package var owner: Int64
        /// How many handlers run at most.
        package var maxConcurrent: Int
        package var lease: CoreDuration
        package var backoff: RetryPolicy
        /// How long handlers may go on after a stop; shorter than the lease.
        package var grace: CoreDuration
        /// How long a handler may run before it is told to stop; nil for no limit.
        package var timeLimit: CoreDuration?
        /// Whether the values of a run are retained after its start, for failure reports that show them.
        package var keepsValues: Bool
        /// Whether the worker watches for interruptions of its runs: in namespaces that restart runs. Without, it
        /// learns of one by the answer to its next heartbeat.
        package var watches: Bool
        /// Whether the worker tells the store every minute that it is there: all do but those of tests that list each
        /// action.
        package var announces: Bool

        package init(
            namespace: String, owner: Int64, maxConcurrent: Int = 8, lease: CoreDuration = .seconds(30),
            backoff: RetryPolicy = RetryPolicy(), grace: CoreDuration? = nil, timeLimit: CoreDuration? = nil,
            keepsValues: Bool = true, watches: Bool = false, announces: Bool = true,
            fileID: StaticString = #fileID, line: UInt = #line
        ) {
            let site = SourceSite(fileID, line)
            require(maxConcurrent >= 1, "the maxConcurrent is \(maxConcurrent), but must be 1 or more", at: site)
            require(lease > .zero, "the lease is \(lease), but must be more than zero", at: site)
            // The other half is for handlers that ignore their cancellation.
            let grace = grace ?? min(.seconds(10), .nanoseconds(lease.nanoseconds / 2))
            require(
                grace >= .zero && grace < lease,
                "the grace is \(grace), but must be zero or more, and shorter than the lease of \(lease)", at: site)
            if let timeLimit {
                require(timeLimit > .zero, "the timeLimit is \(timeLimit), but must be more than zero", at: site)
            }
            self.namespace = namespace
            self.owner = owner
            self.maxConcurrent = maxConcurrent
            self.lease = lease
            self.backoff = backoff
            self.grace = grace
            self.timeLimit = timeLimit
            self.keepsValues = keepsValues
            self.watches = watches
            self.announces = announces
        }
    }
}
