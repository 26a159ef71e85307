import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Values that a worker folds into one.
@Suite("Merged values")
struct MergeTests {
    let fixture = WorkerFixture()

    private func debouncer(maxBatch: Int? = nil) async throws -> DurableDebouncer<String, Int> {
        // The order of the values can be seen in the result.
        try await DurableDebouncer(
            for: .seconds(2), combining: .merge { $0 = $0 * 10 + $1 }, maxBatch: maxBatch, namespace: "n",
            in: fixture.store,
            clock: fixture.clock)
    }

    @Test func `the handler gets all values of a burst folded into one, in order`() async throws {
        let sync = try await debouncer()
        let submits = Record<Int>()
        let worker = fixture.work(sync) { submits.add($0.count) }
        for value in 1...3 { try await sync.submit(value, for: "a") }
        try await sync.submit(7, for: "b")
        await fixture.advance(2)
        #expect(Set(fixture.done.all) == ["a=123", "b=7"])
        #expect(Set(submits.all) == [3, 1])
        worker.cancel()
        try await worker.value
    }

    @Test func `each attempt folds the same values again`() async throws {
        let sync = try await debouncer()
        let seen = Record<Int>()
        let worker = fixture.work(sync) {
            seen.add($0.value)
            if $0.attempt < 3 { throw Trouble() }
        }
        for value in 1...3 { try await sync.submit(value, for: "a") }
        await fixture.advance(4)
        #expect(seen.all == [123, 123, 123])
        worker.cancel()
        try await worker.value
    }

    @Test func `a namespace that merges is not opened to collect, and the error names both`() async throws {
        _ = try await debouncer()
        do {
            _ = try await DurableDebouncer<String, Int>(
                collectingFor: .seconds(2), namespace: "n", in: fixture.store, clock: fixture.clock)
            Issue.record("opened")
        } catch {
            #expect(
                "\(error)"
                    == "the namespace n has another policy (combining: merge, here collect): kind, edges, combining "
                    + "and whileRunning cannot change, so open it with the same, or use another namespace"
            )
        }
    }

    @Test func `opened by its name alone, it takes submits, but works only with a function that folds`() async throws {
        _ = try await debouncer()
        let named = try await DurableCoalescer<String, Int>(namespace: "n", in: fixture.store, clock: fixture.clock)
        for value in 1...3 { try await named.submit(value, for: "a") }
        let refused = fixture.work(named)
        await #expect(throws: DurableError.self) { try await refused.value }
        await fixture.advance(2)
        #expect(fixture.done.all == [])
        let folding = try await DurableCoalescer<String, Int>(
            namespace: "n", in: fixture.store, merging: { $0 = $0 * 10 + $1 }, clock: fixture.clock)
        let worker = fixture.work(folding)
        await fixture.advance(1)
        #expect(fixture.done.all == ["a=123"])
        worker.cancel()
        try await worker.value
    }

    @Test func `a function that folds is refused where values are not merged`() async throws {
        _ = try await fixture.debouncer(combining: .collect)
        await #expect(throws: DurableError.self) {
            _ = try await DurableCoalescer<String, Int>(
                namespace: "n", in: fixture.store, merging: { $0 += $1 }, clock: fixture.clock)
        }
    }

    @Test func `a throttler merges, too`() async throws {
        let sync = try await DurableThrottler<String, Int>(
            every: .seconds(2), edges: .trailing, combining: .merge { $0 += $1 }, namespace: "n", in: fixture.store,
            clock: fixture.clock)
        let worker = fixture.work(sync)
        for value in 1...3 { try await sync.submit(value, for: "a") }
        await fixture.advance(2)
        #expect(fixture.done.all == ["a=6"])
        worker.cancel()
        try await worker.value
    }

    private struct Trouble: Error {}
}
