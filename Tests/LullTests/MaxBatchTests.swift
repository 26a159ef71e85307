import Dispatch
import LullTesting
import TestSupport
import Testing

@testable import Lull
import LullDispatch

/// Semantics, section 8. What the engine makes of the bound is tested where the engine is.
@Suite("The bound on what one execution gets")
struct MaxBatchTests {
    private func bound<Key, Value, Result>(_ runtime: Runtime<Key, Value, Result>) -> Int {
        runtime.engine.setup.maxBatch
    }

    @Test
    func `reaches the engine from every initialiser that collects or merges`() {
        let (wait, queue) = (Duration.seconds(1), DispatchQueue(label: "q"))
        let merge = Combination<Int>.merge(+=)
        let all = [
            bound(Debouncer(for: wait, combining: merge, options: .init(maxBatch: 3)) { (_: Int) async in }.runtime),
            bound(
                Debouncer(
                    for: wait, on: queue, combining: merge, options: .init(maxBatch: 3)
                ) { (_: Int) in }.runtime),
            bound(Debouncer(collectingFor: wait, options: .init(maxBatch: 3)) { (_: [Int]) async in }.runtime),
            bound(
                KeyedDebouncer(
                    for: wait, combining: merge, options: .init(maxBatch: 3)
                ) { (_: Int, _: Int) async in }.runtime),
            bound(
                KeyedDebouncer(
                    for: wait, on: queue, combining: merge, options: .init(maxBatch: 3)
                ) { (_: Int, _: Int) in }.runtime),
            bound(
                KeyedDebouncer(
                    collectingFor: wait, options: .init(maxBatch: 3)
                ) { (_: Int, _: [Int]) async in }.runtime),
            bound(
                Throttler(
                    every: wait, combining: merge, options: .init(maxBatch: 3)
                ) { (_: Int) async in }.runtime),
            bound(
                Throttler(
                    every: wait, on: queue, combining: merge, options: .init(maxBatch: 3)
                ) { (_: Int) in }.runtime),
            bound(Throttler(collectingEvery: wait, options: .init(maxBatch: 3)) { (_: [Int]) async in }.runtime),
            bound(
                KeyedThrottler(
                    every: wait, combining: merge, options: .init(maxBatch: 3)
                ) { (_: Int, _: Int) async in }.runtime),
            bound(
                KeyedThrottler(
                    every: wait, on: queue, combining: merge,
                    options: .init(maxBatch: 3)
                ) { (_: Int, _: Int) in }.runtime),
            bound(
                KeyedThrottler(
                    collectingEvery: wait, options: .init(maxBatch: 3)
                ) { (_: Int, _: [Int]) async in }.runtime),
        ]
        #expect(all == Array(repeating: 3, count: 12))
        #expect(bound(Debouncer(collectingFor: wait) { (_: [Int]) in }.runtime) == .max)
    }

    @Test
    func `holds while a slow handler keeps its key busy`() async {
        let clock = ManualClock()
        let sizes = Record<Int>()
        let it = Debouncer(
            collectingFor: .seconds(1), maxCount: 100, options: .init(maxBatch: 100),
            clock: clock
        ) { (values: [Int]) in
            sizes.add(values.count)
            try? await clock.sleep(for: .seconds(10))
        }
        for value in 0..<1050 { it(value) }
        await clock.advance(by: .seconds(1000))
        #expect(sizes.all.reduce(0, +) == 1050)
        #expect(sizes.all.max() == 100)
    }
}
