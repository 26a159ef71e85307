// The button and the knob on the board: what a hand does there comes over the serial line as text. It sleeps in
// between.
internal import Controls
internal import LullCore
internal import Port

/// The counter wraps around four seconds after the start, so that every run of the test crosses that.
private let start = UInt32.max - 4000
/// In static memory. There is one thread, and no interrupt touches it.
nonisolated(unsafe) private var panel = Panel(hertz: 1000, start: start)

@main
enum Program {
    static func main() {
        clock_start(start)
        while pins_remain() {
            let (ticks, pins) = (clock_ticks(), pins_read())
            panel.step(ticks: ticks, pins: pins) { uart_write($0) }
            pins_wait(pins, ticks, panel.ticksToSleep)
        }
    }
}
