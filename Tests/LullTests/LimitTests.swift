import Dispatch
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

/// Semantics, section 7: a limit on the starts of all keys together, and code that only wants the limit.
@Suite("A limit")
struct LimitTests {
    let clock = ManualClock()
    let seen = Record<String>()

    private func make(
        _ limit: RateLimit, options: DebounceOptions = .init(), wait: Duration = .zero
    ) -> KeyedDebouncer<String, Int, Void> {
        var options = options
        options.limit = limit
        return KeyedDebouncer(for: wait, options: options, clock: clock) { [seen, clock] (key: String, value: Int) in
            seen.add("\(clock.elapsed) \(key)\(value)")
        }
    }

    @Test
    func `starts are spread as the limit says, and what waits is joined by newer values`() async {
        let it = make(RateLimit(2, per: .seconds(10)))
        for (number, key) in ["a", "b", "c"].enumerated() { it.submit(number, for: key) }
        await clock.advance(by: .seconds(1))
        it.submit(7, for: "c")
        await clock.advance(by: .seconds(20))
        #expect(seen.all == ["0 a0", "5 b1", "10 c7"])
        #expect(it.counters.superseded == 1)
    }

    @Test
    func `an execution that ends late counts as of its own start`() async {
        let door = Door()
        let it = Debouncer(
            for: .zero, options: .init(limit: RateLimit(1, per: .seconds(10))), clock: clock
        ) { [seen, clock] (value: Int) in
            seen.add("\(clock.elapsed) \(value)")
            if value == 1 { await door.pass() }
        }
        it.submit(1)
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(2)
        await clock.advance(by: .seconds(30), until: .started)
        door.open()
        await clock.advance(by: .zero)
        it.submit(3)
        await clock.advance(by: .seconds(30))
        #expect(seen.all == ["0 1", "31 2", "41 3"])
    }

    @Test
    func `the waiting form of flush waits for it`() async {
        let it = make(RateLimit(1, per: .seconds(10)), wait: .seconds(60))
        for key in ["a", "b", "c"] { it.submit(0, for: key) }
        let flushed = clock.task { await it.flushAndWait() }
        await clock.advance(by: .seconds(19))
        #expect(seen.all == ["0 a0", "10 b0"])
        await clock.advance(by: .seconds(1))
        #expect(seen.all.last == "20 c0")
        _ = await flushed.result
    }

    @Test
    func `values that wait for it are executed after the owner has gone`() async {
        for atEnd in [EndPolicy.flush, .executeWhenDue] {
            var it: KeyedDebouncer? = make(RateLimit(1, per: .seconds(10)), options: .init(atEnd: atEnd))
            for key in ["a", "b", "c"] { it?.submit(0, for: key) }
            it = nil
            await clock.advance(by: .seconds(60))
        }
        #expect(seen.all == ["0 a0", "10 b0", "20 c0", "60 a0", "70 b0", "80 c0"])
    }

    @Test
    func `a handler on a queue is limited, too`() async {
        let it = Debouncer(
            for: .zero, on: DispatchQueue(label: "limited"),
            options: .init(limit: RateLimit(1, per: .seconds(10), burst: 1)), clock: clock
        ) { [seen, clock] (value: Int) in
            seen.add("\(clock.elapsed) \(value)")
        }
        for value in 1...3 {
            it.submit(value)
            await clock.advance(by: .seconds(4))
        }
        await clock.advance(by: .seconds(10))
        #expect(seen.all == ["0 1", "10 3"])
    }

    @Test
    func `a throttler takes one`() async {
        let throttler = KeyedThrottler(
            every: .seconds(1), options: .init(limit: RateLimit(1, per: .seconds(5))), clock: clock
        ) { [seen, clock] (key: String, value: Int) in
            seen.add("\(clock.elapsed) \(key)\(value)")
        }
        throttler.submit(1, for: "a")
        throttler.submit(1, for: "b")
        await clock.advance(by: .seconds(10))
        #expect(seen.all == ["0 a1", "5 b1"])
    }

    // MARK: - Limiter

    @Test
    func `callers of a limiter continue in the order in which they came, at its rate`() async throws {
        let limiter = Limiter(RateLimit(3, per: .seconds(10), burst: 2), clock: clock)
        let tasks = await inOrder(1...5, limiter)
        await clock.advance(by: .seconds(60))
        for task in tasks { try await task.value }
        #expect(seen.all == ["0 1", "0 2", "5 3", "10 4", "15 5"])
    }

    @Test
    func `a caller that is cancelled uses nothing of the limit`() async throws {
        let limiter = Limiter(RateLimit(1, per: .seconds(10)), clock: clock)
        let tasks = await inOrder(1...4, limiter)
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        await clock.advance(by: .seconds(60))
        try await tasks[3].value
        #expect(seen.all == ["0 1", "10 3", "20 4"])
    }

    @Test
    func `a task that is cancelled already does not enter`() async {
        let limiter = Limiter(RateLimit(1, per: .seconds(10)), clock: clock)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await limiter.acquire()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test
    func `many callers that give up leave nothing behind`() async throws {
        let limiter = Limiter(RateLimit(1, per: .seconds(10)), clock: clock)
        try await limiter.acquire()
        for _ in 0..<20 {
            let tasks = (0..<50).map { _ in clock.task { try await limiter.acquire() } }
            await clock.advance(by: .milliseconds(1))
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
        }
        let last = clock.task { try await limiter.acquire() }
        await clock.advance(by: .seconds(10))
        try await last.value
    }

    @Test
    func `with the system's clock a limiter spreads callers of several threads`() async throws {
        let limiter = Limiter(RateLimit(4, per: .milliseconds(40), burst: 2))
        let began = ContinuousClock.now
        let instants = try await withThrowingTaskGroup(of: ContinuousClock.Instant.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await limiter.acquire()
                    return .now
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(instants.count == 20)
        // Of 20 callers the last one may continue after 18 intervals of 40 / 3 ms.
        #expect(began.duration(to: try #require(instants.max())) >= .milliseconds(240))
    }

    /// Starts tasks that acquire and note when they continue, one after another.
    private func inOrder(_ numbers: ClosedRange<Int>, _ limiter: Limiter) async -> [Task<Void, any Error>] {
        var tasks: [Task<Void, any Error>] = []
        for number in numbers {
            tasks.append(
                clock.task { [seen, clock] in
                    try await limiter.acquire()
                    seen.add("\(clock.elapsed) \(number)")
                })
            await clock.advance(by: .zero)
        }
        return tasks
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `settings that break a rule stop the program`() async {
            let burst = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Debouncer(for: .zero, options: .init(limit: RateLimit(2, per: .seconds(1), burst: 3))) { (_: Int) in
                }
            }
            let period = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Limiter(RateLimit(2, per: .zero))
            }
            func message(_ result: ExitTest.Result?) -> String {
                String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            }
            #expect(message(burst).contains("Lull: the burst is 3, but must be from 1 to the limit of 2"))
            #expect(message(period).contains("Lull: the limit is over 0s, but must be over more than no time"))
        }
    #endif
}

extension ManualClock {
    /// The time since the clock was made, in whole seconds.
    fileprivate var elapsed: Int { Int(now.sinceStart.components.seconds) }
}
