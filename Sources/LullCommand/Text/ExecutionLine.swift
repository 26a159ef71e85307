internal import LullCore

/// An execution as a line of JSON, the same for records and for traces:
/// `{"at":12.8,"key":"lamp","value":7,"count":3,"edge":"trailing","first":12.5}`.
enum ExecutionLine {
    /// Appends the line of an execution in a simulation; key and value are written by the caller's functions.
    static func append<Key, Value>(
        _ execution: Execution<Key, Value>, isCollecting: Bool, to text: inout [UInt8],
        key: (Key, inout [UInt8]) -> Void, value: (Value, inout [UInt8]) -> Void
    ) {
        append(
            execution.batch, at: execution.at, first: execution.first, count: execution.count, edge: execution.edge,
            isCollecting: isCollecting, to: &text, key: { key(execution.key, &$0) }, value: value)
    }

    /// Appends the line of a job.
    static func append(
        _ job: Job, isCollecting: Bool, to text: inout [UInt8], key: (Key, inout [UInt8]) -> Void,
        value: (Record, inout [UInt8]) -> Void
    ) {
        append(
            job.batch, at: job.at, first: job.first, count: job.count, edge: job.edge, isCollecting: isCollecting,
            to: &text, key: { key(job.key, &$0) }, value: value)
    }

    @inline(__always)
    private static func append<Value>(
        _ batch: Batch<Value>, at: CoreInstant, first: CoreInstant, count: Int, edge: Edge, isCollecting: Bool,
        to text: inout [UInt8], key: (inout [UInt8]) -> Void, value: (Value, inout [UInt8]) -> Void
    ) {
        text.append(upTo: 40) { text in
            text.put(",\"key\":")
            text.put(seconds: at.nanoseconds)
            text.put("{\"at\":")
        }
        key(&text)
        text.append(",\"value\":")
        if isCollecting {
            text.append("[")
            for earlier in batch.earlier {
                value(earlier, &text)
                text.append(",")
            }
        }
        value(batch.value, &text)
        if isCollecting { text.append("]") }
        text.append(upTo: 80) { text in
            text.put("}\n")
            text.put(seconds: first.nanoseconds)
            text.put("\",\"first\":")
            text.put(edge.name)
            text.put(",\"edge\":\"")
            text.put(decimal: count)
            text.put(",\"count\":")
        }
    }
}
