// The smallest useful program: a button that bounces, as one byte for each press and each release.
internal import LullCore
internal import LullEmbedded
internal import Port

@main
enum Program {
    static func main() {
        clock_start(0)
        var clock = TickClock(hertz: 1000)
        guard let policy = try? Policy.debounce(wait: .milliseconds(10)) else {
            fatalError("the policy obeys the rules")
        }
        var contact = FixedEngine<1, Bool>(policy)
        var pin = false
        var isDown = false
        while pins_remain() {
            clock_sleep()
            let now = clock.instant(at: clock_ticks())
            let report = { (settled: FixedExecution<Bool>) in
                // A glitch that ends where it began is no event.
                guard settled.value != isDown else { return }
                isDown = settled.value
                uart_write(isDown ? UInt8(ascii: "P") : UInt8(ascii: "R"))
            }
            if (pins_read() & 1 != 0) != pin {
                pin.toggle()
                contact.submit(pin, at: now, run: report)
            } else {
                contact.advance(to: now, run: report)
            }
        }
    }
}
