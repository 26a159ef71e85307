internal import Dispatch
internal import LullCore

/// The alarm clock of the process: one timer for all debouncers and throttlers on the system's clock.
///
/// When a client is due, the scheduler sends one block to the queue of its handler, or a task, which advances the engine
/// there and runs the first handlers. It does not advance an engine itself: one with a million keys due would delay all
/// others. Nothing of a user's runs on the scheduler's queue.
///
/// - A timer of Dispatch is precise and needs no thread of the cooperative pool, which may be starved.
/// - The queue of a handler may be busy or suspended, which must not delay what needs no handler. So the client is looked at
///   again a little later, and if the block has not begun by then, the engine is advanced on a queue for bookkeeping.
/// - Timers stand still while the machine sleeps. A sleep on the continuous clock does not, and is as late as the pool is
///   busy; it is arranged for waits that are long enough for a machine to sleep in.
final class Scheduler: @unchecked Sendable {
    // Proof of @unchecked Sendable: what varies is only touched while `lock` is held.
    static let shared = Scheduler()

    private let lock = Lock()
    let queue = DispatchQueue(label: "lull.scheduler")
    private let bookkeeping = DispatchQueue(label: "lull.bookkeeping")
    private var deadlines = ClientQueue()
    private var timer: (any DispatchSourceTimer)?
    /// What the timer is set to.
    private var armed = ClientQueue.WakeUp.never
    /// The earliest instant for which a sleep on the continuous clock is under way.
    private var backUp = CoreInstant.farFuture
    private var rings = 0
    /// The number of clients whose block or task has not begun.
    private var onTheWay: Int64 = 0

    /// For how long a queue that is busy may hold up what needs no handler; longer by 20 µs for each client that is on its way.
    static let patience = CoreDuration.milliseconds(2)
    /// How long after a client's wake-up its next one comes at the earliest, so that it does all that falls due meanwhile.
    private static let spacing = CoreDuration(nanoseconds: 100_000)
    /// Waits shorter than this are left to the timer alone: after a sleep of the machine they are late by no more.
    private static let shortWait = CoreDuration.milliseconds(100)
    /// How many clients are taken out with one taking of the lock.
    private static let batch = 64

    /// The number of clients that have a deadline.
    var clients: Int { lock.withLock { deadlines.count } }

    /// How often the timer or the back-up has woken the scheduler.
    var wakeUps: Int { lock.withLock { rings } }

    deinit {
        timer?.cancel()
    }

    // MARK: - For clients

    /// Sets when a client wants to be woken.
    ///
    /// - Returns: Whether the client is due already, and the caller has to send it on its way.
    func arrange(_ client: SystemClock, _ alarm: CoreInstant, stamp: UInt64, after waking: Waking?) -> Bool {
        lock.withLock {
            if stamp > client.stamp {
                client.stamp = stamp
                client.alarm = alarm
            }
            let now = SystemClock.now
            switch waking {
            case .onQueue, .inTask: markArrived(client)
            case .bookkeeping: (client.isOverdue, client.look) = (false, now.advanced(by: Self.patience))
            case .byClock, nil: break
            }
            // What was due when the client was woken last, and is still to be done, does not wait.
            var deadline = client.alarm
            if waking != nil, deadline > client.served {
                deadline = max(deadline, client.served.advanced(by: Self.spacing))
            }
            let isDue = deadline <= now && !client.isSent
            if isDue { markSent(client, now) }
            schedule(client, deadline)
            arm(now)
            return isDue
        }
    }

    /// Removes a client that goes away.
    func remove(_ client: SystemClock) {
        lock.withLock {
            client.alarm = .farFuture
            markArrived(client)
            deadlines.remove(client)
        }
    }

    // MARK: - Waking

    private func markSent(_ client: SystemClock, _ now: CoreInstant) {
        client.isSent = true
        client.served = now
        onTheWay += 1
        // A queue that has many blocks to come to is not blocked yet.
        client.look = now.advanced(by: Self.patience).advanced(by: CoreDuration(nanoseconds: onTheWay * 20_000))
    }

    private func markArrived(_ client: SystemClock) {
        if client.isSent { onTheWay -= 1 }
        client.isSent = false
    }

    /// Puts a client where it belongs in the deadline queue. Called with the lock held.
    private func schedule(_ client: SystemClock, _ deadline: CoreInstant) {
        if client.alarm == .farFuture || (client.isSent && client.isOverdue) {
            deadlines.remove(client)
        } else if client.isSent {
            // A look need not be punctual: many clients are looked at together.
            let tolerance = deadline > client.look ? client.tolerance : max(client.tolerance, Self.patience)
            deadlines.set(client, to: max(deadline, client.look), tolerance: tolerance)
        } else {
            deadlines.set(client, to: deadline, tolerance: client.tolerance)
        }
    }

    /// Sends every client that is due on its way, and sets the timer for the next one. Runs on the scheduler's queue.
    ///
    /// - Parameter instant: The end of the sleep, if it is the back-up that rings.
    private func ring(backUp instant: CoreInstant? = nil) {
        lock.withLock {
            rings += 1
            if backUp == instant { backUp = .farFuture }
            // After a sleep of the machine the timer is late: it is set anew.
            armed = .never
        }
        var due: [SystemClock] = []
        var overdue: [SystemClock] = []
        due.reserveCapacity(8)
        var isBehind = true
        while isBehind {
            lock.withLock { isBehind = takeDue(&due, &overdue) }
            for client in due { client.send() }
            due.removeAll(keepingCapacity: true)
        }
        if !overdue.isEmpty { keepBooks(of: overdue) }
        lock.withLock { arm(SystemClock.now) }
    }

    /// Takes out some of the clients that are due. Called with the lock held.
    ///
    /// - Returns: Whether there may be more of them.
    private func takeDue(_ due: inout [SystemClock], _ overdue: inout [SystemClock]) -> Bool {
        let now = SystemClock.now
        for _ in 0..<Self.batch {
            guard let (client, deadline) = deadlines.pop(notAfter: now) else { return false }
            if client.isSent {
                client.isOverdue = true
                overdue.append(client)
            } else {
                markSent(client, now)
                schedule(client, deadline)
                due.append(client)
            }
        }
        return true
    }

    /// Advances engines whose queues are blocked, one after the other: what can be held up here is bookkeeping alone.
    private func keepBooks(of clients: [SystemClock]) {
        bookkeeping.async {
            for client in clients { client.wake(.bookkeeping) }
        }
    }

    // MARK: - Timers

    /// Sets the timer if it would ring too late. Called with the lock held.
    private func arm(_ now: CoreInstant) {
        guard let next = deadlines.wakeUp else { return }
        // A timer that rings too early is left alone, unless a later one wakes several clients at once.
        guard next.latest < armed.latest || (next.latest == armed.latest && next.at > armed.at) else { return }
        armed = next
        let timer = timer ?? makeTimer()
        let leeway = next.at.duration(to: next.latest).nanoseconds
        // How long to wait is asked last: making a timer takes long enough to be late by.
        let wait = max(0, min(SystemClock.now.duration(to: next.at), longestSleep).nanoseconds)
        timer.schedule(deadline: .now() + Self.interval(wait), leeway: Self.interval(leeway))
        if wait >= Self.shortWait.nanoseconds { arrangeBackUp(next.at, CoreDuration(nanoseconds: wait)) }
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler { [weak self] in self?.ring() }
        timer.schedule(deadline: .distantFuture)
        // A source that is released without having been activated crashes.
        timer.activate()
        self.timer = timer
        return timer
    }

    /// So many nanoseconds for Dispatch, which counts in an `Int`: on a watch that ends at 2.1 s.
    ///
    /// What does not fit is rounded down to the next larger unit that does. The timer then rings a little early, and is set
    /// again.
    static func interval(_ nanoseconds: Int64, largest: Int64 = Int64(Int.max)) -> DispatchTimeInterval {
        if nanoseconds <= largest { return .nanoseconds(Int(nanoseconds)) }
        if nanoseconds / 1000 <= largest { return .microseconds(Int(nanoseconds / 1000)) }
        if nanoseconds / 1_000_000 <= largest { return .milliseconds(Int(nanoseconds / 1_000_000)) }
        return .seconds(Int(min(nanoseconds / 1_000_000_000, largest)))
    }

    /// Sees to it that a sleep on the continuous clock ends at the instant or not much later. Called with the lock held.
    ///
    /// A sleep that is cancelled keeps its memory until its end, so none is cancelled; and one that ends a little later
    /// than wanted is good enough. So deadlines that come nearer and nearer leave few of them behind.
    private func arrangeBackUp(_ instant: CoreInstant, _ wait: CoreDuration) {
        let slack = CoreDuration(nanoseconds: max(Self.shortWait.nanoseconds, wait.nanoseconds / 8))
        guard backUp > instant.advanced(by: slack) else { return }
        backUp = instant
        Task.detached { [weak self] in
            try? await Task.sleep(for: Duration(wait), tolerance: .zero, clock: .continuous)
            guard let self else { return }
            self.queue.async { self.ring(backUp: instant) }
        }
    }
}
