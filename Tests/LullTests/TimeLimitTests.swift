import Dispatch
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

/// Semantics, section 7, time limits: an execution does not run for longer, or it is known that it does.
@Suite("A time limit")
struct TimeLimitTests {
    let clock = ManualClock()
    let seen = Record<String>()
    let failures = Record<String>()
    let outcomes = Record<Ended<Int>>()
    let door = Door()

    /// How a handler takes it that it is told to stop.
    enum Way: Sendable {
        /// It throws.
        case react
        /// It returns at once.
        case giveUp
        /// It waits for the door, and returns.
        case ignore
    }

    /// A debouncer with a time limit of three seconds, whose handlers would take a minute.
    private func make(
        _ way: Way = .react, _ rule: OverlapPolicy = .queue, maxConcurrent: Int? = nil
    ) -> KeyedDebouncer<String, Int, Int> {
        KeyedDebouncer(
            for: .seconds(1), whileRunning: rule,
            options: .init(maxConcurrent: maxConcurrent, timeLimit: .seconds(3)), clock: clock,
            onFailure: { [failures] error, key in failures.add("\(key): \(error)") }
        ) { [clock, seen, door] (key: String, value: Int) in
            seen.add("+\(key)\(value)")
            defer { seen.add("-\(key)\(value)") }
            switch way {
            case .react: try await clock.sleep(for: .seconds(60))
            case .giveUp: try? await clock.sleep(for: .seconds(60))
            case .ignore: await door.pass()
            }
            return value
        }
    }

    /// The kinds and counts of the first events.
    private func story<Key>(_ events: Events<Key>, _ count: Int) async -> [String] {
        var story: [String] = []
        for await event in events {
            story.append("\(event.kind) \(event.count) at \(event.at.components.seconds)")
            if story.count == count { break }
        }
        return story
    }

    private static let exceeded = "the time limit of 3 s was exceeded"

    @Test
    func `stops a handler that reacts, which has failed with an error that names the limit`() async throws {
        let it = make()
        let events = it.events()
        it.submit(1, for: "a")
        let outcome = clock.task { try await it.outcome(of: 2, for: "a") }
        await clock.advance(by: .milliseconds(3999))
        #expect(seen.all == ["+a2"])
        await clock.advance(by: .milliseconds(1))
        #expect(seen.all == ["+a2", "-a2"])
        await #expect(throws: TimeLimitExceeded(.seconds(3))) { try await outcome.value.get() }
        #expect(failures.all == ["a: \(Self.exceeded)"])
        #expect(it.counters.failed == 1 && it.counters.overdue == 0 && it.counters.addUp)
        #expect(it.state.isDone)
        #expect(
            await story(events, 5) == [
                "submitted 1 at 0", "submitted 1 at 0", "superseded 1 at 0", "started 2 at 1", "failed 2 at 4",
            ])
    }

    @Test
    func `lets a handler be executed that returns when it is told to stop`() async {
        let it = make(.giveUp)
        it.submit(1, for: "a", into: outcomes)
        await clock.advance(by: .seconds(4))
        #expect(outcomes.all == [.executed(1)])
        #expect(it.counters.failed == 0 && it.counters.executed == 1)
    }

    @Test
    func `tells once that a handler goes on, which holds its key until it ends`() async {
        let it = make(.ignore)
        let events = it.events()
        it.submit(1, for: "a", into: outcomes)
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(2, for: "a")
        await clock.advance(by: .milliseconds(5999), until: .started)
        #expect(it.counters.overdue == 0)
        await clock.advance(by: .seconds(60), until: .started)
        #expect(it.counters.overdue == 1)
        #expect(it.state(of: "a").running == 1 && it.state(of: "a").waiting == 1)
        door.open()
        await clock.advance(by: .zero)
        #expect(seen.all == ["+a1", "-a1", "+a2", "-a2"])
        #expect(outcomes.all == [.executed(1)])
        #expect(it.counters.executed == 2 && it.counters.addUp)
        #expect(
            await story(events, 6) == [
                "submitted 1 at 0", "started 1 at 1", "submitted 1 at 1", "overdue 1 at 7", "executed 1 at 66",
                "started 1 at 2",
            ])
    }

    @Test(arguments: [true, false])
    func `is told at once of a synchronous handler, which is not interrupted`(_ throwing: Bool) async throws {
        let hasTime = DispatchSemaphore(value: 0)
        let it = Debouncer(
            for: .seconds(1), on: DispatchQueue(label: "q"), options: .init(timeLimit: .seconds(3)), clock: clock,
            onFailure: { [failures] in failures.add("\($0)") }
        ) { (value: Int) in
            hasTime.wait()
            if throwing { throw Refusal() }
            return value
        }
        it(1)
        await clock.advance(by: .milliseconds(3999), until: .started)
        #expect(it.counters.overdue == 0)
        await clock.advance(by: .milliseconds(1), until: .started)
        #expect(it.counters.overdue == 1)
        await clock.advance(by: .seconds(10), until: .started)
        #expect(it.counters.overdue == 1 && it.counters.running == 1)
        hasTime.signal()
        await clock.advance(by: .zero)
        #expect(it.counters.executed == (throwing ? 0 : 1) && it.counters.addUp)
        #expect(failures.all == (throwing ? [Self.exceeded] : []))
    }

    @Test
    func `ends an execution that its queue has not begun`() async throws {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let it = Debouncer(for: .zero, on: queue, options: .init(timeLimit: .milliseconds(5))) { [seen] (_: Int) in
            seen.add("handled")
        }
        await #expect(throws: TimeLimitExceeded(.milliseconds(5))) { try await it.outcome(of: 1).get() }
        queue.resume()
        await it.flushAndWait()
        #expect(seen.all.isEmpty)
        #expect(it.counters.overdue == 0)
    }

    @Test
    func `counts on the system's clock as well`() async {
        let it = Debouncer(for: .zero, options: .init(timeLimit: .milliseconds(5))) { (_: Int) in
            // Ends when the task is cancelled.
            for await _ in AsyncStream<Int>.makeStream().stream {}
            throw Refusal()
        }
        await #expect(throws: TimeLimitExceeded(.milliseconds(5))) { try await it.outcome(of: 1).get() }
    }

    @Test
    func `leaves an execution superseded that a newer value has told to stop before`() async {
        let it = make(.ignore, .cancelRunning)
        let reacting = make(.react, .cancelRunning)
        reacting.submit(1, for: "a", into: outcomes)
        await clock.advance(by: .seconds(2))
        reacting.submit(2, for: "a")
        await clock.advance(by: .seconds(1))
        #expect(outcomes.all == [.superseded])
        // One that goes on is overdue all the same.
        it.submit(1, for: "b")
        await clock.advance(by: .seconds(2), until: .started)
        it.submit(2, for: "b")
        await clock.advance(by: .seconds(6), until: .started)
        #expect(it.counters.overdue == 1)
        door.open()
        await clock.advance(by: .seconds(10))
        #expect(it.counters.addUp)
    }

    @Test(arguments: [OverlapPolicy.cancelRunning, .restart])
    func `lets an execution fail that it has told to stop, whatever comes afterwards`(_ rule: OverlapPolicy) async {
        let it = KeyedDebouncer(
            for: .seconds(1), whileRunning: rule, options: .init(timeLimit: .seconds(3)), clock: clock,
            onFailure: { [failures] error, _ in failures.add("\(error)") }
        ) { [door] (_: String, value: Int) in
            if value == 1 {
                await door.pass()
                throw Refusal()
            }
        }
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(4), until: .started)
        it.submit(2, for: "a")
        await clock.advance(by: .seconds(1), until: .started)
        door.open()
        await clock.advance(by: .zero)
        #expect(failures.all == [Self.exceeded])
        #expect(it.counters.failed == 1 && it.counters.executed == 1 && it.counters.restarted == 0)
        #expect(it.counters.addUp)
    }

    @Test
    func `yields to a cancel that includes what is running`() async {
        let it = KeyedDebouncer(
            for: .seconds(1), options: .init(timeLimit: .seconds(3)), clock: clock,
            onFailure: { [failures] error, _ in failures.add("\(error)") }
        ) { [door] (_: String, _: Int) in
            await door.pass()
            throw Refusal()
        }
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(5), until: .started)
        it.cancel("a", includingRunning: true)
        door.open()
        await clock.advance(by: .zero)
        #expect(it.counters.cancelled == 1 && it.counters.addUp)
        #expect(failures.all == [])
    }

    @Test
    func `does not keep a newer value from taking its place at once under replace`() async {
        let it = make(.ignore, .replace)
        it.submit(1, for: "a", into: outcomes)
        await clock.advance(by: .seconds(4), until: .started)
        it.submit(2, for: "a")
        await clock.advance(by: .seconds(1), until: .started)
        #expect(outcomes.all == [.superseded])
        #expect(seen.all == ["+a1", "+a2"])
        door.open()
        await clock.advance(by: .zero)
        #expect(it.counters.executed == 1 && it.counters.addUp)
    }

    @Test
    func `does not free the slot of a handler that goes on, and begins anew for the next one`() async {
        let it = make(.ignore, maxConcurrent: 1)
        it.submit(1, for: "a")
        it.submit(2, for: "b")
        await clock.advance(by: .seconds(20), until: .started)
        #expect(seen.all == ["+a1"])
        #expect(it.counters.overdue == 1 && it.counters.pending == 1)
        door.open()
        await clock.advance(by: .zero)
        #expect(seen.all == ["+a1", "-a1", "+b2", "-b2"])
        #expect(it.counters.executed == 2 && it.counters.failed == 0)
        let reacting = make(maxConcurrent: 1)
        reacting.submit(1, for: "a")
        reacting.submit(2, for: "b")
        await clock.advance(by: .seconds(4))
        #expect(seen.all.suffix(3) == ["+a1", "-a1", "+b2"])
        await clock.advance(by: .milliseconds(2999))
        #expect(reacting.counters.failed == 1)
        await clock.advance(by: .milliseconds(1))
        #expect(reacting.counters.failed == 2 && reacting.counters.addUp)
    }

    @Test
    func `holds for throttlers, with keys and without`() async {
        let options = ThrottleOptions(timeLimit: .seconds(3))
        let plain = Throttler(
            every: .seconds(1), options: options, clock: clock, onFailure: { [failures] in failures.add("\($0)") }
        ) { [clock] (_: Int) in try await clock.sleep(for: .seconds(60)) }
        let keyed = KeyedThrottler(
            every: .seconds(1), options: options, clock: clock,
            onFailure: { [failures] error, key in failures.add("\(key): \(error)") }
        ) { [clock] (_: String, _: [Int]) in try await clock.sleep(for: .seconds(60)) }
        plain(1)
        await clock.advance(by: .seconds(3))
        #expect(failures.all == [Self.exceeded])
        keyed.submit([2], for: "a")
        await clock.advance(by: .seconds(3))
        #expect(failures.all == [Self.exceeded, "a: \(Self.exceeded)"])
        #expect(plain.counters.failed == 1 && keyed.counters.failed == 1)
    }

    @Test
    func `ends the wait of a caller that flushes`() async throws {
        let it = make()
        it.submit(1, for: "a")
        let flushed = clock.task { await it.flushAndWait("a") }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(3))
        try await flushed.value
        #expect(failures.all == ["a: \(Self.exceeded)"])
        it.submit(2, for: "b")
        let ended = clock.task { await it.shutDownAndWait() }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(3))
        try await ended.value
        #expect(it.counters.failed == 2 && it.counters.addUp)
    }

    @Test
    func `is of each batch`() async {
        let it = Debouncer(
            collectingFor: .seconds(1), options: .init(maxBatch: 2, timeLimit: .seconds(3)), clock: clock,
            onFailure: { [failures] in failures.add("\($0)") }
        ) { [clock] (values: [Int]) in
            if values.contains(1) { try await clock.sleep(for: .seconds(60)) }
        }
        for value in 1...3 { it(value) }
        await clock.advance(by: .seconds(10))
        #expect(failures.all == [Self.exceeded])
        #expect(it.counters.failed == 2 && it.counters.executed == 1)
    }

    /// Debouncers whose handlers go on.
    private static func goingOn(
        on clock: ManualClock, _ door: Door, _ hasTime: DispatchSemaphore
    ) -> (KeyedDebouncer<String, Int, Void>, Debouncer<Int, Void>) {
        let (queue, options) = (DispatchQueue(label: "q"), DebounceOptions(timeLimit: .seconds(3)))
        #sourceLocation(file:"App/Search.swift",line:41)
        let levels = KeyedDebouncer(for: .seconds(1), options: options, clock: clock) { (_: String, _: Int) in
            await door.pass()
        }
        let save = Debouncer(for: .seconds(1), on: queue, options: options, clock: clock) { (_: Int) in hasTime.wait() }
        #sourceLocation()
        return (levels, save)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `leaves a line when a handler goes on that nobody observes`() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let (clock, door, hasTime) = (ManualClock(), Door(), DispatchSemaphore(value: 0))
                let (levels, save) = Self.goingOn(on: clock, door, hasTime)
                levels.submit(1, for: "lamp")
                await clock.advance(by: .seconds(20), until: .started)
                save(1)
                await clock.advance(by: .seconds(20), until: .started)
                let (observed, _) = Self.goingOn(on: clock, door, hasTime)
                let events = observed.events()
                observed.submit(1, for: "lamp")
                await clock.advance(by: .seconds(20), until: .started)
                door.open()
                hasTime.signal()
                await clock.advance(by: .seconds(1))
                withExtendedLifetime(events) {}
            }
            let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
                .split(separator: "\n").filter { $0.hasPrefix("Lull") }
            #expect(
                lines == [
                    """
                    Lull: the handler of key lamp, debouncer made at LullTests/Search.swift:41, has run for more than \
                    twice its time limit of 3 s
                    """,
                    """
                    Lull: the handler of the only key, of values of type Int, debouncer made at \
                    LullTests/Search.swift:44, has run for more than its time limit of 3 s
                    """,
                ])
        }
    #endif
}
