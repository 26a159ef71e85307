import Allocations
import Foundation
import Synchronization

/// How long submits took while something else was going on, in nanoseconds.
struct Stall {
    var p9999: Double
    var longest: Double
}

/// Submits without pause, from a thread of its own, and notes of each submit how long it took.
final class Submitter: Sendable {
    /// What the thread is asked to do, in the order in which it comes.
    private enum Phase {
        static let idle = 0
        static let noting = 1
        /// The submit that is under way belongs to it still.
        static let closing = 2
        static let stopping = 3
    }

    private let phase = Atomic(Phase.idle)
    // One thread at a time has it: the submitting one from `noting` to the end of `closing`, the measuring one otherwise.
    private let taken = Histogram()
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter submit: Submits, given a number that counts up.
    init(_ submit: @escaping @Sendable (Int) -> Void) {
        Thread { [self] in
            run(submit)
            ended.signal()
        }.start()
        // It is at it when the measurement begins.
        usleep(20_000)
    }

    private func run(_ submit: @Sendable (Int) -> Void) {
        for number in 0... {
            let before = boot_nanoseconds()
            submit(number)
            let after = boot_nanoseconds()
            switch phase.load(ordering: .acquiring) {
            case Phase.idle: break
            case Phase.noting: taken.add(after - before)
            case Phase.closing:
                taken.add(after - before)
                phase.store(Phase.idle, ordering: .releasing)
            default: return
            }
        }
    }

    /// How long the submits take that overlap with `body`.
    func measure(_ body: () -> Void) -> Stall {
        taken.removeAll()
        phase.store(Phase.noting, ordering: .releasing)
        body()
        phase.store(Phase.closing, ordering: .releasing)
        while phase.load(ordering: .acquiring) != Phase.idle { usleep(100) }
        return Stall(p9999: taken.quantile(0.9999), longest: Double(taken.longest))
    }

    func stop() {
        phase.store(Phase.stopping, ordering: .releasing)
        ended.wait()
    }
}
