import LullReference
import Testing

@testable import LullCore

/// The end of section 7 of the semantics: the limit on keys with an open gate or a waiting value.
@Suite("Capacity")
struct CapacityTests {
    @Test
    func `a submit that would exceed the capacity is rejected and changes nothing`() throws {
        let rig = try Rig(.debounce(10), capacity: 2)
        rig.submit("1", "a", at: 0)
        rig.submit("2", "b", at: 0)
        rig.submit("3", "c", at: 1)
        #expect(rig.fate("3") == .rejectedByCapacity)
        #expect(rig.last.fate == .rejected(.overCapacity))
        #expect(rig.engine.openKeyCount == 2)
        #expect(rig.due("c", at: 1) == nil)
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing a: 1", "10 trailing b: 2"])
        #expect(rig.broken == [])
    }

    @Test
    func `submits to open keys always pass`() throws {
        let rig = try Rig(.debounce(10), capacity: 1)
        rig.submit("1", at: 0)
        rig.submit("2", at: 5)
        #expect(rig.fate("2") == .pending)
    }

    @Test
    func `an idle gate makes room, also before a late timer fires`() throws {
        let rig = try Rig(.debounce(10), capacity: 1)
        rig.submit("1", "a", at: 0)
        rig.submit("2", "b", at: 10)
        #expect(rig.executions == ["10 trailing a: 1"])
        #expect(rig.fate("2") == .pending)
        #expect(rig.broken == [])
    }

    @Test(arguments: [9, 10])
    func `a leading gate counts until it is idle`(instant: Int) throws {
        let rig = try Rig(.throttle(10), capacity: 1)
        rig.submit("1", "a", at: 0)
        rig.submit("2", "b", at: instant)
        #expect(rig.fate("2") == (instant == 10 ? .executed : .rejectedByCapacity))
    }

    @Test
    func `a delay that is shortened later makes room earlier`() throws {
        let rig = try Rig(.debounce(10, .leading), capacity: 1)
        rig.submit("1", "a", at: 0, wait: .infinite)
        rig.submit("2", "a", at: 1, wait: 2)
        rig.submit("3", "b", at: 3)
        #expect(rig.executions == ["0 leading a: 1", "3 leading b: 3"])
    }

    @Test
    func `flush and cancel make room`() throws {
        let rig = try Rig(.debounce(10), capacity: 1)
        rig.submit("1", "a", at: 0)
        rig.flush("a", at: 1)
        rig.submit("2", "b", at: 1)
        rig.cancel("b", at: 2)
        rig.submit("3", "c", at: 2)
        #expect(rig.engine.counters.rejected == 0)
        #expect(rig.broken == [])
    }

    @Test
    func `a waiting value counts, a running one does not`() throws {
        let rig = try Rig(.debounce(10), capacity: 1, handlersTakeTime: true)
        rig.submit("a1", "a", at: 0, wait: 0)
        rig.advance(to: 0)
        #expect(rig.engine.openKeyCount == 0)
        rig.submit("a2", "a", at: 1, wait: 0)
        rig.advance(to: 1)
        #expect(rig.engine.openKeyCount == 1)
        rig.submit("b1", "b", at: 2)
        #expect(rig.fate("b1") == .rejectedByCapacity)
        rig.submit("a3", "a", at: 3)
        #expect(rig.fate("a3") == .pending)
        rig.flush("a", at: 4)
        rig.end("a1")
        #expect(rig.engine.openKeyCount == 0)
        rig.submit("b2", "b", at: 5)
        #expect(rig.fate("b2") == .pending)
        #expect(rig.broken == [])
    }

    @Test
    func `a running key needs room again for its next burst`() throws {
        let rig = try Rig(.debounce(10), capacity: 1, handlersTakeTime: true)
        rig.submit("a1", "a", at: 0, wait: 0)
        rig.submit("b1", "b", at: 1)
        rig.submit("a2", "a", at: 2)
        #expect(rig.fates("a1", "b1", "a2") == [.running, .pending, .rejectedByCapacity])
        #expect(rig.broken == [])
    }

    @Test
    func `a due value of the key itself makes room for its next burst`() throws {
        let rig = try Rig(.debounce(10), capacity: 1)
        rig.submit("1", at: 0)
        rig.submit("2", at: 10)
        rig.advance(to: 20)
        #expect(rig.executions == ["10 trailing 1", "20 trailing 2"])
    }
}
