internal import LullCore

/// An execution as a line of JSON, the same for records and traces:
/// `{"at":12.8,"key":"lamp","value":7,"count":3,"edge":"trailing","first":12.5}`.
struct ExecutionLine {
    let due: Gate.Due
    /// For a simulation in which executions take time.
    var timing: Timing?

    /// When an execution has started and ended, and how.
    struct Timing {
        let started: CoreInstant
        let ended: CoreInstant
        let outcome: StaticString
    }

    /// Appends the line to a text.
    ///
    /// - Parameters:
    ///   - key: JSON text, like the values.
    ///   - earlier: The values before the last one.
    ///   - isCollecting: Whether to show the values as an array, even a single one.
    func append(
        key: some Collection<UInt8>, earlier: some BidirectionalCollection<some Collection<UInt8>>,
        value: some Collection<UInt8>, isCollecting: Bool, to text: inout [UInt8]
    ) {
        // Written from its end in one piece. Appending the six members one by one takes twice as long ("lull simulate
        // as JSONL").
        let length = earlier.reduce(key.count + value.count) { $0 + $1.count + 1 }
        text.append(upTo: length + 256) { text in
            text.put("}\n")
            if let timing {
                text.put("\"")
                text.put(timing.outcome)
                text.put(",\"outcome\":\"")
                text.put(seconds: timing.ended.nanoseconds)
                text.put(",\"ended\":")
                text.put(seconds: timing.started.nanoseconds)
                text.put(",\"started\":")
            }
            text.put(seconds: due.first.nanoseconds)
            text.put("\",\"first\":")
            text.put(due.cause.name)
            text.put(",\"edge\":\"")
            text.put(decimal: due.count)
            text.put(",\"count\":")
            if isCollecting { text.put("]") }
            text.put(bytes: value)
            if isCollecting {
                for value in earlier.reversed() {
                    text.put(",")
                    text.put(bytes: value)
                }
                text.put("[")
            }
            text.put(",\"value\":")
            text.put(bytes: key)
            text.put(",\"key\":")
            text.put(seconds: due.at.nanoseconds)
            text.put("{\"at\":")
        }
    }
}
