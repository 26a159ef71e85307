import TestSupport
import Lull
import LullTesting
import Observation
import Testing

@Suite("Previewing what is typed")
@MainActor
struct PreviewingWhatIsTypedTests {
    let clock = ManualClock()

    /// Takes ten seconds.
    struct Renderer: Sendable {
        let clock: ManualClock
        let rendered = Record<String>()

        func html(from markdown: String) async -> String {
            rendered.add(markdown)
            try? await clock.sleep(for: .seconds(10))
            return "<p>\(markdown)</p>"
        }
    }

    @MainActor
    @Observable
    final class Note {
        let text: DebouncedValue<String>

        var preview: String { html(from: text.settled) }

        init(clock: any Clock<Duration> = ContinuousClock()) {
            text = DebouncedValue("", for: .milliseconds(300), maxWait: .seconds(2), clock: clock)
        }
    }

    @MainActor
    @Observable
    final class LongNote {
        let text: DebouncedValue<String>
        private(set) var preview = ""

        init(clock: any Clock<Duration> = ContinuousClock()) {
            text = DebouncedValue("", for: .milliseconds(300), maxWait: .seconds(2), clock: clock)
        }

        /// Renders whatever the text settles at, until the task is cancelled.
        func keepRendering(with renderer: Renderer) async {
            for await markdown in text.settledValues() {
                preview = await renderer.html(from: markdown)
            }
        }
    }

    @Test
    func `the text follows every key, the preview follows when the typing pauses`() async {
        let note = Note(clock: clock)
        for text in ["#", "# L", "# Lull"] {
            note.text.value = text
            await clock.advance(by: .milliseconds(200))
        }
        #expect(note.preview == html(from: ""))
        await clock.advance(by: .milliseconds(100))
        #expect(note.preview == html(from: "# Lull"))
    }

    @Test
    func `without a pause in typing there is a preview every two seconds`() async {
        let note = Note(clock: clock)
        var previews: [Int] = []
        for key in 1...25 {
            note.text.value += "\(key % 10)"
            #expect(note.text.value.count == key)
            await clock.advance(by: .milliseconds(200))
            let length = note.text.settled.count
            if length != previews.last { previews.append(length) }
        }
        #expect(previews == [0, 10, 20])
    }

    @Test
    func `a renderer that is busy gets the newest text when it is done`() async throws {
        let renderer = Renderer(clock: clock)
        let note = LongNote(clock: clock)
        let begun = Record<Bool>()
        let rendering = Task {
            begun.add(true)
            await note.keepRendering(with: renderer)
        }
        try await until { !begun.all.isEmpty }
        for text in ["1", "2", "3"] {
            note.text.value = text
            await clock.advance(by: .seconds(1))
            try await until { renderer.rendered.all.first == "1" }
        }
        #expect(renderer.rendered.all == ["1"])
        try await until(advancing: .seconds(10)) { note.preview == "<p>3</p>" }
        #expect(renderer.rendered.all == ["1", "3"])
        rendering.cancel()
        await rendering.value
    }

    @Test
    func `a flush settles before it returns`() {
        let note = Note(clock: clock)
        note.text.value = "# L"
        #expect(note.text.isSettling)
        note.text.flush()
        #expect(note.text.settled == "# L")
        #expect(!note.text.isSettling)
    }

    /// Waits until something has happened that the clock does not know of.
    private func until(advancing step: Duration = .zero, _ condition: () -> Bool) async throws {
        try await waitUntil {
            if condition() { return true }
            await clock.advance(by: step)
            return condition()
        }
    }
}

private func html(from markdown: String) -> String { "<p>\(markdown)</p>" }
