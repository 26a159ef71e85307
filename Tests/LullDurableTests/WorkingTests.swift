import Lull
import LullDurable
import LullTesting
import TestSupport
import Testing

/// What workers do with what falls due, in virtual time.
@Suite("Workers")
struct WorkingTests {
    let clock = ManualClock()
    let store: MemoryStore

    init() {
        store = MemoryStore(clock: StoreClock(clock))
    }

    @Test("a value is executed once, when its burst has come to rest")
    func once() async throws {
        let done = Record<String>()
        let sync = try await DurableDebouncer<String, Int>(for: .seconds(2), namespace: "sync", in: store, clock: clock)
        let worker = clock.task {
            try await sync.run { execution in done.add("\(execution.key)=\(execution.value)") }
        }
        try await sync.submit(1, for: "a")
        await clock.advance(by: .seconds(1))
        let receipt = try await sync.submit(2, for: "a")
        #expect(receipt.generation == 2 && receipt.dueIn == .seconds(2))
        await clock.advance(by: .milliseconds(1999))
        #expect(done.all == [])
        await clock.advance(by: .milliseconds(1))
        #expect(done.all == ["a=2"])
        #expect(try await sync.state(of: receipt) == .completed)
        worker.cancel()
        try await worker.value
    }
}
