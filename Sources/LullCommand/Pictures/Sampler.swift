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

    /// Notes a line. Keys have the numbers 0, 1, 2 … in the order in which they come.
    ///
    /// - Parameter key: Nil for a call on all keys.
    mutating func note(_ line: TraceLine, of key: Int?) {
        let call = Call(at: line.at, operation: line.operation, wait: line.wait)
        guard let key else {
            for key in calls.indices { add(call, to: key) }
            return
        }
        guard key < Self.keyLimit else { return }
        while calls.count <= key { calls.append([]) }
        add(call, to: key)
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
