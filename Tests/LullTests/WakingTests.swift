import Dispatch
import LullCore
import Testing

@testable import Lull

// This test is about real time. What it asserts is how seldom something happens, which a slow machine only makes truer.

@Suite("On the system's clock a timekeeper")
struct WakingTests {
    @Test("wakes once for what falls due shortly one after the other", arguments: [false, true])
    func together(onQueue: Bool) async {
        let queue = onQueue ? DispatchQueue(label: "waking") : nil
        let timekeeper = Timekeeper.make(for: ContinuousClock(), wakingOn: queue)
        let wakings = 20
        let first = timekeeper.now()
        await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
            let left = Guarded(wakings)
            // Whatever was due when it was woken has been done; the next thing is due a microsecond after that.
            @Sendable func sleep(until instant: CoreInstant, afterWaking: Bool) {
                timekeeper.rearm(
                    for: Sleeper(
                        alarm: { instant },
                        wake: { _, _ in
                            if left.exchange(left.value - 1) == 1 { return end.resume() }
                            let next = timekeeper.now().advanced(by: CoreDuration(nanoseconds: 1000))
                            sleep(until: next, afterWaking: true)
                        }),
                    afterWaking: afterWaking)
            }
            sleep(until: first, afterWaking: false)
        }
        #expect(first.duration(to: timekeeper.now()) >= CoreDuration(nanoseconds: Int64(wakings - 1) * 100_000))
    }
}
