import Lull
import LullTesting
import Testing

@Suite("Autosaving a draft")
@MainActor
struct AutosavingADraftTests {
    let clock = ManualClock()

    actor Store {
        private(set) var drafts: [String] = []
        private let clock: ManualClock?

        init(clock: ManualClock? = nil) { self.clock = clock }

        func save(_ draft: String) async throws {
            try await clock?.sleep(for: .seconds(5))
            drafts.append(draft)
        }
    }

    @MainActor
    final class DraftEditor {
        private(set) var isSaved = true
        private let store: Store
        private let clock: any Clock<Duration>

        private lazy var save = Debouncer(for: .seconds(2), maxWait: .seconds(10), clock: clock) {
            @MainActor [store, weak self] (draft: String) in
            try await store.save(draft)
            self?.noteSaved()
        }

        init(store: Store, clock: any Clock<Duration> = ContinuousClock()) {
            self.store = store
            self.clock = clock
        }

        func typed(_ draft: String) {
            isSaved = false
            save(draft)
        }

        func leave() async {
            await save.flushAndWait()
        }

        private func noteSaved() {
            isSaved = save.counters.pending == 0
        }
    }

    @Test
    func `a draft is saved after ten seconds of writing, and when the screen is left`() async {
        let store = Store()
        let editor = DraftEditor(store: store, clock: clock)
        for second in 1...12 {
            editor.typed("draft \(second)")
            await clock.advance(by: .seconds(1))
        }
        #expect(await store.drafts == ["draft 10"])  // ten seconds after the first key
        await editor.leave()
        #expect(await store.drafts == ["draft 10", "draft 12"])
        #expect(editor.isSaved)
    }

    @Test
    func `a draft is saved two seconds after the last key`() async {
        let store = Store()
        let editor = DraftEditor(store: store, clock: clock)
        editor.typed("a")
        await clock.advance(by: .milliseconds(1900))
        editor.typed("ab")
        await clock.advance(by: .milliseconds(1999))
        #expect(await store.drafts == [])
        #expect(!editor.isSaved)
        await clock.advance(by: .milliseconds(1))
        #expect(await store.drafts == ["ab"])
        #expect(editor.isSaved)
    }

    @Test
    func `leaving waits for a save that was under way, and for what was typed since`() async throws {
        let store = Store(clock: clock)
        let editor = DraftEditor(store: store, clock: clock)
        editor.typed("a")
        await clock.advance(by: .seconds(2))
        editor.typed("ab")
        let leaving = clock.task { await editor.leave() }
        await clock.advance(by: .seconds(20))
        try await leaving.value
        #expect(await store.drafts == ["a", "ab"])
    }

    @Test
    func `what is typed while it is saved is not taken for saved`() async {
        let store = Store(clock: clock)
        let editor = DraftEditor(store: store, clock: clock)
        editor.typed("a")
        await clock.advance(by: .milliseconds(6500))
        editor.typed("ab")
        await clock.advance(by: .milliseconds(500))
        #expect(await store.drafts == ["a"])
        #expect(!editor.isSaved)
        await clock.advance(by: .seconds(10))
        #expect(editor.isSaved)
    }

    @Test
    func `a draft is saved although the editor has been released`() async {
        let store = Store()
        do {
            let editor = DraftEditor(store: store, clock: clock)
            editor.typed("a")
        }
        await clock.advance(by: .seconds(2))
        #expect(await store.drafts == ["a"])
    }
}
