internal import LullCore

/// Executions of `lull filter`: the records are written to standard output.
struct Writer: Performer {
    let format: Settings.Format
    let terminator: UInt8
    let keyRule: KeyRule
    let isCollecting: Bool
    var writesOutput: Bool { true }

    init(_ settings: Settings) {
        format = settings.format ?? .lines
        terminator = settings.terminator
        keyRule = settings.keyRule
        isCollecting = settings.combination == .collect
    }

    mutating func start(_ job: Job, _ streams: inout Streams) -> Ending? {
        if format == .jsonl {
            var text: [UInt8] = []
            text.reserveCapacity(job.key.bytes.count + job.batch.value.count + 16)
            keyRule.append(job.key, to: &text)
            let key = text.indices
            JSONText.append(job.batch.value, to: &text)
            ExecutionLine(job).append(
                key: text[key], earlier: job.batch.earlier.map(JSONText.json), value: text[key.endIndex...],
                isCollecting: isCollecting, to: &streams.output.text)
        } else {
            for record in job.batch.earlier { append(record, to: &streams.output.text) }
            append(job.batch.value, to: &streams.output.text)
        }
        return .returned
    }

    private func append(_ record: Record, to text: inout [UInt8]) {
        text.append(contentsOf: record)
        text.append(terminator)
    }
}
