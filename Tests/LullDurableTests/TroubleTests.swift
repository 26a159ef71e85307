import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Stores that refuse, and stores whose answers are lost.
@Suite("Stores that fail")
struct TroubleTests {
    let bench = Bench()

    @Test("a worker goes on when a store that refused takes claims again")
    func claims() async throws {
        let sync = try await bench.debouncer()
        bench.store.fails { call in
            if case .claim = call { return .before(.refused("the disk is full")) }
            return nil
        }
        let worker = bench.work(sync)
        try await sync.submit(1, for: "a")
        await bench.advance(60)
        #expect(bench.done.all == [])
        #expect(bench.failures.all == ["the store has failed and is asked again: not recorded: the disk is full"])
        bench.store.works()
        await bench.advance(10)
        #expect(bench.done.all == ["a=1"])
        worker.cancel()
        try await worker.value
    }

    @Test("runs whose claim was answered in vain are handed out again, without a new attempt")
    func lostClaim() async throws {
        let sync = try await bench.debouncer()
        let isFirst = Guarded(true)
        bench.store.fails { call in
            if case .claim(let claim) = call, claim.holding.isEmpty, bench.seconds >= 2, isFirst.exchange(false) {
                return .after(.unknown("the line is dead"))
            }
            return nil
        }
        let attempts = Record<Int>()
        let worker = bench.work(sync) { attempts.add($0.attempt) }
        try await sync.submit(1, for: "a")
        await bench.advance(3)
        #expect(attempts.all == [1] && bench.done.all == ["a=1"] && isFirst.value == false)
        worker.cancel()
        try await worker.value
    }

    @Test("a completion whose answer was lost is reported again, and the handler does not run twice")
    func lostCompletion() async throws {
        let sync = try await bench.debouncer()
        let lost = Guarded(0)
        bench.store.fails { call in
            guard case .report(let report) = call, report.kind == .completed else { return nil }
            return lost.change { count in
                count += 1
                return count <= 3 ? .after(.unknown("the line is dead")) : nil
            }
        }
        let worker = bench.work(sync)
        let receipt = try await sync.submit(1, for: "a")
        await bench.advance(10)
        #expect(lost.value == 4 && bench.done.all == ["a=1"] && sync.counters.attempts == 1)
        #expect(try await sync.state(of: receipt) == .completed)
        worker.cancel()
        try await worker.value
    }

    @Test("who cannot report claims nothing more, and reports as soon as he can")
    func cannotReport() async throws {
        let sync = try await bench.debouncer()
        let claims = Guarded(0)
        bench.store.fails { call in
            switch call {
            case .claim:
                claims.change { $0 += 1 }
                return nil
            case .report: return .before(.refused("the disk is full"))
            case .submit: return nil
            }
        }
        let worker = bench.work(sync, maxConcurrent: 1)
        for key in 0..<50 { try await sync.submit(1, for: "\(key)") }
        await bench.advance(3)
        // Others may have been claimed while the first was being reported: nobody knew.
        let (before, done) = (claims.value, bench.done.all.count)
        #expect(done >= 1 && done < 50)
        await bench.advance(20)
        #expect(claims.value == before && bench.done.all.count == done)
        bench.store.works()
        await bench.advance(10)
        #expect(bench.done.all.count == 50 && sync.counters.attempts == 50)
        worker.cancel()
        try await worker.value
    }

    // MARK: - Submits

    @Test("a submit with a token is repeated when its answer is lost, and counts once")
    func repeated() async throws {
        let sync = try await bench.debouncer(combining: .collect)
        let tries = Guarded(0)
        bench.store.fails { call in
            guard case .submit = call else { return nil }
            return tries.change { count in
                count += 1
                return count <= 2 ? .after(.unknown("the line is dead")) : nil
            }
        }
        let submit = bench.clock.task { try await sync.submit(1, for: "a", token: "t") }
        await bench.advance(1)
        #expect(try await submit.value.generation == 1 && tries.value == 3)
        #expect(try await sync.submit(2, for: "b", token: "u").generation == 1)
        await #expect(throws: DurableError.tokenOfOtherKey(token: "u")) {
            try await sync.submit(2, for: "c", token: "u")
        }
        let worker = bench.work(sync)
        await bench.advance(3)
        #expect(bench.done.all.sorted() == ["a=1", "b=2"])
        worker.cancel()
        try await worker.value
    }

    @Test("a submit does not repeat itself for ever, and one without a token not at all")
    func givesUp() async throws {
        let sync = try await bench.debouncer()
        let tries = Guarded(0)
        bench.store.fails { call in
            guard case .submit = call else { return nil }
            tries.change { $0 += 1 }
            return .before(.unknown("the line is dead"))
        }
        await #expect(throws: DurableError.unknown("the line is dead")) { try await sync.submit(1, for: "a") }
        #expect(tries.value == 1)
        let submit = bench.clock.task { try await sync.submit(1, for: "a", token: "t") }
        await bench.advance(10)
        await #expect(throws: DurableError.unknown("the line is dead")) { try await submit.value }
        #expect(tries.value == 5)
        let cancelled = bench.clock.task { try await sync.submit(1, for: "a", token: "t") }
        await bench.advance(0)
        cancelled.cancel()
        await #expect(throws: DurableError.unknown("the line is dead")) { try await cancelled.value }
    }

    @Test("a submit that was refused is not repeated")
    func refused() async throws {
        let sync = try await bench.debouncer()
        let tries = Guarded(0)
        bench.store.fails { _ in
            tries.change { $0 += 1 }
            return .before(.refused("the disk is full"))
        }
        await #expect(throws: DurableError.refused("the disk is full")) {
            try await sync.submit(1, for: "a", token: "t")
        }
        #expect(tries.value == 1)
    }
}
