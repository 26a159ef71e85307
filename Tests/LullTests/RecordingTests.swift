import Lull
import LullTesting
import Testing

@Suite("Recordings")
struct RecordingTests {
    private let clock = ManualClock()

    @Test func everySubmitIsALineWithItsInstantAndKey() async {
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { (_: String, _: Int) in }
        levels.submit(1, for: "before")
        let recording = levels.record()
        levels.submit(7, for: "lamp")
        await clock.advance(by: .milliseconds(1500))
        levels.submit(8, for: "a \"b\"\n")
        #expect(
            recording.trace() == """
                {"at":0.000000000,"key":"lamp"}
                {"at":1.500000000,"key":"a \\"b\\"\\u000a"}

                """)
    }

    @Test func withoutKeysThereAreOnlyInstants() {
        let save = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        let recording = save.record()
        save(1)
        #expect(recording.trace() == "{\"at\":0.000000000}\n")
    }

    @Test func hashedKeysTellApartAndNothingElse() {
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { (_: String, _: Int) in }
        let recording = levels.record()
        for key in ["secret", "other", "secret"] { levels.submit(1, for: key) }
        let lines = recording.trace(hashingKeys: true).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0] == lines[2])
        #expect(lines[0] != lines[1])
        #expect(!lines.contains { $0.contains("secret") || $0.contains("other") })
    }

    @Test func theNewestSubmitsAreKept() async {
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { (_: Int, _: Int) in }
        let recording = levels.record(newest: 3)
        for key in 0..<5 { levels.submit(0, for: key) }
        #expect(recording.count == 3)
        #expect(recording.lost == 2)
        #expect(recording.trace().split(separator: "\n").map { $0.suffix(4) } == [#""2"}"#, #""3"}"#, #""4"}"#])
    }

    @Test func whatIsSubmittedAfterItsEndIsNotRecorded() {
        let save = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        var recording: Recording<Sole>? = save.record()
        save(1)
        #expect(recording?.count == 1)
        weak let gone = recording
        recording = nil
        #expect(gone == nil)
        save(2)
        #expect(save.counters.submitted == 2)
    }
}
