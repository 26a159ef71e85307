import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Section 5 of the semantics: calls for all keys that are carried out in portions. The oracle compares what happens in
/// between.
@Suite("Calls for all keys, in portions")
struct AllKeysTests {
    private func engine(_ keys: Int, _ whileRunning: OverlapPolicy = .queue) throws -> Engine<Int, Int> {
        var engine = Engine<Int, Int>(try Setup(.debounce(10), whileRunning: whileRunning))
        for key in 0..<keys { _ = engine.submit(key, for: key, at: .origin) }
        return engine
    }

    private func keys(_ actions: Actions<Int, Int>) -> [Int] {
        actions.more.compactMap { action in
            if case .start(let execution) = action { execution.key } else { nil }
        }
    }

    @Test
    func `a portion applies the call to no more keys than its limit, in the order in which the bursts began`() throws {
        var engine = try engine(1000)
        var sweep = engine.beginSweep(.flush, at: CoreInstant(1))
        var order: [Int] = []
        while !sweep.isDone {
            sweep.sortIfNeeded()
            let started = keys(engine.continueSweep(&sweep, limit: 64))
            #expect(started.count <= 64)
            order += started
        }
        #expect(order == Array(0..<1000))
        #expect(engine.checkInvariants() == [])
    }

    @Test
    func `a submit in between comes after the flush, which is applied to its key first`() throws {
        var engine = try engine(3)
        var sweep = engine.beginSweep(.flush, at: CoreInstant(1))
        let actions = engine.submit(99, for: 2, at: CoreInstant(2))
        #expect(keys(actions) == [2])
        #expect(engine.nextDue(2, at: CoreInstant(2)) == CoreInstant(12))
        #expect(engine.nextDue(1, at: CoreInstant(2)) == nil, "what is flushed is no longer pending")
        var order: [Int] = []
        while !sweep.isDone { order += keys(engine.continueSweep(&sweep, limit: 1)) }
        #expect(order == [0, 1])
        #expect(engine.counters.pending == 1 && engine.counters.running == 3)
        #expect(engine.checkInvariants() == [])
    }

    @Test
    func `the ends of all executions in between leave nothing to do`() throws {
        var engine = try engine(1000)
        let started = engine.flush(at: .origin)
        var sweep = engine.beginSweep(.flush, at: CoreInstant(1))
        _ = engine.continueSweep(&sweep, limit: 4)
        for case .start(let execution) in started.more { _ = engine.ended(execution.run, .returned) }
        #expect(engine.core.slots.count == 0)
        while !sweep.isDone { _ = engine.continueSweep(&sweep, limit: 4) }
        #expect(engine.counters.executed == 1000)
        #expect(engine.checkInvariants() == [])
    }

    @Test
    func `the end of an execution in between does not start what a cancel has yet to drop`() throws {
        var engine = try engine(1)
        let actions = engine.flush(at: .origin)
        guard case .start(let execution) = actions.more.first else {
            Issue.record("the flush has started nothing")
            return
        }
        _ = engine.submit(1, for: 0, at: CoreInstant(1))
        _ = engine.flush(0, at: CoreInstant(1))
        var sweep = engine.beginSweep(.cancel(running: false), at: CoreInstant(2))
        let (verdict, next) = engine.ended(execution.run, .returned)
        #expect(verdict == .executed)
        #expect(keys(next) == [])
        while !sweep.isDone { _ = engine.continueSweep(&sweep, limit: 1) }
        #expect(engine.counters.cancelled == 1)
        #expect(engine.core.slots.count == 0)
    }

    @Test
    func `a call that does everything at once ends those that are under way, and resumes their callers`() throws {
        var engine = try engine(100)
        var sweep = engine.beginSweep(.cancel(running: false), at: CoreInstant(1), waiter: 7)
        let actions = engine.flush(at: CoreInstant(2))
        #expect(keys(actions) == [])
        #expect(
            actions.more.contains { action in
                if case .resume(7) = action { true } else { false }
            })
        #expect(engine.continueSweep(&sweep, limit: 1).more.isEmpty && sweep.isDone)
        #expect(engine.counters.cancelled == 100)
        #expect(engine.checkInvariants() == [])
    }

    @Test
    func `room for a new key depends on what a call under way leaves`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10), capacity: 2))
        for key in 0..<2 { _ = engine.submit(key, for: key, at: .origin) }
        var sweep = engine.beginSweep(.cancel(running: false), at: CoreInstant(1))
        #expect(engine.submit(5, for: 5, at: CoreInstant(2)).displaced == nil)
        while !sweep.isDone { _ = engine.continueSweep(&sweep, limit: 1) }
        #expect(engine.counters.cancelled == 2 && engine.counters.pending == 1)
        #expect(engine.checkInvariants() == [])
    }

    @Test
    func `when the owner is released, what is due in the far future is cancelled, and nothing else`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("never", "a", at: 0, wait: .infinite)
        rig.submit("soon", "b", at: 0)
        rig.dropUnreachable(at: 1)
        #expect(rig.fates("never", "soon") == [.cancelled, .pending])
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing b: soon"])
        #expect(rig.broken == [])
    }
}
