// Steps a panel at the ticks that the host has written, with the pins that it has written, and writes what the panel
// does and how long it would sleep: for loops that are late, and for clocks of any frequency.
//
// The host writes the ticks in a second, what the counter shows at the start, and then a tick and the pins for each
// step.
internal import Controls
internal import Port

@main
enum Program {
    static func main() {
        var numbers = Numbers(host_open_argument())
        guard let hertz = numbers.number(), let start = numbers.number() else { host_exit(4) }
        var panel = Panel(hertz: UInt32(truncatingIfNeeded: hertz), start: UInt32(truncatingIfNeeded: start))
        while let ticks = numbers.number(), let pins = numbers.number() {
            defer {
                writeText("sleep ") { host_put($0) }
                writeDecimal(panel.ticksToSleep) { host_put($0) }
                host_put(UInt8(ascii: "\n"))
            }
            panel.step(ticks: UInt32(truncatingIfNeeded: ticks), pins: UInt32(truncatingIfNeeded: pins)) {
                host_put($0)
            }
        }
    }
}
