import LullReference
import Testing

@testable import LullCore

/// Section 5 of the semantics, the waiting form of flush: callers that wait for executions to end.
@Suite("Tickets")
struct TicketTests {
    private func rig(_ rule: WhileRunning = .queue, maxConcurrent: Int? = nil) throws -> Rig {
        try Rig(.debounce(10), whileRunning: rule, maxConcurrent: maxConcurrent, handlersTakeTime: true)
    }

    @Test("with nothing running or waiting there is nothing to wait for")
    func nothing() throws {
        let rig = try rig()
        #expect(rig.wait(1, "k") == false)
        rig.submit("1", at: 0)
        #expect(rig.wait(2, "k") == false)
        #expect(rig.wait(3) == false)
        #expect(rig.engine.waiters == [:])
    }

    @Test("a caller waits for the running execution of its key and for the one that waits behind it")
    func key() throws {
        let rig = try rig()
        rig.submit("1", at: 0)
        rig.flush("k", at: 0)
        rig.submit("2", at: 1)
        rig.flush("k", at: 1)
        rig.submit("other", "other", at: 1)
        rig.flush("other", at: 1)
        #expect(rig.wait(7, "k"))
        rig.end("other")
        rig.end("1")
        #expect(rig.resumed == [])
        rig.end("2", .threw)
        #expect(rig.resumed == [7])
        #expect(rig.broken == [])
    }

    @Test("a caller waits for the value that replaced the one it waited for")
    func replaced() throws {
        let rig = try rig()
        for (instant, value) in ["1", "2", "3"].enumerated() {
            rig.submit(value, at: instant)
            rig.flush("k", at: instant)
            if value == "2" { #expect(rig.wait(7, "k")) }
        }
        rig.end("1")
        #expect(rig.resumed == [])
        rig.end("3")
        #expect(rig.resumed == [7])
    }

    @Test("a caller does not wait for what comes later")
    func later() throws {
        let rig = try rig()
        rig.submit("1", at: 0)
        rig.flush("k", at: 0)
        #expect(rig.wait(7, "k"))
        rig.submit("2", at: 1)
        rig.flush("k", at: 1)
        rig.end("1")
        #expect(rig.resumed == [7])
        rig.end("2")
        #expect(rig.resumed == [7])
    }

    @Test("a caller that waits for all keys waits for each of them, and for every concurrent run")
    func all() throws {
        let rig = try rig(.concurrent)
        for (instant, value) in ["1", "2"].enumerated() { rig.submit(value, at: instant, wait: 0) }
        rig.submit("3", "other", at: 1, wait: 0)
        rig.advance(to: 1)
        #expect(rig.wait(7))
        #expect(rig.wait(8, "k"))
        rig.end("2")
        rig.end("1")
        #expect(rig.resumed == [8])
        rig.end("3")
        #expect(rig.resumed == [8, 7])
        #expect(rig.engine.waiters == [:])
    }

    @Test("a caller is resumed when what it waits for is cancelled")
    func cancelled() throws {
        let rig = try rig(maxConcurrent: 1)
        rig.submit("1", "a", at: 0)
        rig.submit("2", "b", at: 0)
        rig.flush(at: 0)
        #expect(rig.wait(7, "b"))
        rig.cancel("b", at: 1)
        #expect(rig.resumed == [7])
        #expect(rig.broken == [])
    }
}
