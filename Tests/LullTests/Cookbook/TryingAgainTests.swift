import Lull
import LullTesting
import Testing

@Suite("Trying again")
@MainActor
struct TryingAgainTests {
    let clock = ManualClock()

    actor Store {
        private(set) var drafts: [String] = []
        private(set) var tries: [String] = []
        private var isAway = false

        func goAway() { isAway = true }
        func comeBack() { isAway = false }

        func save(_ draft: String) throws {
            tries.append(draft)
            if isAway { throw Refusal(reason: "away") }
            drafts.append(draft)
        }
    }

    @MainActor
    final class PersistentEditor {
        private(set) var problem: String?
        private let store: Store
        private let clock: any Clock<Duration>

        private lazy var save = Debouncer(for: .seconds(2), whileRunning: .cancelRunning, clock: clock) {
            @MainActor [store, clock, weak self] (draft: String) in
            var pause = Duration.seconds(1)
            while true {
                do {
                    try await store.save(draft)
                    self?.problem = nil
                    return
                } catch {
                    try Task.checkCancellation()
                    self?.problem = "not saved: \(error)"
                }
                try await clock.sleep(for: pause)
                pause = min(pause * 2, .seconds(60))
            }
        }

        init(store: Store, clock: any Clock<Duration> = ContinuousClock()) {
            self.store = store
            self.clock = clock
        }

        func typed(_ draft: String) {
            save(draft)
        }

        func giveUp() {
            save.cancel(includingRunning: true)
        }
    }

    @Test
    func `a newer draft takes the place of one that is being tried again`() async {
        let store = Store()
        let editor = PersistentEditor(store: store, clock: clock)
        await store.goAway()
        editor.typed("first")
        await clock.advance(by: .seconds(6))  // tried at 2, 3 and 5 seconds
        #expect(editor.problem != nil)
        editor.typed("second")
        await store.comeBack()
        await clock.advance(by: .seconds(2))
        #expect(editor.problem == nil)
        #expect(await store.drafts == ["second"])
        #expect(await store.tries == ["first", "first", "first", "second"])
        #expect(editor.counters.superseded == 1)
        #expect(editor.counters.failed == 0)
    }

    @Test
    func `the user sees the failure, and it is retried until it works`() async {
        let store = Store()
        let editor = PersistentEditor(store: store, clock: clock)
        await store.goAway()
        editor.typed("draft")
        await clock.advance(by: .seconds(2))
        #expect(editor.problem == "not saved: Refusal(reason: \"away\")")
        await clock.advance(by: .seconds(2))
        await store.comeBack()
        await clock.advance(by: .seconds(1))
        #expect(editor.problem == nil)
        #expect(await store.drafts == ["draft"])
        await clock.advance(by: .seconds(600))
        #expect(await store.tries.count == 3)
        #expect(editor.counters.executed == 1)
    }

    @Test
    func `the pauses grow to a minute and no further`() async {
        let store = Store()
        let editor = PersistentEditor(store: store, clock: clock)
        await store.goAway()
        editor.typed("draft")
        let pauses = [1, 2, 4, 8, 16, 32, 60, 60]
        await clock.advance(by: .seconds(2 + pauses.reduce(0, +)))
        #expect(await store.tries.count == 9)
        editor.giveUp()
        await clock.advance(by: .zero)
    }

    @Test
    func `giving up ends the retries, and is not reported as a failure`() async {
        let store = Store()
        let editor = PersistentEditor(store: store, clock: clock)
        await store.goAway()
        editor.typed("draft")
        await clock.advance(by: .seconds(3))
        editor.giveUp()
        await clock.advance(by: .seconds(600))
        #expect(await store.tries.count == 2)
        #expect(editor.counters.cancelled == 1)
    }
}

extension TryingAgainTests.PersistentEditor {
    fileprivate var counters: Counters { save.counters }
}
