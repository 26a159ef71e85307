internal import LullCore

/// An execution as a line of JSON, the same for records and for traces:
/// `{"at":12.8,"key":"lamp","value":7,"count":3,"edge":"trailing","first":12.5}`.
enum ExecutionLine {
    /// Appends the line; key and value are written by the caller's functions.
    static func append<Key, Value>(
        _ execution: Execution<Key, Value>, isCollecting: Bool, to text: inout [UInt8],
        key: (Key, inout [UInt8]) -> Void, value: (Value, inout [UInt8]) -> Void
    ) {
        text.append(upTo: 40) { text in
            text.put(",\"key\":")
            text.put(seconds: execution.at.nanoseconds)
            text.put("{\"at\":")
        }
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
        text.append(upTo: 80) { text in
            text.put("}\n")
            text.put(seconds: execution.first.nanoseconds)
            text.put("\",\"first\":")
            text.put(execution.edge.name)
            text.put(",\"edge\":\"")
            text.put(decimal: execution.count)
            text.put(",\"count\":")
        }
    }
}
