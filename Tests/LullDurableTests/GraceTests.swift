import Lull
import LullDurable
import LullTesting
import TestSupport
import Testing

/// How long handlers may go on after a stop, with the default grace and with a given one.
@Suite("Grace")
struct GraceTests {
    let fixture = WorkerFixture()

    /// Returns how long a handler that never ends goes on after a stop.
    private func grace(lease: Duration) async throws -> Double {
        let sync = try await fixture.debouncer()
        let end = Record<Double>()
        let worker = fixture.work(sync, lease: lease) { _ in
            defer { end.add(fixture.seconds) }
            try await fixture.clock.sleep(for: .seconds(1000))
        }
        try await sync.submit(1, for: "a", after: .zero)
        await fixture.advance(0)
        let start = fixture.seconds
        worker.cancel()
        for _ in 0..<110 where end.all.isEmpty { await fixture.advance(0.1) }
        try await worker.value
        return try #require(end.all.first) - start
    }

    @Test
    func `a short lease alone is a setting like others: the grace is half of it`() async throws {
        #expect(abs(try await grace(lease: .seconds(2)) - 1) < 0.01)
    }

    @Test
    func `a long lease does not make the grace longer than ten seconds`() async throws {
        #expect(abs(try await grace(lease: .seconds(60)) - 10) < 0.01)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `a grace that is not shorter than the lease is refused with both`() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let sync = try await DurableDebouncer<String, Int>(for: .seconds(2), namespace: "n", in: MemoryStore())
                try await sync.run(lease: .seconds(2), grace: .seconds(2)) { _ in }
            }
            #expect(
                message(result).contains(
                    "Lull: the grace is 2s, but must be zero or more, and shorter than the lease of 2s"))
        }
    #endif
}
