import Testing

@testable import LullCore

/// A gate alone: every event and its result, without a clock and without values.
@Suite("Gate")
struct GateTests {
    private func due(_ at: Int, _ cause: Cause, _ count: Int, first: Int) -> Gate.Due {
        Gate.Due(at: CoreInstant(at), cause: cause, count: count, first: CoreInstant(first))
    }

    @Test
    func `an idle gate has nothing due, and nothing happens to it`() throws {
        let policy = try Policy.debounce(10)
        var gate = Gate()
        #expect(gate.due(by: policy) == nil)
        #expect(gate.settle(at: .farFuture, by: policy) == nil)
        #expect(gate.flush(at: .origin, by: policy) == nil)
        #expect(gate == Gate())
    }

    @Test
    func `a submit opens the gate, and what is pending falls due when the gate has been quiet`() throws {
        let policy = try Policy.debounce(10)
        var gate = Gate()
        #expect(gate.submit(at: CoreInstant(0), wait: nil, by: policy) == .join)
        #expect(gate.submit(at: CoreInstant(4), wait: nil, by: policy) == .join)
        #expect(gate.due(by: policy) == CoreInstant(14))
        #expect(gate.settle(at: CoreInstant(13), by: policy) == nil)
        #expect(gate.settle(at: CoreInstant(99), by: policy) == due(14, .trailing, 2, first: 0))
        #expect(!gate.isOpen)
    }

    @Test
    func `with both edges the gate stays open until quiet after an execution on maxWait`() throws {
        let policy = try Policy.debounce(10, maxWait: 12, [.leading, .trailing])
        var gate = Gate()
        #expect(gate.submit(at: CoreInstant(0), wait: nil, by: policy) == .lead)
        #expect(gate.submit(at: CoreInstant(1), wait: nil, by: policy) == .join)
        #expect(gate.submit(at: CoreInstant(8), wait: nil, by: policy) == .join)
        #expect(gate.settle(at: CoreInstant(13), by: policy) == due(13, .maxWait, 2, first: 1))
        #expect(gate.isOpen && gate.quiet == CoreInstant(18))
        #expect(gate.settle(at: CoreInstant(18), by: policy) == nil)
        #expect(!gate.isOpen)
    }

    @Test
    func `settling late does two things at once: the execution and the end of the burst`() throws {
        let policy = try Policy.debounce(10, maxWait: 12, [.leading, .trailing])
        var gate = Gate()
        _ = gate.submit(at: CoreInstant(0), wait: nil, by: policy)
        _ = gate.submit(at: CoreInstant(1), wait: nil, by: policy)
        _ = gate.submit(at: CoreInstant(8), wait: nil, by: policy)
        #expect(gate.settle(at: CoreInstant(18), by: policy) == due(13, .maxWait, 2, first: 1))
        #expect(!gate.isOpen)
    }

    @Test
    func `a value that is due at quiet and at maxWait at one instant is trailing`() throws {
        let policy = try Policy.debounce(10, maxWait: 10)
        var gate = Gate()
        _ = gate.submit(at: CoreInstant(0), wait: nil, by: policy)
        #expect(gate.settle(at: CoreInstant(10), by: policy) == due(10, .trailing, 1, first: 0))
    }

    @Test
    func `a throttle's window begins again with each trailing execution, and ends when one passes without`() throws {
        let policy = try Policy.throttle(10)
        var gate = Gate()
        #expect(gate.submit(at: CoreInstant(0), wait: nil, by: policy) == .lead)
        #expect(gate.submit(at: CoreInstant(9), wait: nil, by: policy) == .join)
        #expect(gate.settle(at: CoreInstant(15), by: policy) == due(10, .trailing, 1, first: 9))
        #expect(gate.isOpen && gate.quiet == CoreInstant(20))
        #expect(gate.settle(at: CoreInstant(20), by: policy) == nil)
        #expect(!gate.isOpen)
    }

    @Test
    func `a complete count is reported at once`() throws {
        let policy = try Policy.debounce(10, maxCount: 2)
        var gate = Gate()
        #expect(gate.submit(at: CoreInstant(0), wait: nil, by: policy) == .join)
        #expect(gate.submit(at: CoreInstant(3), wait: nil, by: policy) == .complete(due(3, .maxCount, 2, first: 0)))
        #expect(!gate.isOpen)
        #expect(gate.count == 0)
    }

    @Test
    func `leading only absorbs until maxWait after the latest execution`() throws {
        let policy = try Policy.debounce(10, maxWait: 15, .leading)
        var gate = Gate()
        let decisions = [0, 9, 14, 15, 20, 29, 30].map { gate.submit(at: CoreInstant($0), wait: nil, by: policy) }
        #expect(decisions == [.lead, .absorb, .absorb, .lead, .absorb, .absorb, .lead])
    }

    @Test
    func `flush and close make the gate idle`() throws {
        let policy = try Policy.debounce(10, [.leading, .trailing])
        var gate = Gate()
        _ = gate.submit(at: CoreInstant(0), wait: nil, by: policy)
        #expect(gate.flush(at: CoreInstant(1), by: policy) == nil)
        #expect(!gate.isOpen)
        _ = gate.submit(at: CoreInstant(2), wait: nil, by: policy)
        _ = gate.submit(at: CoreInstant(3), wait: nil, by: policy)
        #expect(gate.flush(at: CoreInstant(4), by: policy) == due(4, .flush, 1, first: 3))
        #expect(gate.submit(at: CoreInstant(4), wait: nil, by: policy) == .lead)
        gate.close(at: CoreInstant(4), by: policy)
        #expect(!gate.isOpen && gate.count == 0)
    }

    @Test
    func `under .extend a gate that was closed does not remember its last delay`() throws {
        let policy = try Policy.debounce(10, .trailing, .extend)
        var gate = Gate()
        _ = gate.submit(at: CoreInstant(0), wait: 50, by: policy)
        _ = gate.submit(at: CoreInstant(1), wait: nil, by: policy)
        #expect(gate.due(by: policy) == CoreInstant(50))
        gate.close(at: CoreInstant(1), by: policy)
        _ = gate.submit(at: CoreInstant(2), wait: nil, by: policy)
        #expect(gate.due(by: policy) == CoreInstant(12))
    }

    @Test
    func `a delay of a call: negative counts as zero, infinite as the far future`() throws {
        let policy = try Policy.debounce(10)
        var gate = Gate()
        _ = gate.submit(at: CoreInstant(5), wait: CoreDuration(nanoseconds: .min), by: policy)
        #expect(gate.due(by: policy) == CoreInstant(5))
        gate.close(at: CoreInstant(5), by: policy)
        _ = gate.submit(at: CoreInstant(-5), wait: .infinite, by: policy)
        #expect(gate.due(by: policy) == .farFuture)
    }
}
