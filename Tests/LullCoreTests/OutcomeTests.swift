import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Section 6 of the semantics: nothing vanishes.
@Suite("Outcomes and conservation")
struct OutcomeTests {
    @Test
    func `every submit has exactly one fate, and the counters agree at every step`() throws {
        let rig = try Rig(.debounce(10, maxCount: 3), capacity: 2, handlersTakeTime: true)
        let steps: [() -> Void] = [
            { rig.submit("1", "a", at: 0) },
            { rig.submit("2", "a", at: 1) },
            { rig.submit("3", "a", at: 2) },
            { rig.submit("4", "b", at: 3) },
            { rig.submit("5", "a", at: 3) },
            { rig.submit("6", "c", at: 3) },
            { rig.advance(to: 20) },
            { rig.end("3", .threw) },
            { rig.end("4") },
            { rig.cancel("a", running: true, at: 21) },
            { rig.end("5", .threw) },
            { rig.submit("7", "a", at: 22) },
            { rig.submit("8", "b", at: 22) },
            { rig.cancel("b", at: 23) },
            { rig.shutDown(flushing: true, at: 24) },
            { rig.submit("9", "a", at: 25) },
            { rig.end("7") },
        ]
        for (number, step) in steps.enumerated() {
            step()
            #expect(rig.broken == [], "after step \(number)")
        }
        let fates: [ReferenceFate] = [
            .superseded, .superseded, .failed, .executed, .cancelled, .rejectedByCapacity, .executed, .cancelled,
            .rejectedByShutDown,
        ]
        for (number, fate) in fates.enumerated() { #expect(rig.fate("\(number + 1)") == fate) }
        var expected = Counters()
        expected.submitted = 9
        expected.executed = 2
        expected.superseded = 2
        expected.cancelled = 2
        expected.rejected = 2
        expected.failed = 1
        #expect(rig.engine.counters == expected)
        #expect(expected.addUp)
    }

    @Test
    func `what waits counts as pending, what runs as running`() throws {
        let rig = try Rig(.debounce(10), combination: .collect, handlersTakeTime: true)
        for value in ["1", "2"] { rig.submit(value, at: 0) }
        rig.flush("k", at: 1)
        for value in ["3", "4", "5"] { rig.submit(value, at: 2) }
        rig.flush("k", at: 3)
        rig.submit("6", at: 4)
        #expect(rig.engine.counters.running == 2)
        #expect(rig.engine.counters.pending == 4)
        #expect(rig.engine.counters.addUp == true)
    }

    @Test
    func `counters that do not add up are detected`() {
        var counters = Counters()
        #expect(counters.addUp)
        counters.submitted = 1
        #expect(!counters.addUp)
        counters.running = 1
        #expect(counters.addUp)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `reporting the end of an execution twice stops the program`() async {
            await #expect(processExitsWith: .failure) {
                var engine = Engine<Int, Int>(try Setup(.debounce(wait: 0)))
                _ = engine.submit(1, for: 1, at: .origin)
                guard case .start(let execution)? = engine.advance(to: .origin).more.first else { return }
                _ = engine.ended(execution.run, .returned)
                _ = engine.ended(execution.run, .returned)
            }
        }
    #endif

    @Test
    func `the identifier of an execution is never reused`() throws {
        let rig = try Rig(.debounce(0), whileRunning: .concurrent, handlersTakeTime: true)
        for value in ["1", "2", "3"] { rig.submit(value, at: 0) }
        rig.advance(to: 0)
        rig.end("2")
        rig.submit("4", at: 1)
        rig.advance(to: 1)
        #expect(rig.engine.core.startCount == 4)
        #expect(rig.engine.runningExecutions == 3)
    }
}
