import LullCore
import Testing

@testable import Lull

/// The count of blocks, without a queue. The tests of handlers and flushes cover the executions.
@Suite("The blocks of a synchronous handler")
struct ReadyRunsTests {

    @Test
    func `are sent, begin and end one by one`() {
        var runs = ReadyRuns()
        runs.sendBlock()
        runs.sendBlock()
        runs.beginBlock()
        let (sent, running) = (runs.sentBlocks, runs.runningBlocks)
        #expect(sent == 1)
        #expect(running == 1)
        runs.beginBlock()
        runs.endBlock()
        runs.endBlock()
        let left = runs.blocks
        #expect(left == 0)
    }

    @Test
    func `are not sent while nothing is ready`() {
        var runs = ReadyRuns()
        let count = runs.sendBlocks()
        let sendsAnother = runs.sendAnotherBlock()
        runs.sendBlock()
        runs.beginBlock()
        let resends = runs.resendBlock()
        let left = runs.blocks
        #expect(count == 0)
        #expect(!sendsAnother)
        #expect(!resends)
        #expect(left == 0)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `trap when one begins that was not sent, or ends that has not begun`() async {
            await #expect(processExitsWith: .failure) {
                var runs = ReadyRuns()
                runs.beginBlock()
            }
            await #expect(processExitsWith: .failure) {
                var runs = ReadyRuns()
                runs.sendBlock()
                runs.endBlock()
            }
        }
    #endif
}
