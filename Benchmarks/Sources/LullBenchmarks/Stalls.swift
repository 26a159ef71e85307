import Allocations
import Foundation
import Lull
import LullDispatch
import Synchronization

// Row: how other calls delay the submits of another thread, which never pauses. That thread sometimes loses its
// processor to others, whatever the library does. So the same is measured, in the same rounds, beside two threads that
// only compute, as many as a call and its handlers keep busy.
//
// Only the submits that overlap with the call count. A single hold of the lock, however long, delays one of them, and
// shows only in the longest. Many holds show in the quantile.

enum Stalls {
    private typealias Crowd = KeyedDebouncer<Int, Int, Void>

    /// The keys that the other thread submits to.
    private enum Aim: String, CaseIterable {
        /// A key that only this thread submits to.
        case hot = "one hot key"
        /// Keys that exist already.
        case random = "random keys"
    }

    private struct Trial: Sendable {
        var name: String
        var run: @Sendable (_ keys: Int, Aim) -> Stall
    }

    private static let trials = [
        Trial(name: "cancel", run: cancel),
        Trial(name: "flush", run: flush),
        Trial(name: "shut down", run: shutDown),
        Trial(name: "growth", run: growth),
        Trial(name: "a fifth due at once", run: due),
        Trial(name: "isPending", run: questions),
        Trial(name: "flushAndWait", run: flushAndWait),
    ]

    static func rows(_ effort: Effort) -> [Line] {
        let all = [Trial(name: "busy threads", run: nothing)] + trials
        var taken = all.map { _ in Aim.allCases.map { _ in [Stall]() } }
        for _ in 0..<max(3, effort.rounds / 3) {
            for (number, trial) in all.enumerated() {
                for (variant, aim) in Aim.allCases.enumerated() {
                    taken[number][variant].append(trial.run(effort.pending, aim))
                }
            }
        }
        func spread(_ number: Int, _ variant: Int, _ figure: KeyPath<Stall, Double>) -> Spread {
            Spread(taken[number][variant].map { $0[keyPath: figure] / 1000 })
        }
        return all.indices.dropFirst().flatMap { number in
            Aim.allCases.enumerated().flatMap { variant, aim in
                [("p99.99", \Stall.p9999, 1000.0), ("longest", \Stall.longest, 5000)].map { name, figure, bound in
                    Line(
                        "\(all[number].name), \(aim.rawValue), \(name)", spread(number, variant, figure), "us",
                        against: "busy threads", spread(0, variant, figure), target: .figureAtMost(bound))
                }
            }
        }
    }

    // MARK: - Trials

    private static func nothing(_ keys: Int, _ aim: Aim) -> Stall {
        let debouncer = crowd(of: keys)
        return beside(debouncer, keys, aim) {
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                let end = boot_nanoseconds() + 2_000_000_000
                var state = UInt64(number) + 1
                while boot_nanoseconds() < end {
                    for _ in 0..<10_000 { state = state &* 6_364_136_223_846_793_005 &+ 1 }
                }
                precondition(state != 0, "a random number generator has reached zero")
            }
        }
    }

    private static func cancel(_ keys: Int, _ aim: Aim) -> Stall {
        let debouncer = crowd(of: keys)
        return beside(debouncer, keys, aim) {
            debouncer.cancel()
            wait { debouncer.counters.cancelled >= keys }
        }
    }

    /// Waits until the last one has been executed: the call may return earlier.
    private static func flush(_ keys: Int, _ aim: Aim) -> Stall {
        let sink = ExecutionCounter()
        let debouncer = crowd(of: keys, sink)
        return beside(debouncer, keys, aim) {
            debouncer.flush()
            sink.waitFor(keys)
        }
    }

    private static func shutDown(_ keys: Int, _ aim: Aim) -> Stall {
        let sink = ExecutionCounter()
        let debouncer = crowd(of: keys, sink)
        return beside(debouncer, keys, aim) {
            debouncer.shutDown()
            sink.waitFor(keys)
        }
    }

    private static func growth(_ keys: Int, _ aim: Aim) -> Stall {
        let debouncer = crowd(of: 1)
        let existing = ExecutionCounter()
        existing.take(0)
        let submitter = Submitter { number in
            debouncer.submit(number, for: aim == .hot ? -1 : some(number, of: existing.count))
        }
        defer { end(debouncer, submitter) }
        return submitter.measure {
            for key in 1..<keys {
                debouncer.submit(key, for: key)
                existing.take(key)
            }
        }
    }

    /// Lets a fifth of the keys fall due at one instant, while others get submits.
    private static func due(_ keys: Int, _ aim: Aim) -> Stall {
        let due = keys / 5
        let sink = ExecutionCounter()
        let debouncer = crowd(of: keys - due, sink)
        let instant = boot_nanoseconds() + 1_000_000_000 + 4000 * Int64(due)
        for key in keys - due..<keys {
            debouncer.submit(key, for: key, after: .nanoseconds(instant - boot_nanoseconds()))
        }
        while boot_nanoseconds() < instant - 50_000_000 { usleep(1000) }
        return beside(debouncer, keys - due, aim) {
            precondition(sink.count == 0, "submitting \(due) keys took longer than the wait")
            sink.waitFor(due)
        }
    }

    private static func questions(_ keys: Int, _ aim: Aim) -> Stall {
        let debouncer = crowd(of: keys)
        return beside(debouncer, keys, aim) {
            for _ in 0..<3 { precondition(debouncer.state.timeUntilDue != nil) }
        }
    }

    /// Measures with a fifth of the keys running, each in a task that does not end before the measurement.
    private static func flushAndWait(_ keys: Int, _ aim: Aim) -> Stall {
        let running = keys / 5
        let sink = ExecutionCounter()
        let latch = Latch()
        let debouncer = Crowd(for: .seconds(1000), options: .init(atEnd: .drop)) { _, value in
            sink.take(value)
            await latch.wait()
        }
        for key in 0..<running { debouncer.submit(key, for: key) }
        debouncer.flush()
        sink.waitFor(running)
        let ended = DispatchSemaphore(value: 0)
        let stall = beside(
            debouncer, running, aim,
            endingWith: {
                latch.open()
                ended.wait()
            }
        ) {
            Task.detached {
                await debouncer.flushAndWait()
                ended.signal()
            }
            usleep(300_000)
        }
        return stall
    }

    // MARK: - Shared parts

    /// Returns a debouncer with this many keys pending, for a long time.
    private static func crowd(of keys: Int, _ sink: ExecutionCounter = ExecutionCounter()) -> Crowd {
        let queue = DispatchQueue(label: "stalls")
        let debouncer = Crowd(for: .seconds(1000), on: queue, options: .init(atEnd: .drop)) { _, value in
            sink.take(value)
        }
        for key in 0..<keys { debouncer.submit(key, for: key) }
        return debouncer
    }

    /// Measures how `body` delays submits to a debouncer with this many keys.
    private static func beside(
        _ debouncer: Crowd, _ keys: Int, _ aim: Aim, endingWith end: () -> Void = {}, _ body: () -> Void
    ) -> Stall {
        let submitter = Submitter { number in
            debouncer.submit(number, for: aim == .hot ? -1 : some(number, of: keys))
        }
        let stall = submitter.measure(body)
        end()
        self.end(debouncer, submitter)
        return stall
    }

    /// Cleans up, so that the next trial does not pay for this one.
    private static func end(_ debouncer: Crowd, _ submitter: Submitter) {
        submitter.stop()
        debouncer.shutDown(droppingPending: true)
        wait { debouncer.counters.pending == 0 && debouncer.counters.running == 0 }
    }

    private static func some(_ number: Int, of keys: Int) -> Int {
        let scattered = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
        return Int(scattered.multipliedFullWidth(by: UInt64(keys)).high)
    }

    /// Polls rarely, since each check takes the lock.
    private static func wait(until isDone: () -> Bool) {
        let end = boot_nanoseconds() + 120_000_000_000
        while !isDone() {
            precondition(boot_nanoseconds() < end, "the call had not finished after two minutes")
            usleep(2000)
        }
    }
}

/// Blocks handlers until it is opened.
private final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
