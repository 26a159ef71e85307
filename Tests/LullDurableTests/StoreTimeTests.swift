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
