internal import Lull

/// What a ``ManualClock`` knows: the time, what is to happen when, and which executions are under way.
struct ManualClockState {
    /// Something that happens at an instant.
    struct Event {
        enum Act {
            case wake(@Sendable () -> Void)
            case sleeper(CheckedContinuation<Bool, Never>, Work?)
        }

        let id: Int
        let at: ManualClock.Instant
        let act: Act

        func happen() {
            switch act {
            case .wake(let body): body()
            case .sleeper(let continuation, _): continuation.resume(returning: true)
            }
        }
    }

    /// An execution that has begun and not ended.
    struct Execution {
        let work: Work
        var isEntered = false
        /// How many of its stretches are under way.
        var stretches = 0
        /// How many of its tasks sleep on the clock, or wait for executions that do.
        var sleepers = 0
    }

    /// What somebody waits for.
    enum Goal {
        /// Every execution has come as far as this.
        case executions(ManualClock.Milestone)
        /// So many sleeps, or more, are under way.
        case sleeps(Int)
    }

    var now = ManualClock.Instant.zero
    /// Whatever is to happen, in order.
    private var events: [Event] = []
    private var executions: [ObjectIdentifier: Execution] = [:]
    private var ids = 0
    /// Counts everything that happens, to tell when nothing does.
    var moves = 0
    var isAdvancing = false
    /// Who waits, and for what: an `advance`, and tests that wait for sleeps.
    var waiters: [Int: (goal: Goal, continuation: CheckedContinuation<Void, Never>)] = [:]
    /// How many of the events are sleeps.
    private(set) var sleepCount = 0

    mutating func newID() -> Int {
        ids += 1
        return ids
    }

    /// Adds an event behind those of the same instant.
    mutating func add(_ event: Event) {
        var low = 0
        var high = events.count
        while low < high {
            let middle = (low + high) / 2
            if events[middle].at <= event.at { low = middle + 1 } else { high = middle }
        }
        events.insert(event, at: low)
        guard case .sleeper(_, let work) = event.act else { return }
        sleepCount += 1
        if let work { slept(work) }
    }

    /// Takes the first event up to an instant, and goes to its time.
    mutating func next(notAfter instant: ManualClock.Instant) -> Event? {
        guard let event = events.first, event.at <= max(instant, now) else { return nil }
        events.removeFirst()
        now = max(now, event.at)
        moves += 1
        awaken(event)
        return event
    }

    /// Takes back a sleeper whose task was cancelled.
    mutating func remove(_ id: Int) -> CheckedContinuation<Bool, Never>? {
        guard let index = events.firstIndex(where: { $0.id == id }) else { return nil }
        let event = events.remove(at: index)
        awaken(event)
        guard case .sleeper(let continuation, _) = event.act else { return nil }
        return continuation
    }

    private mutating func awaken(_ event: Event) {
        guard case .sleeper(_, let work) = event.act else { return }
        sleepCount -= 1
        if let work { woke(work) }
    }

    mutating func began(_ work: Work) {
        executions[ObjectIdentifier(work)] = Execution(work: work)
    }

    mutating func resumed(_ work: Work) {
        executions[ObjectIdentifier(work)]?.isEntered = true
        executions[ObjectIdentifier(work)]?.stretches += 1
    }

    mutating func paused(_ work: Work) {
        executions[ObjectIdentifier(work)]?.stretches -= 1
    }

    mutating func slept(_ work: Work) {
        executions[ObjectIdentifier(work)]?.sleepers += 1
    }

    mutating func woke(_ work: Work) {
        executions[ObjectIdentifier(work)]?.sleepers -= 1
    }

    mutating func ended(_ work: Work) {
        executions[ObjectIdentifier(work)] = nil
    }

    func hasReached(_ goal: Goal) -> Bool {
        switch goal {
        case .executions(let milestone): executions.values.allSatisfy { isResting($0, milestone) }
        case .sleeps(let count): sleepCount >= count
        }
    }

    /// Removes those who have what they wait for.
    mutating func takeReached() -> [CheckedContinuation<Void, Never>] {
        let reached = waiters.filter { hasReached($0.value.goal) }
        for id in reached.keys { waiters[id] = nil }
        return reached.values.map(\.continuation)
    }

    /// The names of the executions that have not come as far as asked.
    func busy(_ milestone: ManualClock.Milestone) -> [String] {
        executions.values.filter { !isResting($0, milestone) }.map { $0.work.name }.sorted()
    }

    private func isResting(_ execution: Execution, _ milestone: ManualClock.Milestone) -> Bool {
        execution.stretches == 0 && (execution.sleepers > 0 || (milestone == .started && execution.isEntered))
    }
}
