internal import Dispatch
public import Foundation
internal import Lull

/// An operation that only waits: operations that depend on it start no sooner than it has finished.
///
/// ```swift
/// let pause = DelayOperation(timeInterval: 0.01)
/// let work = BlockOperation { results.search("dog") }
/// work.addDependency(pause)
/// for operation in [pause, work] { operations.addOperation(operation) }
/// ```
///
/// It occupies no thread while it waits. If it is cancelled while it is executing, from any thread, it finishes at
/// once, which frees a queue that executes one operation at a time.
public final class DelayOperation: Operation, @unchecked Sendable {
    // Proof of @unchecked Sendable: the variable parts are in `Guarded`; the rest is constant.
    private enum State {
        case waiting
        case executing
        case finished
    }

    private let state = Guarded(State.waiting)
    private let delay: Duration
    private let clock: any Clock<Duration>
    private let tolerance: Duration
    private let timer = Guarded<Debouncer<Void, Void>?>(nil)

    /// The seconds that it waits from its start on, as passed to the initialiser.
    public let timeInterval: TimeInterval

    /// Creates an operation that waits for a time once its queue has started it.
    ///
    /// - Parameters:
    ///   - timeInterval: In seconds, from its start; negative and NaN count as zero, infinity as never.
    ///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while the
    ///     machine sleeps.
    ///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
    ///     more.
    public init(timeInterval: TimeInterval, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero)
    {
        self.timeInterval = timeInterval
        self.clock = clock
        self.tolerance = tolerance
        delay = Duration(delay: timeInterval)
        super.init()
    }

    /// Always true: the queue's thread is free while the operation waits.
    public override var isAsynchronous: Bool { true }

    /// Whether it has started and is waiting.
    public override var isExecuting: Bool { state.value == .executing }

    /// Whether the time is over, or the operation was cancelled.
    public override var isFinished: Bool { state.value == .finished }

    /// Begins to wait. Only the operation queue calls this function.
    public override func start() {
        guard !isCancelled else { return move(from: .waiting, to: .finished) }
        move(from: .waiting, to: .executing)
        let timer = Debouncer(
            for: delay, on: .global(), options: .init(atEnd: .drop, tolerance: tolerance), clock: clock
        ) {
            [weak self] () -> Void in
            self?.move(from: .executing, to: .finished)
        }
        _ = self.timer.exchange(timer)
        timer()
        // A concurrent cancel may have found neither an executing operation nor a timer to stop.
        if isCancelled { move(from: .executing, to: .finished) }
        if isFinished { _ = self.timer.exchange(nil) }
    }

    /// Finishes the operation at once if it is executing; otherwise as soon as the queue gets to it.
    public override func cancel() {
        super.cancel()
        move(from: .executing, to: .finished)
        _ = timer.exchange(nil)
    }

    private func move(from old: State, to new: State) {
        guard state.value == old else { return }
        let states: [(state: State, key: String)] = [(.executing, "isExecuting"), (.finished, "isFinished")]
        let changes = states.filter { $0.state == old || $0.state == new }.map(\.key)
        // Announced before it is known whether this thread makes the transition: announcing twice is harmless.
        for key in changes { willChangeValue(forKey: key) }
        state.change { state in if state == old { state = new } }
        for key in changes.reversed() { didChangeValue(forKey: key) }
    }
}
