import Lull
import LullTesting
import TestSupport
import Testing

// The code of the README and of the guides in docs/. Where a sample has no clock of its own, the clock of the test has
// been added.

@Suite("The samples of the README and of the guides")
struct GuideSamples {
    let clock = ManualClock()

    @Test
    func `the README saves, and loses nothing at the end`() async {
        let printed = Record<String>()
        let print: @Sendable (String) -> Void = { printed.add($0) }

        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: String) in
            print("saving \(draft)")
        }
        for draft in ["H", "He", "Hello"] { save(draft) }
        await save.flushAndWait()

        #expect(printed.all == ["saving Hello"])
    }

    @Test
    func `a debouncer that is made for each call saves every draft`() async throws {
        let store = Store()
        func edited(_ draft: Draft) {
            let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }
            save(draft)
        }
        for text in ["a", "ab", "abc"] { edited(Draft(text)) }
        await clock.advance(by: .seconds(2))
        #expect(await store.drafts.count == 3)
    }
}
