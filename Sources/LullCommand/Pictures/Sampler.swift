internal import LullCore

/// Keeps the beginning of some keys' traces, so that a stretch can be drawn when all has been read: the first calls of the
/// keys that came first. The memory is bounded, however long the trace.
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

    /// Notes a call of a trace.
    mutating func note(_ call: TraceCall) {
        let line = call.line
        let noted = Call(at: line.at, operation: line.operation, wait: line.wait)
        guard let key = call.key.map({ Int($0.value) }) else {
            for key in calls.indices { add(noted, to: key) }
            return
        }
        guard key < Self.keyLimit else { return }
        while calls.count <= key { calls.append([]) }
        add(noted, to: key)
    }

    private mutating func add(_ call: Call, to key: Int) {
        if calls[key].count < Self.callLimit { calls[key].append(call) }
    }

    /// The busiest key's calls; nil if there are none.
    var busiest: (key: Int, calls: [Call])? {
        let submits = calls.map { $0.count { $0.operation == .submit } }
        guard let most = submits.max(), most > 0, let key = submits.firstIndex(of: most) else { return nil }
        return (key, calls[key])
    }
}
