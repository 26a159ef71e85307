// Sixteen switches as keys of one engine in static memory: a letter for each that opens or closes, the capital for one
// that closes.
internal import LullCore
internal import LullEmbedded
internal import Port

/// There is one thread, and no interrupt touches it.
nonisolated(unsafe) private var switches = FixedEngine<16, Bool>(Program.policy)
/// What was reported last; as above.
nonisolated(unsafe) private var closed: UInt32 = 0

@main
enum Program {
    fileprivate static var policy: Policy {
        guard let policy = try? Policy.debounce(wait: .milliseconds(10)) else {
            fatalError("the policy obeys the rules")
        }
        return policy
    }

    static func main() {
        clock_start(0)
        var clock = TickClock(hertz: 1000)
        var pins: UInt32 = 0
        while pins_remain() {
            let (ticks, shown) = (clock_ticks(), pins_read())
            let now = clock.instant(at: ticks)
            switches.advance(to: now, run: report)
            for key in 0..<16 where (shown ^ pins) >> UInt32(key) & 1 != 0 {
                switches.submit(shown >> UInt32(key) & 1 != 0, for: key, at: now, run: report)
            }
            pins = shown
            pins_wait(pins, ticks, clock.ticks(until: switches.alarm))
        }
    }

    static func report(_ settled: FixedExecution<Bool>) {
        // A glitch that ends where it began is no event.
        let bit = UInt32(1) << UInt32(settled.key)
        guard settled.value != (closed & bit != 0) else { return }
        closed ^= bit
        uart_write((settled.value ? UInt8(ascii: "A") : UInt8(ascii: "a")) + UInt8(truncatingIfNeeded: settled.key))
    }
}
