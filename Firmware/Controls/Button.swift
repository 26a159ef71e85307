public import LullCore

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
    ///   - bounce: A debounce as long as the contacts may bounce.
    ///   - longPress: A debounce as long as a long press.
    public init(bounce: Policy, longPress: Policy) {
        contact = FixedEngine(bounce)
        hold = FixedEngine(longPress)
    }

    /// Takes what the pin shows, at every tick.
    public mutating func read(_ isClosed: Bool, at now: CoreInstant, _ happened: (Event) -> Void) {
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
                hold.cancel(at: settled.at) { _ in happened(.longPress) }
            }
            happened(isDown ? .press : .release)
        }
        hold.advance(to: now) { _ in happened(.longPress) }
    }
}
