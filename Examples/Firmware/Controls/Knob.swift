public import LullCore
public import LullEmbedded

/// A rotary encoder with four steps from detent to detent: reports the detent at which it has stopped.
///
/// Each contact is debounced by itself, as a key of one engine: where one contact still bounces while the other
/// changes, a decoder without debouncing counts steps that did not happen. The changes count in the order in which they
/// began. A hand that is faster than the contacts settle may be misread by whole detents.
public struct Knob: ~Copyable {
    /// Contact A is key 0, B is key 1.
    private var bounces: FixedEngine<2, Bool>
    private var pause: FixedEngine<1, Int32>
    /// What the contacts showed last, and what they have settled at: A in bit 0, B in bit 1.
    private var pins: UInt8 = 0
    private var contacts: UInt8 = 0
    /// Since when each contact changes; the far future for one that has settled.
    private var began: [2 of CoreInstant] = .init(repeating: .farFuture)
    /// A contact that has settled before the other one, which began to change earlier: its turn comes after that.
    private var held: FixedExecution<Bool>?
    /// Quarters of a detent, and the last step.
    private var quarters: Int32 = 0
    private var direction: Int32 = 1
    /// The detent that was reported last.
    private var reported: Int32 = 0
    private var isFirst = true

    /// - Parameters:
    ///   - bounce: How long a contact has to be quiet; less than from one change of a contact to its next one, and not
    ///     negative.
    ///   - pause: How long the hand has to pause; not negative.
    public init(bounce: CoreDuration, pause duration: CoreDuration) {
        bounces = FixedEngine(.afterQuiet(bounce))
        pause = FixedEngine(.afterQuiet(duration))
    }

    /// The instant at which it has to be read next, if the contacts do not change before.
    public var alarm: CoreInstant {
        mutating get { min(bounces.alarm, pause.alarm) }
    }

    /// Takes what both contacts show, at every change and at ``alarm``, or simply at every tick: A in bit 0, B in bit
    /// 1, both 0 at a detent. Other bits are ignored.
    ///
    /// - Parameter hasStopped: Gets the detent, and when it was due: the end of the pause, however late the call is.
    public mutating func read(_ levels: UInt8, at now: CoreInstant, _ hasStopped: (Int32, CoreInstant) -> Void) {
        let shown = levels & 3
        if isFirst { begin(shown) }
        var first: FixedExecution<Bool>?
        var second: FixedExecution<Bool>?
        bounces.advance(to: now) { if first == nil { first = $0 } else { second = $0 } }
        if let one = first, let other = second, one.first == other.first, Self.step(one, contacts) != direction {
            // Both changed in one reading: the hand goes on as before.
            swap(&first, &second)
        }
        if let first { take(first, hasStopped) }
        if let second { take(second, hasStopped) }
        for key in 0..<2 where (shown ^ pins) >> UInt8(key) & 1 != 0 {
            began[key] = min(began[key], now)
            // Nothing falls due: everything up to now has been done.
            bounces.submit(shown >> UInt8(key) & 1 != 0, for: key, at: now) { _ in }
        }
        pins = shown
        reportRest(at: now, hasStopped)
    }

    /// Takes what the contacts show at first as where the knob is.
    private mutating func begin(_ shown: UInt8) {
        let start: [4 of Int32] = [0, 1, -1, 2]
        isFirst = false
        pins = shown
        contacts = shown
        quarters = start[Int(shown)]
        reported = Self.detent(quarters)
    }

    /// A contact has settled.
    private mutating func take(_ contact: FixedExecution<Bool>, _ hasStopped: (Int32, CoreInstant) -> Void) {
        began[contact.key] = .farFuture
        let waiting = held
        held = nil
        if let waiting, waiting.key == contact.key { turn(waiting, hasStopped) }
        guard began[1 - contact.key] >= contact.first else {
            held = contact
            return
        }
        turn(contact, hasStopped)
        if let waiting, waiting.key != contact.key { turn(waiting, hasStopped) }
    }

    /// Counts the step of a contact.
    private mutating func turn(_ contact: FixedExecution<Bool>, _ hasStopped: (Int32, CoreInstant) -> Void) {
        reportRest(at: contact.at, hasStopped)
        let step = Self.step(contact, contacts)
        guard step != 0 else { return }
        contacts ^= 1 << UInt8(contact.key)
        quarters += step
        direction = step
        pause.submit(Self.detent(quarters), at: contact.at) { _ in }
    }

    // Static, since a method that does not say `mutating` gets a copy of the knob.

    /// The nearest detent.
    private static func detent(_ quarters: Int32) -> Int32 { (quarters + (quarters < 0 ? -2 : 2)) / 4 }

    /// The step that a contact makes: forward goes through 00, 01, 11, 10. Zero for one that is back where it was.
    private static func step(_ contact: FixedExecution<Bool>, _ contacts: UInt8) -> Int32 {
        let bit = UInt8(1) << UInt8(contact.key)
        guard contact.value != (contacts & bit != 0) else { return 0 }
        switch contacts << 2 | contacts ^ bit {
        case 0b0001, 0b0111, 0b1110, 0b1000: return 1
        default: return -1
        }
    }

    private mutating func reportRest(at now: CoreInstant, _ hasStopped: (Int32, CoreInstant) -> Void) {
        var rested: FixedExecution<Int32>?
        pause.advance(to: now) { rested = $0 }
        guard let rested, rested.value != reported else { return }
        reported = rested.value
        hasStopped(rested.value, rested.at)
    }
}
