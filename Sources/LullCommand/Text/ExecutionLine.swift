internal import LullCore

/// An execution as a line of JSON, the same for records and for traces:
/// `{"at":12.8,"key":"lamp","value":7,"count":3,"edge":"trailing","first":12.5}`.
struct ExecutionLine {
    private let at: CoreInstant
    private let first: CoreInstant
    private let count: Int
    private let edge: Edge

    /// Of an execution in a simulation.
    init<Key, Value>(_ execution: Execution<Key, Value>) {
        at = execution.at
        first = execution.first
        count = execution.count
        edge = execution.edge
    }

    /// Of a session's job.
    init(_ job: Job) {
        at = job.at
        first = job.first
        count = job.count
        edge = job.edge
    }

    /// Appends the line to a text.
    ///
    /// - Parameters:
    ///   - key: JSON text, as are the values.
    ///   - earlier: The values before the last one.
    ///   - isCollecting: Whether the values are shown as an array, even if there is one only.
    func append(
        key: some Collection<UInt8>, earlier: some BidirectionalCollection<some Collection<UInt8>>,
        value: some Collection<UInt8>, isCollecting: Bool, to text: inout [UInt8]
    ) {
        // Composed from its end, in one piece: to append six of them to an array takes twice as long.
        let length = earlier.reduce(key.count + value.count) { $0 + $1.count + 1 }
        text.append(upTo: length + 128) { text in
            text.put("}\n")
            text.put(seconds: first.nanoseconds)
            text.put("\",\"first\":")
            text.put(edge.name)
            text.put(",\"edge\":\"")
            text.put(decimal: count)
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
            text.put(seconds: at.nanoseconds)
            text.put("{\"at\":")
        }
    }
}
