import LullCore
import LullDurable
import LullReference
import Testing

/// One time over boots, from clocks that may be set.
@Suite("The time of a store")
struct StoreTimeTests {
    private func reading(_ boot: String, _ sinceBoot: Int64, wall: Int64) -> StoreTime.Reading {
        StoreTime.Reading(
            boot: boot, sinceBoot: .seconds(sinceBoot), wall: CoreInstant.origin.advanced(by: .seconds(wall)))
    }

    private func seconds(_ instant: CoreInstant) -> Int64 { instant.nanoseconds / 1_000_000_000 }

    @Test(arguments: [
        3600, -3600, 0,
    ])
    func `within a boot it follows the clock that cannot be set, whatever the wall clock shows`(jump: Int64) {
        var time = StoreTime(at: reading("a", 100, wall: 1_000_000))
        #expect(time.now(reading("a", 100, wall: 1_000_000)) == .origin)
        #expect(seconds(time.now(reading("a", 110, wall: 1_000_010 + jump))) == 10)
        #expect(seconds(time.now(reading("a", 170, wall: 1_000_070 - jump))) == 70)
    }

    @Test
    func `across a boot it advances by the time that has passed on the wall clock`() {
        var time = StoreTime(at: reading("a", 100, wall: 1_000_000))
        _ = time.now(reading("a", 150, wall: 1_000_050))
        // Off for a minute, ten seconds up.
        #expect(seconds(time.now(reading("b", 10, wall: 1_000_120))) == 120)
        #expect(seconds(time.now(reading("b", 15, wall: 1_000_125))) == 125)
    }

    @Test
    func
        `a wall clock set back across a boot does not make it run back, one set forward hastens it by the jump`()
    {
        var back = StoreTime(at: reading("a", 100, wall: 1_000_000))
        _ = back.now(reading("a", 150, wall: 1_000_050))
        #expect(seconds(back.now(reading("b", 10, wall: 996_520))) == 50)
        #expect(seconds(back.now(reading("b", 11, wall: 996_521))) == 51)

        var forward = StoreTime(at: reading("a", 100, wall: 1_000_000))
        _ = forward.now(reading("a", 150, wall: 1_000_050))
        #expect(seconds(forward.now(reading("b", 10, wall: 1_003_720))) == 3720)
    }

    @Test
    func `a boot clock that has gone back, as on a restored machine, counts as a reboot`() {
        var time = StoreTime(at: reading("a", 100, wall: 1_000_000))
        _ = time.now(reading("a", 5_000, wall: 1_004_900))
        #expect(seconds(time.now(reading("a", 200, wall: 1_004_910))) == 4_910)
        #expect(seconds(time.now(reading("a", 205, wall: 1_004_915))) == 4_915)
        #expect(seconds(time.now(reading("a", 150, wall: 1_000_000))) == 4_915)
    }

    @Test
    func `it never runs back and never stands still, over boots and jumps of every kind`() {
        var random = SplitMix(seed: 20_260_101)
        var time = StoreTime(at: reading("0", 0, wall: 0))
        var (boot, sinceBoot, wall, last) = (0, Int64(0), Int64(0), CoreInstant.origin)
        for _ in 0..<10_000 {
            let passed = Int64.random(in: 0...100, using: &random)
            sinceBoot += passed
            wall += passed
            switch Int.random(in: 0..<10, using: &random) {
            case 0: wall += Int64.random(in: -10_000...10_000, using: &random)
            case 1:
                boot += 1
                sinceBoot = Int64.random(in: 0...100, using: &random)
            default: break
            }
            let now = time.now(reading("\(boot)", sinceBoot, wall: wall))
            #expect(now >= last)
            let next = time.now(reading("\(boot)", sinceBoot + 1, wall: wall))
            #expect(seconds(next) == seconds(now) + 1)
            sinceBoot += 1
            last = next
        }
    }

    @Test
    func `a saved time continues where it was`() {
        var time = StoreTime(at: reading("a", 100, wall: 1_000_000))
        _ = time.now(reading("a", 150, wall: 1_000_050))
        var again = StoreTime(anchor: time.anchor, start: time.start, highest: time.highest)
        #expect(again == time)
        #expect(seconds(again.now(reading("a", 160, wall: 0))) == 60)
        // The last commit is lost: the machine was restored from an earlier snapshot.
        #expect(seconds(again.now(reading("a", 155, wall: 1_000_055))) == 60)
    }

    @Test
    func `the wall time of an instant is that of the anchor, moved`() {
        var time = StoreTime(at: reading("a", 100, wall: 1_000_000))
        let now = time.now(reading("a", 150, wall: 5))
        #expect(seconds(time.wall(at: now)) == 1_000_050)
    }
}
