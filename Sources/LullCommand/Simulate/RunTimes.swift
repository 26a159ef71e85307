internal import LullCore

/// The executions that are running in a simulation where each takes the same time: a queue in the order of their ends.
struct RunTimes<Key: Hashable, Value> {
    /// An execution that is running.
    struct Run {
        let execution: Execution<Key, Value>
        let started: CoreInstant
        /// The instant of the last submit behind it, if it is known.
        let last: CoreInstant?
    }

    /// How long an execution takes.
    let length: CoreDuration
    private var runs: [UInt64: Run] = [:]
    /// The numbers of executions in the order of their starts, which is that of their ends; some have ended early.
    private var order: [UInt64] = []
    /// How many of these are over.
    private var over = 0

    init(_ length: CoreDuration) {
        self.length = length
    }

    var isEmpty: Bool { runs.isEmpty }

    /// - Parameter latest: The instant of the latest submit of its key, which may be newer than the execution.
    mutating func start(_ execution: Execution<Key, Value>, at now: CoreInstant, latest: CoreInstant) {
        let last = latest <= execution.at ? latest : nil
        runs[execution.run.serial] = Run(execution: execution, started: now, last: last)
        order.append(execution.run.serial)
    }

    /// When the next execution ends; the far future if none is running.
    var next: CoreInstant {
        mutating get {
            while over < order.count, runs[order[over]] == nil { over += 1 }
            if over * 2 > order.count {
                order.removeFirst(over)
                over = 0
            }
            return over < order.count ? runs[order[over]]?.started.advanced(by: length) ?? .farFuture : .farFuture
        }
    }

    /// Removes the execution that ends next, if there is one.
    mutating func removeFirst() -> Run? {
        _ = next
        return over < order.count ? runs.removeValue(forKey: order[over]) : nil
    }

    /// Removes an execution that is cancelled.
    mutating func remove(_ run: RunID) -> Run? { runs.removeValue(forKey: run.serial) }
}
