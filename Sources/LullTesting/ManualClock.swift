internal import Dispatch
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
/// handler that waits for the test itself, use ``Milestone/started``. Code that does not use Lull may sleep on the
/// clock, too: start it with ``task(_:)``, and `advance` waits for it. How to inject the clock into an app's code, and
/// what exactly `advance` follows: <doc:Testing>.
public final class ManualClock: CallbackClock, WorkObserver, @unchecked Sendable {
    // Proof of @unchecked Sendable: `state` is only accessed while `lock` is held; everything else is constant.
    let lock = Lock()
    var state = ManualClockState()
    private let patience: Duration
    private let onStall: @Sendable (Stall) -> Void
    /// The real time after which a call that waits while nobody advances is reported.
    let hangPatience: Duration
    let onHang: @Sendable (Hang) -> Void

    /// Creates a clock at ``Instant/zero``.
    ///
    /// In a test of Swift Testing, the clock warns once if a call waits for a debouncer on it for a second of real time
    /// while nothing runs and nobody advances (<doc:Testing#Calls-that-wait>); elsewhere, in standard error.
    ///
    /// - Parameters:
    ///   - patience: The real time without any movement after which ``advance(by:until:)`` or
    ///     ``waitForSleeps(atLeast:)`` gives up.
    ///   - onStall: Called with the reason when one of them gives up, which then goes on without waiting any longer. By
    ///     default the program stops with the reason. To fail the test and go on, pass `{ Issue.record("\($0)") }`: it
    ///     is called in the task of the waiting call, unless that has no thread to run on.
    public convenience init(
        patience: Duration = .seconds(10),
        onStall: @escaping @Sendable (Stall) -> Void = { stop($0) }
    ) {
        // Tasks that the clock tracks do not know the test.
        let isInTest = TestReport.isInTest
        self.init(patience: patience, onStall: onStall, hangPatience: .seconds(1)) {
            TestReport.warn($0.description, at: $0.site, inTest: isInTest)
        }
    }

    /// Creates a clock that tells of a test that hangs by a call.
    package init(
        patience: Duration = .seconds(10), onStall: @escaping @Sendable (Stall) -> Void = { stop($0) },
        hangPatience: Duration, onHang: @escaping @Sendable (Hang) -> Void
    ) {
        self.patience = patience
        self.onStall = onStall
        self.hangPatience = hangPatience
        self.onHang = onHang
    }

    @usableFromInline static func stop(_ stall: Stall) {
        refuse(stall.description)
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
    /// moves for the clock's patience, or if the clock has moved on too early because a handler did what it does not
    /// follow (<doc:Testing#What-the-clock-follows>), the call gives up with a ``Stall``.
    ///
    /// While a handler sleeps, or waits with `until: .started`, each instant takes some 0.1 ms: the clock looks whether
    /// anything waits for the main actor or for the actor of a handler.
    ///
    /// Only one task may advance a clock at a time, and a handler must not do so; otherwise the program stops with a
    /// message.
    ///
    /// - Parameters:
    ///   - duration: How far to advance; `.zero`, or less, waits for what is due already.
    ///   - milestone: The milestone to wait for at each due instant: by default, that every execution has ended or
    ///     sleeps on the clock.
    public func advance(by duration: Duration, until milestone: Milestone = .ended) async {
        await advance(to: now.advanced(by: duration), until: milestone)
    }

    /// Moves the clock to an instant, as ``advance(by:until:)`` does. An instant that has passed counts as now.
    public func advance(to instant: Instant, until milestone: Milestone = .ended) async {
        lock.withLock {
            require(state.target == nil, "ManualClock: two tasks advance the clock at once, or a handler does")
            state.target = instant
            state.noteLook()
        }
        await wait(for: .executions(milestone))
        while let event = lock.withLock({ state.next(notAfter: instant) }) {
            event.perform()
            await wait(for: .executions(milestone))
        }
        lock.withLock {
            state.now = max(state.now, instant)
            state.target = nil
            state.noteLook()
        }
    }

    /// Waits until the clock's state has reached a goal.
    private func wait(for goal: ManualClockState.Goal) async {
        let stall = await withCheckedContinuation { (continuation: ManualClockState.Continuation) in
            let waiting = lock.withLock { () -> (id: Int, moves: Int, probe: ActorProbe?)? in
                guard !state.hasReached(goal) else { return nil }
                let id = state.newID()
                state.waiters[id] = (goal, continuation)
                state.noteLook()
                return (id, state.moves, state.beginProbe())
            }
            guard let waiting else { return continuation.resume(returning: nil) }
            watch(waiting.id, waiting.moves)
            if let probe = waiting.probe { begin(probe) }
        }
        // Here, since an issue that this records is one of the test whose task it is.
        if let stall { onStall(stall) }
    }

    /// How often a task yields before the clock gives up, and for how many times its patience it does not give up
    /// without that.
    private static let (yields, patiences) = (20, 5)

    /// Gives every task that waits for a thread of the pool, or for the main actor, several turns.
    static func giveTurns() async {
        for _ in 0..<yields {
            await Task.yield()
            await MainActor.run {}
        }
    }

    /// Gives up when nothing has moved for the clock's patience.
    ///
    /// A busy machine is not a stall: before the clock gives up, every task that waits for a thread of the pool, or for
    /// the main actor, has several turns, unless these are blocked for good.
    ///
    /// - Parameter count: How many times the patience nothing is to have moved.
    private func watch(_ id: Int, _ moves: Int, times count: Int = 1) {
        let left = lock.withLock { state.patienceLeft(of: patience * count, at: .now) }
        afterRealTime(left) { [weak self] in
            guard let self, let now = lock.withLock({ state.waiters[id] == nil ? nil : state.moves }) else { return }
            guard now == moves else { return watch(id, now) }
            switch count {
            case 1:
                Task.detached {
                    await Self.giveTurns()
                    if let (waiter, stall) = self.stall(id, moves, after: self.patience) {
                        waiter.continuation.resume(returning: stall)
                    }
                }
            case Self.patiences:
                // The waiting task may never have a thread.
                guard let (waiter, stall) = stall(id, moves, after: patience * count) else { break }
                onStall(stall)
                return waiter.continuation.resume(returning: nil)
            default: break
            }
            watch(id, moves, times: count + 1)
        }
    }

    /// Removes and returns a waiter, and the reason why it gives up, if nothing has moved.
    private func stall(_ id: Int, _ moves: Int, after time: Duration) -> (ManualClockState.Waiter, Stall)? {
        let stalled = lock.withLock { () -> (ManualClockState, ManualClockState.Waiter)? in
            guard state.moves == moves, let waiter = state.waiters.removeValue(forKey: id) else { return nil }
            return (state, waiter)
        }
        // Not under the lock: keys describe themselves, in code of the user's.
        return stalled.map { state, waiter in (waiter, Stall(of: state, before: waiter.goal, after: time)) }
    }

    /// Changes the state, and resumes the waiters whose goals it has reached.
    private func move<R>(_ change: (inout ManualClockState) -> R) -> R {
        let (result, continuations, probe) = lock.withLock {
            let result = change(&state)
            state.noteChange()
            return (result, state.takeReached(), state.beginProbe())
        }
        for continuation in continuations { continuation.resume(returning: nil) }
        if let probe { begin(probe) }
        return result
    }

    /// Notes a turn of a probe, and returns the next one.
    func goOn(_ probe: ActorProbe) -> ActorProbe? {
        let (next, waiter) = lock.withLock { state.goOn(probe) }
        waiter?.continuation.resume(returning: nil)
        return next
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
        let work = TrackedWork.current
        let id = lock.withLock { state.newID() }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let (isOver, misled) = move { state -> (Bool?, ManualClockState.Waiter?) in
                    if Task.isCancelled { return (false, nil) }
                    if instant <= state.now { return (true, nil) }
                    // If the clock has seen the task run, it is not misled.
                    let misled = work.flatMap { state.takeMisled(by: $0) }
                    state.add(.init(id: id, at: instant, action: .endSleep(continuation, work)))
                    return (nil, misled)
                }
                if let isOver { continuation.resume(returning: isOver) }
                if let work, let misled { misled.continuation.resume(returning: Stall(unseen: work)) }
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
    /// include what debouncers and throttlers have pending: check their `state`. <doc:TestingCodeThatSleeps> has an
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

    // MARK: - For debouncers and throttlers

    /// Calls `body` when the clock has been advanced to the instant.
    package func wake(at instant: Instant, for site: SourceSite, _ body: @escaping @Sendable () -> Void) {
        move { state in
            let id = state.newID()
            state.add(.init(id: id, at: instant, action: .wake(body)))
        }
    }

    /// Adds an execution that will run.
    package func began(_ work: TrackedWork) {
        // This reaches no goal, so no waiter is resumed.
        lock.withLock {
            state.began(work)
            state.noteChange()
        }
    }

    /// Notes that the operation of an execution has been entered.
    package func entered(_ work: TrackedWork, on actor: (any Actor)?) {
        move { $0.entered(work, on: actor) }
    }

    /// Notes that an execution is to run.
    package func resumed(_ work: TrackedWork, isUnseen: Bool) {
        let misled = move { state -> ManualClockState.Waiter? in
            let misled = isUnseen ? state.takeMisled(by: work, maybeOnActor: true) : nil
            state.resumed(work)
            return misled
        }
        if let misled { misled.continuation.resume(returning: Stall(unseen: work)) }
    }

    /// Notes that an execution has run as far as it can.
    package func paused(_ work: TrackedWork) {
        move { $0.paused(work) }
    }

    /// Notes that an execution waits for another one.
    package func slept(_ work: TrackedWork) {
        move { $0.slept(work) }
    }

    /// Notes that an execution no longer waits for another one.
    package func woke(_ work: TrackedWork) {
        move { $0.woke(work) }
    }

    /// Removes an execution that has ended.
    package func ended(_ work: TrackedWork) {
        move { $0.ended(work) }
    }
}

extension ManualClock {
    /// Starts a task that ``advance(by:until:)`` waits for as it does for a handler: use it for calls that return only
    /// after the clock has moved, such as `outcome(of:)` and `flushAndWait()`.
    ///
    /// ```swift
    /// let outcome = clock.task { try await save.outcome(of: "ab") }
    /// await clock.advance(by: .zero, until: .started)     // the value has been submitted
    /// await clock.advance(by: .seconds(2))
    /// guard case .executed(2) = try await outcome.value else { Issue.record("not executed"); return }
    /// ```
    ///
    /// With `until: .started`, ``advance(by:until:)`` returns when the task has run until it had to wait; by default,
    /// when the task has ended or sleeps on the clock. Waiting for an execution on this clock counts as sleeping on it.
    ///
    /// - Parameter body: The operation of the task, on the actor on which the closure was written.
    /// - Returns: The task, whose `value` throws what `body` throws.
    public func task<R: Sendable>(
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) () async throws -> R
    ) -> Task<R, any Error> {
        let work = TrackedWork(ofTest: true) { "a task of the test" }
        began(work)
        // As `launch` does it; that has no result, since what is generic is compiled twice.
        let executor = ObservedExecutor(work, self)
        let isolation = body.isolation
        return Task.detached(executorPreference: executor) {
            defer { self.ended(work) }
            return try await TrackedWork.$current.withValue(work) {
                try await run(body, on: isolation) { executor.entered(on: isolation) }
            }
        }
    }
}

/// Runs an operation on an actor, or on none.
private func run<R: Sendable>(
    _ operation: nonisolated(nonsending) @Sendable () async throws -> R, on isolation: isolated (any Actor)?,
    entered: () -> Void
) async throws -> R {
    entered()
    return try await operation()
}

/// Calls `body` after a duration of real time.
func afterRealTime(_ duration: Duration, _ body: @escaping @Sendable () -> Void) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    DispatchQueue.global().asyncAfter(deadline: .now() + nanoseconds / 1e9, execute: body)
}
