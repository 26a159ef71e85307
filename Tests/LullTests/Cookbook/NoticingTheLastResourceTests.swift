import Lull
import LullTesting
import Testing

@Suite("Noticing the last resource")
@MainActor
struct NoticingTheLastResourceTests {
    let clock = ManualClock()

    @MainActor
    final class PageLoad {
        private(set) var resources: [String] = []
        private(set) var isComplete = false
        private let clock: any Clock<Duration>

        private lazy var complete = Debouncer(collectingFor: .milliseconds(500), clock: clock) {
            @MainActor [weak self] (resources: [String]) in
            self?.noteRest(after: resources)
        }

        init(clock: any Clock<Duration> = ContinuousClock()) {
            self.clock = clock
        }

        func loaded(_ resource: String) {
            isComplete = false
            complete(resource)
        }

        func failed() {
            complete.flush()
        }

        private func noteRest(after resources: [String]) {
            self.resources += resources
            isComplete = complete.state.pending == 0
        }
    }

    @Test
    func `a page is complete, with all of its resources, when none has come for a while`() async {
        let page = PageLoad(clock: clock)
        for resource in ["index.html", "style.css", "photo.jpg"] {
            page.loaded(resource)
            await clock.advance(by: .milliseconds(400))
        }
        #expect(!page.isComplete)
        await clock.advance(by: .milliseconds(100))
        #expect(page.isComplete)
        #expect(page.resources == ["index.html", "style.css", "photo.jpg"])
    }

    @Test
    func `a straggler makes the page incomplete until another half second has passed`() async {
        let page = PageLoad(clock: clock)
        page.loaded("index.html")
        await clock.advance(by: .seconds(1))
        #expect(page.isComplete)
        page.loaded("late.js")
        #expect(!page.isComplete)
        await clock.advance(by: .milliseconds(500))
        #expect(page.isComplete)
        #expect(page.resources == ["index.html", "late.js"])
    }

    @Test
    func `when loading breaks off, the page is complete with what has come`() async {
        let page = PageLoad(clock: clock)
        page.loaded("index.html")
        page.failed()
        await clock.advance(by: .zero)
        #expect(page.isComplete)
        #expect(page.resources == ["index.html"])
    }

    @Test
    func `a resource that comes before the handler starts keeps the page incomplete`() async {
        let page = PageLoad(clock: clock)
        page.loaded("index.html")
        page.failed()
        // The handler is on its way to the main actor, which is ours.
        page.loaded("style.css")
        await clock.advance(by: .zero)
        #expect(page.resources == ["index.html"])
        #expect(!page.isComplete)
        await clock.advance(by: .milliseconds(500))
        #expect(page.isComplete)
    }
}
