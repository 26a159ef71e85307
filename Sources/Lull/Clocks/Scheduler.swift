internal import Dispatch
internal import LullCore

/// One timer for all debouncers and throttlers on the system's clock.
///
/// When a client is due, the scheduler sends a block to the queue of its handler, or a task, which advances the engine
/// there and runs the first handlers. The scheduler does not advance engines itself: one with a million due keys would
/// delay all others. No code of the user's runs on the scheduler's queue.
///
/// - The timer is a timer of Dispatch, which is precise and needs no thread of the cooperative pool.
/// - The queue of a handler may be busy or suspended. That must not delay outcomes that need no handler. If a block has
///   not begun a little later, the engine is therefore advanced on a queue for bookkeeping.
/// - Such a timer stands still while the machine sleeps. Waits that are long enough for a machine to sleep in therefore
///   have a back-up: a sleep on the continuous clock, which goes on, but is late when the pool is busy.
///
/// ``ClientState`` is the state machine of a client. A client that has been woken is scheduled again by its next call
/// of ``scheduleWakeUp(of:at:stamp:after:)``.
final class Scheduler: @unchecked Sendable {
    // Proof of @unchecked Sendable: what varies is only touched while `lock` is held.
    static let shared = Scheduler()

    let lock = Lock()
    let queue = DispatchQueue(label: "lull.scheduler")
    private let bookkeeping = DispatchQueue(label: "lull.bookkeeping")
    private var deadlines = ClientQueue()
    private var timer: (any DispatchSourceTimer)?
    /// The wake-up that the timer is set to.
    private(set) var armed = ClientQueue.WakeUp.never
    /// The back-ups that are under way.
    private(set) var backUps = Sleeps<Void>()
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

    deinit {
        timer?.cancel()
    }

    // MARK: - For clients

    /// Schedules a client's wake-up, in place of its earlier one.
    ///
    /// - Returns: Whether the client is due already, so that the caller has to call ``SchedulerClient/send()``.
    func scheduleWakeUp(of client: SchedulerClient, at instant: CoreInstant, stamp: UInt64, after source: WakeSource?)
        -> Bool
    {
        lock.withLock {
            if stamp > client.stamp {
                client.stamp = stamp
                client.alarm = instant
            }
            let now = SchedulerClient.now
            switch source {
            case .onQueue, .inTask:
                client.state.begin()
                sentCount -= 1
            case .bookkeeping: client.state.endBookkeeping(overdueAt: now.advanced(by: Self.patience))
            case .byClock, nil: break
            }
            // The rest of what was due at the last wake-up does not wait.
            var deadline = client.alarm
            if source != nil, deadline > client.sentAt {
                deadline = max(deadline, client.sentAt.advanced(by: Self.leastInterval))
            }
            let isDue = deadline <= now && !client.state.isSent
            if isDue { markSent(client, now) }
            schedule(client, deadline)
            arm(now)
            return isDue
        }
    }

    /// Removes a client, which is not scheduled again.
    func remove(_ client: SchedulerClient) {
        lock.withLock {
            if client.state.isSent { sentCount -= 1 }
            deadlines.remove(client)
        }
    }

    // MARK: - Waking

    private func markSent(_ client: SchedulerClient, _ now: CoreInstant) {
        client.sentAt = now
        sentCount += 1
        // A queue that has many blocks to run is not blocked.
        let patience = CoreDuration(nanoseconds: Self.patience.nanoseconds + sentCount * 20_000)
        client.state.send(overdueAt: now.advanced(by: patience))
    }

    /// Updates a client's deadline in the queue: that of its alarm, or when its block is overdue. The caller holds the
    /// lock.
    private func schedule(_ client: SchedulerClient, _ deadline: CoreInstant) {
        guard client.alarm != .farFuture else { return deadlines.remove(client) }
        switch client.state {
        case .waiting, .begun:
            deadlines.set(client, to: deadline, tolerance: client.tolerance)
        case .sent(let overdueAt):
            // This check need not be punctual: one wake-up checks many clients.
            let tolerance = deadline > overdueAt ? client.tolerance : max(client.tolerance, Self.patience)
            deadlines.set(client, to: max(deadline, overdueAt), tolerance: tolerance)
        case .overdue:
            deadlines.remove(client)
        }
    }

    /// Sends a block or task for every client that is due, and sets the timer for the next one. Runs on the scheduler's
    /// queue.
    ///
    /// - Parameter instant: The end of the sleep, if a back-up calls this.
    private func wakeClients(backUp instant: CoreInstant? = nil) {
        lock.withLock {
            if let instant { backUps.end(instant) }
            // After a sleep of the machine the timer would be late.
            armed = .never
        }
        var due: [SchedulerClient] = []
        var overdue: [SchedulerClient] = []
        due.reserveCapacity(8)
        var isBehind = true
        while isBehind {
            lock.withLock { isBehind = removeDue(&due, &overdue) }
            for client in due { client.send() }
            due.removeAll(keepingCapacity: true)
        }
        if !overdue.isEmpty { sendBookkeeping(for: overdue) }
        lock.withLock { arm(SchedulerClient.now) }
    }

    /// Removes some due clients from the deadline queue. The caller holds the lock.
    ///
    /// - Returns: Whether more may be due.
    private func removeDue(_ due: inout [SchedulerClient], _ overdue: inout [SchedulerClient]) -> Bool {
        let now = SchedulerClient.now
        for _ in 0..<Self.batchSize {
            guard let (client, deadline) = deadlines.pop(notAfter: now) else { return false }
            switch client.state {
            case .waiting, .begun:
                markSent(client, now)
                schedule(client, deadline)
                due.append(client)
            case .sent, .overdue:
                client.state.expire()
                overdue.append(client)
            }
        }
        return true
    }

    /// Advances engines whose queues are blocked, one after the other. None of the user's code runs here.
    private func sendBookkeeping(for clients: [SchedulerClient]) {
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
        let wait = max(0, min(SchedulerClient.now.duration(to: next.at), longestSleep).nanoseconds)
        // In an unsigned number of 64 bits: an interval is an `Int`, which has 32 bits on a watch. A shorter leeway
        // does no harm.
        let deadline = DispatchTime(uptimeNanoseconds: DispatchTime.now().uptimeNanoseconds + UInt64(wait))
        timer.schedule(deadline: deadline, leeway: .nanoseconds(Int(clamping: leeway)))
        if wait >= Self.shortWait.nanoseconds { startBackUp(next.at, CoreDuration(nanoseconds: wait)) }
    }

    /// How late a back-up for a wait of that length may be.
    static func slack(of wait: CoreDuration) -> CoreDuration {
        CoreDuration(nanoseconds: max(shortWait.nanoseconds, wait.nanoseconds / 8))
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

    /// Starts a back-up sleep unless one ends by the instant or shortly after. The caller holds the lock.
    ///
    /// Since one that ends a little late is good enough, deadlines that come nearer and nearer start few of them: fewer
    /// than 160 are under way.
    private func startBackUp(_ instant: CoreInstant, _ wait: CoreDuration) {
        guard backUps.needsAnother(until: instant, slack: Self.slack(of: wait)) else { return }
        backUps.begin(until: instant, ())
        Task.detached { [weak self] in
            try? await Task.sleep(for: Duration(wait), tolerance: .zero, clock: .continuous)
            guard let self else { return }
            self.queue.async { self.wakeClients(backUp: instant) }
        }
    }
}
