internal import LullCore

/// Carries out the executions of `lull filter`: writes their records to standard output.
struct RecordWriter: ExecutionHandler {
    let format: CommandOptions.Format
    let terminator: UInt8
    let keyRule: KeyRule
    var writesOutput: Bool { true }

    init(_ options: CommandOptions) {
        format = options.format ?? .lines
        terminator = options.terminator
        keyRule = options.keyRule
    }

    mutating func start(_ item: WorkItem, _ streams: inout StandardStreams) -> ExecutionEnd? {
        if format == .jsonl {
            var text: [UInt8] = []
            text.reserveCapacity(item.key.bytes.count + item.batch.value.count + 16)
            keyRule.append(item.key, to: &text)
            let key = text.indices
            JSONText.append(item.batch.value, to: &text)
            ExecutionLine(item).append(
                key: text[key], earlier: item.batch.earlier.map(JSONText.json), value: text[key.endIndex...],
                isCollecting: item.isCollecting, to: &streams.output.bytes)
        } else {
            for record in item.batch.values {
                streams.output.bytes.append(contentsOf: record)
                streams.output.bytes.append(terminator)
            }
        }
        return .returned
    }
}
