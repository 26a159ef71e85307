internal import LullCore
package import LullDurable
internal import Lull

/// The clocks of a machine, which a test moves: a sleep is over when the test has moved the time that far.
package final class ManualTime: Sendable {
    private struct State {
        var reading = StoreTime.Reading(
            boot: "boot 1", sinceBoot: .seconds(1000), wall: CoreInstant(nanoseconds: 1_800_000_000_000_000_000))
        /// The time that has really passed, whatever the clocks show.
        var passed: Duration = .zero
        var boots = 1
        var sleepers: [Int: (until: Duration, sleeper: CheckedContinuation<Bool, Never>)] = [:]
        var numbers = 0
        /// How many sleeps have begun, and of how many of them a test knows.
        var begun = 0
        var observed = 0
    }

    private let state = Guarded(State())

    /// A machine that has been running for a while.
    package init() {}

    /// The present reading of the clocks.
    package var reading: StoreTime.Reading { state.change { $0.reading } }

    /// The machine's clocks as a store reads them, and waits by.
    package var clock: StoreClock {
        StoreClock(read: { self.reading }, sleep: { try await self.sleep($0) })
    }

    /// Time passes, and all clocks show it.
    package func pass(_ time: Duration) {
        pass(time) { reading in
            reading.sinceBoot = .nanoseconds(reading.sinceBoot.nanoseconds + CoreDuration(passed: time).nanoseconds)
            reading.wall = reading.wall.advanced(by: CoreDuration(passed: time))
        }
    }

    /// The wall clock is set.
    package func setWall(by time: Duration) {
        state.change { $0.reading.wall = $0.reading.wall.advanced(by: CoreDuration(passed: time)) }
    }

    /// The machine is off for a while, and starts again.
    package func reboot(after time: Duration) {
        pass(time) { reading in
            reading.sinceBoot = .seconds(3)
            reading.wall = reading.wall.advanced(by: CoreDuration(passed: time))
        }
        state.change { state in
            state.boots += 1
            state.reading.boot = "boot \(state.boots)"
        }
    }

    /// Restores the machine from a snapshot that was made this long ago on its boot clock; the wall clock is correct.
    package func restore(from time: Duration) {
        state.change { state in
            let back = CoreDuration(passed: time).nanoseconds
            state.reading.sinceBoot = .nanoseconds(state.reading.sinceBoot.nanoseconds - back)
        }
    }

    private func pass(_ time: Duration, _ change: (inout StoreTime.Reading) -> Void) {
        let woken = state.change { state in
            change(&state.reading)
            state.passed += time
            let due = state.sleepers.filter { $0.value.until <= state.passed }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.sleeper)
        }
        for sleeper in woken { sleeper.resume(returning: true) }
    }

    private func sleep(_ time: Duration) async throws {
        let number = state.change { state in
            state.numbers += 1
            return state.numbers
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { sleeper in
                let answer: Bool? = state.change { state in
                    if Task.isCancelled { return false }
                    if time <= .zero { return true }
                    state.sleepers[number] = (state.passed + time, sleeper)
                    state.begun += 1
                    return nil
                }
                if let answer { sleeper.resume(returning: answer) }
            }
        } onCancel: {
            state.change { $0.sleepers.removeValue(forKey: number) }?.sleeper.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    /// Waits until a task sleeps on this clock, or has slept since the last time that this was asked: it may have been
    /// woken at once.
    package func somebodySleeps() async {
        while state.change({ $0.sleepers.isEmpty && $0.begun == $0.observed }) { await Task.yield() }
        state.change { $0.observed = $0.begun }
    }
}

extension CoreDuration {
    /// A standard duration that is known to be countable.
    init(passed time: Duration) {
        let (seconds, attoseconds) = time.components
        self.init(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
