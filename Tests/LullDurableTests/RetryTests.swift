import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Runs whose handlers throw.
@Suite("Trying again")
struct RetryTests {
    let fixture = WorkerFixture()

    @Test
    func `a run that failed is tried again with the same id, value and range, and a new fence`() async throws {
        let sync = try await fixture.debouncer()
        let seen = Record<DurableExecution<String, Int>>()
        let worker = fixture.work(sync) { execution in
            seen.add(execution)
            if execution.attempt < 3 { throw WorkerFixture.Refusal() }
        }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(2)
        #expect(try await sync.state(of: receipt) == .waitingForRetry(attempt: 1, error: "no"))
        #expect(try await sync.status().retrying == 1)
        await fixture.advance(10)
        #expect(seen.all.map(\.attempt) == [1, 2, 3] && Set(seen.all.map(\.runID)).count == 1)
        #expect(seen.all.map(\.fence) == seen.all.map(\.fence).sorted() && Set(seen.all.map(\.fence)).count == 3)
        #expect(Set(seen.all.map(\.submits)) == [1...1] && fixture.done.all == ["a=1"])
        #expect(try await sync.state(of: receipt) == .executed)
        #expect(sync.counters.attempts == 3 && sync.counters.failures == 2)
        #expect(fixture.failures.all.count == 2)
        #expect(fixture.failures.all.allSatisfy { $0.hasSuffix(": no") && $0.contains("(key a)") })
        worker.cancel()
        try await worker.value
    }

    @Test
    func `after its last attempt a run is dead, does not block its key, and can be tried again or forgotten`()
        async throws
    {
        let sync = try await fixture.debouncer()
        let isBroken = Guarded(true)
        let worker = fixture.work(sync) { _ in if isBroken.value { throw WorkerFixture.Refusal() } }
        let receipts = [try await sync.submit(1, for: "a"), try await sync.submit(2, for: "b")]
        await fixture.advance(30)
        #expect(try await sync.state(of: receipts[0]) == .dead(error: "no"))
        #expect(try await sync.status().dead == 2 && sync.counters.attempts == 6)
        let dead = try await sync.dead().sorted { $0.values[0][0] < $1.values[0][0] }
        #expect(dead.map(\.key) == ["a", "b"] && dead.map(\.values) == [[[49]], [[50]]])
        #expect(dead.allSatisfy { $0.attempts == 3 && $0.error == "no" && $0.age > .seconds(20) })
        #expect(fixture.failures.all.filter { $0.contains("was the last") }.count == 2)

        _ = isBroken.exchange(false)
        #expect(try await sync.retry(dead[0].id) == .accepted)
        #expect(try await sync.retry(dead[0].id) == .notFound)
        await fixture.advance(0)
        #expect(fixture.done.all == ["a=1"])
        #expect(try await sync.state(of: receipts[0]) == .executed)
        #expect(try await sync.discard(dead[1].id) == true)
        #expect(try await sync.discard(dead[1].id) == false)
        #expect(try await sync.status().dead == 0)

        try await sync.submit(3, for: "b")
        await fixture.advance(2)
        #expect(fixture.done.all == ["a=1", "b=3"])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a dead run gives its values, and a failure its key, as the debouncer has them`() async throws {
        let sync = try await fixture.debouncer()
        let failures = Guarded<[String]>([])
        let worker = fixture.clock.task {
            try await sync.run(
                retry: RetryPolicy(maxAttempts: 1),
                onFailure: { failure in
                    guard case .threw(_, let run, _) = failure else { return }
                    failures.change {
                        $0.append("\(run.key(as: String.self) ?? "unreadable") \(run.key(as: Int.self) ?? 0)")
                    }
                }
            ) { _ in throw WorkerFixture.Refusal() }
        }
        try await sync.submit(5, for: "a")
        await fixture.advance(30)
        let dead = try #require(try await sync.dead().first)
        #expect(try dead.values(as: Int.self) == [5])
        #expect(throws: DurableError.self) { try dead.values(as: String.self) }
        #expect(failures.value == ["a 0"])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a value that cannot be read fails like a handler that throws, and its bytes are kept`() async throws {
        let words = try await DurableDebouncer<String, String>(
            for: .seconds(2), namespace: "n", in: fixture.store, clock: fixture.clock)
        try await words.submit("not a number", for: "a")
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync)
        await fixture.advance(30)
        #expect(fixture.done.all == [] && sync.counters.attempts == 3 && sync.counters.failures == 3)
        let dead = try #require(try await sync.dead().first)
        #expect(dead.values == [Array(#""not a number""#.utf8)] && dead.error?.contains("is no Int") == true)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a key that cannot be read fails, too`() async throws {
        let words = try await DurableDebouncer<String, Int>(
            for: .seconds(2), namespace: "n", in: fixture.store, clock: fixture.clock)
        try await words.submit(1, for: "not a number")
        let sync = try await DurableDebouncer<Int, Int>(namespace: "n", in: fixture.store, clock: fixture.clock)
        let worker = fixture.clock.task {
            try await sync.run(
                retry: RetryPolicy(maxAttempts: 1), onFailure: { fixture.failures.add("\($0)") }
            ) { fixture.done.add("\($0)") }
        }
        try await words.submit(2, for: "7")
        #expect(try await sync.list().map(\.key) == [7, nil])
        #expect(try await words.list().map(\.key) == ["7", "not a number"])
        await fixture.advance(30)
        #expect(fixture.done.all.count == 1 && fixture.failures.all.count == 1)
        let dead = try #require(try await sync.dead().first)
        #expect(dead.key == nil && dead.error?.contains("no key of the type Int") == true)
        #expect(try await words.dead().map(\.key) == ["not a number"])
        worker.cancel()
        try await worker.value
    }
}
