import Lull
import LullTesting
import TestSupport
import Testing

@Suite("When typing pauses, but not too often")
@MainActor
struct WhenItPausesButNotTooOftenTests {
    let clock = ManualClock()
    let service = SearchService()

    /// Bills each query.
    @MainActor
    final class SearchService {
        private(set) var queries: [String] = []

        func hits(of query: String) async throws -> [String] {
            queries.append(query)
            return ["about \(query)"]
        }
    }

    @MainActor
    final class PaidSearch {
        private(set) var hits: [String] = []
        private let service: SearchService
        private let clock: any Clock<Duration>

        private lazy var search = Debouncer(
            for: .milliseconds(300), whileRunning: .cancelRunning, options: .init(spacing: .seconds(2)), clock: clock
        ) { @MainActor [weak self] (query: String) in
            guard let self else { return }
            hits = try await service.hits(of: query)
        }

        init(_ service: SearchService, clock: any Clock<Duration> = ContinuousClock()) {
            self.service = service
            self.clock = clock
        }

        func type(_ query: String) {
            search(query)
        }

        /// The user presses return.
        func submit(_ query: String) {
            search(query)
            search.flush()
        }
    }

    @Test
    func `a pause is not enough while the spacing has not passed`() async {
        let search = PaidSearch(service, clock: clock)
        search.type("s")
        await clock.advance(by: .milliseconds(300))  // the first query
        search.type("sw")
        await clock.advance(by: .milliseconds(300))  // a pause, but too soon
        search.type("swi")
        await clock.advance(by: .milliseconds(1700))  // two seconds after the first query
        #expect(service.queries == ["s", "swi"])
        #expect(search.hits == ["about swi"])
    }

    @Test
    func `the return key does not wait, and the spacing counts from it`() async {
        let search = PaidSearch(service, clock: clock)
        search.type("s")
        await clock.advance(by: .milliseconds(300))
        search.submit("sw")
        await clock.advance(by: .milliseconds(100))
        search.type("swi")
        await clock.advance(by: .milliseconds(1899))
        #expect(service.queries == ["s", "sw"])
        await clock.advance(by: .milliseconds(1))
        #expect(service.queries == ["s", "sw", "swi"])
    }

    @Test
    func `groups of alerts page at most every five minutes, and are remembered that long`() async {
        let pages = Record<String>()
        let page = KeyedDebouncer(for: .seconds(10), options: .init(spacing: .seconds(300)), clock: clock) {
            (group: String, alert: String) in
            pages.add("\(group): \(alert)")
        }
        page.submit("80 % full", for: "disk")
        await clock.advance(by: .seconds(10))
        #expect(page.keyCount == 1 && page.state.isDone)
        page.submit("90 % full", for: "disk")
        await clock.advance(by: .seconds(299))
        #expect(pages.all == ["disk: 80 % full"])
        await clock.advance(by: .seconds(1))
        #expect(pages.all == ["disk: 80 % full", "disk: 90 % full"])
    }
}
