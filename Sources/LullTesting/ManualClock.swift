public import Lull

/// A clock that moves only when a test advances it, so that a test of code that waits takes no time and never depends
/// on luck.
///
/// Give it to a debouncer, a throttler, or anything else that takes an `any Clock<Duration>`. ``advance(by:until:)``
/// returns when everything that fell due has happened: the handlers have ended, and the callbacks that wait for
/// outcomes have, too.
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
/// handler that sleeps on the clock does not hold up `advance`: it goes on when the clock gets there. For a handler
/// that waits for the test itself there is ``Milestone/started``. Code that does not use Lull may sleep on the clock as
/// well; start it with ``task(_:)``, and `advance` waits for it. How to bring the clock into an app's code:
/// <doc:Testing>.
public final class ManualClock: WorkTrackingClock, @unchecked Sendable {
    // Proof of @unchecked Sendable: `state` is only touched while `lock` is held; everything else is constant.
    private let lock = Lock()
    private var state = ManualClockState()
    private let patience: Duration
    private let onStall: @Sendable (Stall) -> Void

    /// Makes a clock that stands at ``Instant/zero``.
    ///
    /// - Parameters:
    ///   - patience: How much real time may pass in which nothing happens before ``advance(by:until:)`` or
    ///     ``waitForSleeps(atLeast:)`` gives up.
    ///   - onStall: Called when one of them gives up, with the reason; it then returns without waiting any longer. By
    ///     default the program stops with the reason. To fail the test and go on, give `{ Issue.record("\($0)") }`.
    public init(
        patience: Duration = .seconds(10),
        onStall: @escaping @Sendable (Stall) -> Void = { preconditionFailure($0.description) }
    ) {
        self.patience = patience
        self.onStall = onStall
    }

    /// An instant of a ``ManualClock``, counted from the making of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public var sinceStart: Duration

        /// Where a new clock stands.
        public static var zero: Instant { Instant(sinceStart: .zero) }

        /// The instant that much later.
        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: sinceStart + duration)
        }

        /// How much later the other instant is.
        public func duration(to other: Instant) -> Duration {
            other.sinceStart - sinceStart
        }

        /// Whether the left instant is the earlier one.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.sinceStart < right.sinceStart
        }
    }

    /// How far executions must have come before ``advance(by:until:)`` goes on to the next due instant.
    public enum Milestone: Hashable, Sendable {
        /// Every execution that fell due has ended, or sleeps on the clock.
        case ended
        /// The handler of every execution that fell due has been entered, and has run until it had to wait for
        /// something.
        case started
    }

    /// The instant at which the clock stands.
    public var now: Instant {
        lock.withLock { state.now }
    }

    /// One nanosecond: shorter steps are not counted.
    public var minimumResolution: Duration { .nanoseconds(1) }

    // MARK: - Advancing

    /// Moves the clock from one due instant to the next, and returns when everything that fell due has happened.
    ///
    /// What handlers cause on the way, a new submit or a sleep on the clock, is carried out too if it falls due within
    /// `duration`. If nothing moves for the clock's patience, the call gives up with a ``Stall``.
    ///
    /// Only one task may advance a clock at a time, and a handler must not: the program stops with a message.
    ///
    /// - Parameters:
    ///   - duration: How far; `.zero` waits for what is due already.
    ///   - milestone: What is waited for at each due instant: by default, that every execution has ended or sleeps on
    ///     the clock.
    public func advance(by duration: Duration, until milestone: Milestone = .ended) async {
        await advance(to: now.advanced(by: duration), until: milestone)
    }

    /// Moves the clock up to an instant, as ``advance(by:until:)`` does. An instant that has passed counts as now.
    public func advance(to instant: Instant, until milestone: Milestone = .ended) async {
        lock.withLock {
            precondition(!state.isAdvancing, "ManualClock: two tasks advance the clock at once, or a handler does")
            state.isAdvancing = true
        }
        await wait(for: .executions(milestone))
        while let event = lock.withLock({ state.next(notAfter: instant) }) {
            event.happen()
            await wait(for: .executions(milestone))
        }
        lock.withLock {
            state.now = max(state.now, instant)
            state.isAdvancing = false
        }
    }

    /// Waits until what happens on the clock has come as far as asked.
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

    /// How often a task lets others go first before the clock gives up.
    private static let turns = 20

    /// Gives up if nothing has moved when the patience is at its end.
    ///
    /// A busy machine is no stall: before it is called one, whatever waits for a thread of the pool has its turns, unless the
    /// threads are taken for good.
    private func watch(_ id: Int, _ moves: Int) {
        afterRealTime(patience) { [weak self] in
            guard let self else { return }
            Task.detached {
                for _ in 0..<Self.turns { await Task.yield() }
                self.giveUp(id, moves, goesOn: true)
            }
            afterRealTime(patience * 5) { [weak self] in self?.giveUp(id, moves, goesOn: false) }
        }
    }

    private func giveUp(_ id: Int, _ moves: Int, goesOn: Bool) {
        let (moved, stalled) = lock.withLock { () -> (Int?, (Stall, CheckedContinuation<Void, Never>)?) in
            guard let (goal, continuation) = state.waiters[id] else { return (nil, nil) }
            guard state.moves == moves else { return (state.moves, nil) }
            state.waiters[id] = nil
            return (nil, (Stall(of: state, before: goal, after: patience), continuation))
        }
        if let moved, goesOn { watch(id, moved) }
        if let (stall, continuation) = stalled {
            onStall(stall)
            continuation.resume()
        }
    }

    /// Changes the state, and lets go on whatever has waited for that.
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
    ///   - instant: When to go on.
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
                    state.add(.init(id: id, at: instant, act: .sleeper(continuation, work)))
                    return nil
                }
                if let isOver { continuation.resume(returning: isOver) }
            }
        } onCancel: {
            let sleeper = move { $0.remove(id) }
            sleeper?.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    /// How many sleeps on the clock are under way.
    ///
    /// `#expect(clock.sleepCount == 0)` says that the code under test no longer waits for time. What debouncers and
    /// throttlers have pending is not counted: ask them by `isPending`. <doc:TestingCodeThatSleeps> has an example.
    public var sleepCount: Int {
        lock.withLock { state.sleepCount }
    }

    /// Waits until so many sleeps on the clock are under way: for tasks that the code under test starts by itself.
    ///
    /// The clock learns of such a task only when it sleeps; a clock that is advanced earlier passes it by. When this
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
    /// An advance does not wait for such a task: advance by one sleep at a time. Where the code under test is a
    /// function, ``task(_:)`` follows it through many.
    ///
    /// If nothing moves meanwhile, it gives up as ``advance(by:until:)`` does.
    ///
    /// - Parameter count: How many sleeps, or more.
    public func waitForSleeps(atLeast count: Int = 1) async {
        await wait(for: .sleeps(count))
    }

    // MARK: - Being told of work

    /// Calls `body` when the clock has been advanced to the instant.
    @usableFromInline package func wake(at instant: Instant, _ body: @escaping @Sendable () -> Void) {
        move { state in
            let id = state.newID()
            state.add(.init(id: id, at: instant, act: .wake(body)))
        }
    }

    /// An execution will run.
    @usableFromInline package func began(_ work: Work) {
        move { $0.began(work) }
    }

    /// An execution runs.
    @usableFromInline package func resumed(_ work: Work) {
        move { $0.resumed(work) }
    }

    /// An execution has run as far as it could.
    @usableFromInline package func paused(_ work: Work) {
        move { $0.paused(work) }
    }

    /// An execution waits for another one.
    @usableFromInline package func slept(_ work: Work) {
        move { $0.slept(work) }
    }

    /// An execution goes on.
    @usableFromInline package func woke(_ work: Work) {
        move { $0.woke(work) }
    }

    /// An execution has ended.
    @usableFromInline package func ended(_ work: Work) {
        move { $0.ended(work) }
    }
}
