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
