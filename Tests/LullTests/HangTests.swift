import Lull
import TestSupport
import Testing

@testable import LullTesting

@Suite("A call that waits while nobody advances the clock")
struct HangTests {
    private static let patience = Duration.milliseconds(20)

    private let hangs = Record<String>()
    private let clock: ManualClock

    init() {
        clock = ManualClock(hangPatience: Self.patience) { [hangs] in hangs.add("\($0)") }
    }

    @Test
    func `is reported once, with the debouncer's line and the advance that is missing`() async throws {
        let save = Debouncer(for: .seconds(2), clock: clock) { (_: String) in }
        let line = #line - 1
        async let outcome = save.outcome(of: "a")
        let message = try await hang()
        #expect(message.contains("outcome(of:) of the debouncer (the only key, of values of type String)"))
        #expect(message.contains("made at LullTests/HangTests.swift:\(line)"))
        #expect(message.contains("due in 2 s of this clock: advance(by: .seconds(2))"))
        #expect(message.contains("for 0.02 seconds"))
        await clock.advance(by: .seconds(2))
        guard case .executed = try await outcome else { Issue.record("not executed"); return }
        async let next = save.outcome(of: "b")
        try await waitAsForAHang()
        #expect(hangs.all.count == 1)
        await clock.advance(by: .seconds(2))
        _ = try await next
    }

    @Test
    func `is reported in a task of the clock, too, with its key`() async throws {
        let save = KeyedDebouncer(for: .milliseconds(1500), clock: clock) { (_: String, _: Int) in }
        let line = #line - 1
        let outcome = clock.task { try await save.outcome(of: 1, for: "lamp") }
        let message = try await hang()
        #expect(message.contains("(key lamp), made at LullTests/HangTests.swift:\(line), due in 1500 ms"))
        #expect(message.contains("advance(by: .milliseconds(1500))"))
        await clock.advance(by: .seconds(2))
        _ = try await outcome.value
    }

    @Test
    func `is reported while a handler sleeps on the clock`() async throws {
        let save = Debouncer(for: .seconds(2), clock: clock) { [clock] (_: Int) in
            try await clock.sleep(for: .seconds(5))
        }
        save(1)
        async let flush: Void = save.flushAndWait()
        let message = try await hang()
        #expect(message.contains("flushAndWait() of the debouncer"))
        #expect(message.contains("goes on in 5 s at the earliest of this clock: advance(by: .seconds(5))"))
        await clock.advance(by: .seconds(5))
        await flush
    }

    @Test
    func `is reported of a shut-down, a limiter and a sequence`() async throws {
        func message(_ call: @escaping @Sendable (ManualClock) async throws -> Void) async throws -> String {
            let hangs = Record<String>()
            let clock = ManualClock(hangPatience: Self.patience) { hangs.add("\($0)") }
            let task = Task { try await call(clock) }
            try await waitUntil { !hangs.all.isEmpty }
            await clock.advance(by: .seconds(60))
            try await task.value
            return hangs.all.joined()
        }
        let shutDown = try await message { clock in
            let it = Throttler(every: .seconds(3), clock: clock) { (_: Int) in try await clock.sleep(for: .seconds(9)) }
            it(1)
            await it.shutDownAndWait()
        }
        #expect(shutDown.contains("shutDownAndWait() of the throttler, made at LullTests/HangTests.swift"))
        let limiter = try await message { clock in
            let limiter = Limiter(RateLimit(1, per: .seconds(10)), clock: clock)
            for _ in 1...2 { try await limiter.acquire() }
        }
        #expect(limiter.contains("acquire() of the limiter, made at LullTests/HangTests.swift"))
        #expect(limiter.contains("due in 10 s"))
        let sequence = try await message { clock in
            let (stream, input) = AsyncStream.makeStream(of: Int.self)
            var iterator = stream.debounced(for: .seconds(4), clock: clock).makeAsyncIterator()
            input.yield(1)
            _ = await iterator.next()
        }
        #expect(sequence.contains("the next element of the debouncer, made at LullTests/HangTests.swift"))
        #expect(sequence.contains("due in 4 s"))
    }

    @Test
    func `is not reported while a handler waits for something else`() async throws {
        let door = Door()
        let save = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in await door.pass() }
        let other = Debouncer(for: .seconds(9), clock: clock) { (_: Int) in }
        save(1)
        other(1)
        async let flush: Void = save.flushAndWait()
        try await waitAsForAHang()
        #expect(hangs.all == [])
        door.open()
        await flush
    }

    @Test
    func `is not reported if a handler makes it, for which the test does not wait`() async throws {
        let inner = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        let outer = Debouncer(for: .zero, clock: clock) { (value: Int) in _ = try await inner.outcome(of: value) }
        outer(1)
        await clock.advance(by: .zero)
        try await waitAsForAHang()
        #expect(hangs.all == [])
        async let flush: Void = outer.flushAndWait()
        let message = try await hang()
        #expect(message.contains("flushAndWait()") && !message.contains("outcome(of:)"))
        await clock.advance(by: .seconds(2))
        await flush
    }

    @Test
    func `is not reported while an advance is under way`() async throws {
        let door = Door()
        let save = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in await door.pass() }
        let other = Debouncer(for: .seconds(9), clock: clock) { (_: Int) in }
        save(1)
        async let outcome = other.outcome(of: 1)
        async let advance: Void = clock.advance(by: .seconds(20))
        try await waitAsForAHang()
        #expect(hangs.all == [])
        door.open()
        await advance
        _ = try await outcome
    }

    @Test
    func `is not reported of a sequence of which nothing is pending`() async throws {
        let (stream, input) = AsyncStream.makeStream(of: Int.self)
        let other = Debouncer(for: .seconds(9), clock: clock) { (_: Int) in }
        other(1)
        let reading = Task { [clock] in
            for await _ in stream.debounced(for: .seconds(4), clock: clock) {}
        }
        try await waitAsForAHang()
        #expect(hangs.all == [])
        input.finish()
        await reading.value
    }

    @Test
    func `is not reported when the call has returned or was cancelled, whatever else sleeps`() async throws {
        let save = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        let sleeping = Task { [clock] in try await clock.sleep(for: .seconds(60)) }
        let waiting = Task { try await save.outcome(of: 1) }
        await clock.waitForSleeps()
        waiting.cancel()
        _ = await waiting.result
        save(2)
        try await waitAsForAHang()
        #expect(hangs.all == [])
        sleeping.cancel()
    }

    // Earlier versions have no warnings.
    #if compiler(>=6.3)
        @Test
        func `is a warning of the test that waits, after a second`() async throws {
            let clock = ManualClock()
            let save = Debouncer(for: .seconds(2), clock: clock) { (_: String) in }
            let line = #line - 1
            let issues = Record<Issue>()
            let begin = ContinuousClock.now
            try await withKnownIssue {
                async let outcome = save.outcome(of: "a")
                try await waitUntil { !issues.all.isEmpty }
                await clock.advance(by: .seconds(2))
                _ = try await outcome
            } matching: { issue in
                issues.add(issue)
                return true
            }
            let time = begin.duration(to: .now)
            #expect(time >= .seconds(1))
            #expect("\(issues.all)".contains("advance(by: .seconds(2))"))
            #expect(issues.all.map(\.sourceLocation?.line) == [line])
            #expect(issues.all.map(\.isFailure) == [false])
        }
    #endif

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `is a line in standard error without Swift Testing`() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                TestReport.warn("ManualClock: it hangs", at: SourceSite(#fileID, #line), inTest: false)
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Lull: ManualClock: it hangs\n"))
        }
    #endif

    @Test
    func `patience counts from the last move`() {
        var state = ManualClockState()
        state.noteChange()
        let now = ContinuousClock.now
        #expect(state.patienceLeft(of: .seconds(5), at: now.advanced(by: .seconds(3))) <= .seconds(2))
        #expect(state.patienceLeft(of: .seconds(5), at: now.advanced(by: .seconds(5))) <= .zero)
        state.noteChange()
        #expect(state.patienceLeft(of: .seconds(5), at: now) >= .seconds(5))
    }

    /// Returns the report of the clock.
    private func hang() async throws -> String {
        try await waitUntil { [hangs] in !hangs.all.isEmpty }
        return hangs.all.joined()
    }

    /// Returns when a clock that is as patient has reported a hang, several times over.
    private func waitAsForAHang() async throws {
        for _ in 1...3 {
            let hangs = Record<String>()
            let clock = ManualClock(hangPatience: Self.patience) { hangs.add("\($0)") }
            let it = Debouncer(for: .seconds(1), clock: clock) { (_: Int) in }
            let waiting = Task { try await it.outcome(of: 1) }
            try await waitUntil { !hangs.all.isEmpty }
            waiting.cancel()
        }
    }
}
