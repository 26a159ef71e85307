package import Lull

/// Calls that wait for a clock which nobody advances: the description of a test that hangs.
///
/// A test that awaits `outcome(of:)` or `flushAndWait()` without `clock.task` cannot advance the clock meanwhile. It
/// hangs until the limit of whatever runs it, and nothing says why. So the clock looks, after a second of real time,
/// whether only an advance could let a call go on.
///
/// It cannot tell such a test from one that is busy with something else while a task waits, and advances later. It is
/// therefore a warning, which fails no test, and there is at most one for each clock.
package struct Hang: CustomStringConvertible, Sendable {
    /// A call that waits.
    struct Call {
        let name: String
        let site: SourceSite
        /// How far the clock has to be advanced for the call to go on.
        let timeLeft: Duration
        /// Whether what the call waits for falls due then; otherwise, something does that may let it go on.
        let isDue: Bool
    }

    let calls: [Call]
    /// The real time during which nothing has moved.
    let after: Duration

    /// Returns nil if something else than the clock may let the calls go on.
    ///
    /// - Parameter next: How long it is until something happens that may let any of them go on.
    init?(of waits: [WaitingCall], next: Duration, after: Duration) {
        calls = waits.compactMap { wait in
            let due = wait.timeUntilDue
            if due == nil, wait.isOpen { return nil }
            return Call(name: wait.name, site: wait.site, timeLeft: max(due ?? next, .zero), isDue: due != nil)
        }
        self.after = after
        guard let first = calls.first else { return nil }
        site = first.site
    }

    /// How many calls a description names.
    private static let mostNamed = 5

    /// Where the program makes what the first call waits for.
    let site: SourceSite

    package var description: String {
        var lines = [
            "ManualClock: for \(after) nothing has moved, and no task advances this clock, for which these wait:"
        ]
        for call in calls.prefix(Self.mostNamed) {
            let time = Self.text(call.timeLeft)
            let due = call.isDue ? "due in \(time)" : "goes on in \(time) at the earliest"
            lines.append("- \(call.name), \(due) of this clock: advance(by: \(Self.code(call.timeLeft)))")
        }
        if calls.count > Self.mostNamed { lines.append("- and \(calls.count - Self.mostNamed) more") }
        lines.append(
            """
            If the test itself waits, it hangs: let `clock.task { … }` make the call, advance, and then await the \
            value of that task.
            """)
        return lines.joined(separator: "\n")
    }

    /// A duration as text: `2 s`.
    static func text(_ duration: Duration) -> String {
        let (count, unit) = CoreDuration(duration).inLargestUnit
        return switch unit {
        case .seconds: "\(count) s"
        case .milliseconds: "\(count) ms"
        case .microseconds: "\(count) µs"
        case .nanoseconds: "\(count) ns"
        }
    }

    /// A duration as code: `.seconds(2)`.
    static func code(_ duration: Duration) -> String {
        let (count, unit) = CoreDuration(duration).inLargestUnit
        return ".\(unit)(\(count))"
    }
}

extension ManualClock {
    /// Notes that a task begins to wait, which may not belong to what the clock tracks.
    package func began(_ wait: WaitingCall) {
        let begins = lock.withLock { state.began(wait) }
        // No detached task: what it reports belongs to the test that waits.
        if begins { Task { [weak self] in await Self.watch { self } } }
    }

    /// Notes that a task no longer waits.
    package func ended(_ wait: WaitingCall) {
        lock.withLock { state.ended(wait) }
    }

    /// What a look for a hang finds.
    private enum Look {
        /// Nothing waits any more, or a hang has been reported.
        case over
        /// The next look is that much later.
        case later(Duration)
        /// Nothing has moved since this move for long enough.
        case still(since: Int)
    }

    /// Looks for a hang until it is reported, or nothing waits.
    private static func watch(_ clock: () -> ManualClock?) async {
        while let look = clock()?.lookForHang() {
            switch look {
            case .over: return
            case .later(let pause):
                await withCheckedContinuation { continuation in
                    afterRealTime(pause) { continuation.resume() }
                }
            case .still(let move):
                // Whatever waits for a thread, or for the main actor, has several turns first: it may be the test.
                await giveTurns()
                clock()?.reportHang(ifUnmovedSince: move)
            }
        }
    }

    private func lookForHang() -> Look {
        lock.withLock {
            guard state.hasWaits, !state.isHangReported else {
                state.isWatched = false
                return .over
            }
            let left = state.isAtRest ? state.patienceLeft(of: hangPatience, at: .now) : hangPatience
            return left > .zero ? .later(left) : .still(since: state.moves)
        }
    }

    private func reportHang(ifUnmovedSince move: Int) {
        let found = lock.withLock { () -> ([WaitingCall], Duration)? in
            guard state.moves == move, state.isAtRest, let next = state.timeUntilNextSleepOrCall else { return nil }
            return (state.allWaits, next)
        }
        // Not under the lock: the calls ask their debouncers, which ask the clock.
        guard let (waits, next) = found, let hang = Hang(of: waits, next: next, after: hangPatience) else {
            // Looked at again after another patience.
            return lock.withLock { state.noteLook() }
        }
        lock.withLock { state.isHangReported = true }
        onHang(hang)
    }
}
