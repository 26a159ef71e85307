package import LullCore

/// Lets code continue at the rate of a limit: for calls that are to be limited and not coalesced.
///
/// ```swift
/// let limiter = Limiter(RateLimit(40, per: .seconds(60), burst: 10))
/// for page in pages {
///     try await limiter.acquire()
///     try await service.fetch(page)
/// }
/// ```
///
/// Callers continue in the order in which they came. No window of the limit's length, wherever it begins, has more of
/// them than the limit says (<doc:Semantics>, section 7). Use it from any thread, task or actor.
///
/// Where several calls could be one, a debouncer with the same limit among its options is better: what waits for the
/// limit is joined by newer values (``DebounceOptions/limit``).
public final class Limiter: @unchecked Sendable {
    // Proof of @unchecked Sendable: what varies is only touched while `lock` is held.
    private let lock = Lock()
    private let clock: any WakingClock
    private let site: SourceSite
    private var limiter: RateLimiter
    /// The callers that wait, by their numbers.
    private var waiting: [UInt64: Promise] = [:]
    /// Their numbers in the order in which they came, from `first` on; some have been cancelled.
    private var order: [UInt64] = []
    private var first = 0
    private var lastNumber: UInt64 = 0
    private var wakeUpStamp: UInt64 = 0

    /// Creates a limiter that has let nobody through yet.
    ///
    /// If the limit breaks a rule (<doc:Semantics>, section 10), the program stops with a message.
    ///
    /// - Parameters:
    ///   - limit: How often callers may continue.
    ///   - clock: Measures the time. For tests, `LullTesting` has `ManualClock` (<doc:Testing>).
    ///   - fileID: The file that a message about a wrong setting names; leave it out.
    ///   - line: The line that this message names; leave it out.
    public init(
        _ limit: RateLimit, clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        site = SourceSite(fileID, line)
        do { try limit.check() } catch { refuse("\(error)", at: site) }
        limiter = RateLimiter(limit)
        self.clock = makeWakingClock(for: clock, wakingOn: nil, tolerance: .zero, usedAt: site)
    }

    deinit {
        clock.removeClient()
    }

    /// Returns when the limit allows one more caller to continue.
    ///
    /// - Throws: `CancellationError` at once when the task is cancelled. Nothing of the limit is used then.
    public nonisolated(nonsending) func acquire() async throws(CancellationError) {
        if Task.isCancelled { throw CancellationError() }
        let now = clock.now()
        guard let (number, promise) = lock.withLock({ enter(at: now) }) else { return }
        scheduleWakeUp()
        if await !promise.wait(observer: clock.workObserver, in: wait) {
            lock.withLock { leave(number) }
            throw CancellationError()
        }
    }

    /// Describes a call that waits.
    private var wait: WaitingCall {
        WaitingCall(for: site) {
            "acquire() of the limiter"
        } timeLeft: { [weak self] in
            guard let self else { return nil }
            let now = clock.now()
            return Duration(now.duration(to: max(now, lock.withLock { limiter.next })))
        }
    }

    /// Lets a caller continue, or wait. The caller of this holds the lock.
    ///
    /// - Returns: What it waits for; nil if it may continue.
    private func enter(at now: CoreInstant) -> (number: UInt64, promise: Promise)? {
        if waiting.isEmpty, limiter.next <= now {
            limiter.start(at: now)
            return nil
        }
        lastNumber += 1
        let promise = Promise()
        waiting[lastNumber] = promise
        order.append(lastNumber)
        return (lastNumber, promise)
    }

    /// Forgets a caller that was cancelled. The caller of this holds the lock.
    private func leave(_ number: UInt64) {
        waiting[number] = nil
        // Those that were cancelled are passed over later, but no more of them are kept than of the others.
        if order.count - first > 2 * waiting.count + 64 { order.removeAll { waiting[$0] == nil }; first = 0 }
    }

    /// Lets those continue that may by now.
    private func wake(_ source: WakeSource) {
        let now = clock.now()
        var released: [Promise] = []
        lock.withLock {
            while first < order.count, limiter.next <= now {
                if let promise = waiting.removeValue(forKey: order[first]) {
                    limiter.start(at: now)
                    released.append(promise)
                }
                first += 1
            }
            if first * 2 > order.count {
                order.removeFirst(first)
                first = 0
            }
        }
        for promise in released { promise.deliver() }
        scheduleWakeUp(after: source)
    }

    /// Schedules the wake-up for the first caller that waits: as ``RuntimeCore`` does, without the lock.
    private func scheduleWakeUp(after source: WakeSource? = nil) {
        lock.lock()
        let instant = waiting.isEmpty ? .farFuture : limiter.next
        wakeUpStamp += 1
        let stamp = wakeUpStamp
        if stamp == 1 { clock.wake = { [weak self] source in self?.wake(source) } }
        lock.unlock()
        clock.scheduleWakeUp(at: instant, stamp: stamp, after: source)
    }
}
