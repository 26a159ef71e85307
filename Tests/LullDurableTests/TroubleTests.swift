import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Stores that refuse, and stores whose answers are lost.
@Suite("Stores that fail")
struct TroubleTests {
    let fixture = WorkerFixture()

    @Test
    func `a worker goes on when a store that refused takes claims again`() async throws {
        let sync = try await fixture.debouncer()
        fixture.store.fails { call in
            if case .claim = call { return .before(.refused("the disk is full")) }
            return nil
        }
        let worker = fixture.work(sync)
        try await sync.submit(1, for: "a")
        await fixture.advance(60)
        #expect(fixture.done.all == [])
        #expect(fixture.failures.all == ["the store has failed and is asked again: not recorded: the disk is full"])
        fixture.store.works()
        await fixture.advance(10)
        #expect(fixture.done.all == ["a=1"])
        worker.cancel()
        try await worker.value
    }

    // MARK: - Submits

    @Test
    func `a submit with a token is repeated when its answer is lost, and counts once`() async throws {
        let sync = try await fixture.debouncer(combining: .collect)
        let tries = Guarded(0)
        fixture.store.fails { call in
            guard case .submit = call else { return nil }
            return tries.change { count in
                count += 1
                return count <= 2 ? .after(.unknown("the line is dead")) : nil
            }
        }
        let submit = fixture.clock.task { try await sync.submit(1, for: "a", token: "t") }
        await fixture.advance(1)
        #expect(try await submit.value.generation == 1 && tries.value == 3)
        #expect(try await sync.submit(2, for: "b", token: "u").generation == 1)
        await #expect(throws: DurableError.tokenOfOtherKey(token: "u")) {
            try await sync.submit(2, for: "c", token: "u")
        }
        let worker = fixture.work(sync)
        await fixture.advance(3)
        #expect(fixture.done.all.sorted() == ["a=1", "b=2"])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a submit is not repeated forever, and one without a token not at all`() async throws {
        let sync = try await fixture.debouncer()
        let tries = Guarded(0)
        fixture.store.fails { call in
            guard case .submit = call else { return nil }
            tries.change { $0 += 1 }
            return .before(.unknown("the line is dead"))
        }
        await #expect(throws: DurableError.unknown("the line is dead")) { try await sync.submit(1, for: "a") }
        #expect(tries.value == 1)
        let submit = fixture.clock.task { try await sync.submit(1, for: "a", token: "t") }
        await fixture.advance(10)
        await #expect(throws: DurableError.unknown("the line is dead")) { try await submit.value }
        #expect(tries.value == 5)
        let cancelled = fixture.clock.task { try await sync.submit(1, for: "a", token: "t") }
        await fixture.advance(0)
        cancelled.cancel()
        await #expect(throws: DurableError.unknown("the line is dead")) { try await cancelled.value }
    }

    @Test
    func `a submit that was refused is not repeated`() async throws {
        let sync = try await fixture.debouncer()
        let tries = Guarded(0)
        fixture.store.fails { _ in
            tries.change { $0 += 1 }
            return .before(.refused("the disk is full"))
        }
        await #expect(throws: DurableError.refused("the disk is full")) {
            try await sync.submit(1, for: "a", token: "t")
        }
        #expect(tries.value == 1)
    }
}
