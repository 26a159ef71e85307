internal import LullCore
internal import LullDurable

/// The phase of a session with a store, as a state machine.
///
/// | phase | event | next phase |
/// |---|---|---|
/// | reading | `inputEnded`: the input has ended | awaiting |
/// | awaiting | `stop`: what is due is claimed, and all awaited work is done | stopping |
/// | reading, working, awaiting | `stop`: a signal, or a failure that ends the session | stopping |
/// | stopping | `stop`: another of these events | stopping |
/// | stopping | `finish`: the worker has finished, and no command is left | finished |
/// | reading, working, awaiting | `finish`: the same, because the store became unusable | finished |
///
/// Every other event is impossible and stops the program: only a phase with input can see its end, and nothing follows
/// the finish.
enum DurableSessionPhase: Equatable {
    /// There is input. The worker claims what falls due.
    case reading
    /// The session of `lull work`, which has no input. The worker claims what falls due.
    case working
    /// The input has ended; what was due by then is not claimed, or the work that `--at-end flush` or `wait` awaits is
    /// not done yet.
    case awaiting
    /// The worker claims nothing more; the session ends when the worker has finished.
    case stopping
    /// The worker has finished; only output and messages are left to write.
    case finished

    enum Event {
        case inputEnded
        case stop
        case finish
    }

    mutating func handle(_ event: Event) {
        switch (self, event) {
        case (.finished, _): preconditionFailure("an event has come after the end of a session")
        case (.reading, .inputEnded): self = .awaiting
        case (_, .inputEnded): preconditionFailure("the input of a session has ended that is not reading")
        case (_, .stop): self = .stopping
        case (_, .finish): self = .finished
        }
    }
}

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
