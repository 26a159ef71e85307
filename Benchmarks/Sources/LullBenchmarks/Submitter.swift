import Allocations
import Foundation
import Synchronization

/// The durations of submits during another activity, in nanoseconds.
struct Stall {
    var p9999: Double
    var longest: Double
}

/// Submits without pause from its own thread, and records the duration of each submit.
final class Submitter: Sendable {
    /// The phases of the thread, in order.
    private enum Phase {
        static let idle = 0
        static let noting = 1
        /// The submit in progress still belongs to the measurement.
        static let closing = 2
        static let stopping = 3
    }

    private let phase = Atomic(Phase.idle)
    // One thread at a time accesses it: the submitting one from `noting` to the end of `closing`, otherwise the
    // measuring one.
    private let taken = Histogram()
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter submit: Submits a number, which counts up.
    init(_ submit: @escaping @Sendable (Int) -> Void) {
        Thread { [self] in
            run(submit)
            ended.signal()
        }.start()
        // It is already submitting when the measurement begins.
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

    /// Measures the duration of the submits that overlap with `body`.
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
