internal import LullCore
internal import LullDurable

/// The work that a session awaits before it ends, because of `--at-end flush` or `wait`.
struct AwaitedWork {
    /// The keys that have to be done, each with the latest generation that the session submitted.
    private(set) var generations: [[UInt8]: Int64] = [:]
    /// Work that fell due by this instant of the store's time has to be claimed; nil if none has, or all of it was.
    private(set) var claimLimit: CoreInstant?
    /// When to ask the store next which keys other processes have done.
    var nextCheck = CoreInstant.farPast

    /// Adds a key, or a later generation of it.
    mutating func add(_ key: [UInt8], _ generation: Int64) {
        generations[key] = generation
    }

    /// Adds everything that fell due by an instant of the store's time.
    mutating func add(dueBy instant: CoreInstant) {
        claimLimit = instant
    }

    /// Removes the limit of claims once a claim has got past it: claims return what fell due first.
    mutating func claimed(_ answer: DurableClaim.Answer) {
        guard let limit = claimLimit else { return }
        // Nothing was left, or only what fell due later.
        if answer.next != .zero || answer.runs.contains(where: { $0.due > limit }) { claimLimit = nil }
    }

    /// Removes the key of a run that has started, if the run covers the latest submit.
    ///
    /// The session does not end before its own runs.
    mutating func started(_ run: DurableRun) {
        if let newest = generations[run.key], newest <= run.submits.upperBound { generations[run.key] = nil }
    }

    /// Removes keys that other processes have done.
    mutating func remove(_ keys: [[UInt8]]) {
        for key in keys { generations[key] = nil }
    }
}
