// Counts instructions: of a submit, of a wake-up, and of the ten lines in C. Each is called as a program would call it.
internal import Controls
internal import LullCore
internal import LullEmbedded
internal import Port

@main
enum Program {
    static func main() {
        measure_start()
        var rounds: UInt32 = 1
        while rounds <= 100_000 {
            if instructions_counted(rounds) != rounds * 4 + 3 {
                fail("instructions are not counted: run QEMU with -icount shift=7\n")
            }
            rounds *= 10
        }
        guard let policy = try? Policy.debounce(wait: .milliseconds(10)) else { fail("the policy was refused\n") }
        measureOneKey(policy)
        measureEightKeys(policy)
        var clock = TickClock(hertz: 1000)
        measure("tick to instant, 1000 Hz") { _ = clock.instant(at: 7) }
        measure("ticks until an instant") { if clock.ticks(until: instant(100)) > 93 { fail("that is too late\n") } }
        var oddClock = TickClock(hertz: 32_768)
        measure("tick to instant, 32768 Hz") { _ = oddClock.instant(at: 7) }
        var panel = Panel(hertz: 1000, start: 0)
        panel.step(ticks: 1, pins: 0) { _ in }
        measure("a tick of the panel, nothing changes") { panel.step(ticks: 2, pins: 0) { _ in } }
        measure("ten lines in C, nothing changes") { _ = counter_settles(0) }
        measure("ten lines in C, counts") { _ = counter_settles(1) }
        for _ in 0..<8 { _ = counter_settles(1) }
        measure("ten lines in C, level is stable") { _ = counter_settles(1) }
        checkTick()
    }

    /// Checks the length of a tick, which no recording shows: it is played by the same ticks. It comes last, as ticks
    /// interrupt.
    static func checkTick() {
        clock_start(0)
        while clock_ticks() < 1 {}
        let start = measure_now()
        while clock_ticks() < 11 {}
        // Ten milliseconds, up to a round of the loop.
        if !(249_500...250_500).contains(start - measure_now()) { fail("a tick is not a millisecond\n") }
    }

    @inline(never)
    static func measureOneKey(_ policy: Policy) {
        var engine = FixedEngine<1, Bool>(policy)
        var executed = 0
        measure("submit, first of a burst") { engine.submit(true, at: instant(0)) { _ in executed += 1 } }
        measure("submit, joins") { engine.submit(false, at: instant(5)) { _ in executed += 1 } }
        measure("alarm") { if engine.alarm < instant(9) { executed += 1 } }
        measure("wake-up, nothing is due") { engine.advance(to: instant(9)) { _ in executed += 1 } }
        measure("wake-up, postponed") { engine.advance(to: instant(14)) { _ in executed += 1 } }
        measure("wake-up, a value is due") { engine.advance(to: instant(15)) { _ in executed += 1 } }
        measure("wake-up, idle") { engine.advance(to: instant(16)) { _ in executed += 1 } }
        if executed != 1 || !engine.counts.addUp { fail("the submits of one key are not accounted for\n") }
    }

    @inline(never)
    static func measureEightKeys(_ policy: Policy) {
        var engine = FixedEngine<8, Bool>(policy)
        var executed = 0
        for key in 0..<8 { engine.submit(true, for: key, at: instant(Int64(key) / 4)) { _ in executed += 1 } }
        measure("eight keys: submit, joins") { engine.submit(false, for: 3, at: instant(5)) { _ in executed += 1 } }
        measure("eight keys: wake-up, nothing is due") { engine.advance(to: instant(9)) { _ in executed += 1 } }
        measure("eight keys: alarm") { if engine.alarm < instant(9) { executed += 1 } }
        measure("eight keys: wake-up, three are due") { engine.advance(to: instant(10)) { _ in executed += 1 } }
        engine.advance(to: instant(30)) { _ in executed += 1 }
        for key in 0..<8 { engine.submit(true, for: key, at: instant(40)) { _ in executed += 1 } }
        measure("eight keys: wake-up, all are due") { engine.advance(to: instant(50)) { _ in executed += 1 } }
        for key in 0..<8 { engine.submit(true, for: key, at: instant(60)) { _ in executed += 1 } }
        measure("eight keys: flush of all") { engine.flush(at: instant(61)) { _ in executed += 1 } }
        if executed != 24 || !engine.counts.addUp { fail("the submits of eight keys are not accounted for\n") }
    }

    static func instant(_ milliseconds: Int64) -> CoreInstant { CoreInstant(nanoseconds: milliseconds * 1_000_000) }

    /// Writes how many instructions a body takes, without those of measuring and of calling it.
    @inline(never)
    static func measure(_ name: StaticString, _ body: () -> Void) {
        let all = count(body)
        let empty = count {}
        writeText(name) { host_put($0) }
        writeText(": ") { host_put($0) }
        writeDecimal(all - empty) { host_put($0) }
        host_put(UInt8(ascii: "\n"))
    }

    @inline(never)
    static func count(_ body: () -> Void) -> UInt32 {
        let start = measure_now()
        body()
        return instructions(start, measure_now())
    }

    static func fail(_ text: StaticString) -> Never {
        writeText(text) { host_put($0) }
        host_exit(1)
    }
}
