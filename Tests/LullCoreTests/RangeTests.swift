import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Sections 3 and 4 of the semantics, where instants and delays cannot be counted.
@Suite("The ends of the range")
struct RangeTests {
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
