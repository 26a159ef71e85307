internal import Lull

/// The state of a ``ManualClock``: the time, the events to come, and the executions under way.
struct ManualClockState {
    /// A wake-up or the end of a sleep, at an instant.
    struct Event {
        enum Action {
            case wake(@Sendable () -> Void)
            case endSleep(CheckedContinuation<Bool, Never>, TrackedWork?)
        }

        let id: Int
        let at: ManualClock.Instant
        let action: Action

        func perform() {
            switch action {
            case .wake(let body): body()
            case .endSleep(let continuation, _): continuation.resume(returning: true)
            }
        }
    }

    /// An execution that has begun and not ended.
    struct Execution {
        let work: TrackedWork
        var isEntered = false
        /// The actor of its operation, if the clock does not see what it does there, and it is not the main actor.
        var actor: (any Actor)?
        /// The number of its tasks that run at the moment, or are about to, where the clock sees it.
        var runningTasks = 0
        /// The number of its tasks that sleep on the clock, or wait for executions that do.
        var sleepingTasks = 0
    }

    /// The goal for which an `advance` or a test waits.
    enum Goal {
        /// Every execution has reached a milestone.
        case executions(ManualClock.Milestone)
        /// This many sleeps, or more, are under way.
        case sleeps(Int)
    }

    /// A call that waits for a goal.
    typealias Waiter = (goal: Goal, continuation: Continuation)

    /// Resumed with the reason if the call gives up.
    typealias Continuation = CheckedContinuation<Stall?, Never>

    var now = ManualClock.Instant.zero
    /// The events to come, in order.
    private var events: [Event] = []
    private var executions: [ObjectIdentifier: Execution] = [:]
    /// The number of jobs that run where the clock sees it, or are about to, also of executions that have ended: a job
    /// that has an actor's turn goes on with the actor's next jobs, whichever executions these belong to, and only that
    /// job is seen.
    private var runningJobs = 0
    private var latestID = 0
    /// Counts what happens to executions.
    private(set) var changes = 0
    /// Counts that and the turns of a probe, to detect a stall.
    private(set) var moves = 0
    /// When that was counted last, or an `advance` began or ended, in real time.
    private var movedAt = ContinuousClock.now
    /// Whether a probe is under way.
    private var isProbing = false
    /// Where an `advance` goes.
    var target: ManualClock.Instant?
    /// The calls that wait: an `advance`, and tests that wait for sleeps.
    var waiters: [Int: Waiter] = [:]
    /// The calls that wait for debouncers, with how often each does.
    private var waits: [ObjectIdentifier: (wait: WaitingCall, count: Int, number: Int)] = [:]
    /// Whether somebody looks for a hang.
    var isWatched = false
    var isHangReported = false
    /// The number of events that end a sleep.
    private(set) var sleepCount = 0

    mutating func newID() -> Int {
        latestID += 1
        return latestID
    }

    /// Inserts an event after those of the same instant.
    mutating func add(_ event: Event) {
        var low = 0
        var high = events.count
        while low < high {
            let middle = (low + high) / 2
            if events[middle].at <= event.at { low = middle + 1 } else { high = middle }
        }
        events.insert(event, at: low)
        guard case .endSleep(_, let work) = event.action else { return }
        sleepCount += 1
        if let work { slept(work) }
    }

    /// Removes and returns the first event up to an instant, and moves the clock to it.
    mutating func next(notAfter instant: ManualClock.Instant) -> Event? {
        guard let event = events.first, event.at <= max(instant, now) else { return nil }
        events.removeFirst()
        now = max(now, event.at)
        noteChange()
        noteEndOfSleep(event)
        return event
    }

    /// Removes the sleep of a task that was cancelled.
    mutating func removeSleep(_ id: Int) -> CheckedContinuation<Bool, Never>? {
        guard let index = events.firstIndex(where: { $0.id == id }) else { return nil }
        let event = events.remove(at: index)
        noteEndOfSleep(event)
        guard case .endSleep(let continuation, _) = event.action else { return nil }
        return continuation
    }

    private mutating func noteEndOfSleep(_ event: Event) {
        guard case .endSleep(_, let work) = event.action else { return }
        sleepCount -= 1
        if let work { woke(work) }
    }

    mutating func began(_ work: TrackedWork) {
        executions[ObjectIdentifier(work)] = Execution(work: work)
    }

    mutating func entered(_ work: TrackedWork, on actor: (any Actor)?) {
        executions[ObjectIdentifier(work)]?.isEntered = true
        executions[ObjectIdentifier(work)]?.actor = actor
    }

    mutating func resumed(_ work: TrackedWork) {
        runningJobs += 1
        executions[ObjectIdentifier(work)]?.runningTasks += 1
    }

    mutating func paused(_ work: TrackedWork) {
        runningJobs -= 1
        executions[ObjectIdentifier(work)]?.runningTasks -= 1
    }

    mutating func slept(_ work: TrackedWork) {
        executions[ObjectIdentifier(work)]?.sleepingTasks += 1
    }

    mutating func woke(_ work: TrackedWork) {
        executions[ObjectIdentifier(work)]?.sleepingTasks -= 1
    }

    mutating func ended(_ work: TrackedWork) {
        executions[ObjectIdentifier(work)] = nil
    }

    mutating func noteChange() {
        changes += 1
        noteMove()
    }

    private mutating func noteMove() {
        moves += 1
        movedAt = .now
    }

    /// Notes that patience begins anew, although nothing has changed.
    mutating func noteLook() {
        movedAt = .now
    }

    /// Returns how much of a patience is left since the last move.
    func patienceLeft(of patience: Duration, at now: ContinuousClock.Instant) -> Duration {
        patience - movedAt.duration(to: now)
    }

    /// Whether a goal has been reached for certain: otherwise, a probe finds out.
    func hasReached(_ goal: Goal) -> Bool {
        switch goal {
        case .executions: executions.isEmpty
        case .sleeps(let count): sleepCount >= count
        }
    }

    /// Removes and returns the waiters whose goals have been reached for certain.
    mutating func takeReached() -> [Continuation] {
        let reached = waiters.filter { hasReached($0.value.goal) }
        for id in reached.keys { waiters[id] = nil }
        return reached.values.map(\.continuation)
    }

    /// Returns the names of the executions that have not reached a milestone.
    func busy(_ milestone: ManualClock.Milestone) -> [String] {
        executions.values.filter { !isResting($0, milestone) }.map { $0.work.name }.sorted()
    }

    private func isResting(_ execution: Execution, _ milestone: ManualClock.Milestone) -> Bool {
        execution.runningTasks == 0 && (execution.sleepingTasks > 0 || (milestone == .started && execution.isEntered))
    }

    // MARK: - Calls that wait

    /// Notes that a call waits.
    ///
    /// - Returns: Whether somebody is to begin to look for a hang.
    mutating func began(_ wait: WaitingCall) -> Bool {
        count(wait, 1)
        noteChange()
        if isWatched || isHangReported { return false }
        isWatched = true
        return true
    }

    /// Notes that a call no longer waits: maybe before it is noted that it does.
    mutating func ended(_ wait: WaitingCall) {
        count(wait, -1)
        noteChange()
    }

    private mutating func count(_ wait: WaitingCall, _ difference: Int) {
        let id = ObjectIdentifier(wait)
        let count = (waits[id]?.count ?? 0) + difference
        waits[id] = count == 0 ? nil : (wait, count, waits[id]?.number ?? newID())
    }

    var hasWaits: Bool { !waits.isEmpty }

    /// The calls that wait, in order.
    var allWaits: [WaitingCall] { waits.values.sorted { $0.number < $1.number }.map(\.wait) }

    /// How long it is until the next sleep of tracked work ends; without one, until the next call of a debouncer, which
    /// may find nothing to do.
    var timeUntilNextSleepOrCall: Duration? {
        let sleep = events.first {
            if case .endSleep(_, _?) = $0.action { true } else { false }
        }
        return (sleep ?? events.first).map { now.duration(to: $0.at) }
    }

    /// Whether nothing goes on before the clock is advanced, which nobody does, as far as the clock sees.
    var isAtRest: Bool {
        target == nil && waiters.isEmpty && runningJobs == 0 && !events.isEmpty
            && executions.values.allSatisfy { isResting($0, .ended) }
    }

    // MARK: - Work that the clock does not see

    /// The waiting `advance`, if every execution has reached its milestone as far as the clock sees.
    private var waiterAtGoal: Int? {
        guard runningJobs == 0 else { return nil }
        return waiters.first { _, waiter in
            guard case .executions(let milestone) = waiter.goal else { return false }
            return executions.values.allSatisfy { isResting($0, milestone) }
        }?.key
    }

    /// Returns a probe if one is to begin.
    mutating func beginProbe() -> ActorProbe? {
        guard !isProbing, waiterAtGoal != nil else { return nil }
        isProbing = true
        return makeProbe()
    }

    private func makeProbe() -> ActorProbe {
        var actors: [ObjectIdentifier: any Actor] = [ObjectIdentifier(MainActor.shared): MainActor.shared]
        for case let actor? in executions.values.map(\.actor) { actors[ObjectIdentifier(actor)] = actor }
        return ActorProbe(of: Array(actors.values), since: changes)
    }

    /// Returns the probe that goes on after a turn, or else the waiter whose goal has been reached, which it removes.
    mutating func goOn(_ probe: ActorProbe) -> (ActorProbe?, Waiter?) {
        noteMove()
        guard let waiter = waiterAtGoal else {
            isProbing = false
            return (nil, nil)
        }
        guard probe.changes == changes else { return (makeProbe(), nil) }
        if let next = probe.next { return (next, nil) }
        isProbing = false
        return (nil, waiters.removeValue(forKey: waiter))
    }

    /// Removes and returns the waiter that takes all executions for sleeping and is going to move the clock, although a
    /// task of this one runs.
    ///
    /// - Parameter isOnActor: Whether the task may come from the actor of a handler, where a probe finds it.
    mutating func takeMisled(by work: TrackedWork, maybeOnActor isOnActor: Bool = false) -> Waiter? {
        guard let target, now < target, executions[ObjectIdentifier(work)] != nil else { return nil }
        guard let waiter = waiterAtGoal, case .executions(.ended) = waiters[waiter]?.goal else { return nil }
        if isOnActor, makeProbe().actors.count > 1 { return nil }
        return waiters.removeValue(forKey: waiter)
    }
}
