import TestSupport
import Lull
import LullTesting
import Testing

// The code of the article "Testing code that debounces" and of the documentation of `ManualClock`.

@Suite("The samples of Testing")
struct TestingSamples {
    typealias Gate = Door

    @Test
    @MainActor
    func `Saves the last draft, once, when two seconds have passed`() async {
        let clock = ManualClock()
        var saved: [String] = []
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: String) in saved.append(draft) }

        save("a")
        await clock.advance(by: .seconds(1))
        save("ab")
        await clock.advance(by: .milliseconds(1999))
        #expect(saved == [])
        await clock.advance(by: .milliseconds(1))
        #expect(saved == ["ab"])
    }

    @MainActor
    final class Editor {
        private let store: Store
        private let clock: any Clock<Duration>

        private lazy var save = Debouncer(for: .seconds(2), clock: clock) { @MainActor [store] (draft: Draft) in
            try await store.save(draft)
        }

        init(store: Store, clock: any Clock<Duration> = ContinuousClock()) {
            self.store = store
            self.clock = clock
        }

        func edited(_ draft: Draft) { save(draft) }
        func leave() { save.flush() }
    }

    @Test
    @MainActor
    func `the clock is brought in, and what is due at once waits for it`() async {
        let clock = ManualClock()
        let store = Store()
        let editor = Editor(store: store, clock: clock)

        editor.edited(Draft("a"))
        editor.edited(Draft("ab"))
        await clock.advance(by: .seconds(2))
        #expect(await store.drafts == [Draft("ab")])

        let untouched = Editor(store: store, clock: UnusedClock())
        untouched.leave()  // nothing to save, nothing to wait for

        editor.edited(Draft("abc"))
        editor.leave()
        await clock.advance(by: .zero)
        #expect(await store.drafts == [Draft("ab"), Draft("abc")])
    }

    @Test
    func `time does not matter`() async throws {
        let search = Debouncer(for: .milliseconds(300), clock: ImmediateClock()) { (query: String) in query.count }
        guard case .executed(5) = try await search.outcome(of: "swift") else { Issue.record("not executed"); return }
    }

    @Test
    func `handlers that sleep`() async {
        let (clock, found) = (ManualClock(), Record<String>())
        let search = Debouncer(for: .milliseconds(300), whileRunning: .cancelRunning, clock: clock) {
            (query: String) in
            try await clock.sleep(for: .seconds(5))
            found.add(query)
        }

        search("ca")
        await clock.advance(by: .seconds(1))
        search("cat")
        await clock.advance(by: .seconds(10))
        #expect(found.all == ["cat"])
    }

    @Test
    func `what the clock follows`() async {
        let (clock, shown) = (ManualClock(), Record<String>())
        let load = Debouncer(for: .seconds(1), clock: clock) { @MainActor [shown] (page: Int) in
            async let text: Void = clock.sleep(for: .seconds(2))
            async let pictures: Void = clock.sleep(for: .seconds(5))
            try await text
            shown.add("text")
            try await pictures
            shown.add("pictures")
        }

        load(1)
        await clock.advance(by: .seconds(3))
        #expect(shown.all == ["text"])
        await clock.advance(by: .seconds(3))
        #expect(shown.all == ["text", "pictures"])
    }

    @Test
    func `handlers that wait for the test, and calls that wait`() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: String) in
            await gate.pass()
            return draft.count
        }

        save("a")
        await clock.advance(by: .seconds(2), until: .started)
        #expect(save.counters.running == 1)

        gate.open()
        await clock.advance(by: .zero)
        #expect(save.counters.executed == 1)

        let outcome = clock.task { try await save.outcome(of: "ab") }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(2))
        guard case .executed(2) = try await outcome.value else { Issue.record("not executed"); return }
    }

    @Test
    func `a clock with less patience`() async {
        let clock = ManualClock(patience: .seconds(2), onStall: { Issue.record("\($0)") })
        await clock.advance(by: .seconds(1))
    }
}
