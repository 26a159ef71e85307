internal import CLullPlatform
internal import Dispatch
internal import LullCore

/// The system's own time, which goes on while the machine sleeps and which nobody can set.
///
/// Of several things that wake the sleeper, the first one counts.
/// - A timer of Dispatch is precise and needs no thread of the cooperative pool, which may be starved. It rings on the
///   queue of the sleeper's handler, if there is one: from a queue of its own, the way to the handler takes a change of
///   threads, which makes an execution as late again as the timer alone does. And the first executions run right there.
/// - That queue may be busy or suspended, which must not delay what needs no handler. So a second timer on a queue of its
///   own looks a little later whether the first one has rung. It is not set for each wake-up, but looks again as long as
///   there is something to come.
/// - Timers stand still while the machine sleeps. A sleep on the continuous clock does not, and is as late as the pool is
///   busy; it is arranged for waits that are long enough for a machine to sleep in.
final class SystemTimekeeper: Timekeeper, @unchecked Sendable {
    // Proof of @unchecked Sendable: the fields are only touched under the timekeeper's lock, `backUp` under `backUpLock`,
    // and in `deinit`.
    private let queue: DispatchQueue?
    /// One timer, or two of them: one that runs executions where it rings cannot ring meanwhile, which matters on a
    /// concurrent queue. So the other one is set then.
    private var timers: [any DispatchSourceTimer] = []
    /// Which of them is set next.
    private var next = 0
    /// Whether one of them runs executions.
    private var isServing = false
    private var overseer: (any DispatchSourceTimer)?
    /// When the sleeper should be woken: not before the timer was set, even if what is to be done was due long ago.
    private var expected = CoreInstant.farFuture
    /// When the overseer will look.
    private var oversight = CoreInstant.farFuture
    private let backUpLock = Lock()
    /// The earliest instant for which a sleep on the continuous clock is under way.
    private var backUp = CoreInstant.farFuture

    /// Waits shorter than this are left to the timers alone: after a sleep of the machine they are late by no more.
    private static let shortWait = CoreDuration.milliseconds(100)
    /// For how long a queue that is busy may hold up what needs no handler.
    private static let patience = CoreDuration.milliseconds(2)
    /// How much earlier a timer rings, at most. What lies between a timer and the handler takes about so long after a sleep,
    /// when none of it is in the caches.
    private static let longestLead = CoreDuration(nanoseconds: 25_000)
    /// How long after a wake-up the next one comes at the earliest, so that it does all that falls due meanwhile.
    private static let spacing = CoreDuration(nanoseconds: 100_000)
    /// What a sleeper does at once where others want to have their turn, and where what he starts has to run.
    private static let fewExecutions = 64
    /// What he does before the queue is tried again.
    private static let manyExecutions = 4096

    init(wakingOn queue: DispatchQueue?) {
        self.queue = queue
    }

    deinit {
        for timer in timers { timer.cancel() }
        overseer?.cancel()
    }

    override func now() -> CoreInstant {
        CoreInstant(nanoseconds: lull_nanoseconds_since_boot())
    }

    override func arrange(_ instant: CoreInstant, afterWaking: Bool) {
        guard instant != .farFuture else {
            if next < timers.count { timers[next].schedule(deadline: .distantFuture) }
            return
        }
        let now = now()
        // What was due when the sleeper was woken last, and is still to be done, does not wait.
        let isNew = afterWaking && instant > expected
        let soonest = isNew ? max(instant, expected.advanced(by: Self.spacing)) : instant
        let wait = max(.zero, min(now.duration(to: soonest), longestSleep))
        expected = now.advanced(by: wait)
        if let queue, wait == .zero {
            queue.async { [weak self] in self?.rang(for: Self.fewExecutions, onQueue: true) }
        } else {
            if next == timers.count {
                timers.append(Self.makeTimer(on: queue) { [weak self, next] in self?.timerRang(next) })
            }
            set(timers[next], expected, ahead: Self.lead(of: wait))
        }
        if queue != nil { oversee() }
        if wait >= Self.shortWait { arrangeBackUp(expected, wait) }
    }

    private func set(_ timer: any DispatchSourceTimer, _ instant: CoreInstant, ahead lead: CoreDuration = .zero) {
        // How long to wait is asked last: making a timer takes long enough to be late by.
        let wait = max(0, now().duration(to: instant).nanoseconds - lead.nanoseconds)
        timer.schedule(deadline: .now() + .nanoseconds(Int(wait)), leeway: .nanoseconds(0))
    }

    /// How much earlier a timer rings after such a wait: so little of it that it never matters what ``passLead(before:)`` costs.
    private static func lead(of wait: CoreDuration) -> CoreDuration {
        min(longestLead, CoreDuration(nanoseconds: wait.nanoseconds / 64))
    }

    /// Comes back at an instant that is no further away than a timer may be early: to sleep again would take longer.
    private func passLead(before instant: CoreInstant) {
        var now = now()
        while now < instant, now.duration(to: instant) <= Self.longestLead { now = self.now() }
    }

    private func timerRang(_ number: Int) {
        let (serves, expected) = lock.withLock { () -> (Bool, CoreInstant) in
            guard queue != nil, !isServing else { return (false, self.expected) }
            isServing = true
            next = 1 - number
            return (true, self.expected)
        }
        passLead(before: expected)
        guard queue != nil else { return rang() }
        rang(for: Self.fewExecutions, onQueue: serves)
        if serves { lock.withLock { isServing = false } }
    }

    private static func makeTimer(
        on queue: DispatchQueue?, _ ring: @escaping @Sendable () -> Void
    ) -> any DispatchSourceTimer {
        // For a queue of its own a thread is always found, however many blocks wait on the global queues.
        let queue = queue ?? DispatchQueue(label: "lull.timer")
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler(handler: ring)
        timer.schedule(deadline: .distantFuture)
        // A source that is released without having been activated crashes.
        timer.activate()
        return timer
    }

    /// Has the overseer look soon after the timer should have rung, unless it will look before anyway.
    private func oversee() {
        let instant = expected.advanced(by: Self.patience)
        guard instant < oversight else { return }
        oversight = instant
        let overseer = overseer ?? Self.makeTimer(on: nil) { [weak self] in self?.look() }
        self.overseer = overseer
        set(overseer, instant)
    }

    /// Rings if the timer has not rung when it should have.
    private func look() {
        let isOverdue = lock.withLock { () -> Bool in
            oversight = .farFuture
            guard armed != .farFuture else { return false }
            if expected.advanced(by: Self.patience) <= now() { return true }
            oversee()
            return false
        }
        if isOverdue { rang(for: Self.manyExecutions) }
    }

    /// Sees to it that a sleep on the continuous clock ends at the instant or not much later.
    ///
    /// A sleep that is cancelled keeps its memory until its end, so none is cancelled; and one that ends a little later
    /// than wanted is good enough. So deadlines that come nearer and nearer leave few of them behind.
    private func arrangeBackUp(_ instant: CoreInstant, _ wait: CoreDuration) {
        let slack = CoreDuration(nanoseconds: max(Self.shortWait.nanoseconds, wait.nanoseconds / 8))
        let isNeeded = backUpLock.withLock { () -> Bool in
            guard backUp > instant.advanced(by: slack) else { return false }
            backUp = instant
            return true
        }
        guard isNeeded else { return }
        Task.detached { [weak self] in
            try? await Task.sleep(for: Duration(wait), tolerance: .zero, clock: .continuous)
            self?.backUpRang(instant)
        }
    }

    private func backUpRang(_ instant: CoreInstant) {
        backUpLock.withLock { if backUp == instant { backUp = .farFuture } }
        rang()
    }
}
