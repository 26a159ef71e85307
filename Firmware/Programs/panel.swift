// The button and the knob on the board: what a hand does there comes over the serial line as text.
internal import Controls
internal import LullCore
internal import Port

@main
enum Program {
    static func main() {
        // The counter wraps around four seconds after the start, so that every run of the test crosses that.
        let start = UInt32.max - 4000
        clock_start(start)
        guard var panel = try? Panel(hertz: 1000, start: start) else {
            fatalError("the waits of the panel obey the rules")
        }
        while pins_remain() {
            clock_sleep()
            panel.step(ticks: clock_ticks(), pins: pins_read()) { uart_write($0) }
        }
    }
}
