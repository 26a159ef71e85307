import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// What a driver can ask.
@Suite("Questions")
struct QuestionTests {
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
    func `the driver can ask whether a run is being cancelled, and whether it has started`() throws {
        var engine = Engine<String, String>(try Setup(.debounce(10), whileRunning: .cancelRunning))
        let actions = { (actions: Actions<String, String>) -> RunID? in
            for case .start(let execution) in actions.more { return execution.run }
            return nil
        }
        _ = engine.submit("1", for: "k", at: .origin)
        let run = try #require(actions(engine.advance(to: CoreInstant(10))))
        #expect(engine.hasStarted(run) == true)
        #expect(engine.state(of: run).isCancelling == false)
        _ = engine.submit("2", for: "k", at: CoreInstant(11), wait: 0)
        _ = engine.advance(to: CoreInstant(11))
        #expect(engine.state(of: run).isCancelling == true)
        _ = engine.ended(run, .threw)
        #expect(engine.hasStarted(run) == false)
        #expect(engine.state(of: run).isCancelling == false)
        #expect(engine.runningExecutions == 1)
    }
}
