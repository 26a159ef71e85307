internal import LullCore

/// An execution as a line of JSON, the same for records and for traces:
/// `{"at":12.8,"key":"lamp","value":7,"count":3,"edge":"trailing","first":12.5}`.
enum ExecutionLine {
    /// Appends the line; key and value are written by the caller's functions.
    static func append<Key, Value>(
        _ execution: Execution<Key, Value>, isCollecting: Bool, to text: inout [UInt8],
        key: (Key, inout [UInt8]) -> Void, value: (Value, inout [UInt8]) -> Void
    ) {
        text.append("{\"at\":")
        DecimalSeconds.append(execution.at.nanoseconds, to: &text)
        text.append(",\"key\":")
        key(execution.key, &text)
        text.append(",\"value\":")
        if isCollecting {
            text.append("[")
            for earlier in execution.batch.earlier {
                value(earlier, &text)
                text.append(",")
            }
        }
        value(execution.batch.value, &text)
        if isCollecting { text.append("]") }
        text.append(",\"count\":")
        text.appendDecimal(execution.count)
        text.append(",\"edge\":\"")
        text.append(execution.edge.name)
        text.append("\",\"first\":")
        DecimalSeconds.append(execution.first.nanoseconds, to: &text)
        text.append("}\n")
    }
}
