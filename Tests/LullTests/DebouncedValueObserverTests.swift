import Lull
import LullTesting
import Observation
import TestSupport
import Testing

@Suite("A debounced value whose observers call it")
@MainActor
struct DebouncedValueObserverTests {
    let clock = ManualClock()
    let seen = Record<String>()

    func make(_ edges: Edges = .trailing, removingDuplicates: ((String, String) -> Bool)? = nil) -> DebouncedValue<
        String
    > {
        DebouncedValue("", for: .milliseconds(300), edges: edges, removingDuplicates: removingDuplicates, clock: clock)
    }

    /// Calls `body` once, at the next change of a property. (Observation calls an observer again for a change that the
    /// observer itself makes.)
    func atNextChange<T>(
        of property: KeyPath<DebouncedValue<String>, T>, in text: DebouncedValue<String>,
        _ body: @escaping @MainActor () -> Void
    ) {
        let isDone = Guarded(false)
        withObservationTracking {
            _ = text[keyPath: property]
        } onChange: {
            if !isDone.exchange(true) { MainActor.assumeIsolated { body() } }
        }
    }

    func state(of text: DebouncedValue<String>) -> String {
        "\(text.value), \(text.settled), \(text.isSettling)"
    }

    @Test
    func `settles at the last value if an observer of what has settled flushes it`() async {
        let text = make([.leading, .trailing])
        text.value = "a"
        text.value = "b"
        atNextChange(of: \.settled, in: text) { text.flush() }
        await clock.advance(by: .zero)
        #expect(state(of: text) == "b, b, false")
        await clock.advance(by: .seconds(1))
        #expect(state(of: text) == "b, b, false")
    }

    @Test
    func `settles at what an observer of what has settled sets and flushes`() async {
        let text = make()
        text.value = "a"
        atNextChange(of: \.settled, in: text) {
            text.value = "b"
            text.flush()
        }
        await clock.advance(by: .milliseconds(300))
        #expect(state(of: text) == "b, b, false")
        await clock.advance(by: .seconds(1))
        #expect(state(of: text) == "b, b, false")
    }

    @Test
    func `goes on settling if an observer of what has settled sets it`() async {
        let text = make()
        text.value = "a"
        atNextChange(of: \.settled, in: text) { text.value = "b" }
        await clock.advance(by: .milliseconds(300))
        #expect(state(of: text) == "b, a, true")
        await clock.advance(by: .milliseconds(300))
        #expect(state(of: text) == "b, b, false")
    }

    @Test
    func `settles at the last value if it is flushed within a flush, and its streams end there, too`() async {
        let text = make()
        var values = text.settledValues().makeAsyncIterator()
        text.value = "a"
        atNextChange(of: \.settled, in: text) {
            text.value = "b"
            text.flush()
        }
        text.flush()
        #expect(state(of: text) == "b, b, false")
        #expect(await values.next() == "b")
        await clock.advance(by: .seconds(1))
        #expect(state(of: text) == "b, b, false")
    }

    @Test(arguments: [true, false])
    func `settles at once if an observer of any property flushes it`(observesValue: Bool) async {
        let text = make()
        if observesValue {
            atNextChange(of: \.value, in: text) { text.flush() }
        } else {
            atNextChange(of: \.isSettling, in: text) { text.flush() }
        }
        text.value = "a"
        #expect(state(of: text) == "a, a, false")
    }

    @Test
    func `takes what an observer of the value sets for the last value`() async {
        let text = make()
        atNextChange(of: \.value, in: text) { text.value = "b" }
        text.value = "a"
        #expect(state(of: text) == "b, , true")
        await clock.advance(by: .milliseconds(300))
        #expect(state(of: text) == "b, b, false")
    }

    @Test
    func `shows its observers the change, in all its properties`() async {
        let text = make()
        let properties: [(String, (@escaping @MainActor () -> Void) -> Void)] = [
            ("value", { atNextChange(of: \.value, in: text, $0) }),
            ("settled", { atNextChange(of: \.settled, in: text, $0) }),
            ("isSettling", { atNextChange(of: \.isSettling, in: text, $0) }),
        ]
        for (name, observe) in properties { observe { seen.add("\(name): \(state(of: text))") } }
        text.value = "a"
        #expect(seen.all == ["value: a, , true", "isSettling: a, , true"])
        properties[2].1 { seen.add("isSettling: \(state(of: text))") }
        await clock.advance(by: .milliseconds(300))
        #expect(seen.all.dropFirst(2) == ["settled: a, a, false", "isSettling: a, a, false"])
    }

    @Test
    func `settles at the last value if the comparison with the settled one flushes it`() async {
        var flush: (() -> Void)?
        let text = make(removingDuplicates: { settled, value in
            flush.take()?()
            return settled == value
        })
        flush = {
            text.value = "b"
            text.flush()
        }
        text.value = "a"
        text.flush()
        #expect(state(of: text) == "b, b, false")
    }

    @Test
    func `may be read and flushed when one of its values is released`() async {
        // What is released later, with an execution, is not released on the main actor.
        let (holder, isWatching) = (Holder(), Guarded(true))
        func note(_ number: Int) -> CallingNote {
            CallingNote(number) { [seen] in
                guard isWatching.value else { return }
                MainActor.assumeIsolated {
                    guard let text = holder.text else { return }
                    seen.add("\(number) released: \(text.value.number), \(text.settled.number), \(text.isSettling)")
                    text.flush()
                }
            }
        }
        holder.text = DebouncedValue(note(0), for: .milliseconds(300), clock: clock)
        let values = holder.text?.settledValues()
        for number in 1...3 { holder.text?.value = note(number) }
        holder.text?.flush()
        _ = isWatching.exchange(false)
        #expect(seen.all == ["1 released: 2, 0, true", "0 released: 2, 2, false"])
        #expect(holder.text?.settled.number == 3)
        #expect(holder.text?.isSettling == false)
        var iterator = values?.makeAsyncIterator()
        #expect(await iterator?.next()?.number == 3)
        holder.text = nil
    }

    @MainActor
    private final class Holder {
        var text: DebouncedValue<CallingNote>?
    }

    /// A value that calls something when it is released.
    private final class CallingNote: Sendable {
        let number: Int
        private let onRelease: @Sendable () -> Void

        init(_ number: Int, _ onRelease: @escaping @Sendable () -> Void) {
            self.number = number
            self.onRelease = onRelease
        }

        deinit {
            onRelease()
        }
    }
}
