import Lull
import LullTesting
import TestSupport
import Testing

@Suite("Recordings")
struct RecordingTests {
    private let clock = ManualClock()

    @Test func `every submit is a line with its instant and key`() async {
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { (_: String, _: Int) in }
        levels.submit(1, for: "before")
        let recording = levels.startRecording()
        levels.submit(7, for: "lamp")
        await clock.advance(by: .milliseconds(1500))
        levels.submit(8, for: "a \"b\"\n")
        #expect(
            recording.trace() == """
                {"at":0.000000000,"key":"lamp"}
                {"at":1.500000000,"key":"a \\"b\\"\\u000a"}

                """)
    }

    @Test func `without keys there are only instants`() {
        let save = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        let recording = save.startRecording()
        save(1)
        #expect(recording.trace() == "{\"at\":0.000000000}\n")
    }

    @Test func `hashed keys can be told apart, and reveal nothing else`() {
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { (_: String, _: Int) in }
        let recording = levels.startRecording()
        for key in ["secret", "other", "secret"] { levels.submit(1, for: key) }
        let lines = recording.trace(hashingKeys: true).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0] == lines[2])
        #expect(lines[0] != lines[1])
        #expect(!lines.contains { $0.contains("secret") || $0.contains("other") })
    }

    @Test func `the newest submits are kept`() async {
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { (_: Int, _: Int) in }
        let recording = levels.startRecording(limit: 3)
        for key in 0..<5 { levels.submit(0, for: key) }
        #expect(recording.count == 3)
        #expect(recording.lost == 2)
        #expect(recording.trace().split(separator: "\n").map { $0.suffix(4) } == [#""2"}"#, #""3"}"#, #""4"}"#])
    }

    @Test func `many submits are kept in order whatever is read meanwhile`() {
        let levels = KeyedDebouncer(for: .seconds(2), clock: clock) { (_: Int, _: Int) in }
        let recording = levels.startRecording(limit: 3000)
        for key in 0..<10_000 {
            levels.submit(0, for: key)
            guard key % 997 == 0 else { continue }
            let kept = max(0, key - 2999)...key
            #expect(
                recording.trace().split(separator: "\n").map { String($0) }
                    == kept.map { "{\"at\":0.000000000,\"key\":\"\($0)\"}" })
        }
        #expect(recording.count == 3000)
        #expect(recording.lost == 7000)
    }

    @Test func `keys are released without the lock`() async throws {
        let holder = Guarded<KeyedDebouncer<CallingKey, Int, Void>?>(nil)
        let levels = KeyedDebouncer(for: .zero, clock: clock) { (_: CallingKey, _: Int) in }
        _ = holder.exchange(levels)
        let recording = levels.startRecording(limit: 2)
        try await withinReason {
            for number in 0..<200 { levels.submit(number, for: CallingKey(number) { _ = holder.value?.counters }) }
        }
        #expect(recording.count == 2)
        await clock.advance(by: .zero)
        _ = holder.exchange(nil)
    }

    @Test func `what is submitted after its end is not recorded`() {
        let save = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        var recording: Recording<NoKey>? = save.startRecording()
        save(1)
        #expect(recording?.count == 1)
        weak let gone = recording
        recording = nil
        #expect(gone == nil)
        save(2)
        #expect(save.counters.submitted == 2)
    }

    @Test(.timeLimit(.minutes(1))) func `it can be read when its debouncer is gone`() async throws {
        var it: KeyedDebouncer<String, Int, Void>? = KeyedDebouncer(for: .seconds(2), clock: clock) { _, _ in }
        let recording = try #require(it).startRecording(limit: 2)
        await clock.advance(by: .seconds(1))
        for key in ["a", "b", "c"] { it?.submit(1, for: key) }
        weak let runtime = it?.runtime
        it = nil
        await clock.advance(by: .seconds(2))
        try await waitUntil { runtime == nil }
        #expect(recording.count == 2)
        #expect(recording.lost == 1)
        #expect(
            recording.trace() == """
                {"at":1.000000000,"key":"b"}
                {"at":1.000000000,"key":"c"}

                """)
    }

    @Test
    func
        `submits of several threads are recorded in order of time: an instant is that at which the submit was handled`()
        async
    {
        let it = KeyedDebouncer(for: .seconds(1000), options: .init(atEnd: .drop)) { (_: Int, _: Int) in }
        let recording = it.startRecording()
        await withTaskGroup(of: Void.self) { group in
            for key in 0..<4 { group.addTask { for value in 0..<5000 { it.submit(value, for: key) } } }
        }
        let instants = recording.trace().split(separator: "\n").map { line in
            Double(line.dropFirst(6).prefix { $0 != "," }) ?? -1
        }
        #expect(instants.count == 20_000)
        #expect(zip(instants, instants.dropFirst()).allSatisfy { $0 <= $1 })
    }
}
