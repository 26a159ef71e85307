import Foundation
import LullDispatch
import LullTesting
import Testing

// The code of the articles of LullDispatch, with the clock of the test.

@Suite("The samples of LullDispatch")
@MainActor
struct DocumentationSamples {
    let clock = ManualClock()

    final class Results: Sendable {
        let texts = Record<String>()
        func search(_ text: String) { texts.add(text) }
    }

    @Test("a closure")
    func closure() async {
        let (results, field) = (Results(), (text: "cat", tag: 1))
        let search = debounced(for: 0.3, clock: clock) { (text: String) in results.search(text) }
        search(field.text)
        await clock.advance(by: .milliseconds(300))
        #expect(results.texts.all == ["cat"])
    }

    @Test("work in the background")
    func background() {
        let synced = Record<String>()
        @Sendable func syncSteps() { synced.add("steps") }
        let sync = BackgroundDebouncer(timeInterval: 2, clock: clock)

        for _ in 0..<100 {
            sync.handler = { syncSteps() }
        }
        sync.flush()
        #expect(synced.all == ["steps"])
    }
}
