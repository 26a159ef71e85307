import LullReference
import Testing

@testable import LullCore

/// Section 3 of the semantics, rule by rule.
@Suite("Debounce")
struct DebounceTests {
    // MARK: - The delay

    @Test
    func `each submit postpones the execution of the burst, which gets the last value`() throws {
        let rig = try Rig(.debounce(10))
        for (instant, value) in [(0, "1"), (9, "2"), (18, "3")] { rig.submit(value, at: instant) }
        #expect(rig.due(at: 18) == 28)
        rig.advance(to: 28)
        #expect(rig.executions == ["28 trailing 3 ×3"])
        #expect(rig.firsts == [0])
    }

    @Test
    func `the latest call's delay replaces the running one, later or earlier, under .restart`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0, wait: 50)
        #expect(rig.due(at: 0) == 50)
        rig.submit("2", at: 1)
        #expect(rig.due(at: 1) == 11)
        rig.submit("3", at: 2, wait: 0)
        #expect(rig.due(at: 1) == nil)
        rig.advance(to: 2)
        #expect(rig.executions == ["2 trailing 3 ×3"])
    }

    @Test
    func `a shorter delay never shortens a longer one that is running under .extend`() throws {
        let rig = try Rig(.debounce(10, .trailing, .extend))
        rig.submit("1", at: 0, wait: 50)
        rig.submit("2", at: 1)
        #expect(rig.due(at: 1) == 50)
        rig.submit("3", at: 45)
        #expect(rig.due(at: 45) == 55)
        rig.advance(to: 55)
        #expect(rig.executions == ["55 trailing 3 ×3"])
    }

    @Test
    func `under .extend a new burst does not inherit the last one's delay`() throws {
        let rig = try Rig(.debounce(10, .trailing, .extend))
        rig.submit("1", at: 0, wait: 50)
        rig.flush("k", at: 1)
        rig.submit("2", at: 2)
        #expect(rig.due(at: 2) == 12)
    }

    @Test
    func `with a wait of 0 nothing is coalesced, not even at one instant`() throws {
        for edges in [.trailing, .leading, [.leading, .trailing]] as [Edges] {
            let rig = try Rig(.debounce(0, edges))
            for value in ["1", "2", "3"] { rig.submit(value, at: 5) }
            rig.advance(to: 5)
            #expect(rig.executions.map { $0.suffix(2) } == [" 1", " 2", " 3"])
            #expect(rig.engine.counters.executed == 3)
        }
    }

    @Test
    func `a negative delay of a call counts as zero`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 5, wait: -7)
        rig.advance(to: 5)
        #expect(rig.executions == ["5 trailing 1"])
    }

    // MARK: - Edges

    @Test
    func `with leading the first submit of a burst is executed at once, alone`() throws {
        let rig = try Rig(.debounce(10, [.leading, .trailing]))
        rig.submit("1", at: 0)
        rig.submit("2", at: 1)
        rig.submit("3", at: 2)
        rig.advance(to: 12)
        #expect(rig.executions == ["0 leading 1", "12 trailing 3 ×2"])
        #expect(rig.firsts == [0, 1])
    }

    @Test
    func `a burst of one submit has no trailing execution after its leading one`() throws {
        let rig = try Rig(.debounce(10, [.leading, .trailing]))
        rig.submit("1", at: 0)
        rig.advance(to: 100)
        #expect(rig.executions == ["0 leading 1"])
    }

    @Test
    func `leading only absorbs what comes before the gate is idle, and each of it keeps the gate open`() throws {
        let rig = try Rig(.debounce(10, .leading))
        for (instant, value) in [(0, "1"), (9, "2"), (18, "3"), (28, "4")] { rig.submit(value, at: instant) }
        #expect(rig.executions == ["0 leading 1", "28 leading 4"])
        #expect(rig.fates("2", "3") == [.absorbed, .absorbed])
    }

    @Test
    func `with trailing only the gate is idle after any execution`() throws {
        let rig = try Rig(.debounce(10, maxWait: 10))
        rig.submit("1", at: 0)
        rig.submit("2", at: 8)
        rig.advance(to: 10)
        #expect(rig.engine.openKeyCount == 0)
        rig.submit("3", at: 11)
        #expect(rig.due(at: 11) == 21)
    }

    @Test
    func `with both edges the gate stays open until quiet after an execution in the burst`() throws {
        let rig = try Rig(.debounce(10, maxWait: 10, [.leading, .trailing]))
        rig.submit("1", at: 0)
        rig.submit("2", at: 1)
        rig.submit("3", at: 9)
        rig.advance(to: 11)
        rig.submit("4", at: 18)
        rig.advance(to: 28)
        rig.submit("5", at: 28)
        #expect(rig.executions == ["0 leading 1", "11 maxWait 3 ×2", "28 trailing 4", "28 leading 5"])
    }

    // MARK: - maxWait

    @Test
    func `no value waits longer than maxWait, counted from the oldest submit behind it`() throws {
        let rig = try Rig(.debounce(10, maxWait: 25))
        for instant in stride(from: 0, through: 60, by: 5) { rig.submit("\(instant)", at: instant) }
        rig.advance(to: 100)
        #expect(rig.executions == ["25 maxWait 20 ×5", "50 maxWait 45 ×5", "70 trailing 60 ×3"])
        #expect(rig.firsts == [0, 25, 50])
    }

    @Test
    func `a delay of a call may exceed maxWait, which then wins`() throws {
        let rig = try Rig(.debounce(10, maxWait: 20))
        rig.submit("1", at: 0, wait: 500)
        rig.advance(to: 500)
        #expect(rig.executions == ["20 maxWait 1"])
    }

    @Test
    func `a value that is due at quiet and at maxWait at once is trailing`() throws {
        let rig = try Rig(.debounce(10, maxWait: 20))
        rig.submit("1", at: 0)
        rig.submit("2", at: 10)
        rig.submit("3", at: 15)
        rig.submit("4", at: 20)
        rig.advance(to: 30)
        #expect(rig.executions == ["10 trailing 1", "30 trailing 4 ×3"])
    }

    @Test
    func `leading only with maxWait executes again when the latest execution is that long ago`() throws {
        let rig = try Rig(.debounce(10, maxWait: 15, .leading))
        for instant in stride(from: 0, through: 35, by: 5) { rig.submit("\(instant)", at: instant) }
        #expect(rig.executions == ["0 leading 0", "15 leading 15", "30 leading 30"])
        #expect(rig.engine.counters.absorbed == 5)
    }

    @Test
    func `without maxWait and maxCount a stream that never pauses is never executed`() throws {
        let rig = try Rig(.debounce(10))
        for instant in 0..<1000 {
            rig.advance(to: instant * 9)
            rig.submit("\(instant)", at: instant * 9)
        }
        #expect(rig.executions == [])
    }

    // MARK: - maxCount

    @Test
    func `the submit that completes the count is executed at once with what was pending`() throws {
        let rig = try Rig(.debounce(10, maxCount: 3))
        for (instant, value) in ["1", "2", "3", "4"].enumerated() { rig.submit(value, at: instant) }
        rig.advance(to: 100)
        #expect(rig.executions == ["2 maxCount 3 ×3", "13 trailing 4"])
    }

    @Test
    func `an execution on the leading edge does not count towards maxCount`() throws {
        let rig = try Rig(.debounce(10, [.leading, .trailing], maxCount: 2))
        for (instant, value) in ["1", "2", "3", "4", "5"].enumerated() { rig.submit(value, at: instant) }
        #expect(rig.executions == ["0 leading 1", "2 maxCount 3 ×2", "4 maxCount 5 ×2"])
        rig.submit("6", at: 14)
        #expect(rig.executions.last == "14 leading 6")
    }

    @Test
    func `a maxCount of 1 executes every submit at once`() throws {
        let rig = try Rig(.debounce(10, maxCount: 1))
        for value in ["1", "2"] { rig.submit(value, at: 0) }
        #expect(rig.executions == ["0 maxCount 1", "0 maxCount 2"])
        #expect(rig.engine.openKeyCount == 0)
    }

    // MARK: - The ends of the range

    @Test
    func `a delay that cannot be counted is due in the far future, and can be flushed`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: .max - 5)
        #expect(rig.due(at: .max - 5) == .max)
        #expect(rig.engine.alarm == .farFuture)
        rig.flush("k", at: .max - 4)
        #expect(rig.executions == ["\(Int.max - 4) flush 1"])
        rig.submit("2", at: 0, wait: .infinite)
        #expect(rig.due(at: 0) == .max)
        #expect(rig.broken == [])
    }

    @Test
    func `an infinite delay before the origin neither overflows nor falls due on maxWait`() throws {
        let rig = try Rig(.debounce(10, [.leading, .trailing]))
        rig.submit("1", at: .min)
        rig.submit("2", at: .min, wait: .infinite)
        #expect(rig.due(at: 0) == .max)
        rig.advance(to: .max - 1)
        #expect(rig.executions.count == 1)
    }
}
