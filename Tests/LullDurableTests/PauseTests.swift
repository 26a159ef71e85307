import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Pauses of a namespace, as its workers see them.
@Suite("Pauses")
struct PauseTests {
    typealias Rig = WorkerRig
    private let fixture = WorkerFixture()

    private func pause(_ reason: String?) -> DurablePause { DurablePause(reason: reason, time: .seconds(1)) }

    @Test
    func `a paused worker waits, says so once for each reason, and once that it goes on`() {
        var rig = Rig()
        _ = rig.woke()
        func answer(_ pause: DurablePause?, _ mark: Int64) -> WorkerStateMachine.Event {
            .claimed(.success(DurableClaim.Answer(runs: [], next: nil, mark: mark, pause: pause)))
        }
        let claim = Rig.claim(2)
        let wait = { WorkerStateMachine.Action.wait(after: $0, atMost: .seconds(3600)) }
        #expect(rig.handle(answer(pause(nil), 1)) == [.paused(pause(nil)), wait(1)])
        #expect(rig.handle(.waitEnded(.success(()))) == [claim])
        #expect(rig.handle(answer(pause(nil), 2)) == [wait(2)])
        #expect(rig.handle(.waitEnded(.success(()))) == [claim])
        #expect(rig.handle(answer(pause("why"), 3)) == [.paused(pause("why")), wait(3)])
        #expect(rig.handle(.waitEnded(.success(()))) == [claim])
        #expect(rig.handle(answer(nil, 4)) == [.resumed, wait(4)])
        #expect(rig.handle(.waitEnded(.success(()))) == [claim])
        #expect(rig.handle(answer(nil, 5)) == [wait(5)])
    }

    @Test
    func `while a namespace is paused its handlers end and no other one begins`() async throws {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync, maxConcurrent: 2) { execution in
            if execution.key == "slow" { try await fixture.clock.sleep(for: .seconds(50)) }
        }
        try await sync.submit(1, for: "slow")
        await fixture.advance(2)
        #expect(try await sync.pause(reason: "no API").reason == "no API")
        try await sync.submit(2, for: "late")
        await fixture.advance(49)
        #expect(fixture.done.all == [])
        #expect(try await sync.status().pause?.reason == "no API")
        await fixture.advance(1)
        #expect(fixture.done.all == ["slow=1"])
        #expect(try await sync.status().ready == 1)
        #expect(try await sync.resume())
        await fixture.advance(0)
        #expect(fixture.done.all == ["slow=1", "late=2"])
        #expect(try await !sync.resume())
        worker.cancel()
        try await worker.value
        #expect(fixture.failures.all == [])
    }

    @Test
    func `a pause has the time of the wall clock`() async throws {
        let wall = CoreInstant(nanoseconds: 1_790_000_000_000_000_000)
        let reading = StoreTime.Reading(boot: "b", sinceBoot: .zero, wall: wall)
        let store = MemoryStore(on: StoreClock(read: { reading }, sleep: { _ in }))
        let sync = try await DurableDebouncer<String, Int>(for: .seconds(1), namespace: "n", in: store)
        #expect(try await sync.pause().time == .seconds(1_790_000_000))
    }
}
