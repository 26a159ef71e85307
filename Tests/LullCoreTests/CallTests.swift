import LullReference
import Testing

@testable import LullCore

/// Section 5 of the semantics: the other calls on a gate.
@Suite("Flush, cancel, shut down, and questions")
struct CallTests {
    // MARK: - Touch

    @Test
    func `a touch postpones what is pending as a submit would, and changes nothing else`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.touch(at: 6)
        #expect(rig.due(at: 6) == 16)
        rig.touch(at: 7, wait: 1)
        #expect(rig.due(at: 7) == 8)
        rig.advance(to: 8)
        #expect(rig.executions == ["8 trailing 1"])
        #expect(rig.engine.counters.submitted == 1)
        #expect(rig.broken == [])
    }

    @Test
    func `maxWait bounds what touches postpone, and .extend keeps the longer delay`() throws {
        let bounded = try Rig(.debounce(10, maxWait: 15))
        bounded.submit("1", at: 0)
        bounded.touch(at: 9)
        #expect(bounded.due(at: 9) == 15)
        let extending = try Rig(.debounce(10, .trailing, .extend))
        extending.submit("1", at: 0)
        extending.touch(at: 1, wait: 2)
        #expect(extending.due(at: 1) == 10)
    }

    @Test
    func `a touch opens no gate, and a throttle ignores it`() throws {
        let rig = try Rig(.debounce(10, [.leading, .trailing]))
        rig.touch(at: 0)
        #expect(rig.isIdle)
        rig.submit("1", at: 1)
        rig.touch(at: 8)
        rig.submit("2", at: 12)
        rig.advance(to: 30)
        #expect(rig.executions == ["1 leading 1", "22 trailing 2"], "the touch has kept the burst open")
        let throttle = try Rig(.throttle(10, .trailing))
        throttle.submit("1", at: 0)
        throttle.touch(at: 5)
        #expect(throttle.due(at: 5) == 10)
        #expect(rig.broken + throttle.broken == [])
    }

    // MARK: - Flush

    @Test
    func `flush executes what is pending now and makes the gate idle`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.submit("2", at: 3)
        rig.flush("k", at: 4)
        #expect(rig.executions == ["4 flush 2 ×2"])
        #expect(rig.firsts == [0])
        rig.advance(to: 100)
        #expect(rig.executions.count == 1)
    }

    @Test
    func `flush makes the gate idle also with nothing pending, so that the next submit leads`() throws {
        let rig = try Rig(.debounce(10, [.leading, .trailing]))
        rig.submit("1", at: 0)
        rig.flush("k", at: 1)
        rig.submit("2", at: 2)
        #expect(rig.executions == ["0 leading 1", "2 leading 2"])
    }

    @Test
    func `flush of an unknown key does nothing`() throws {
        let rig = try Rig(.debounce(10))
        rig.flush("k", at: 0)
        rig.cancel("k", at: 0)
        #expect(rig.executions == [])
        #expect(rig.engine.core.slots.count == 0)
    }

    @Test
    func `flush does what was due before it, with its own edge`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.flush("k", at: 10)
        #expect(rig.executions == ["10 trailing 1"])
    }

    @Test
    func `flush of all keys goes in the order in which the bursts began`() throws {
        let rig = try Rig(.debounce(10))
        for key in ["c", "a", "b"] { rig.submit(key, key, at: 0) }
        rig.submit("a2", "a", at: 1)
        // The key that reuses the slot of a forgotten one comes last all the same.
        rig.cancel("c", at: 1)
        rig.submit("d", "d", at: 1)
        rig.flush(at: 2)
        #expect(rig.executions == ["2 flush a: a2 ×2", "2 flush b: b", "2 flush d: d"])
        #expect(rig.broken == [])
    }

    @Test
    func `flush of all keys comes after what was due, each in its own order`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("late", "a", at: 0, wait: 50)
        rig.submit("early", "b", at: 0, wait: 5)
        rig.flush(at: 20)
        #expect(rig.executions == ["5 trailing b: early", "20 flush a: late"])
    }

    // MARK: - Cancel

    @Test
    func `cancel drops what is pending and makes the gate idle`() throws {
        let rig = try Rig(.debounce(10, [.leading, .trailing]))
        rig.submit("1", at: 0)
        rig.submit("2", at: 1)
        rig.cancel("k", at: 2)
        rig.submit("3", at: 3)
        #expect(rig.executions == ["0 leading 1", "3 leading 3"])
        #expect(rig.fate("2") == .cancelled)
    }

    @Test
    func `cancel drops what is waiting, and leaves what is running`() throws {
        let rig = try Rig(.debounce(10), handlersTakeTime: true)
        rig.submit("1", at: 0)
        rig.advance(to: 10)
        rig.submit("2", at: 11)
        rig.advance(to: 21)
        rig.submit("3", at: 22)
        rig.cancel("k", at: 23)
        #expect(rig.fates("1", "2", "3") == [.running, .cancelled, .cancelled])
        #expect(rig.stopped == [])
        rig.end("1")
        #expect(rig.fate("1") == .executed)
        #expect(rig.executions == ["10 trailing 1"])
        #expect(rig.broken == [])
    }

    @Test
    func `cancel comes after what was due`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.cancel("k", at: 10)
        #expect(rig.executions == ["10 trailing 1"])
        #expect(rig.fate("1") == .executed)
    }

    @Test
    func `cancel with running cancels each run once, and its end by throwing is not a failure`() throws {
        let rig = try Rig(.debounce(10), whileRunning: .concurrent, handlersTakeTime: true)
        rig.submit("1", at: 0, wait: 0)
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        rig.cancel("k", running: true, at: 2)
        rig.cancel("k", running: true, at: 3)
        #expect(rig.stopped == ["1", "2"])
        rig.end("1", .threw)
        rig.end("2")
        #expect(rig.fates("1", "2") == [.cancelled, .executed])
        #expect(rig.broken == [])
    }

    @Test
    func `cancel of all keys includes keys that only run`() throws {
        let rig = try Rig(.debounce(10), handlersTakeTime: true)
        rig.submit("1", "a", at: 0)
        rig.advance(to: 10)
        rig.submit("2", "b", at: 11)
        rig.cancel(running: true, at: 12)
        #expect(rig.stopped == ["1"])
        #expect(rig.fate("2") == .cancelled)
        #expect(rig.broken == [])
    }

    // MARK: - Questions

    @Test
    func `the next due instant is that after everything due by now, and nothing changes`() throws {
        let rig = try Rig(.debounce(10))
        #expect(rig.due(at: 0) == nil)
        rig.submit("1", at: 0)
        #expect(rig.due(at: 9) == 10)
        #expect(rig.due(at: 10) == nil)
        #expect(rig.due(at: 9) == 10)
        #expect(rig.engine.alarm == CoreInstant(10))
        #expect(rig.executions == [])
    }

    @Test
    func `the state is that after everything due by now, which starts`() throws {
        let rig = try Rig(.debounce(10), combination: .collect, handlersTakeTime: true)
        #expect(rig.state(at: 0) == CoreState())
        for value in ["1", "2"] { rig.submit(value, at: 0) }
        #expect(rig.state(at: 9) == CoreState(pending: 2, due: 10))
        #expect(rig.state("other", at: 9) == CoreState())
        #expect(rig.state(at: 10) == CoreState(running: 2))
        #expect(rig.executions == ["10 trailing 1+2 ×2"])
        rig.submit("3", at: 10, wait: 0)
        for value in ["4", "5"] { rig.submit(value, at: 11) }
        #expect(rig.state(at: 11) == CoreState(pending: 2, waiting: 1, running: 2, due: 21))
        rig.end("2")
        #expect(rig.state(at: 11) == CoreState(pending: 2, running: 1, due: 21))
    }

    @Test
    func `a question about the past is answered for the last instant handled`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.advance(to: 5)
        rig.submit("2", "other", at: 30)
        #expect(rig.due(at: 0) == nil)
    }

    @Test
    func `the next due instant of all keys is the earliest`() throws {
        let rig = try Rig(.debounce(10))
        #expect(rig.due(nil, at: 0) == nil)
        rig.submit("1", "a", at: 0, wait: 30)
        rig.submit("2", "b", at: 0, wait: 20)
        #expect(rig.due(nil, at: 0) == 20)
        #expect(rig.due(nil, at: 25) == 30)
    }

    // MARK: - Shut down

    @Test
    func `after the shut-down submits are rejected`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.shutDown(flushing: true, at: 1)
        #expect(rig.engine.isShutDown == true)
        rig.submit("2", at: 2)
        #expect(rig.executions == ["1 flush 1"])
        #expect(rig.fate("2") == .rejectedByShutDown)
        #expect(rig.engine.counters.rejected == 1)
        #expect(rig.broken == [])
    }

    @Test
    func `shut down drops what is pending if asked to`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", "a", at: 0)
        rig.submit("2", "b", at: 0)
        rig.shutDown(flushing: false, at: 1)
        #expect(rig.executions == [])
        #expect(rig.fates("1", "2") == [.cancelled, .cancelled])
    }

    @Test
    func `what waits when the debouncer is shut down with a flush is executed, and dropped otherwise`() throws {
        for flushing in [true, false] {
            let rig = try Rig(.debounce(10), handlersTakeTime: true)
            rig.submit("1", at: 0, wait: 0)
            rig.submit("2", at: 1, wait: 0)
            rig.advance(to: 1)
            rig.shutDown(flushing: flushing, at: 2)
            rig.end("1")
            #expect(rig.fate("2") == (flushing ? .running : .cancelled))
            #expect(rig.broken == [])
        }
    }

    @Test
    func `shutting down twice is harmless`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.shutDown(flushing: true, at: 1)
        rig.shutDown(flushing: false, at: 2)
        #expect(rig.fate("1") == .executed)
        #expect(rig.broken == [])
    }
}
