internal import CLullClock
internal import Dispatch
internal import LullCore

/// The system's own time, which goes on while the machine sleeps and which nobody can set.
///
/// Two things wake the sleeper, whichever comes first. A timer of Dispatch is precise and needs no thread of the
/// cooperative pool, which may be starved, but it stands still while the machine sleeps. A sleep on the continuous
/// clock does not, and is as late as the pool is busy; it is arranged for waits that are long enough for a machine to
/// sleep in.
final class SystemTimekeeper: Timekeeper, @unchecked Sendable {
    // Proof of @unchecked Sendable: the fields are only touched in `arrange`, under the timekeeper's lock, by
    // `backUpRang`, under `backUpLock`, and in `deinit`.
    private var timer: (any DispatchSourceTimer)?
    private let backUpLock = Lock()
    /// The earliest instant for which a sleep on the continuous clock is under way.
    private var backUp = CoreInstant.farFuture

    /// Waits shorter than this are left to the timer alone: after a sleep of the machine it is late by no more.
    private static let shortWait = CoreDuration.milliseconds(100)

    deinit {
        timer?.cancel()
    }

    override func now() -> CoreInstant {
        CoreInstant(nanoseconds: lull_nanoseconds_since_boot())
    }

    override func arrange(_ instant: CoreInstant) {
        let timer = timer ?? makeTimer()
        guard instant != .farFuture else {
            timer.schedule(deadline: .distantFuture)
            return
        }
        let now = now()
        let wait = max(.zero, min(now.duration(to: instant), longestSleep))
        timer.schedule(deadline: .now() + .nanoseconds(Int(wait.nanoseconds)), leeway: .nanoseconds(0))
        if wait >= Self.shortWait { arrangeBackUp(now.advanced(by: wait), wait) }
    }

    private func makeTimer() -> any DispatchSourceTimer {
        // A queue of its own: a thread is always found for it, however many blocks wait on the global queues.
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: DispatchQueue(label: "lull.timer"))
        timer.setEventHandler { [weak self] in self?.rang() }
        timer.schedule(deadline: .distantFuture)
        // A source that is released without having been activated crashes.
        timer.activate()
        self.timer = timer
        return timer
    }

    /// Sees to it that a sleep on the continuous clock ends at the instant or not much later.
    ///
    /// A sleep that is cancelled keeps its memory until its end, so none is cancelled; and one that ends a little later
    /// than wanted is good enough. So deadlines that come nearer and nearer leave few of them behind.
    private func arrangeBackUp(_ instant: CoreInstant, _ wait: CoreDuration) {
        let slack = CoreDuration(nanoseconds: max(Self.shortWait.nanoseconds, wait.nanoseconds / 8))
        let isNeeded = backUpLock.withLock { () -> Bool in
            guard backUp > instant.advanced(by: slack) else { return false }
            backUp = instant
            return true
        }
        guard isNeeded else { return }
        Task.detached { [weak self] in
            try? await Task.sleep(for: Duration(wait), tolerance: .zero, clock: .continuous)
            self?.backUpRang(instant)
        }
    }

    private func backUpRang(_ instant: CoreInstant) {
        backUpLock.withLock { if backUp == instant { backUp = .farFuture } }
        rang()
    }
}
