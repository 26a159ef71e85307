public import LullCore

/// A button and a knob, as what they mean: lines of text for a serial line. It knows no board: give it the ticks and the pins.
public struct Panel: ~Copyable {
    private var clock: TickClock
    private var button: Button
    private var knob: Knob

    /// - Parameters:
    ///   - hertz: How many ticks a second has.
    ///   - start: What the counter of ticks shows now.
    public init(hertz: UInt32, start: UInt32) throws(PolicyError) {
        let policies = (
            try Policy.debounce(wait: .milliseconds(10)), try Policy.debounce(wait: .milliseconds(800)),
            try Policy.debounce(wait: .milliseconds(500))
        )
        clock = TickClock(hertz: hertz, start: start)
        button = Button(bounce: policies.0, longPress: policies.1)
        knob = Knob(rest: policies.2)
    }

    /// Takes what the pins show, at every tick: the button in bit 0, the knob's contacts in bits 1 and 2.
    ///
    /// - Parameter write: Writes a byte to the serial line.
    public mutating func step(ticks: UInt32, pins: UInt32, write: (UInt8) -> Void) {
        let now = clock.instant(at: ticks)
        let milliseconds = UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000)
        func line(_ text: StaticString, _ number: Int32? = nil) {
            writeDecimal(milliseconds, write)
            write(UInt8(ascii: " "))
            writeText(text, write)
            if let number {
                if number < 0 { write(UInt8(ascii: "-")) }
                writeDecimal(number.magnitude, write)
            }
            write(UInt8(ascii: "\n"))
        }
        button.read(pins & 1 != 0, at: now) { event in
            switch event {
            case .press: line("press")
            case .release: line("release")
            case .longPress: line("long press")
            }
        }
        knob.read(UInt8(truncatingIfNeeded: pins >> 1 & 3), at: now) { line("the knob has come to rest at ", $0) }
    }
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
