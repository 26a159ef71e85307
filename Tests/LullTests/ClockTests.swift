import TestSupport
import Dispatch
import Lull
import LullDispatch
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

// These tests are about real time. They assert what happens and in which order, never how many milliseconds it takes.

@Suite("On a real clock a debouncer")
struct ClockTests {
    @Test
    func `executes after the wait and never before it`() async throws {
        let clock = ContinuousClock()
        for wait in [0, 1, 7, 30] {
            let start = clock.now
            let it = Debouncer(for: .milliseconds(wait)) { (_: Int) in clock.now }
            guard case .executed(let end) = try await it.outcome(of: 1) else { Issue.record("not executed"); return }
            #expect(start.duration(to: end) >= .milliseconds(wait))
        }
    }

    @Test
    func `moves its wake-up when something earlier comes`() async throws {
        let it = KeyedDebouncer(for: .seconds(3600)) { (_: String, value: Int) in value }
        it.submit(1, for: "later")
        it.submit(1, for: "much later", after: .seconds(Int64.max))
        for value in 0..<5 {
            #expect(try await Ended(it.outcome(of: value, for: "now", after: .milliseconds(5))) == .executed(value))
        }
        #expect(it.counters.pending == 2)
        it.cancel()
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `does not need the cooperative pool for a synchronous handler on a queue`() async {
            await #expect(processExitsWith: .success) {
                let hasRun = DispatchSemaphore(value: 0)
                let blocked = DispatchSemaphore(value: 0)
                func block() {
                    blocked.signal()
                    // If the handler needed a thread of the pool, nothing would go on, and the test would fail.
                    guard hasRun.wait(timeout: .now() + 60) == .success else { exit(1) }
                    hasRun.signal()
                }
                let it = Debouncer(for: .milliseconds(50), on: DispatchQueue(label: "handler")) { (_: Int) in
                    _ = hasRun.signal()
                }
                let observer = DispatchQueue(label: "observer")
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    let width = 64
                    for _ in 0..<width { Task.detached { block() } }
                    observer.async {
                        // At least two threads of the pool are taken, then all that there are.
                        blocked.wait()
                        it(1)
                        continuation.resume()
                    }
                }
            }
        }

        @Test
        func `runs what fell due while the process was stopped, once per key, when it goes on`() async {
            await #expect(processExitsWith: .success) {
                let clock = ContinuousClock()
                let seen = Record<Int>()
                let it = KeyedDebouncer(for: .milliseconds(300), on: DispatchQueue(label: "handler")) {
                    (key: Int, _: Int) in
                    seen.add(key)
                }
                let start = clock.now
                for value in 0..<100 { it.submit(value, for: value % 10) }
                // Another process stops this one across the deadline and lets it go on.
                guard stopForASecond() else { exit(2) }
                await it.flushAndWait()
                // All ten were due while it was stopped; the flush found nothing left to execute.
                guard start.duration(to: clock.now) >= .seconds(1) else { exit(3) }
                guard Set(seen.all) == Set(0..<10), seen.all.count == 10 else { exit(4) }
                guard it.counters.executed == 10, it.counters.superseded == 90 else { exit(5) }
            }
        }
    #endif
}
