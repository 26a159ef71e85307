import LullReference
import Testing

@testable import LullCore

/// Section 7 of the semantics: the outcome of an execution is told before the next one of its key starts.
@Suite("While an outcome is being told")
struct TellingTests {
    /// An execution of `1`, of key `k`, has ended at 0, and its outcome is told in `steps`.
    private func rig(
        _ rule: OverlapPolicy = .queue, maxConcurrent: Int? = nil, telling steps: Int = 1, _ ending: Ending = .returned
    ) throws -> Rig {
        let rig = try Rig(.debounce(10), whileRunning: rule, maxConcurrent: maxConcurrent, handlersTakeTime: true)
        rig.submit("1", at: 0, wait: 0)
        rig.advance(to: 0)
        rig.end("1", ending, telling: steps)
        return rig
    }

    @Test
    func `its submits have ended, and no execution is running`() throws {
        let rig = try rig(.queue, .threw)
        #expect(rig.fates("1") == [.failed])
        #expect(rig.engine.runningExecutions == 0)
        #expect(rig.isIdle == false)
        rig.tell("1")
        #expect(rig.isIdle)
        #expect(rig.broken == [])
    }

    @Test(arguments: [OverlapPolicy.queue, .cancelRunning, .skip])
    func `a value of the key waits, and starts after the last step`(_ rule: OverlapPolicy) throws {
        let rig = try rig(rule, telling: 2)
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        rig.tell("1")
        #expect(rig.executions == ["0 trailing 1"])
        #expect(rig.stopped == [], "what has ended is not cancelled")
        rig.tell("1")
        #expect(rig.executions == ["0 trailing 1", "1 trailing 2"])
        #expect(rig.broken == [])
    }

    @Test
    func `a value starts beside it under .concurrent`() throws {
        let rig = try rig(.concurrent)
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        #expect(rig.executions == ["0 trailing 1", "1 trailing 2"])
        rig.tell("1")
        #expect(rig.broken == [])
    }

    @Test
    func `another key has its slot`() throws {
        let rig = try rig(maxConcurrent: 1)
        rig.submit("other", "other", at: 1, wait: 0)
        rig.advance(to: 1)
        #expect(rig.executions == ["0 trailing 1", "1 trailing other: other"])
        #expect(rig.broken == [])
    }

    @Test(arguments: [OverlapPolicy.queue, .concurrent])
    func `a caller that waits for the execution goes on waiting`(_ rule: OverlapPolicy) throws {
        let rig = try rig(rule)
        #expect(rig.wait(7, "k"))
        #expect(rig.resumed == [])
        rig.tell("1")
        #expect(rig.resumed == [7])
        #expect(rig.broken == [])
    }

    @Test
    func `a cancel that includes what is running leaves it alone`() throws {
        let rig = try rig(.queue, .threw)
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        rig.cancel("k", running: true, at: 2)
        #expect(rig.stopped == [])
        #expect(rig.fates("1", "2") == [.failed, .cancelled])
        rig.tell("1")
        #expect(rig.engine.core.slots.count == 0)
        #expect(rig.broken == [])
    }
}
