public import LullCore

/// A rotary encoder: reports the position where it has come to rest.
///
/// A contact that bounces takes a step back and forth, which the decoder counts as such; so the encoder needs no debouncing of its
/// own, only its result does.
public struct Knob: ~Copyable {
    private var rest: FixedEngine<1, Int32>
    private var contacts: UInt8 = 0
    /// Quarters of a detent.
    private var quarters: Int32 = 0
    /// The detent that was reported last.
    private var reported: Int32 = 0

    /// - Parameter policy: A debounce as long as the hand has to rest.
    public init(rest policy: Policy) {
        rest = FixedEngine(policy)
    }

    /// The detent at which it is.
    public var position: Int32 { (quarters + (quarters < 0 ? -2 : 2)) / 4 }

    /// Takes what both contacts show, at every tick: contact A in bit 0, B in bit 1.
    public mutating func read(_ pins: UInt8, at now: CoreInstant, _ cameToRest: (Int32) -> Void) {
        var settled: Int32?
        let step = Self.step(from: contacts, to: pins)
        contacts = pins
        if step != 0 {
            quarters += step
            rest.submit(position, at: now) { settled = $0.value }
        } else {
            rest.advance(to: now) { settled = $0.value }
        }
        if let settled, settled != reported {
            reported = settled
            cameToRest(settled)
        }
    }

    /// One step forward goes through 00, 01, 11, 10. Both contacts at once are a step that was missed, in a direction unknown.
    private static func step(from old: UInt8, to new: UInt8) -> Int32 {
        switch old << 2 | new {
        case 0b0001, 0b0111, 0b1110, 0b1000: 1
        case 0b0010, 0b1011, 0b1101, 0b0100: -1
        default: 0
        }
    }
}
