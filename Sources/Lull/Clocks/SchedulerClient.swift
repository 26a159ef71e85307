internal import CLullSystem
internal import Dispatch
internal import LullCore

/// A client of the scheduler, which wakes one runtime on the system's continuous clock.
///
/// That clock goes on while the machine sleeps, and cannot be set.
final class SchedulerClient: WakingClock, @unchecked Sendable {
    // Proof of @unchecked Sendable: what varies is only touched by the scheduler, under its lock; `wake` is set before
    // the first wake-up is scheduled.
    private let scheduler: Scheduler
    /// The queue of the handler, if it has one.
    private let queue: DispatchQueue?
    let tolerance: CoreDuration
    var wake: @Sendable (WakeSource) -> Void = { _ in }

    // MARK: For the scheduler

    var state = ClientState.waiting
    /// The wake-up that was scheduled last.
    var alarm = CoreInstant.farFuture
    /// The stamp of that call.
    var stamp: UInt64 = 0
    /// When the latest block or task was sent.
    var sentAt = CoreInstant.farPast
    /// The index of the deadline in its heap; negative for none.
    var index = -1
    /// The same in the heap of latest instants, for a client with a tolerance.
    var latestIndex = -1
    /// Whether the deadline is in the heap of clients with a tolerance.
    var isTolerant = false

    init(_ scheduler: Scheduler, _ queue: DispatchQueue?, _ tolerance: CoreDuration) {
        self.scheduler = scheduler
        self.queue = queue
        self.tolerance = tolerance
    }

    /// The present instant, the same for all clients.
    static var now: CoreInstant { CoreInstant(nanoseconds: lull_nanoseconds_since_boot()) }

    func now() -> CoreInstant { Self.now }

    func scheduleWakeUp(at instant: CoreInstant, stamp: UInt64, after source: WakeSource?) {
        if scheduler.scheduleWakeUp(of: self, at: instant, stamp: stamp, after: source) { send() }
    }

    func removeClient() {
        scheduler.remove(self)
    }

    /// Sends a block to the handler's queue, or a task, that advances the engine.
    ///
    /// `wake` holds the runtime weakly: if it is released meanwhile, that does not happen on the scheduler's queue.
    func send() {
        if let queue {
            queue.async { [wake] in wake(.onQueue) }
        } else {
            Task.detached { [wake] in wake(.inTask) }
        }
    }
}

/// The state of a scheduler's client: what has been sent to advance its engine, and has not begun.
///
/// A block means a block or a task. While none is on its way, the client has a deadline if it has an alarm.
///
///     waiting ──send──▶ sent ──begin──▶ waiting
///                       sent ──expire──▶ overdue
///     overdue ──endBookkeeping──▶ sent
///     overdue ──begin──▶ begun ──endBookkeeping──▶ waiting
///                        begun ──send──▶ overdue
enum ClientState: Equatable {
    /// Nothing has been sent.
    case waiting
    /// A block has been sent. At the instant it is overdue.
    case sent(overdueAt: CoreInstant)
    /// A block has been sent, and its queue is taken for blocked: bookkeeping has been sent as well.
    case overdue
    /// The block has begun in the end. Bookkeeping has not.
    case begun

    /// Whether a block is on its way.
    var isSent: Bool {
        switch self {
        case .sent, .overdue: true
        case .waiting, .begun: false
        }
    }

    /// A block is sent.
    mutating func send(overdueAt instant: CoreInstant) {
        switch self {
        case .waiting: self = .sent(overdueAt: instant)
        case .begun: self = .overdue
        case .sent, .overdue: preconditionFailure("a client is sent a second block")
        }
    }

    /// The block has begun.
    mutating func begin() {
        switch self {
        case .sent: self = .waiting
        case .overdue: self = .begun
        case .waiting, .begun: preconditionFailure("a client's block has begun that was not sent")
        }
    }

    /// The block has not begun in time, and bookkeeping is sent.
    mutating func expire() {
        switch self {
        case .sent: self = .overdue
        case .waiting, .overdue, .begun: preconditionFailure("a client without a new block is overdue")
        }
    }

    /// Bookkeeping has advanced the engine. A block that is still on its way gets more time.
    mutating func endBookkeeping(overdueAt instant: CoreInstant) {
        switch self {
        case .overdue: self = .sent(overdueAt: instant)
        case .begun: self = .waiting
        case .waiting, .sent: preconditionFailure("a client's bookkeeping has ended that was not sent")
        }
    }
}
