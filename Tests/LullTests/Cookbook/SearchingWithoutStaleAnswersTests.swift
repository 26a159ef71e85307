import TestSupport
import Lull
import LullTesting
import Testing

@Suite("Searching without stale answers")
@MainActor
struct SearchingWithoutStaleAnswersTests {
    let clock = ManualClock()

    protocol Index: Sendable {
        func find(_ query: String) async throws -> [String]
    }

    /// Takes ten seconds for "ca" and one for anything else, and may or may not react to being cancelled.
    struct SlowIndex: Index {
        let clock: ManualClock
        var isDeaf = false
        let asked = Record<String>()

        func find(_ query: String) async throws -> [String] {
            asked.add(query)
            let delay = Duration.seconds(query == "ca" ? 10 : 1)
            if isDeaf {
                // A task of its own does not inherit the cancellation.
                _ = await Task { try await clock.sleep(for: delay) }.result
            } else {
                try await clock.sleep(for: delay)
            }
            return ["found: \(query)"]
        }
    }

    @MainActor
    final class Search {
        private(set) var hits: [String] = []
        private let index: any Index
        private let clock: any Clock<Duration>

        private lazy var search = Debouncer(for: .milliseconds(300), whileRunning: .replace, clock: clock) {
            [index] (query: String) in
            query.isEmpty ? [] : try await index.find(query)
        }

        init(index: any Index, clock: any Clock<Duration> = ContinuousClock()) {
            self.index = index
            self.clock = clock
        }

        func typed(_ query: String) {
            search.submit(query) { [weak self] outcome in
                if let hits = outcome.value { self?.hits = hits }
            }
            if query.isEmpty { search.flush() }
        }
    }

    /// Takes 200 milliseconds.
    struct QuickIndex: Index {
        let clock: ManualClock

        func find(_ query: String) async throws -> [String] {
            try await clock.sleep(for: .milliseconds(200))
            return [query]
        }
    }

    /// A search that withdraws the older query at every change.
    @MainActor
    final class WithdrawingSearch {
        private(set) var hits: [String] = []
        private let index: any Index
        private let clock: any Clock<Duration>

        private lazy var search = Debouncer(for: .milliseconds(300), whileRunning: .replace, clock: clock) {
            [index] (query: String) in
            query.isEmpty ? [] : try await index.find(query)
        }

        init(index: any Index, clock: any Clock<Duration> = ContinuousClock()) {
            self.index = index
            self.clock = clock
        }

        func typed(_ query: String) {
            search.cancel(includingRunning: true)
            search.submit(query) { [weak self] outcome in
                if let hits = outcome.value { self?.hits = hits }
            }
            if query.isEmpty { search.flush() }
        }
    }

    @Test
    func `until the newer query is due, the older answer may still appear`() async {
        let search = Search(index: QuickIndex(clock: clock), clock: clock)
        search.typed("ca")
        await clock.advance(by: .milliseconds(400))
        search.typed("cat")
        await clock.advance(by: .milliseconds(150))
        #expect(search.hits == ["ca"])
        await clock.advance(by: .seconds(1))
        #expect(search.hits == ["cat"])
    }

    @Test
    func `a query that is withdrawn at the next change is not answered`() async {
        let search = WithdrawingSearch(index: QuickIndex(clock: clock), clock: clock)
        search.typed("ca")
        await clock.advance(by: .milliseconds(400))
        search.typed("cat")
        await clock.advance(by: .milliseconds(150))
        #expect(search.hits == [])
        await clock.advance(by: .seconds(1))
        #expect(search.hits == ["cat"])
        #expect(search.counters.cancelled == 1)
        #expect(search.counters.superseded == 0)
    }

    @Test
    func `the newest query is answered, though the older answer would come later`() async {
        let index = SlowIndex(clock: clock)
        let search = Search(index: index, clock: clock)
        search.typed("ca")  // takes ten seconds
        await clock.advance(by: .seconds(1))
        search.typed("cat")  // takes one
        await clock.advance(by: .seconds(20))
        #expect(search.hits == ["found: cat"])
        #expect(index.asked.all == ["ca", "cat"])
        #expect(search.counters.superseded == 1)
        #expect(search.counters.failed == 0)
    }

    @Test
    func `the index is asked once for what is typed without a pause`() async {
        let index = SlowIndex(clock: clock)
        let search = Search(index: index, clock: clock)
        for query in ["c", "co", "cow"] {
            search.typed(query)
            await clock.advance(by: .milliseconds(200))
        }
        await clock.advance(by: .seconds(5))
        #expect(index.asked.all == ["cow"])
    }

    @Test
    func `an index that ignores cancellation does not hold up the new query, and its old answer is discarded`() async {
        let index = SlowIndex(clock: clock, isDeaf: true)
        let search = Search(index: index, clock: clock)
        search.typed("ca")
        await clock.advance(by: .seconds(1), until: .started)
        search.typed("cat")
        await clock.advance(by: .seconds(2), until: .started)
        #expect(index.asked.all == ["ca", "cat"])
        await clock.advance(by: .seconds(20), until: .started)
        await clock.advance(by: .seconds(20))
        #expect(search.hits == ["found: cat"])
        #expect(search.counters.superseded == 1)
    }

    @Test
    func `an emptied field stays empty, whatever was under way`() async {
        let search = Search(index: SlowIndex(clock: clock), clock: clock)
        search.typed("ca")
        await clock.advance(by: .seconds(1))
        search.typed("")
        await clock.advance(by: .seconds(20))
        #expect(search.hits == [])
    }
}

extension SearchingWithoutStaleAnswersTests.Search {
    fileprivate var counters: Counters { search.counters }
}

extension SearchingWithoutStaleAnswersTests.WithdrawingSearch {
    fileprivate var counters: Counters { search.counters }
}
