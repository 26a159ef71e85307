internal import Dispatch
public import Foundation
internal import Lull

/// An operation that does nothing but take its time.
///
/// Work that depends on it starts no sooner. It holds no thread while it waits; cancelled while it is executing it
/// finishes at once, so that a queue of one at a time is free again. It costs an entry in the scheduler from its start on. It may be
/// cancelled from any thread.
public final class DelayOperation: Operation, @unchecked Sendable {
    // Proof of @unchecked Sendable: what varies is guarded; the rest is constant.
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

    /// How long it takes, in seconds.
    public let timeInterval: TimeInterval

    /// Makes an operation that takes so long.
    ///
    /// - Parameters:
    ///   - timeInterval: In seconds, from its start; negative and NaN count as zero, infinity as never.
    ///   - clock: The clock that this is measured by.
    ///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
    ///     early. Zero or more.
    public init(timeInterval: TimeInterval, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero)
    {
        self.timeInterval = timeInterval
        self.clock = clock
        self.tolerance = tolerance
        delay = Duration(delay: timeInterval)
        super.init()
    }

    /// Always true: it holds no thread.
    public override var isAsynchronous: Bool { true }

    /// Whether it is taking its time.
    public override var isExecuting: Bool { state.value == .executing }

    /// Whether its time is over, or it was cancelled.
    public override var isFinished: Bool { state.value == .finished }

    /// Begins to take its time. Called by the operation queue.
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
        // A cancel that came meanwhile may have found neither an operation that was executing nor a timer to stop.
        if isCancelled { move(from: .executing, to: .finished) }
        if isFinished { _ = self.timer.exchange(nil) }
    }

    /// Finishes at once if it is executing; if it has not started, as soon as the queue comes to it.
    public override func cancel() {
        super.cancel()
        move(from: .executing, to: .finished)
        _ = timer.exchange(nil)
    }

    private func move(from old: State, to new: State) {
        guard state.value == old else { return }
        let states: [(state: State, key: String)] = [(.executing, "isExecuting"), (.finished, "isFinished")]
        let changes = states.filter { $0.state == old || $0.state == new }.map(\.key)
        // Announced before it is known whether this thread is the one that moves it: announcing twice is harmless.
        for key in changes { willChangeValue(forKey: key) }
        state.change { state in if state == old { state = new } }
        for key in changes.reversed() { didChangeValue(forKey: key) }
    }
}
