internal import Dispatch
internal import LullCore

/// One timer for all debouncers and throttlers on the system's clock.
///
/// When a client is due, the scheduler sends a block to the queue of its handler, or a task, which advances the engine there and
/// runs the first handlers. The scheduler does not advance engines itself: one with a million due keys would delay all others.
/// No code of the user's runs on the scheduler's queue.
///
/// - The timer is a timer of Dispatch, which is precise and needs no thread of the cooperative pool.
/// - The queue of a handler may be busy or suspended. That must not delay outcomes that need no handler. So if a block has not
///   begun a little later, the engine is advanced on a queue for bookkeeping.
/// - Such a timer stands still while the machine sleeps. So waits that are long enough for a machine to sleep in have a back-up:
///   a sleep on the continuous clock, which goes on, but is late when the pool is busy.
///
/// A client is *idle* (no deadline), *scheduled*, *sent* (a block or task has been sent and has not begun), or *overdue* (bookkeeping
/// has been sent as well). It is scheduled again by its next call of ``scheduleWakeUp(of:at:stamp:after:)``.
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
    /// The earliest end of a back-up sleep that is under way.
    private var backUp = CoreInstant.farFuture
    private var wakeUpCount = 0
    /// The number of clients that are sent or overdue.
    private var sentCount: Int64 = 0

    /// How long a block or task may take to begin, and 20 µs more for each other one that has been sent.
    static let patience = CoreDuration.milliseconds(2)
    /// The least time between two wake-ups of a client: it handles all that falls due meanwhile at once.
    private static let leastInterval = CoreDuration(nanoseconds: 100_000)
    /// Shorter waits have no back-up: a sleep of the machine delays them by no more than this.
    private static let shortWait = CoreDuration.milliseconds(100)
    /// How many due clients are removed from the queue under one lock.
    private static let batchSize = 64

    /// The number of clients that have a deadline.
    var clientCount: Int { lock.withLock { deadlines.count } }

    /// How often the timer or a back-up has woken the scheduler.
    var wakeUps: Int { lock.withLock { wakeUpCount } }

    deinit {
        timer?.cancel()
    }

    // MARK: - For clients

    /// Schedules a client's wake-up, in place of its earlier one.
    ///
    /// - Returns: Whether the client is due already, so that the caller has to call ``SystemClock/send()``.
    func scheduleWakeUp(of client: SystemClock, at instant: CoreInstant, stamp: UInt64, after source: WakeSource?)
        -> Bool
    {
        lock.withLock {
            if stamp > client.stamp {
                client.stamp = stamp
                client.alarm = instant
            }
            let now = SystemClock.now
            switch source {
            case .onQueue, .inTask: markBegun(client)
            case .bookkeeping: (client.isOverdue, client.overdueAt) = (false, now.advanced(by: Self.patience))
            case .byClock, nil: break
            }
            // The rest of what was due at the last wake-up does not wait.
            var deadline = client.alarm
            if source != nil, deadline > client.sentAt {
                deadline = max(deadline, client.sentAt.advanced(by: Self.leastInterval))
            }
            let isDue = deadline <= now && !client.isSent
            if isDue { markSent(client, now) }
            schedule(client, deadline)
            arm(now)
            return isDue
        }
    }

    /// Removes a client.
    func remove(_ client: SystemClock) {
        lock.withLock {
            client.alarm = .farFuture
            markBegun(client)
            deadlines.remove(client)
        }
    }

    // MARK: - Waking

    private func markSent(_ client: SystemClock, _ now: CoreInstant) {
        client.isSent = true
        client.sentAt = now
        sentCount += 1
        // A queue that has many blocks to run is not blocked.
        client.overdueAt = now.advanced(by: Self.patience).advanced(by: CoreDuration(nanoseconds: sentCount * 20_000))
    }

    private func markBegun(_ client: SystemClock) {
        if client.isSent { sentCount -= 1 }
        client.isSent = false
    }

    /// Updates a client's place in the deadline queue. The caller holds the lock.
    private func schedule(_ client: SystemClock, _ deadline: CoreInstant) {
        if client.alarm == .farFuture || (client.isSent && client.isOverdue) {
            deadlines.remove(client)
        } else if client.isSent {
            // This check need not be punctual: one wake-up checks many clients.
            let tolerance = deadline > client.overdueAt ? client.tolerance : max(client.tolerance, Self.patience)
            deadlines.set(client, to: max(deadline, client.overdueAt), tolerance: tolerance)
        } else {
            deadlines.set(client, to: deadline, tolerance: client.tolerance)
        }
    }

    /// Sends a block or task for every client that is due, and sets the timer for the next one. Runs on the scheduler's queue.
    ///
    /// - Parameter instant: The end of the sleep, if a back-up calls this.
    private func wakeClients(backUp instant: CoreInstant? = nil) {
        lock.withLock {
            wakeUpCount += 1
            if backUp == instant { backUp = .farFuture }
            // After a sleep of the machine the timer would be late.
            armed = .never
        }
        var due: [SystemClock] = []
        var overdue: [SystemClock] = []
        due.reserveCapacity(8)
        var isBehind = true
        while isBehind {
            lock.withLock { isBehind = removeDue(&due, &overdue) }
            for client in due { client.send() }
            due.removeAll(keepingCapacity: true)
        }
        if !overdue.isEmpty { sendBookkeeping(for: overdue) }
        lock.withLock { arm(SystemClock.now) }
    }

    /// Removes some due clients from the deadline queue. The caller holds the lock.
    ///
    /// - Returns: Whether more may be due.
    private func removeDue(_ due: inout [SystemClock], _ overdue: inout [SystemClock]) -> Bool {
        let now = SystemClock.now
        for _ in 0..<Self.batchSize {
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

    /// Advances engines whose queues are blocked, one after the other. None of the user's code runs here.
    private func sendBookkeeping(for clients: [SystemClock]) {
        bookkeeping.async {
            for client in clients { client.wake(.bookkeeping) }
        }
    }

    // MARK: - Timers

    /// Sets the timer if it would fire too late. The caller holds the lock.
    private func arm(_ now: CoreInstant) {
        guard let next = deadlines.wakeUp else { return }
        // A timer that fires too early is left alone, unless a later one wakes several clients at once.
        guard next.latest < armed.latest || (next.latest == armed.latest && next.at > armed.at) else { return }
        armed = next
        let timer = timer ?? makeTimer()
        let leeway = next.at.duration(to: next.latest).nanoseconds
        // The clock is read last: making a timer takes noticeable time.
        let wait = max(0, min(SystemClock.now.duration(to: next.at), longestSleep).nanoseconds)
        timer.schedule(deadline: .now() + Self.interval(wait), leeway: Self.interval(leeway))
        if wait >= Self.shortWait.nanoseconds { startBackUp(next.at, CoreDuration(nanoseconds: wait)) }
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler { [weak self] in self?.wakeClients() }
        timer.schedule(deadline: .distantFuture)
        // Releasing a source that was never activated crashes.
        timer.activate()
        self.timer = timer
        return timer
    }

    /// Converts nanoseconds for Dispatch, which counts in an `Int`. On a watch that has 32 bits.
    ///
    /// What does not fit is rounded down to the next larger unit. The timer then fires a little early, and is set again.
    static func interval(_ nanoseconds: Int64, largest: Int64 = Int64(Int.max)) -> DispatchTimeInterval {
        if nanoseconds <= largest { return .nanoseconds(Int(nanoseconds)) }
        if nanoseconds / 1000 <= largest { return .microseconds(Int(nanoseconds / 1000)) }
        if nanoseconds / 1_000_000 <= largest { return .milliseconds(Int(nanoseconds / 1_000_000)) }
        return .seconds(Int(min(nanoseconds / 1_000_000_000, largest)))
    }

    /// Starts a back-up sleep unless one ends at the instant or shortly after. The caller holds the lock.
    ///
    /// Sleeps are not cancelled: a cancelled one keeps its memory until its end. Since one that ends a little late is good
    /// enough, deadlines that come nearer and nearer start few of them.
    private func startBackUp(_ instant: CoreInstant, _ wait: CoreDuration) {
        let slack = CoreDuration(nanoseconds: max(Self.shortWait.nanoseconds, wait.nanoseconds / 8))
        guard backUp > instant.advanced(by: slack) else { return }
        backUp = instant
        Task.detached { [weak self] in
            try? await Task.sleep(for: Duration(wait), tolerance: .zero, clock: .continuous)
            guard let self else { return }
            self.queue.async { self.wakeClients(backUp: instant) }
        }
    }
}
