import LullCore
import Testing

@testable import LullDurable

/// Events that are impossible in the present state of a worker stop the program: a driver that goes on would lose or
/// repeat work.
@Suite("Impossible events of a worker")
struct WorkerTrapTests {
    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `stop the program: the answer to a claim that was not made`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                var rig = WorkerRig()
                precondition(rig.woke() == [WorkerRig.claim(2)])
                _ = rig.claimed([])
                _ = rig.claimed([])
            }
            expect("an answer without a claim", in: result)
        }

        @Test
        func `stop the program: the end of a wait that was not asked for`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                var rig = WorkerRig()
                _ = rig.woke()
                _ = rig.handle(.waitEnded(.success(())))
            }
            expect("the end of a wait that was not asked for", in: result)
        }

        @Test
        func `stop the program: the second end of a handler`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                var rig = WorkerRig()
                _ = rig.woke()
                _ = rig.claimed([.some(1)])
                _ = rig.handle(.handlerEnded(run: 1, .returned))
                _ = rig.handle(.handlerEnded(run: 1, .returned))
            }
            expect("the end of a handler that does not run", in: result)
        }

        @Test
        func `stop the program: the answer to a final report that was not sent`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                var rig = WorkerRig()
                _ = rig.woke()
                _ = rig.claimed([.some(1)])
                _ = rig.answered(.some(1), .completed)
            }
            expect("an answer without a report", in: result)
        }
    #endif

    @Test
    func `do not include, after a stop, the end of a handler whose run was released`() {
        var rig = WorkerRig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        _ = rig.handle(.stop)
        while rig.worker.alarm < .farFuture, !rig.worker.isFinished {
            rig.pass(to: rig.worker.alarm)
            _ = rig.handle(.woke)
        }
        #expect(rig.handle(.handlerEnded(run: 1, .returned)) == [])
    }

    #if os(macOS) || os(Linux)
        private func expect(_ message: String, in result: ExitTest.Result?) {
            // An optimised program stops without a message.
            guard _isDebugAssertConfiguration(), let result else { return }
            #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains(message))
        }
    #endif
}
