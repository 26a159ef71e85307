import Allocations
import Dispatch
import Foundation
import Lull
import LullDispatch
import Synchronization

// Rows: many keys pending at once, the memory that they take, and the memory left afterwards.

enum ManyPendingKeys {
    private static let queue = DispatchQueue(label: "crowd")

    @inline(never)
    private static func submitAll(_ debouncer: KeyedDebouncer<Int, Int, Void>, _ keys: Int) {
        for key in 0..<keys { debouncer.submit(key, for: scattered(key)) }
    }

    @inline(never)
    private static func submitAll(_ floor: KeyedFloor<Int, Int>, _ keys: Int) {
        for key in 0..<keys { floor.submit(key, for: scattered(key)) }
    }

    /// Returns each key once, but not in sequence.
    private static func scattered(_ key: Int) -> Int { key &* 0x1E37_79B9_7F4A_7C15 }

    // MARK: - Memory

    static func memory(_ effort: Effort) -> [Line] {
        let keys = 1_000_000
        let entry = 2 * MemoryLayout<Int>.stride
        var held: [Double] = []
        var left: [Double] = []
        var resident: [Double] = []
        for _ in 0..<max(1, effort.rounds / 4) {
            autoreleasepool {
                let before = Resources.heap
                let residentBefore = Resources.resident
                let sink = ExecutionCounter()
                let debouncer = KeyedDebouncer<Int, Int, Void>(for: .seconds(3), on: queue) { _, value in
                    sink.take(value)
                }
                submitAll(debouncer, keys)
                let peak = Resources.heap - before
                precondition(sink.count == 0, "submitting a million keys took longer than the wait")
                sink.waitFor(keys)
                debouncer.flush()
                queue.sync {}
                usleep(200_000)
                held.append(Double(peak) / Double(keys) - Double(entry))
                left.append(Double(Resources.heap - before - 16_777_216) / Double(peak) * 100)
                resident.append(Double(Resources.resident - residentBefore) / 1_048_576)
                withExtendedLifetime(debouncer) {}
            }
        }
        let floorBefore = Resources.heap
        let floor = KeyedFloor<Int, Int>(wait: 100_000_000_000) { _, _ in }
        submitAll(floor, keys)
        let floorHeld = Double(Resources.heap - floorBefore) / Double(keys) - Double(entry)
        return [
            Line(
                "a pending key, beside key and value", Spread(held), "B", against: "floor", Spread(floorHeld),
                target: .figureAtMost(110)),
            Line("left afterwards beyond 16 MB", Spread(left), "% of peak", target: .figureAtMost(5)),
            Line("resident afterwards, beyond before", Spread(resident), "MiB"),
        ]
    }

    // MARK: - Ten million

    static func tenMillion(_ effort: Effort) -> [Line] {
        let keys = 10_000_000
        let taken = Interleaved(
            rounds: max(2, effort.rounds / 4),
            [
                {
                    let floor = KeyedFloor<Int, Int>(wait: 1_000_000_000_000) { _, _ in }
                    return Sample.of(keys) { submitAll(floor, keys) }
                },
                {
                    let debouncer = KeyedDebouncer<Int, Int, Void>(
                        for: .seconds(1000), options: .init(atEnd: .drop)
                    ) { _, _ in }
                    return Sample.of(keys) { submitAll(debouncer, keys) }
                },
            ])
        return [
            taken.line("a submit", 1, against: "floor", 0, .ratioAtMost(2.5)),
            Line("keys not executed exactly once", Spread(Double(wronglyExecuted(keys))), "", target: .figureAtMost(0)),
        ]
    }

    /// Submits each key once, and counts the keys that were not executed exactly once.
    private static func wronglyExecuted(_ keys: Int) -> Int {
        let times = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: keys)
        times.initialize(repeating: 0)
        defer { times.deallocate() }
        let sink = ExecutionCounter()
        // Proof: only the serial queue accesses it before all have been executed.
        nonisolated(unsafe) let counts = times
        let debouncer = KeyedDebouncer<Int, Int, Void>(for: .seconds(30), on: queue) { _, value in
            counts[value] &+= 1
            sink.take(value)
        }
        submitAll(debouncer, keys)
        sink.waitFor(keys)
        queue.sync {}
        return times.count { $0 != 1 }
    }
}

#if !canImport(ObjectiveC)
    private func autoreleasepool<Result>(_ body: () -> Result) -> Result { body() }
#endif
