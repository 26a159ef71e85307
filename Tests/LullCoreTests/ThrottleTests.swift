import LullReference
import Testing

@testable import LullCore

/// Section 4 of the semantics, rule by rule.
@Suite("Throttle")
struct ThrottleTests {
    @Test
    func `the first submit is executed at once, the last one of each window at its end`() throws {
        let rig = try Rig(.throttle(10))
        for instant in stride(from: 0, through: 25, by: 5) { rig.submit("\(instant)", at: instant) }
        rig.advance(to: 100)
        #expect(rig.executions == ["0 leading 0", "10 trailing 5", "20 trailing 15 ×2", "30 trailing 25 ×2"])
    }

    @Test
    func `a trailing execution begins a new window, so that two are never due less than the interval apart`() throws {
        let rig = try Rig(.throttle(10))
        rig.submit("1", at: 0)
        rig.submit("2", at: 9)
        rig.advance(to: 10)
        rig.submit("3", at: 11)
        rig.advance(to: 19)
        #expect(rig.executions == ["0 leading 1", "10 trailing 2"])
        rig.advance(to: 20)
        #expect(rig.executions.last == "20 trailing 3")
    }

    @Test
    func `a window that passes without a submit makes the gate idle`() throws {
        let rig = try Rig(.throttle(10))
        rig.submit("1", at: 0)
        rig.submit("2", at: 5)
        rig.advance(to: 20)
        rig.submit("3", at: 20)
        #expect(rig.executions == ["0 leading 1", "10 trailing 2", "20 leading 3"])
    }

    @Test
    func `trailing only keeps the first value until the end of its window`() throws {
        let rig = try Rig(.throttle(10, .trailing))
        rig.submit("1", at: 3)
        rig.submit("2", at: 12)
        rig.advance(to: 100)
        #expect(rig.executions == ["13 trailing 2 ×2"])
        #expect(rig.firsts == [3])
    }

    @Test
    func `leading only absorbs the rest of the window`() throws {
        let rig = try Rig(.throttle(10, .leading))
        for (instant, value) in [(0, "1"), (9, "2"), (10, "3"), (19, "4")] { rig.submit(value, at: instant) }
        #expect(rig.executions == ["0 leading 1", "10 leading 3"])
        #expect(rig.fates("2", "4") == [.absorbed, .absorbed])
    }

    @Test
    func `a delay given with a call is ignored`() throws {
        let rig = try Rig(.throttle(10))
        rig.submit("1", at: 0, wait: 500)
        rig.submit("2", at: 1, wait: 0)
        rig.submit("3", at: 2, wait: .infinite)
        #expect(rig.due(at: 2) == 10)
        rig.advance(to: 10)
        #expect(rig.executions == ["0 leading 1", "10 trailing 3 ×2"])
    }

    @Test
    func `maxCount executes at once and leaves the window as it is`() throws {
        let rig = try Rig(.throttle(10, maxCount: 2))
        for (instant, value) in ["1", "2", "3", "4"].enumerated() { rig.submit(value, at: instant) }
        rig.advance(to: 10)
        rig.submit("5", at: 19)
        rig.advance(to: 20)
        #expect(rig.executions == ["0 leading 1", "2 maxCount 3 ×2", "10 trailing 4", "20 trailing 5"])
    }

    @Test
    func `without the leading edge the first value counts towards maxCount`() throws {
        let rig = try Rig(.throttle(10, .trailing, maxCount: 2))
        rig.submit("1", at: 0)
        rig.submit("2", at: 1)
        rig.submit("3", at: 2)
        rig.advance(to: 100)
        #expect(rig.executions == ["1 maxCount 2 ×2", "10 trailing 3"])
    }

    @Test
    func `a flush makes the gate idle, so that the next submit starts a new window`() throws {
        let rig = try Rig(.throttle(10))
        rig.submit("1", at: 0)
        rig.submit("2", at: 4)
        rig.flush("k", at: 5)
        rig.submit("3", at: 6)
        rig.submit("4", at: 7)
        rig.advance(to: 16)
        #expect(rig.executions == ["0 leading 1", "5 flush 2", "6 leading 3", "16 trailing 4"])
    }

    @Test
    func `with an interval of 0 nothing is coalesced`() throws {
        for edges in [.trailing, .leading, [.leading, .trailing]] as [Edges] {
            let rig = try Rig(.throttle(0, edges))
            for value in ["1", "2", "3"] { rig.submit(value, at: 5) }
            rig.advance(to: 5)
            #expect(rig.engine.counters.executed == 3)
        }
    }

    @Test
    func `a wake-up that is late does not move the windows`() throws {
        let rig = try Rig(.throttle(10))
        rig.submit("1", at: 0)
        rig.submit("2", at: 5)
        rig.advance(to: 18)
        rig.submit("3", at: 18)
        #expect(rig.due(at: 18) == 20)
        rig.submit("4", at: 47)
        #expect(rig.executions == ["0 leading 1", "10 trailing 2", "20 trailing 3", "47 leading 4"])
    }

    @Test
    func `windows end in the far future at the latest`() throws {
        let rig = try Rig(.throttle(10))
        rig.submit("1", at: .max - 3)
        rig.submit("2", at: .max - 2)
        #expect(rig.due(at: .max - 2) == .max)
        rig.advance(to: .max)
        #expect(rig.executions == ["\(Int.max - 3) leading 1", "\(Int.max) trailing 2"])
        #expect(rig.broken == [])
    }
}
