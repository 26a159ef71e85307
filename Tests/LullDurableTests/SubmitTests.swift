import Foundation
import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// The calls of producers, and their answers.
@Suite("Submitting")
struct SubmitTests {
    let fixture = WorkerFixture()

    // MARK: - Opening

    @Test
    func `a namespace keeps its kind, its edges and its combination, and takes other durations and counts`()
        async throws
    {
        let sync = try await fixture.debouncer()
        let longer = try await DurableDebouncer<String, Int>(
            for: .seconds(5), maxWait: .seconds(9), maxCount: 4, namespace: "n", in: fixture.store,
            changingPolicy: true)
        #expect(try await sync.submit(1, for: "a").dueIn == .seconds(5))
        #expect(try await longer.status().rules.policy.maxCount == 4)
        let checked = try await DurableDebouncer<String, Int>(
            policy: .debounce(for: .seconds(7), maxCount: 3), namespace: "n", in: fixture.store, changingPolicy: true)
        #expect(try await checked.submit(1, for: "b").dueIn == .seconds(7))
        #expect(try await checked.status().rules.policy.maxCount == 3)
        let stored = try await sync.status().rules
        await #expect(throws: DurableError.self) {
            _ = try await DurableThrottler<String, Int>(every: .seconds(2), namespace: "n", in: fixture.store)
        }
        await #expect(throws: DurableError.self) {
            _ = try await DurableDebouncer<String, Int>(
                for: .seconds(2), edges: .leading, namespace: "n", in: fixture.store)
        }
        do {
            _ = try await fixture.debouncer(combining: .collect)
            Issue.record("another combination was taken")
        } catch DurableError.otherPolicy(namespace: "n", stored: stored, given: let given) {
            #expect(given.combination == .collect)
        }
    }

    @Test
    func `without a policy a namespace has the one that it was opened with, and none if it never was`() async throws {
        await #expect(throws: DurableError.noPolicy(namespace: "n")) {
            _ = try await DurableDebouncer<String, Int>(namespace: "n", in: fixture.store)
        }
        _ = try await fixture.debouncer()
        let sync = try await DurableDebouncer<String, Int>(namespace: "n", in: fixture.store)
        #expect(try await sync.submit(1, for: "a").dueIn == .seconds(2))
    }

    // MARK: - Values

    @Test
    func `every value that can be written as JSON comes out as it went in`() async throws {
        struct Change: Codable, Equatable {
            var name: String
            var date: Date?
            var parts: [Double]
        }
        let sync = try await DurableDebouncer<UUID, Change>(
            collectingFor: .seconds(2), namespace: "n", in: fixture.store, clock: fixture.clock)
        let changes = [
            Change(name: "é\u{0}🦜\"", date: .distantPast, parts: [0.1, -.greatestFiniteMagnitude]),
            Change(name: "", date: nil, parts: []),
        ]
        let (key, seen) = (UUID(), Record<DurableExecution<UUID, Change>>())
        for change in changes { try await sync.submit(change, for: key) }
        let worker = fixture.clock.task { try await sync.run { seen.add($0) } }
        await fixture.advance(2)
        #expect(seen.all.first?.values == changes && seen.all.first?.key == key)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a value that cannot be written as JSON, or is too large, is refused and named`() async throws {
        let numbers = try await DurableDebouncer<String, Double>(for: .seconds(2), namespace: "n", in: fixture.store)
        do {
            try await numbers.submit(.infinity, for: "a")
            Issue.record("infinity was taken")
        } catch .unencodable {
        }
        let small = WorkerFixture(limits: DurableLimits(largestValue: 10))
        let words = try await DurableDebouncer<String, String>(for: .seconds(2), namespace: "n", in: small.store)
        await #expect(throws: DurableError.tooLarge(bytes: 11, limit: 10)) {
            try await words.submit("123456789", for: "a")
        }
        #expect(try await words.submit("12345678", for: "a").generation == 1)
    }

    @Test
    func `a delay of its own replaces the wait, and never traps`() async throws {
        let sync = try await fixture.debouncer()
        #expect(try await sync.submit(1, for: "a", after: .seconds(60)).dueIn == .seconds(60))
        #expect(try await sync.submit(1, for: "b", after: .seconds(-1)).dueIn == .zero)
        #expect(try await sync.submit(1, for: "c", after: .seconds(Int64.max)).dueIn ?? .zero > .seconds(9_000_000_000))
    }

    // MARK: - Flush and cancel

    @Test
    func `flush makes one key or all of them ready, and cancel drops what no worker has`() async throws {
        let sync = try await fixture.debouncer()
        var receipts: [DurableReceipt] = []
        for key in ["a", "b", "c", "d"] { receipts.append(try await sync.submit(1, for: key)) }
        #expect(try await sync.flush("b") == true)
        #expect(try await sync.flush("b") == false)
        #expect(try await sync.state(of: receipts[1]) == .ready)
        #expect(try await sync.cancel("a") == 1)
        #expect(try await sync.state(of: receipts[0]) == .cancelled)
        #expect(try await sync.flush() == 2)
        let worker = fixture.work(sync, maxConcurrent: 1)
        await fixture.advance(0)
        #expect(fixture.done.all == ["b=1", "c=1", "d=1"])
        for key in ["e", "f"] { try await sync.submit(1, for: key) }
        #expect(try await sync.cancel() == 2)
        await fixture.advance(10)
        #expect(fixture.done.all.count == 3)
        worker.cancel()
        try await worker.value
    }

    // MARK: - The state of a submit

    @Test
    func `the state of a submit is known from its beginning to its end, and forgotten with time`() async throws {
        let fixture = WorkerFixture(limits: DurableLimits(retention: .seconds(100)))
        let sync = try await fixture.debouncer()
        let receipt = try await sync.submit(1, for: "a")
        #expect(try await sync.state(of: receipt) == .pending)
        await fixture.advance(2)
        #expect(try await sync.state(of: receipt) == .ready)
        let worker = fixture.work(sync) { _ in try await fixture.clock.sleep(for: .seconds(1)) }
        await fixture.advance(0)
        #expect(try await sync.state(of: receipt) == .running(attempt: 1))
        await fixture.advance(1)
        #expect(try await sync.state(of: receipt) == .executed)
        await fixture.advance(101)
        try await sync.submit(2, for: "b")
        #expect(try await sync.state(of: receipt) == .forgotten)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `waiting for a submit ends with its execution, soon after it`() async throws {
        let sync = try await fixture.debouncer()
        let receipt = try await sync.submit(1, for: "a")
        let worker = fixture.work(sync)
        let waiting = fixture.clock.task {
            let state = try await sync.wait(for: receipt, atMost: .seconds(60))
            return (state, fixture.seconds)
        }
        await fixture.advance(3)
        let (state, seconds) = try await waiting.value
        #expect(state == .executed && seconds >= 2 && seconds <= 2.25)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `waiting for a submit that nobody executes ends with the time, or with its task`() async throws {
        let sync = try await fixture.debouncer()
        let receipt = try await sync.submit(1, for: "a")
        let waiting = fixture.clock.task {
            let state = try await sync.wait(for: receipt, atMost: .seconds(60))
            return (state, fixture.seconds)
        }
        await fixture.advance(100)
        #expect(try await waiting.value == (.ready, 60))
        let cancelled = fixture.clock.task { try await sync.wait(for: receipt, atMost: .seconds(60)) }
        await fixture.advance(1)
        cancelled.cancel()
        #expect(try await cancelled.value == .ready)
        #expect(try await sync.wait(for: receipt, atMost: .zero) == .ready)
    }

    // MARK: - Status and listings

    @Test
    func `status and list show the work that is left, as if all that is due had fallen due`() async throws {
        let sync = try await fixture.debouncer()
        for key in ["a1", "a2", "b1"] { try await sync.submit(1, for: key) }
        await fixture.advance(1)
        try await sync.submit(2, for: "a2")
        try await sync.submit(3, for: "a3")
        await fixture.advance(1)
        let status = try await sync.status()
        #expect(status.pending == 2 && status.ready == 2 && status.running == 0 && status.oldestDue == .zero)
        let listings = try await sync.list(prefix: "a")
        #expect(listings.map(\.key) == ["a1", "a2", "a3"])
        #expect(listings.map(\.ready) == [1, 0, 0] && listings.map(\.pending) == [0, 2, 1])
        #expect(listings.map(\.dueIn) == [nil, .seconds(1), .seconds(1)])
        #expect(try await sync.list(limit: 2).count == 2)
        let worker = fixture.work(sync) { _ in try await fixture.clock.sleep(for: .seconds(60)) }
        await fixture.advance(4)
        let later = try await sync.status()
        #expect(later.running == 4 && later.ready == 0 && later.oldestDue == nil)
        await fixture.advance(100)
        #expect(try await sync.list().isEmpty)
        worker.cancel()
        try await worker.value
    }
}
