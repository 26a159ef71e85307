public import LullCore
public import LullEmbedded

/// A button whose contacts bounce: press, release and long press, each once.
public struct Button: ~Copyable {
    /// What a finger did.
    public enum Event: Sendable {
        case press, release, longPress
    }

    /// Settles when the pin has been quiet.
    private var contact: FixedEngine<1, Bool>
    /// Falls due while the button is held.
    private var hold: FixedEngine<1, Bool>
    private var pin = false
    private var isDown = false

    /// - Parameters:
    ///   - bounce: How long the contacts have to be quiet; not negative.
    ///   - longPress: How long a long press is; not negative.
    public init(bounce: CoreDuration, longPress: CoreDuration) {
        contact = FixedEngine(.afterQuiet(bounce))
        hold = FixedEngine(.afterQuiet(longPress))
    }

    /// The instant at which it has to be read next, if the pin does not change before.
    public var alarm: CoreInstant {
        mutating get { min(contact.alarm, hold.alarm) }
    }

    /// Takes what the pin shows, at every change and at ``alarm``, or simply at every tick.
    ///
    /// - Parameter happened: Gets what happened, and when: the instant at which it was due, however late the call is.
    public mutating func read(_ isClosed: Bool, at now: CoreInstant, _ happened: (Event, CoreInstant) -> Void) {
        // A debounce on the trailing edge executes at most once in a call.
        var settled: FixedExecution<Bool>?
        if isClosed != pin {
            pin = isClosed
            contact.submit(isClosed, at: now) { settled = $0 }
        } else {
            contact.advance(to: now) { settled = $0 }
        }
        // A glitch that ends where it began is no event.
        if let settled, settled.value != isDown {
            isDown = settled.value
            if isDown {
                hold.submit(true, at: settled.at) { _ in }
            } else {
                hold.cancel(at: settled.at) { happened(.longPress, $0.at) }
            }
            happened(isDown ? .press : .release, settled.at)
        }
        hold.advance(to: now) { happened(.longPress, $0.at) }
    }
}
