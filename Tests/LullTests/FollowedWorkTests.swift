import Foundation
import Lull
import LullTesting
import TestSupport
import Testing

/// What an advance waits for: the article "Testing code that debounces", "What the clock follows".
@Suite("The work that a manual clock follows")
struct FollowedWorkTests {
    /// Where a handler belongs.
    enum Place: CaseIterable {
        case noActor, mainActor, actor, actorWithExecutor

        /// An actor of this kind, nil for no actor.
        var isolation: (any Actor)? {
            switch self {
            case .noActor: nil
            case .mainActor: MainActor.shared
            case .actor: PlainActor()
            case .actorWithExecutor: QueueActor()
            }
        }
    }

    /// What happened, each with its second.
    private typealias Seen = Record<String>

    @Test(arguments: Place.allCases)
    func `includes child tasks: each sleeps as long as it asks for`(place: Place) async {
        for _ in 0..<10 {
            let (clock, seen) = (ManualClock(), Seen())
            let it = await debouncer(on: place.isolation, clock) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for delay in 1...3 {
                        group.addTask {
                            try await clock.sleep(for: .seconds(delay))
                            seen.add("\(delay) at \(clock.second)")
                        }
                    }
                    try await group.waitForAll()
                }
                seen.add("end at \(clock.second)")
            }
            it(1)
            await clock.advance(by: .seconds(10))
            #expect(seen.all == ["1 at 2", "2 at 3", "3 at 4", "end at 4"])
        }
    }

    @Test(arguments: Place.allCases)
    func `includes child tasks of which one sleeps again and another one ends`(place: Place) async {
        for _ in 0..<20 {
            let (clock, seen) = (ManualClock(), Seen())
            let it = await debouncer(on: place.isolation, clock) {
                async let short: Void = clock.sleep(for: .seconds(1))
                async let long: Void = clock.sleep(for: .seconds(2))
                try await short
                seen.add("short at \(clock.second)")
                try await clock.sleep(for: .milliseconds(500))
                try await long
                seen.add("long at \(clock.second)")
            }
            it(1)
            await clock.advance(by: .seconds(1))
            await clock.advance(by: .seconds(1))
            #expect(seen.all == ["short at 2"])
            await clock.advance(by: .seconds(1))
            #expect(seen.all == ["short at 2", "long at 3"])
        }
    }

    @Test(arguments: Place.allCases)
    func `goes on where a handler does after it was suspended, also with until: .started`(place: Place) async {
        let (clock, service) = (ManualClock(), Service())
        for _ in 0..<20 {
            let (seen, door) = (Seen(), Door())
            let it = await debouncer(on: place.isolation, clock) {
                await service.show("begun")
                await MainActor.run { seen.add("on the main actor") }
                await Task.yield()
                async let shown: Void = service.show("shown")
                await shown
                seen.add("before the door")
                await door.pass()
                await service.show("ended")
                seen.add("ended")
            }
            it(1)
            await clock.advance(by: .seconds(1), until: .started)
            #expect(seen.all == ["on the main actor", "before the door"])
            door.open()
            await clock.advance(by: .zero, until: .started)
            #expect(seen.all.last == "ended")
        }
    }

    @Test
    func `includes what a job does on an actor after its execution has ended: it goes on with what waits there`() async
    {
        let (clock, seen) = (ManualClock(), Seen())
        let (former, current) = (TrackedWork { "former" }, TrackedWork { "current" })
        clock.began(former)
        clock.entered(former, on: nil)
        clock.resumed(former, isUnseen: false)
        clock.ended(former)
        clock.began(current)
        clock.entered(current, on: nil)
        let advance = Task {
            await clock.advance(by: .zero, until: .started)
            seen.add("the advance is over")
        }
        // It finds that nothing runs.
        await letOthersRun()
        seen.add("the job is over")
        clock.paused(former)
        await advance.value
        #expect(seen.all == ["the job is over", "the advance is over"])
        clock.ended(current)
    }

    @Test
    func `includes tasks that let each other go on, without leaving the main actor`() async {
        for _ in 0..<20 {
            let (clock, seen) = (ManualClock(), Seen())
            let it = Debouncer(for: .seconds(1), clock: clock) { @MainActor (_: Int) in
                async let long: Void = clock.sleep(for: .seconds(5))
                // Twice as many turns of the main actor.
                for _ in 0..<45 { await withCheckedContinuation { next in Task { next.resume() } } }
                try await clock.sleep(for: .seconds(1))
                seen.add("slept until \(clock.second)")
                try await long
            }
            it(1)
            await clock.advance(by: .seconds(10))
            #expect(seen.all == ["slept until 2"])
        }
    }

    @Test(arguments: [true, false])
    func `includes a task of the test that calls methods of the main actor`(isOnMainActor: Bool) async throws {
        for _ in 0..<20 {
            let (clock, model) = (ManualClock(), Model())
            let task =
                isOnMainActor
                ? clock.task { @MainActor in try await model.load(clock) } : clock.task { try await model.load(clock) }
            await clock.advance(by: .zero, until: .started)
            #expect(await model.state == "loading")
            await clock.advance(by: .seconds(3))
            #expect(await model.state == "loaded")
            try await task.value
        }
    }

    @Test
    @MainActor
    func `includes the handler of the first example and the consumer of a sequence, also on a busy machine`() async {
        let busy = (0..<4).map { _ in
            Task.detached { while !Task.isCancelled { await Task.yield() } }
        }
        for _ in 0..<50 {
            let clock = ManualClock()
            var saved: [String] = []
            let save = Debouncer(for: .seconds(2), clock: clock) { (draft: String) in saved.append(draft) }
            save("a")
            await clock.advance(by: .seconds(1))
            save("ab")
            await clock.advance(by: .milliseconds(1999))
            #expect(saved == [])
            await clock.advance(by: .milliseconds(1))
            #expect(saved == ["ab"])

            let seen = Seen()
            let (queries, input) = AsyncStream.makeStream(of: String.self)
            let consumer = clock.task {
                for await query in queries.debounced(for: .seconds(1), clock: clock) { seen.add(query) }
            }
            await clock.advance(by: .zero, until: .started)
            input.yield("ca")
            input.yield("cat")
            await clock.advance(by: .zero, until: .started)
            await clock.advance(by: .seconds(1), until: .started)
            #expect(seen.all == ["cat"])
            consumer.cancel()
        }
        for task in busy { task.cancel() }
    }

    /// Makes a debouncer of one second whose handler belongs to an actor, or to none.
    private func debouncer(
        on isolation: isolated (any Actor)?, _ clock: ManualClock,
        _ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Void
    ) -> Debouncer<Int, Void> {
        Debouncer(for: .seconds(1), clock: clock) { (_: Int) in
            isolation?.assertIsolated()
            try await body()
        }
    }

    @MainActor
    private final class Model {
        private(set) var state = "new"

        func load(_ clock: ManualClock) async throws {
            await Task.yield()
            state = "loading"
            async let first: Void = clock.sleep(for: .seconds(1))
            async let second: Void = clock.sleep(for: .seconds(3))
            _ = try await (first, second)
            state = "loaded"
        }
    }
}

@Suite("Work that a manual clock does not follow")
struct UnfollowedWorkTests {
    private let stalls = Record<Stall>()
    private let tests = Record<Test?>()

    @Test
    func `is named by an advance if it sleeps while another task of the handler sleeps`() async {
        await expectStall { [stalls] clock in
            while stalls.all.isEmpty, !Task.isCancelled {
                let begun = Guarded(false)
                let sleeping = Task {
                    begun.change { $0 = true }
                    try await clock.sleep(for: .seconds(1))
                }
                try? await waitUntil { begun.value }
                sleeping.cancel()
            }
        }
    }

    @Test
    func `is named by an advance if it comes from an actor with an executor of its own while another task sleeps`()
        async
    {
        await expectStall { [stalls] _ in
            let other = QueueActor()
            while stalls.all.isEmpty, !Task.isCancelled { await other.work() }
        }
    }

    /// Expects an advance to give up while one task of a handler sleeps again and again, and another one does this.
    private func expectStall(while body: @escaping @Sendable (ManualClock) async -> Void) async {
        let clock = recordingClock()
        let it = KeyedDebouncer(for: .seconds(1), clock: clock) { [stalls] (_: String, _: Int) in
            async let other: Void = body(clock)
            for _ in 0..<100_000 where stalls.all.isEmpty { try await clock.sleep(for: .seconds(1)) }
            await other
        }
        it.submit(1, for: "lamp")
        await clock.advance(by: .seconds(200_000))
        #expect(stalls.all.first?.keys == ["key lamp"])
        #expect(stalls.all.first?.milestone == .ended)
        #expect("\(stalls.all)".contains("runs where the clock does not follow it, while another one sleeps"))
        // It is told in the task that advances the clock, so an issue that is recorded then belongs to the test.
        #expect(tests.all.first == Test.current)
    }

    @Test
    func `is left alone where the test waits for its sleeps`() async {
        let clock = recordingClock()
        let seen = Record<Int>()
        let it = Debouncer(for: .seconds(1), clock: clock) { (_: Int) in
            async let limit: Void = clock.sleep(for: .seconds(9))
            let task = Task {
                for number in 1...3 {
                    try await clock.sleep(for: .seconds(1))
                    seen.add(number)
                }
                try await clock.sleep(for: .seconds(1))
            }
            try await task.value
            try await limit
        }
        it(1)
        await clock.advance(by: .seconds(1), until: .started)
        for number in 0..<3 {
            await clock.waitForSleeps(atLeast: 2)
            #expect(seen.all.count == number)
            await clock.advance(by: .seconds(1))
        }
        await clock.waitForSleeps(atLeast: 2)
        #expect(seen.all == [1, 2, 3])
        #expect(stalls.all.isEmpty)
        await clock.advance(by: .seconds(9))
    }

    @Test
    func `may be a task that the handler starts and waits for, if nothing else of the handler sleeps meanwhile`() async
    {
        for _ in 0..<20 {
            let (clock, seen) = (ManualClock(), Record<Int>())
            let it = Debouncer(for: .seconds(1), clock: clock) { @MainActor (_: Int) in
                for _ in 0..<2 {
                    let task = Task {
                        try await clock.sleep(for: .seconds(1))
                        try await clock.sleep(for: .seconds(1))
                    }
                    try await task.value
                    seen.add(clock.second)
                }
            }
            it(1)
            await clock.advance(by: .seconds(10))
            #expect(seen.all == [3, 5])
        }
    }

    private func recordingClock() -> ManualClock {
        ManualClock(onStall: { [stalls, tests] stall in
            tests.add(Test.current)
            stalls.add(stall)
        })
    }
}

private actor PlainActor {}

/// An actor with an executor of its own.
private actor QueueActor {
    private final class Executor: SerialExecutor {
        private let queue = DispatchQueue(label: "an actor's")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let executor = Executor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func work() { for _ in 0..<1000 { sched_yield() } }
}

extension ManualClock {
    fileprivate var second: Int { Int(now.sinceStart.components.seconds) }
}
