import Lull
import LullTesting
import TestSupport
import Testing

// The code of the README and of the guides in docs/. Where a sample has no clock of its own, the clock of the test has been added.

@Suite("The samples of the README and of the guides")
struct GuideSamples {
    let clock = ManualClock()

    @Test("the README saves, and loses nothing at the end")
    func readme() async {
        let api = Store()
        let draft = Draft("a")

        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in
            try await api.save(draft)
        }
        save(draft)
        await save.flushAndWait()

        #expect(await api.drafts == [draft])
    }
}
