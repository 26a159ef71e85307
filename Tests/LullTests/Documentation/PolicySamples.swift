import TestSupport
import Lull
import LullTesting
import Testing

// The code of the page "Choosing a policy". Where a sample has no clock of its own, the clock of the test has been
// added.

@Suite("The samples of the page on policies")
struct PolicySamples {
    let clock = ManualClock()

    @Test
    func `batches and merges`() async {
        typealias Event = String
        let (server, counter) = (Service(), Service())
        let upload = Debouncer(
            collectingFor: .seconds(5), maxWait: .seconds(30), maxCount: 100, clock: clock
        ) {
            (events: [Event]) in
            try await server.upload(events)
        }
        let count = Throttler(every: .seconds(1), combining: .merge { $0 += $1 }, clock: clock) { (clicks: Int) in
            await counter.add(clicks)
        }
        for event in ["a", "b"] { upload(event) }
        for _ in 0..<5 { count(1) }
        await clock.advance(by: .seconds(5))
        #expect(await server.told == ["a+b"])
        #expect(await counter.told == ["+1", "+4"])
    }

    @Test
    func `a bound on batches, and a tolerance`() async {
        typealias Event = String
        let (server, store) = (Service(), Store())
        let upload = Debouncer(
            collectingFor: .seconds(5), maxCount: 100, options: .init(maxBatch: 500), clock: clock
        ) {
            (events: [Event]) in
            try await server.upload(events)
        }
        let backup = Debouncer(
            for: .seconds(60), options: .init(tolerance: .seconds(5)), clock: clock
        ) { (draft: Draft) in
            try await store.save(draft)
        }
        for event in ["a", "b"] { upload(event) }
        backup(Draft("c"))
        await clock.advance(by: .seconds(65))
        #expect(await server.told == ["a+b"])
        #expect(await store.drafts == [Draft("c")])
    }

    @Test
    func `settings from outside`() {
        let wait = Duration.seconds(2)
        let maxWait = Duration.seconds(1)
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }

        do {
            _ = try Policy.debounce(for: wait, maxWait: maxWait)
            print("executed after \(wait) without a call")
        } catch {
            print("in the settings: \(error)")
        }
        #expect(lines == ["in the settings: the maxWait is 1s, but must be at least the wait of 2s"])
    }

    @Test
    func `a delay of its own`() async {
        let (store, draft) = (Store(), Draft("a"))
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }
        save.submit(draft, after: .milliseconds(200))
        await clock.advance(by: .milliseconds(200))
        #expect(await store.drafts == [draft])
    }
}
