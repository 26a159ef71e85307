package import LullCore

/// A worker's report on a run that it has.
package struct DurableReport: Hashable, Sendable {
    /// The name of the namespace.
    package var namespace: String
    /// The bytes of the key.
    package var key: [UInt8]
    /// The id of the run.
    package var run: Int64
    /// The fence of the worker's claim: the report counts only while it is the run's.
    package var fence: Int64
    /// The number of the worker.
    package var owner: Int64
    /// The kind of report.
    package var kind: Kind
    /// The pause of the namespace for which the handler has asked. It is made before the report is sent.
    package var pause: PauseFor?

    /// Creates a report.
    package init(namespace: String, key: [UInt8], run: Int64, fence: Int64, owner: Int64, _ kind: Kind) {
        self.namespace = namespace
        self.key = key
        self.run = run
        self.fence = fence
        self.owner = owner
        self.kind = kind
    }

    /// Whether the handler goes on.
    package var isInterim: Bool {
        switch kind {
        case .heartbeat, .overdue: true
        case .completed, .failed, .gaveUp, .snoozed, .released, .interrupted: false
        }
    }

    /// The kinds of report.
    package enum Kind: Hashable, Sendable {
        /// The handler is still running; the lease is extended to this time from now.
        case heartbeat(lease: CoreDuration)
        /// The handler returned.
        case completed
        /// The handler threw an error with this text. The run may be tried again after a delay; nil if that was its
        /// last attempt.
        case failed(String, retry: CoreDuration?)
        /// The handler gave the run up for this reason: there is no further attempt.
        case gaveUp(String)
        /// The handler asked for the run again after a time. That spends no attempt.
        case snoozed(for: CoreDuration)
        /// The handler goes on long after its time limit. This is counted, and changes nothing.
        case overdue
        /// The run goes back to the store without having spent an attempt.
        case released
        /// The handler was cancelled for a newer value, and threw: the values of the run go back.
        case interrupted
    }

    /// The answer to a report.
    package enum Answer: Hashable, Sendable {
        /// The report has been recorded.
        case accepted
        /// The heartbeat has been recorded, and a newer value has interrupted the run: the handler is to be cancelled.
        case interrupted
        /// The same report had been recorded before, and its answer was lost.
        case alreadyDone
        /// Another worker has taken the run over. Nothing was recorded.
        case leaseLost
    }
}
