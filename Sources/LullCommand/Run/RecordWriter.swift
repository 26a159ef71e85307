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

    var prepare: @Sendable (WorkItem, Batch<Record>) -> [UInt8] { text }

    @Sendable private func text(of item: WorkItem, _ batch: Batch<Record>) -> [UInt8] {
        var text: [UInt8] = []
        guard format == .jsonl else {
            text.reserveCapacity(batch.earlier.reduce(batch.value.count + 1) { $0 + $1.count + 1 })
            for record in batch.earlier { append(record, to: &text) }
            append(batch.value, to: &text)
            return text
        }
        var members: [UInt8] = []
        members.reserveCapacity(item.key.bytes.count + batch.value.count + 16)
        keyRule.append(item.key, to: &members)
        let key = members.indices
        if item.combining == .mergeJSON {
            batch.value.withUnsafeBufferPointer { JSONText.append(json: $0, to: &members) }
        } else {
            JSONText.append(batch.value, to: &members)
        }
        ExecutionLine(due: item.due).append(
            key: members[key], earlier: batch.earlier.map(JSONText.json), value: members[key.endIndex...],
            isCollecting: item.combining == .collect, to: &text)
        return text
    }

    private func append(_ record: Record, to text: inout [UInt8]) {
        text.append(contentsOf: record)
        text.append(terminator)
    }

    mutating func start(
        _ prepared: [UInt8], before deadline: Int64, at now: CoreInstant, _ streams: inout StandardStreams
    ) -> ExecutionResult? {
        streams.output.bytes += prepared
        return .returned
    }
}
