import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// How workers end.
@Suite("Stopping")
struct StoppingTests {
    let fixture = WorkerFixture()

    @Test
    func `a worker with nothing to do returns when its task is cancelled, and one that was cancelled before at once`()
        async throws
    {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync)
        await fixture.advance(5)
        worker.cancel()
        try await worker.value
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await sync.run { _ in }
        }
        try await late.value
    }

    @Test
    func `after the grace handlers are cancelled, and their runs go back without having spent an attempt`() async throws
    {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync) { _ in try await fixture.clock.sleep(for: .seconds(60)) }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(2)
        worker.cancel()
        await fixture.advance(9.9)
        #expect(try await sync.state(of: receipt) == .running(attempt: 1))
        await fixture.advance(0.1)
        try await worker.value
        #expect(fixture.done.all == [] && fixture.failures.all == [])
        let attempts = Record<Int>()
        let next = fixture.work(sync) { attempts.add($0.attempt) }
        await fixture.advance(0)
        #expect(attempts.all == [1] && fixture.done.all == ["a=1"])
        next.cancel()
        try await next.value
    }

    @Test
    func `a store that is closed ends the worker with an error, and its handlers are cancelled`() async throws {
        let sync = try await fixture.debouncer()
        let ends = Record<Bool>()
        let worker = fixture.work(sync) { _ in
            do { try await fixture.clock.sleep(for: .seconds(60)) } catch {
                ends.add(Task.isCancelled)
                throw error
            }
        }
        try await sync.submit(1, for: "a")
        await fixture.advance(2)
        await fixture.store.close()
        await fixture.advance(10)
        await #expect(throws: DurableError.closed) { try await worker.value }
        #expect(ends.all == [true])
        await #expect(throws: DurableError.closed) { try await sync.run { _ in } }
    }

    @Test
    func `nothing is retained after a worker's end`() async throws {
        final class Witness: Sendable {}
        weak var witness: Witness?
        let sync = try await fixture.debouncer()
        do {
            let held = Witness()
            witness = held
            let worker = fixture.work(sync) { _ in withExtendedLifetime(held) {} }
            try await sync.submit(1, for: "a")
            await fixture.advance(2)
            worker.cancel()
            try await worker.value
        }
        // The tasks of the alarm and of the wait have been cancelled, and end when they have had their turn: in real
        // time.
        await fixture.advance(0)
        try await waitUntil { witness == nil }
        #expect(witness == nil && fixture.done.all == ["a=1"])
    }
}
