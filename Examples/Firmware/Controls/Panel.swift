public import LullCore
public import LullEmbedded

/// Turns a button and a knob into lines of text for a serial line. It does not depend on a board: the caller passes the
/// ticks and the pins.
public struct Panel: ~Copyable {
    private var clock: TickClock
    private var button: Button
    private var knob: Knob

    /// - Parameters:
    ///   - hertz: How many ticks a second has.
    ///   - start: What the counter of ticks shows now.
    public init(hertz: UInt32, start: UInt32) {
        clock = TickClock(hertz: hertz, start: start)
        button = Button(bounce: .milliseconds(10), longPress: .milliseconds(800))
        knob = Knob(bounce: .milliseconds(3), pause: .milliseconds(500))
    }

    /// After how many ticks, from the last step on, the next step has to come, if no pin changes before.
    public var ticksToSleep: UInt32 {
        mutating get { clock.ticks(until: min(button.alarm, knob.alarm)) }
    }

    /// Takes what the pins show: the button in bit 0, the knob's contacts in bits 1 and 2.
    ///
    /// - Parameter write: Writes a byte to the serial line.
    public mutating func step(ticks: UInt32, pins: UInt32, write: (UInt8) -> Void) {
        let now = clock.instant(at: ticks)
        button.read(pins & 1 != 0, at: now) { event, at in
            writeMilliseconds(at, write)
            switch event {
            case .press: writeText("press\n", write)
            case .release: writeText("release\n", write)
            case .longPress: writeText("long press\n", write)
            }
        }
        knob.read(UInt8(truncatingIfNeeded: pins >> 1 & 3), at: now) { position, at in
            writeMilliseconds(at, write)
            writeText("the knob has stopped at ", write)
            if position < 0 { write(UInt8(ascii: "-")) }
            writeDecimal(position.magnitude, write)
            write(UInt8(ascii: "\n"))
        }
    }
}

extension Policy {
    /// A debounce with a wait that is not negative.
    static func afterQuiet(_ wait: CoreDuration) -> Policy {
        guard let policy = try? debounce(wait: wait) else {
            // The only rule that a debounce without options can break.
            preconditionFailure("a wait is not negative")
        }
        return policy
    }
}

/// Writes the milliseconds of an instant.
private func writeMilliseconds(_ instant: CoreInstant, _ write: (UInt8) -> Void) {
    writeDecimal(UInt32(truncatingIfNeeded: instant.nanoseconds / 1_000_000), write)
    write(UInt8(ascii: " "))
}

/// Writes a text without making a `String` of it.
public func writeText(_ text: StaticString, _ write: (UInt8) -> Void) {
    // A loop over the pointer: with Unicode tables for `utf8` of a String, a program would be ten times as large.
    for index in 0..<text.utf8CodeUnitCount { write(text.utf8Start[index]) }
}

/// Writes a number in decimal digits.
public func writeDecimal(_ number: UInt32, _ write: (UInt8) -> Void) {
    var divisor: UInt32 = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
        write(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
        divisor /= 10
    }
}
