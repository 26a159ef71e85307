import LullReference
import TestSupport
import Testing

@testable import LullCore

/// Instants from a counter that wraps around, against arithmetic with twice as many bits.
@Suite("Tick clock")
struct TickClockTests {
    @Test("a counter that wraps around makes instants that never do", arguments: [1, 8, 15, 16, 24, 31, 32])
    func wrapping(bits: Int) {
        for hertz in [
            1, 3, 1000, 1024, 32_768, 1_000_000, 16_000_000, 25_000_000, 84_000_001, 1_000_000_000, UInt32.max,
        ] {
            var random = SplitMix(seed: UInt64(bits) &* 31 &+ UInt64(hertz))
            let mask = UInt32.max >> UInt32(32 - bits)
            let start = UInt32.random(in: 0...mask, using: &random)
            var clock = TickClock(hertz: hertz, bits: bits, start: start)
            var total: UInt64 = 0
            for _ in 0..<2000 {
                // Up to once round, less a tick; often by nothing, by one, or by all but.
                let step = [0, 1, mask, UInt32.random(in: 0...mask, using: &random)].randomElement(using: &random) ?? 0
                total += UInt64(step)
                let wide = total.multipliedFullWidth(by: 1_000_000_000)
                guard wide.high < UInt64(hertz) else { break }
                let exact = UInt64(hertz).dividingFullWidth(wide).quotient
                guard exact < UInt64(Int64.max) else { break }
                let shown = UInt32(truncatingIfNeeded: UInt64(start) + total) & mask
                #expect(clock.instant(at: shown).nanoseconds == Int64(exact), "\(bits) bits at \(hertz) Hz")
            }
        }
    }

    @Test("after more time than can be counted it stays in the far future")
    func farFuture() {
        var clock = TickClock(hertz: 1)
        var last = CoreInstant.origin
        // A hundred and thirty-six years each time.
        for number in 1...5 as ClosedRange<UInt32> {
            let now = clock.instant(at: 0 &- number)
            #expect(now >= last)
            last = now
        }
        #expect(last == .farFuture)
    }

    @Test("bits above the counter's width do not matter")
    func excess() {
        var clock = TickClock(hertz: 1000, bits: 16, start: 0xABCD_FFFF)
        #expect(clock.instant(at: 0x1234_0001).nanoseconds == 2_000_000)
    }

    @Test("a debounce goes on across the wrap of a counter")
    func debounce() throws {
        var clock = TickClock(hertz: 1000, bits: 16, start: 65_530)
        var engine = FixedEngine<1, UInt8>(try Policy.debounce(wait: .milliseconds(10)))
        var found: [Int64] = []
        engine.submit(1, at: clock.instant(at: 65_533)) { found.append($0.at.nanoseconds) }
        engine.submit(2, at: clock.instant(at: 2)) { found.append($0.at.nanoseconds) }
        for tick in 3...20 as ClosedRange<UInt32> {
            engine.advance(to: clock.instant(at: tick)) { found.append($0.at.nanoseconds) }
        }
        // 8 ms after the start, and 10 more.
        #expect(found == [18_000_000])
    }
}
