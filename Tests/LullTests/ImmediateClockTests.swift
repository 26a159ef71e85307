import Lull
import LullTesting
import TestSupport
import Testing

@Suite("An immediate clock")
struct ImmediateClockTests {
    let clock = ImmediateClock()
    let seen = Record<Int>()

    @Test
    func `ends a sleep at once, and time jumps to its end`() async throws {
        try await clock.sleep(for: .seconds(5))
        #expect(clock.now.sinceStart == .seconds(5))
        try await clock.sleep(until: .zero)
        #expect(clock.now.sinceStart == .seconds(5))
    }

    @Test
    func `does not sleep in a task that is cancelled`() async {
        let task = Task { [clock] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(5))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.now == .zero)
    }

    @Test
    func `lets a call that waits for an outcome return, which no advance has to help`() async throws {
        let save = Debouncer(for: .seconds(2), clock: clock) { (text: String) in text.count }
        guard case .executed(2) = try await save.outcome(of: "ab") else { Issue.record("not executed"); return }
        #expect(clock.now.sinceStart == .seconds(2))
    }

    @Test
    func `every submit is due before its call returns, and nothing is coalesced while it is pending`() async {
        let save = Debouncer(for: .seconds(2), whileRunning: .concurrent, clock: clock) { [seen] (value: Int) in
            seen.add(value)
        }
        let throttle = Throttler(every: .seconds(2), whileRunning: .concurrent, clock: clock) { [seen] (value: Int) in
            seen.add(value)
        }
        for value in 1...3 {
            save(value)
            #expect(save.state.pending == 0)
            throttle(10 * value)
            #expect(throttle.state.pending == 0)
        }
        await save.flushAndWait()
        await throttle.flushAndWait()
        #expect(Set(seen.all) == [1, 2, 3, 10, 20, 30])
        #expect(seen.all.count == 6)
    }

    @Test
    func `what falls due while a handler runs waits as always, and the latest is left`() async {
        let door = Door()
        let save = Debouncer(for: .seconds(2), clock: clock) { [seen] (value: Int) in
            await door.pass()
            seen.add(value)
        }
        for value in 1...4 { save(value) }
        door.open()
        await save.flushAndWait()
        #expect(seen.all == [1, 4])
    }

    @Test
    func `delivers every element of a sequence for which the consumer is ready`() async {
        let (stream, input) = AsyncStream.makeStream(of: Int.self)
        var iterator = stream.debounced(for: .seconds(4), clock: clock).makeAsyncIterator()
        for value in 1...3 {
            input.yield(value)
            #expect(await iterator.next() == value)
        }
        input.finish()
        #expect(await iterator.next() == nil)
    }

    @Test
    func `makes calls that ask for the next one in turn, however many they are`() {
        @Sendable func next(_ number: Int) {
            clock.wake(at: clock.now.advanced(by: .seconds(1)), for: SourceSite(#fileID, #line)) {
                if number < 100_000 { next(number + 1) }
            }
        }
        next(1)
        #expect(clock.now.sinceStart == .seconds(100_000))
    }
}
