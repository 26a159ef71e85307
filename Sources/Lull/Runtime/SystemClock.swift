internal import CLullSystem
internal import Dispatch
internal import LullCore

/// The system's own time, which goes on while the machine sleeps and which nobody can set: a client of the scheduler.
final class SystemClock: WakingClock, @unchecked Sendable {
    // Proof of @unchecked Sendable: what varies is only touched by the scheduler, under its lock.
    private let scheduler: Scheduler
    /// Where the handler runs, if that is a queue.
    private let queue: DispatchQueue?
    let tolerance: CoreDuration

    /// When the engine wants to be advanced next.
    var alarm = CoreInstant.farFuture
    /// The stamp of the call that said so.
    var stamp: UInt64 = 0
    /// Whether a block or a task is on its way that will advance the engine.
    var isSent = false
    /// Whether bookkeeping is on its way.
    var isOverdue = false
    /// When to look whether a blocked queue holds up what has been sent.
    var look = CoreInstant.farPast
    /// When the client was last sent a block or a task.
    var served = CoreInstant.farPast
    /// Where the deadline lies in the scheduler's queue; negative for nowhere.
    var place = -1
    /// The same for the latest instant of a tolerant client.
    var latestPlace = -1
    /// In which of the scheduler's heaps it lies.
    var isTolerant = false

    init(_ scheduler: Scheduler, _ queue: DispatchQueue?, _ tolerance: CoreDuration) {
        self.scheduler = scheduler
        self.queue = queue
        self.tolerance = tolerance
    }

    /// The present instant, on any client's clock.
    static var now: CoreInstant { CoreInstant(nanoseconds: lull_nanoseconds_since_boot()) }

    override func now() -> CoreInstant { Self.now }

    override func arrange(_ alarm: CoreInstant, stamp: UInt64, after waking: Waking?) {
        if scheduler.arrange(self, alarm, stamp: stamp, after: waking) { send() }
    }

    override func leave() {
        scheduler.remove(self)
    }

    /// Sends what advances the engine to where the handler runs.
    ///
    /// The closure holds the client weakly, so that whatever goes away with it does so there and not on the scheduler's
    /// queue.
    func send() {
        if let queue {
            queue.async { [wake] in wake(.onQueue) }
        } else {
            Task.detached { [wake] in wake(.inTask) }
        }
    }
}

/// The continuous clock with a scheduler that nobody else uses, for tests that count what a scheduler does.
struct ScheduledClock: Clock {
    let scheduler = Scheduler()

    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { ContinuousClock().minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
}
