import Lull

// Row: what a recording adds to a submit.

enum Recorded {
    static func values(_ effort: Effort) -> [Line] {
        let taken = Interleaved(
            rounds: effort.rounds, [{ sample(isRecorded: false) }, { sample(isRecorded: true) }])
        return [taken.line("Debouncer with a recording", 1, against: "without one", 0)]
    }

    private static func sample(isRecorded: Bool) -> Sample {
        let sink = ExecutionCounter()
        let debouncer = Debouncer<Int, Void>(for: .nanoseconds(Hot.wait)) { sink.take($0) }
        let recording = isRecorded ? debouncer.startRecording() : nil
        let sample = Sample.of(Hot.submits) { Hot.burst(debouncer, 0..<Hot.submits) }
        sink.expect(only: Hot.submits - 1)
        withExtendedLifetime(recording) {}
        return sample
    }
}
