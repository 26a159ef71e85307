import Dispatch
import Foundation
import Testing

@testable import Lull

// About real threads, and so about real time: with as much room as a busy machine may need.
@Suite("Lock")
struct LockTests {
    /// Something that several threads change under a lock.
    final class Shared: @unchecked Sendable {
        // Proof of @unchecked Sendable: `count` and `holders` are only touched while `lock` is held.
        let lock = Lock()
        var count = 0
        var holders = 0
        var worst = 0

        func turn(_ work: () -> Void = {}) {
            lock.withLock {
                holders += 1
                worst = max(worst, holders)
                count += 1
                work()
                holders -= 1
            }
        }
    }

    static func together(_ threads: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for number in 0..<threads {
            group.enter()
            Thread {
                body(number)
                group.leave()
            }.start()
        }
        group.wait()
    }

    @Test(arguments: [2, 3, 16])
    func `one thread at a time holds it, however many want it`(threads: Int) {
        let shared = Shared()
        let turns = 200_000 / threads
        Self.together(threads) { _ in for _ in 0..<turns { shared.turn() } }
        #expect(shared.count == threads * turns)
        #expect(shared.worst == 1)
    }

    @Test
    func `wakes a sleeping thread when it is free, also after a long hold`() {
        let shared = Shared()
        Self.together(8) { number in
            for turn in 0..<25 { shared.turn { if (turn + number) % 5 == 0 { usleep(1000) } } }
        }
        #expect(shared.count == 200)
        #expect(shared.worst == 1)
    }

    @Test
    func `waiting for it takes hardly any processor time, however long`() {
        let shared = Shared()
        let waiting = Guarded(0.0)
        Self.together(2) { number in
            if number == 0 {
                shared.turn { usleep(500_000) }
            } else {
                usleep(50_000)
                let before = Self.threadTime()
                shared.turn()
                waiting.change { $0 = Self.threadTime() - before }
            }
        }
        #expect(shared.count == 2)
        #expect(waiting.value < 0.1)
    }

    /// Seconds of processor time of this thread.
    static func threadTime() -> Double {
        // As two integers: in an optimised build the members of `timespec` belong to a module that cannot be imported.
        var time = (seconds: 0, nanoseconds: 0)
        withUnsafeMutableBytes(of: &time) {
            guard let time = $0.baseAddress?.assumingMemoryBound(to: timespec.self) else { return }
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, time)
        }
        return Double(time.seconds) + Double(time.nanoseconds) / 1e9
    }
}
