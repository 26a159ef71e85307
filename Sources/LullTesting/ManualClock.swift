public import Lull

/// A clock that moves only when a test advances it, so that a test of code that waits takes no time and is
/// deterministic.
///
/// Pass it to a debouncer, a throttler, or anything else that takes an `any Clock<Duration>`. ``advance(by:until:)``
/// returns when everything that fell due has happened: the handlers and the callbacks for outcomes have ended.
///
/// ```swift
/// let clock = ManualClock()
/// let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }
/// save(Draft("a"))
/// save(Draft("ab"))
/// await clock.advance(by: .seconds(2))
/// #expect(await store.drafts == [Draft("ab")])
/// ```
///
/// A submit that is due at once, by a leading edge or a flush, starts at once; `advance(by: .zero)` waits for it. A
/// handler that sleeps on the clock does not hold up `advance`; it goes on when the clock reaches its instant. For a
/// handler that waits for the test itself, use ``Milestone/started``. Code that does not use Lull may sleep on the clock,
/// too: start it with ``task(_:)``, and `advance` waits for it. How to inject the clock into an app's code:
/// <doc:Testing>.
public final class ManualClock: WorkTrackingClock, @unchecked Sendable {
    // Proof of @unchecked Sendable: `state` is only accessed while `lock` is held; everything else is constant.
    private let lock = Lock()
    private var state = ManualClockState()
    private let patience: Duration
    private let onStall: @Sendable (Stall) -> Void

    /// Creates a clock at ``Instant/zero``.
    ///
    /// - Parameters:
    ///   - patience: The real time without any movement after which ``advance(by:until:)`` or
    ///     ``waitForSleeps(atLeast:)`` gives up.
    ///   - onStall: Called with the reason when one of them gives up, which then returns without waiting any longer. By
    ///     default the program stops with the reason. To fail the test and go on, pass `{ Issue.record("\($0)") }`.
    public init(
        patience: Duration = .seconds(10),
        onStall: @escaping @Sendable (Stall) -> Void = { preconditionFailure($0.description) }
    ) {
        self.patience = patience
        self.onStall = onStall
    }

    /// An instant of a ``ManualClock``, counted from the creation of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the creation of the clock.
        public var sinceStart: Duration

        /// The instant of a new clock.
        public static var zero: Instant { Instant(sinceStart: .zero) }

        /// Returns the instant that is later by a duration.
        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: sinceStart + duration)
        }

        /// Returns how much later the other instant is.
        public func duration(to other: Instant) -> Duration {
            other.sinceStart - sinceStart
        }

        /// Returns whether the left instant is the earlier one.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.sinceStart < right.sinceStart
        }
    }

    /// How far executions must have progressed before ``advance(by:until:)`` goes on to the next due instant.
    public enum Milestone: Hashable, Sendable {
        /// Every execution that fell due has ended, or sleeps on the clock.
        case ended
        /// The handler of every execution that fell due has been entered, and has run until it had to wait.
        case started
    }

    /// The present instant of the clock.
    public var now: Instant {
        lock.withLock { state.now }
    }

    /// One nanosecond, the shortest step of the clock.
    public var minimumResolution: Duration { .nanoseconds(1) }

    // MARK: - Advancing

    /// Moves the clock from one due instant to the next, and returns when everything that fell due has happened.
    ///
    /// New submits and sleeps that handlers cause on the way also happen if they fall due within `duration`. If nothing
    /// moves for the clock's patience, the call gives up with a ``Stall``.
    ///
    /// Only one task may advance a clock at a time, and a handler must not do so; otherwise the program stops with a
    /// message.
    ///
    /// - Parameters:
    ///   - duration: How far to advance; `.zero` waits for what is due already.
    ///   - milestone: The milestone to wait for at each due instant: by default, that every execution has ended or sleeps on the
    ///     clock.
    public func advance(by duration: Duration, until milestone: Milestone = .ended) async {
        await advance(to: now.advanced(by: duration), until: milestone)
    }

    /// Moves the clock to an instant, as ``advance(by:until:)`` does. An instant that has passed counts as now.
    public func advance(to instant: Instant, until milestone: Milestone = .ended) async {
        lock.withLock {
            precondition(!state.isAdvancing, "ManualClock: two tasks advance the clock at once, or a handler does")
            state.isAdvancing = true
        }
        await wait(for: .executions(milestone))
        while let event = lock.withLock({ state.next(notAfter: instant) }) {
            event.perform()
            await wait(for: .executions(milestone))
        }
        lock.withLock {
            state.now = max(state.now, instant)
            state.isAdvancing = false
        }
    }

    /// Waits until the clock's state has reached a goal.
    private func wait(for goal: ManualClockState.Goal) async {
        await withCheckedContinuation { continuation in
            let waiting = lock.withLock { () -> (id: Int, moves: Int)? in
                guard !state.hasReached(goal) else { return nil }
                let id = state.newID()
                state.waiters[id] = (goal, continuation)
                return (id, state.moves)
            }
            if let waiting { watch(waiting.id, waiting.moves) } else { continuation.resume() }
        }
    }

    /// How often a task yields before the clock gives up.
    private static let yields = 20

    /// Gives up if nothing has moved when the patience is over.
    ///
    /// A busy machine is not a stall: before the clock gives up, every task that waits for a thread of the pool has several turns,
    /// unless the threads are blocked for good.
    private func watch(_ id: Int, _ moves: Int) {
        afterRealTime(patience) { [weak self] in
            guard let self else { return }
            Task.detached {
                for _ in 0..<Self.yields { await Task.yield() }
                self.giveUp(id, moves, goesOn: true)
            }
            afterRealTime(patience * 5) { [weak self] in self?.giveUp(id, moves, goesOn: false) }
        }
    }

    private func giveUp(_ id: Int, _ moves: Int, goesOn: Bool) {
        let (moved, stalled) = lock.withLock { () -> (Int?, (ManualClockState, ManualClockState.Waiter)?) in
            guard let waiter = state.waiters[id] else { return (nil, nil) }
            guard state.moves == moves else { return (state.moves, nil) }
            state.waiters[id] = nil
            return (nil, (state, waiter))
        }
        if let moved, goesOn { watch(id, moved) }
        if let (state, waiter) = stalled {
            // Not under the lock: keys describe themselves, in code of the user's.
            onStall(Stall(of: state, before: waiter.goal, after: patience))
            waiter.continuation.resume()
        }
    }

    /// Changes the state, and resumes the waiters whose goals it has reached.
    private func move<R>(_ change: (inout ManualClockState) -> R) -> R {
        let (result, continuations) = lock.withLock {
            let result = change(&state)
            state.moves += 1
            return (result, state.takeReached())
        }
        for continuation in continuations { continuation.resume() }
        return result
    }

    // MARK: - Sleeping

    /// Suspends until the clock has been advanced to the instant; returns at once if it has been already.
    ///
    /// In a handler, `try await clock.sleep(for: .seconds(5))` stands for a service that takes five seconds to answer.
    ///
    /// - Parameters:
    ///   - instant: The instant at which the sleep ends.
    ///   - tolerance: Ignored: the clock is never late.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until instant: Instant, tolerance: Duration? = nil) async throws {
        let work = Work.current
        let id = lock.withLock { state.newID() }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let isOver = move { state -> Bool? in
                    if Task.isCancelled { return false }
                    if instant <= state.now { return true }
                    state.add(.init(id: id, at: instant, action: .endSleep(continuation, work)))
                    return nil
                }
                if let isOver { continuation.resume(returning: isOver) }
            }
        } onCancel: {
            let continuation = move { $0.removeSleep(id) }
            continuation?.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    /// The number of sleeps on the clock that are under way.
    ///
    /// `#expect(clock.sleepCount == 0)` checks that the code under test no longer waits for time. The number does not
    /// include what debouncers and throttlers have pending: check their `isPending`. <doc:TestingCodeThatSleeps> has an
    /// example.
    public var sleepCount: Int {
        lock.withLock { state.sleepCount }
    }

    /// Waits until this many sleeps on the clock are under way: for tasks that the code under test starts itself.
    ///
    /// The clock learns of such a task only when the task sleeps; an earlier advance does not affect it. When this call
    /// returns, the task sleeps, and has done all that it does before.
    ///
    /// ```swift
    /// poller.start()                                  // begins with a sleep of five seconds, in a task
    /// await clock.waitForSleeps()
    /// await clock.advance(by: .seconds(5))
    /// await clock.waitForSleeps()                     // it has polled, and sleeps again
    /// #expect(poller.count == 1)
    /// ```
    ///
    /// An advance does not wait for such a task: advance by one sleep at a time. If the code under test is a function,
    /// ``task(_:)`` tracks it through many sleeps.
    ///
    /// If nothing moves meanwhile, the call gives up as ``advance(by:until:)`` does.
    ///
    /// - Parameter count: The smallest number of sleeps to wait for.
    public func waitForSleeps(atLeast count: Int = 1) async {
        await wait(for: .sleeps(count))
    }

    // MARK: - WorkTrackingClock

    /// Calls `body` when the clock has been advanced to the instant.
    @usableFromInline package func wake(at instant: Instant, _ body: @escaping @Sendable () -> Void) {
        move { state in
            let id = state.newID()
            state.add(.init(id: id, at: instant, action: .wake(body)))
        }
    }

    /// Adds an execution that will run.
    @usableFromInline package func began(_ work: Work) {
        // This reaches no goal, so no waiter is resumed.
        lock.withLock {
            state.began(work)
            state.moves += 1
        }
    }

    /// Notes that an execution runs.
    @usableFromInline package func resumed(_ work: Work) {
        move { $0.resumed(work) }
    }

    /// Notes that an execution has run until it had to wait.
    @usableFromInline package func paused(_ work: Work) {
        move { $0.paused(work) }
    }

    /// Notes that an execution waits for another one.
    @usableFromInline package func slept(_ work: Work) {
        move { $0.slept(work) }
    }

    /// Notes that an execution no longer waits for another one.
    @usableFromInline package func woke(_ work: Work) {
        move { $0.woke(work) }
    }

    /// Removes an execution that has ended.
    @usableFromInline package func ended(_ work: Work) {
        move { $0.ended(work) }
    }
}
