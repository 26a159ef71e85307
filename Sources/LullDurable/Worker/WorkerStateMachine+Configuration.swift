internal import Lull
package import LullCore

extension WorkerStateMachine {
    /// The configuration of a worker: its name in the store, and its limits.
    package struct Configuration: Sendable {
        package var namespace: String
        /// Random, and new at each start.
        package var owner: Int64
        /// How many handlers run at most.
        package var maxConcurrent: Int
        package var lease: CoreDuration
        package var backoff: RetryPolicy
        /// How long handlers may go on after a stop; shorter than the lease.
        package var grace: CoreDuration
        /// Whether the values of a run are retained after its start, for failure reports that show them.
        package var keepsValues: Bool
        /// Whether the worker watches for interruptions of its runs: in namespaces that restart runs. Without, it learns of one by the
        /// answer to its next heartbeat.
        package var watches: Bool
        /// Whether the worker tells the store every minute that it is there: all do but those of tests that list each action.
        package var announces: Bool

        package init(
            namespace: String, owner: Int64, maxConcurrent: Int = 8, lease: CoreDuration = .seconds(30),
            backoff: RetryPolicy = RetryPolicy(), grace: CoreDuration? = nil,
            keepsValues: Bool = true, watches: Bool = false, announces: Bool = true,
            fileID: StaticString = #fileID, line: UInt = #line
        ) {
            let site = SourceSite(fileID, line)
            require(maxConcurrent >= 1, "the maxConcurrent is \(maxConcurrent), but must be 1 or more", at: site)
            require(lease > .zero, "the lease is \(lease), but must be more than zero", at: site)
            // The other half is for handlers that ignore their cancellation.
            let grace = grace ?? min(.seconds(10), .nanoseconds(lease.nanoseconds / 2))
            require(
                grace >= .zero && grace < lease,
                "the grace is \(grace), but must be zero or more, and shorter than the lease of \(lease)", at: site)
            self.namespace = namespace
            self.owner = owner
            self.maxConcurrent = maxConcurrent
            self.lease = lease
            self.backoff = backoff
            self.grace = grace
            self.keepsValues = keepsValues
            self.watches = watches
            self.announces = announces
        }
    }
}
