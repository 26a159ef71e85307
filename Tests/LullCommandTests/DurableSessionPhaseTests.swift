import LullCore
import LullDurable
import Testing

@testable import LullCommand

@Suite("The phase of a session with a store")
struct DurableSessionPhaseTests {
    private func phase(_ start: DurableSessionPhase, after events: DurableSessionPhase.Event...) -> DurableSessionPhase
    {
        var phase = start
        for event in events { phase.handle(event) }
        return phase
    }

    @Test func `the end of the input leads to awaited work`() {
        #expect(phase(.reading, after: .inputEnded) == .awaiting)
        #expect(phase(.reading, after: .inputEnded, .stop, .finish) == .finished)
    }

    @Test(arguments: [.reading, .working, .awaiting, .stopping] as [DurableSessionPhase])
    func `every phase stops and finishes`(_ start: DurableSessionPhase) {
        #expect(phase(start, after: .stop) == .stopping)
        #expect(phase(start, after: .finish) == .finished)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test func `only a phase with input sees its end`() async {
            await #expect(processExitsWith: .failure) {
                var phase = DurableSessionPhase.working
                phase.handle(.inputEnded)
            }
            await #expect(processExitsWith: .failure) {
                var phase = DurableSessionPhase.awaiting
                phase.handle(.inputEnded)
            }
            await #expect(processExitsWith: .failure) {
                var phase = DurableSessionPhase.stopping
                phase.handle(.inputEnded)
            }
        }

        @Test func `nothing follows the finish`() async {
            await #expect(processExitsWith: .failure) {
                var phase = DurableSessionPhase.finished
                phase.handle(.stop)
            }
            await #expect(processExitsWith: .failure) {
                var phase = DurableSessionPhase.finished
                phase.handle(.finish)
            }
        }
    #endif
}

@Suite("The work that a session awaits")
struct AwaitedWorkTests {
    private let key = Array("k".utf8)

    private func run(submits: ClosedRange<Int64>, due: CoreInstant = .origin) -> DurableRun {
        let ready = DurableRow.Ready(
            batch: Batch(.bytes([], of: submits.upperBound)), submits: submits, count: submits.count, first: .origin,
            due: due,
            cause: .trailing)
        let run = DurableRow.Run(
            value: ready, id: 1, fence: 1, owner: 1, attempt: 1, state: .claimed(until: .farFuture))
        return DurableRun(key: key, stored: [], run: run)
    }

    @Test func `a run of the latest submit does a key`() {
        var awaited = AwaitedWork()
        awaited.generations[key] = 2
        awaited.generations[key] = 5
        awaited.started(run(submits: 1...4))
        #expect(awaited.generations == [key: 5])
        awaited.started(run(submits: 5...7))
        #expect(awaited.generations.isEmpty)
    }

    @Test func `claims reach the limit when nothing older is left`() {
        let limit = CoreInstant.origin.advanced(by: .seconds(10))
        let older = run(submits: 1...1)
        let later = run(submits: 1...1, due: limit.advanced(by: .seconds(1)))
        for (answer, isReached) in [
            (DurableClaim.Answer(runs: [older], next: .zero, mark: 0), false),
            (DurableClaim.Answer(runs: [older, later], next: .zero, mark: 0), true),
            (DurableClaim.Answer(runs: [older], next: .seconds(1), mark: 0), true),
            (DurableClaim.Answer(runs: [], next: nil, mark: 0), true),
        ] {
            var awaited = AwaitedWork()
            awaited.claimLimit = limit
            awaited.claimed(answer)
            #expect(awaited.claimLimit == (isReached ? nil : limit))
        }
    }
}
