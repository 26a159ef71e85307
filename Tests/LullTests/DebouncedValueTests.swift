import TestSupport
import Lull
import LullTesting
import Observation
import Testing

@Suite("A debounced value")
@MainActor
struct DebouncedValueTests {
    let clock = ManualClock()

    @Test
    func `is at once what was set, and settles when it has not been set for a while`() async {
        let text = DebouncedValue("", for: .milliseconds(300), clock: clock)
        text.value = "l"
        text.value = "lu"
        #expect(text.value == "lu")
        #expect(text.settled == "")
        #expect(text.isSettling)
        await clock.advance(by: .milliseconds(300))
        #expect(text.settled == "lu")
        #expect(!text.isSettling)
    }

    @Test
    func `settles at once when it is flushed, and not a second time`() async {
        let text = DebouncedValue("", for: .milliseconds(300), clock: clock)
        var values = text.settledValues().makeAsyncIterator()
        text.value = "a"
        text.flush()
        #expect(text.settled == "a")
        #expect(!text.isSettling)
        text.flush()
        text.value = "b"
        await clock.advance(by: .seconds(1))
        #expect(await values.next() == "b")
    }

    @Test
    func `settles at most as often as its spacing allows, flushes included`() async {
        let text = DebouncedValue("", for: .milliseconds(300), spacing: .seconds(2), clock: clock)
        text.value = "a"
        text.flush()
        #expect(text.settled == "a")
        text.value = "b"
        await clock.advance(by: .milliseconds(1999))
        #expect(text.settled == "a" && text.isSettling)
        await clock.advance(by: .milliseconds(1))
        #expect(text.settled == "b" && !text.isSettling)
    }

    @Test
    func `does not settle where it settled last, when asked to remove duplicates`() async {
        let text = DebouncedValue("a", for: .milliseconds(300), removingDuplicates: ==, clock: clock)
        var values = text.settledValues().makeAsyncIterator()
        let changes = Record<String>()
        withObservationTracking {
            _ = text.settled
        } onChange: {
            changes.add("settled")
        }
        text.value = "ab"
        text.value = "a"
        #expect(text.isSettling)
        await clock.advance(by: .milliseconds(300))
        #expect(!text.isSettling)
        #expect(changes.all.isEmpty)
        text.value = "a"
        text.flush()
        #expect(!text.isSettling)
        text.value = "b"
        await clock.advance(by: .milliseconds(300))
        #expect(changes.all == ["settled"])
        #expect(await values.next() == "b")
    }

    @Test
    func `tells observers of both properties`() async {
        let text = DebouncedValue("", for: .milliseconds(300), clock: clock)
        let changes = Record<String>()
        withObservationTracking {
            _ = text.value
        } onChange: {
            changes.add("value")
        }
        withObservationTracking {
            _ = text.settled
        } onChange: {
            changes.add("settled")
        }
        text.value = "a"
        #expect(changes.all == ["value"])
        await clock.advance(by: .milliseconds(300))
        #expect(changes.all == ["value", "settled"])
    }

    @Test
    func `tells observers that it settles, also when it settles where it was`() async {
        let text = DebouncedValue("", for: .milliseconds(300), clock: clock)
        let changes = Record<Bool>()
        func watch() {
            withObservationTracking {
                _ = text.isSettling
            } onChange: {
                changes.add(true)
            }
        }
        watch()
        text.value = "a"
        #expect(changes.all.count == 1)
        watch()
        text.value = ""
        await clock.advance(by: .milliseconds(300))
        #expect(changes.all.count >= 2)
        #expect(!text.isSettling)
    }

    @Test
    func `goes on settling while a newer value is pending`() async {
        let text = DebouncedValue("", for: .milliseconds(300), edges: [.leading, .trailing], clock: clock)
        text.value = "a"
        text.value = "ab"
        #expect(text.isSettling)
        await clock.advance(by: .zero)
        #expect(text.settled == "a")
        #expect(text.isSettling)
        await clock.advance(by: .milliseconds(300))
        #expect(text.settled == "ab")
        #expect(!text.isSettling)
    }

    @Test
    func `gives streams of its settled values, which end with it`() async {
        var text: DebouncedValue<Int>? = DebouncedValue(0, for: .milliseconds(300), clock: clock)
        var values = text?.settledValues().makeAsyncIterator()
        text?.value = 1
        await clock.advance(by: .milliseconds(300))
        #expect(await values?.next() == 1)
        text?.value = 2
        text = nil
        await clock.advance(by: .milliseconds(300))
        #expect(await values?.next() == nil)
    }

    @Test
    func `throttles what it shows with maxWait`() async {
        let text = DebouncedValue(0, for: .seconds(1), maxWait: .seconds(2), clock: clock)
        for value in 1...5 {
            text.value = value
            await clock.advance(by: .milliseconds(500))
        }
        #expect(text.settled == 4)
    }
}
