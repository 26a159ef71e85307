public import LullCore

/// A rotary encoder with four steps from detent to detent: reports the detent at which it has come to rest.
///
/// Each contact is debounced by itself, as a key of one engine: where one contact still bounces while the other changes, a decoder of
/// the bare contacts counts steps that were none. Since they settle one after the other, the count always agrees with what they show;
/// a hand that is faster than they settle loses whole detents.
public struct Knob: ~Copyable {
    /// Contact A is key 0, B is key 1.
    private var bounces: FixedEngine<2, Bool>
    private var rest: FixedEngine<1, Int32>
    /// What the contacts showed last, and what they have settled at: A in bit 0, B in bit 1.
    private var pins: UInt8 = 0
    private var contacts: UInt8 = 0
    /// Quarters of a detent.
    private var quarters: Int32 = 0
    /// The detent that was reported last.
    private var reported: Int32 = 0

    /// - Parameters:
    ///   - bounce: How long a contact has to be quiet; less than from one change of a contact to its next one, and not
    ///     negative.
    ///   - rest: How long the hand has to rest; not negative.
    public init(bounce: CoreDuration, rest duration: CoreDuration) {
        bounces = FixedEngine(.afterQuiet(bounce))
        rest = FixedEngine(.afterQuiet(duration))
    }

    /// The nearest detent.
    private var position: Int32 { (quarters + (quarters < 0 ? -2 : 2)) / 4 }

    /// The instant at which it has to be read next, if the contacts do not change before.
    public var alarm: CoreInstant {
        mutating get { min(bounces.alarm, rest.alarm) }
    }

    /// Takes what both contacts show, at every change and at ``alarm``, or simply at every tick: A in bit 0, B in bit 1, both 0 at a
    /// detent.
    ///
    /// - Parameter cameToRest: Gets the detent, and when it was due: the end of the rest, however late the call is.
    public mutating func read(_ shown: UInt8, at now: CoreInstant, _ cameToRest: (Int32, CoreInstant) -> Void) {
        var first: FixedExecution<Bool>?
        var second: FixedExecution<Bool>?
        bounces.advance(to: now) { if first == nil { first = $0 } else { second = $0 } }
        if let first { turn(first, cameToRest) }
        if let second { turn(second, cameToRest) }
        for key in 0..<2 where (shown ^ pins) >> UInt8(key) & 1 != 0 {
            // Nothing falls due: everything up to now has been done.
            bounces.submit(shown >> UInt8(key) & 1 != 0, for: key, at: now) { _ in }
        }
        pins = shown
        settle(at: now, cameToRest)
    }

    /// A contact has settled.
    private mutating func turn(_ contact: FixedExecution<Bool>, _ cameToRest: (Int32, CoreInstant) -> Void) {
        settle(at: contact.at, cameToRest)
        let bit = UInt8(1) << UInt8(contact.key)
        let next = contact.value ? contacts | bit : contacts & ~bit
        guard next != contacts else { return }
        quarters += Self.step(from: contacts, to: next)
        contacts = next
        rest.submit(position, at: contact.at) { _ in }
    }

    private mutating func settle(at now: CoreInstant, _ cameToRest: (Int32, CoreInstant) -> Void) {
        var settled: FixedExecution<Int32>?
        rest.advance(to: now) { settled = $0 }
        guard let settled, settled.value != reported else { return }
        reported = settled.value
        cameToRest(settled.value, settled.at)
    }

    /// A step forward goes through 00, 01, 11, 10. Only one contact changes.
    private static func step(from old: UInt8, to new: UInt8) -> Int32 {
        switch old << 2 | new {
        case 0b0001, 0b0111, 0b1110, 0b1000: 1
        default: -1
        }
    }
}
