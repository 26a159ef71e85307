import LullCore
import LullDurable
import Testing

/// Who is woken when there is something to claim earlier than he was told.
@Suite("The bell")
struct BellTests {
    private func at(_ seconds: Int64) -> CoreInstant { CoreInstant.origin.advanced(by: .seconds(seconds)) }

    /// Whether somebody who waits after a mark would have to sleep.
    private func sleeps(_ bell: Bell, after mark: Int64) async -> Bool {
        var sleeps = false
        await withCheckedContinuation { sleeper in
            var bell = bell
            sleeps = bell.lay(sleeper, 1, in: "n", after: mark)
            sleeper.resume()
        }
        return sleeps
    }

    @Test("it rings for what is earlier than was told, and for nothing else")
    func rings() async {
        var bell = Bell()
        let mark = bell.tell(at(5), in: "n")
        bell.ring(at(5), in: "n")
        bell.ring(at(1), in: "other")
        #expect(await sleeps(bell, after: mark))
        bell.ring(at(4), in: "n")
        #expect(await !sleeps(bell, after: mark))
    }

    @Test("who was told nothing is woken when another worker is told something earlier: a lease that ends")
    func toldEarlier() async {
        var bell = Bell()
        let idle = bell.tell(nil, in: "n")
        let busy = bell.tell(at(30), in: "n")
        #expect(await !sleeps(bell, after: idle))
        #expect(await sleeps(bell, after: busy))
        let later = bell.tell(at(60), in: "n")
        #expect(await sleeps(bell, after: busy))
        #expect(later == busy)
    }

    @Test("after a ring everywhere all look again, once")
    func everywhere() async {
        var bell = Bell()
        let mark = bell.tell(at(5), in: "n")
        bell.ringEverywhere()
        #expect(await !sleeps(bell, after: mark))
        #expect(await sleeps(bell, after: mark + 1))
    }
}
