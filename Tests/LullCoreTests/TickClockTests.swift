import LullReference
import TestSupport
import Testing

@testable import LullCore
@testable import LullEngine
@testable import LullEmbedded

/// Instants from a counter that wraps around, against arithmetic with twice as many bits.
@Suite("Tick clock")
struct TickClockTests {
    @Test(arguments: [1, 8, 15, 16, 24, 31, 32])
    func `a counter that wraps around makes instants that never do`(bits: Int) {
        for hertz in [
            1, 3, 1000, 1024, 32_768, 1_000_000, 16_000_000, 25_000_000, 84_000_001, 1_000_000_000, UInt32.max,
        ] {
            var random = SplitMix(seed: UInt64(bits) &* 31 &+ UInt64(hertz))
            let mask = UInt32.max >> UInt32(32 - bits)
            let half = mask / 2 + 1
            let start = UInt32.random(in: 0...mask, using: &random)
            var clock = TickClock(hertz: hertz, bits: bits, start: start)
            var total: UInt64 = 0
            for _ in 0..<2000 {
                // Up to half a round; often by nothing, by one, or by all of it.
                let step = [0, 1, half, UInt32.random(in: 0...half, using: &random)].randomElement(using: &random) ?? 0
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

    @Test
    func `after more time than can be counted it stays in the far future`() {
        var clock = TickClock(hertz: 1)
        var last = CoreInstant.origin
        // Sixty-eight years each time.
        for number in 1...10 as ClosedRange<UInt32> {
            let now = clock.instant(at: number &* 0x8000_0000)
            #expect(now >= last)
            last = now
        }
        #expect(last == .farFuture)
    }

    @Test(arguments: [8, 16, 24, 32])
    func `an earlier reading counts as the last one`(bits: Int) {
        let half = (UInt32.max >> UInt32(32 - bits)) / 2 + 1
        var clock = TickClock(hertz: 1000, bits: bits, start: 5)
        let last = clock.instant(at: 25)
        for earlier in [24, 5, 0, .max, 25 &- half &+ 1] as [UInt32] {
            #expect(clock.instant(at: earlier) == last)
        }
        #expect(clock.instant(at: 26).nanoseconds == 21_000_000)
    }

    @Test(arguments: [1, 8, 16, 24, 32])
    func `the ticks until an instant are the fewest after which it has come`(bits: Int) {
        let half = (UInt32.max >> UInt32(32 - bits)) / 2 + 1
        let longest = max(1, half / 2)
        for hertz in [1, 3, 1000, 32_768, 16_000_000, 84_000_001, 1_000_000_000, UInt32.max] {
            var random = SplitMix(seed: UInt64(bits) &* 37 &+ UInt64(hertz))
            var clock = TickClock(hertz: hertz, bits: bits)
            var shown: UInt32 = 0
            for _ in 0..<500 {
                shown &+= UInt32.random(in: 0...half, using: &random)
                let now = clock.instant(at: shown)
                guard now < .farFuture else { break }
                let size = Int64.random(in: 1...62, using: &random)
                let wait = Int64.random(in: -5...(1 << size), using: &random)
                let instant = now.advanced(by: .nanoseconds(wait))
                let ticks = clock.ticks(until: instant)
                #expect(ticks <= longest && (ticks == 0) == (wait <= 0))
                var then = clock
                let reached = then.instant(at: shown &+ ticks)
                #expect(reached >= instant || ticks == longest)
                // A program that wakes up late finds that time has passed.
                var later = clock
                let late = UInt32.random(in: 0...(half - longest), using: &random)
                #expect(later.instant(at: shown &+ ticks &+ late) >= reached)
                if ticks > 0 {
                    var before = clock
                    #expect(before.instant(at: shown &+ ticks &- 1) < instant)
                }
            }
            #expect(clock.ticks(until: .farFuture) == longest || clock.instant(at: shown) == .farFuture)
            #expect(clock.ticks(until: .farPast) == 0)
        }
    }

    @Test
    func `bits above the counter's width do not matter`() {
        var clock = TickClock(hertz: 1000, bits: 16, start: 0xABCD_FFFF)
        #expect(clock.instant(at: 0x1234_0001).nanoseconds == 2_000_000)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test
    func `a debounce goes on across the wrap of a counter`() throws {
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
