internal import LullCore
internal import LullDurable

/// The work that a session awaits before it ends: until the worker has claimed what is due, and under `--at-end flush`
/// or `wait` until it is done.
struct AwaitedWork {
    /// The keys that have to be done, each with the latest generation that the session submitted.
    var generations: [[UInt8]: Int64] = [:]
    /// Work that fell due by this instant of the store's time has to be claimed; nil if none has, or all of it was.
    var claimLimit: CoreInstant?
    /// Whether the session awaits that as far as it has capacity.
    var isForOneClaim = false
    /// When to ask the store next which keys other processes have done.
    var nextCheck = CoreInstant.farPast

    /// Removes the limit of claims once a claim has got past it: claims return what fell due first.
    mutating func claimed(_ answer: DurableClaim.Answer) {
        // The claim may have been made before the limit was known.
        guard let limit = claimLimit, answer.now.map({ $0 >= limit }) ?? true else { return }
        // Nothing was left, or only what fell due later.
        if answer.next != .zero || answer.runs.contains(where: { $0.due > limit }) { claimLimit = nil }
    }

    /// What was to be claimed stays in the store.
    mutating func storeFailed() {
        if isForOneClaim { claimLimit = nil }
    }

    /// Removes the key of a run that has started, if the run covers the latest submit.
    ///
    /// The session does not end before its own runs.
    mutating func started(_ run: DurableRun) {
        if let newest = generations[run.key], newest <= run.submits.upperBound { generations[run.key] = nil }
    }
}
