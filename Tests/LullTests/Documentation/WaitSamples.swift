import Lull
import LullTesting
import Testing

// The code of the article "Changing the wait", and what it claims.

@Suite("The samples of Changing the wait")
@MainActor
struct WaitSamples {
    typealias Screen = Service

    let clock = ManualClock()

    @MainActor
    final class Search {
        /// Longer where requests are expensive.
        var wait = Duration.milliseconds(300)
        private let search: Debouncer<String, Void>

        init(screen: Screen, clock: any Clock<Duration> = ContinuousClock()) {
            search = Debouncer(for: .milliseconds(300), clock: clock) { query in
                await screen.show(query)
            }
        }

        func typed(_ query: String) {
            search.submit(query, after: wait)
        }
    }

    @Test
    func `a new wait counts from the next call, also for what is pending`() async {
        let screen = Screen()
        let search = Search(screen: screen, clock: clock)
        search.typed("c")
        await clock.advance(by: .milliseconds(300))
        #expect(await screen.told == ["c"])

        search.wait = .seconds(2)
        search.typed("ca")
        await clock.advance(by: .milliseconds(1900))
        #expect(await screen.told == ["c"])

        search.wait = .milliseconds(50)
        search.typed("cat")
        await clock.advance(by: .milliseconds(50))
        #expect(await screen.told == ["c", "cat"])
    }

    @MainActor
    final class Drafts {
        let save: Debouncer<Draft, Void>

        init(store: Store, clock: any Clock<Duration>) {
            save = Debouncer(for: .seconds(2), maxWait: .seconds(60), clock: clock) { draft in
                try await store.save(draft)
            }
        }

        func chosen(_ wait: Duration) {
            save.setWait(wait)
        }
    }

    @Test
    func `another wait holds from the next submit on`() async {
        let store = Store()
        let drafts = Drafts(store: store, clock: clock)
        drafts.save(Draft("a"))
        drafts.chosen(.seconds(10))
        await clock.advance(by: .seconds(2))
        #expect(await store.drafts == [Draft("a")])
        drafts.save(Draft("ab"))
        await clock.advance(by: .seconds(9))
        #expect(await store.drafts == [Draft("a")])
        drafts.chosen(.seconds(1))
        drafts.save(Draft("abc"))
        await clock.advance(by: .seconds(1))
        #expect(await store.drafts == [Draft("a"), Draft("abc")])
    }

    @Test
    func `another interval holds from the next window on`() async {
        let screen = Screen()
        let report = Throttler(every: .seconds(1), clock: clock) { (position: String) in await screen.show(position) }
        report("1")
        report.setInterval(.seconds(10))
        report("2")
        await clock.advance(by: .seconds(1))
        report("3")
        await clock.advance(by: .seconds(9))
        #expect(await screen.told == ["1", "2"])
        await clock.advance(by: .seconds(1))
        #expect(await screen.told == ["1", "2", "3"])
    }

    @MainActor
    final class Autosave {
        private let store: Store
        private let clock: any Clock<Duration>
        private var save: Debouncer<Draft, Void>

        init(store: Store, wait: Duration, clock: any Clock<Duration> = ContinuousClock()) {
            self.store = store
            self.clock = clock
            save = Autosave.debouncer(for: wait, store, clock)
        }

        func edited(_ draft: Draft) {
            save(draft)
        }

        func changeWait(to wait: Duration) async {
            let old = save
            save = Autosave.debouncer(for: wait, store, clock)
            await old.shutDownAndWait()
        }

        private static func debouncer(
            for wait: Duration, _ store: Store, _ clock: any Clock<Duration>
        ) -> Debouncer<Draft, Void> {
            Debouncer(for: wait, maxWait: wait * 5, clock: clock) { draft in
                try await store.save(draft)
            }
        }
    }

    @Test
    func `a new debouncer: what was pending is saved first`() async {
        let store = Store()
        let autosave = Autosave(store: store, wait: .seconds(60), clock: clock)
        autosave.edited(Draft("a"))
        await autosave.changeWait(to: .seconds(1))
        #expect(await store.drafts == [Draft("a")])

        autosave.edited(Draft("ab"))
        await clock.advance(by: .seconds(1))
        #expect(await store.drafts == [Draft("a"), Draft("ab")])
        await clock.advance(by: .seconds(60))
        #expect(await store.drafts.count == 2)
    }

    @Test
    func `a delay in a call without a name`() async {
        let screen = Screen()
        let search = Debouncer(for: .milliseconds(300), clock: clock) { (query: String) in await screen.show(query) }
        search("cat", after: .seconds(5))
        await clock.advance(by: .milliseconds(4900))
        #expect(await screen.told == [])
        await clock.advance(by: .milliseconds(100))
        #expect(await screen.told == ["cat"])
    }

    @Test
    func `a new value for a view: the old one settles first, and its streams end`() async {
        var text = DebouncedValue("", for: .milliseconds(300), clock: clock)
        let settled = text.settledValues()
        text.value = "cat"

        text.flush()
        text = DebouncedValue(text.value, for: .seconds(1), clock: clock)
        #expect(text.value == "cat")
        #expect(text.settled == "cat")
        var seen: [String] = []
        for await value in settled { seen.append(value) }
        #expect(seen == ["cat"])
    }
}
