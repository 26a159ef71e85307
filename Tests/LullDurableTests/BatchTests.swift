import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// How many values an execution gets at most.
@Suite("Batches")
struct BatchTests {
    let fixture = WorkerFixture()

    @Test
    func `the handler gets the parts one after the other, and a later value with the rest`() async throws {
        let sync = try await fixture.debouncer(combining: .collect, maxBatch: 2)
        let worker = fixture.work(sync) { if $0.value == 2 { try await fixture.clock.sleep(for: .seconds(5)) } }
        for value in 1...3 { try await sync.submit(value, for: "a") }
        await fixture.advance(2)
        let last = try await sync.submit(4, for: "a")
        await fixture.advance(4.9)
        #expect(fixture.done.all == [] && sync.counters.attempts == 1)
        await fixture.advance(0.1)
        #expect(fixture.done.all == ["a=1+2", "a=3+4"])
        #expect(try await sync.state(of: last) == .executed)
        worker.cancel()
        try await worker.value
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `an invalid limit, or one for a combination that keeps one value, is refused with the rule`() async throws
        {
            let policy = try Policy.debounce(for: .seconds(2))
            #expect(throws: PolicyError.maxBatchBelowOne(0)) {
                try DurableRules(policy, combination: .collect, maxBatch: 0)
            }
            for combination in [CombinationRule.latest, .first] {
                #expect(throws: PolicyError.maxBatchOfOneValue(3)) {
                    try DurableRules(policy, combination: combination, maxBatch: 3)
                }
            }
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = try await DurableDebouncer<String, Int>(
                    policy: .debounce(for: .seconds(2)), maxBatch: 3, namespace: "n", in: MemoryStore(), line: 4711)
            }
            #expect(message(result).contains("BatchTests.swift:4711: "))
            #expect(message(result).contains("Lull: the maxBatch is 3, but only collecting and merging"))
        }
    #endif
}
