internal import LullCore

/// Keeps the first calls of the first keys of a trace, for an excerpt that is drawn when everything has been read. The memory is
/// bounded, however long the trace.
struct Sampler {
    /// A call on one key.
    struct Call {
        let at: CoreInstant
        let operation: TraceLine.Operation
        let wait: CoreDuration?
    }

    private static let keyLimit = 64
    private static let callLimit = 1024

    private var calls: [[Call]] = []

    /// Adds a call of the trace.
    mutating func add(_ call: TraceCall) {
        let line = call.line
        let sample = Call(at: line.at, operation: line.operation, wait: line.wait)
        guard let key = call.key.map({ Int($0.value) }) else {
            for key in calls.indices { append(sample, to: key) }
            return
        }
        guard key < Self.keyLimit else { return }
        while calls.count <= key { calls.append([]) }
        append(sample, to: key)
    }

    private mutating func append(_ call: Call, to key: Int) {
        if calls[key].count < Self.callLimit { calls[key].append(call) }
    }

    /// The key with the most submits, and its calls; nil if there are no submits.
    var busiest: (key: Int, calls: [Call])? {
        let submits = calls.map { $0.count { $0.operation == .submit } }
        guard let most = submits.max(), most > 0, let key = submits.firstIndex(of: most) else { return nil }
        return (key, calls[key])
    }
}
