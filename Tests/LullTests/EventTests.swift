import Lull
import LullTesting
import TestSupport
import Testing

/// Semantics, section 6: the stream of events.
@Suite("The events of a debouncer")
struct EventTests {
    let clock = ManualClock()

    /// Takes the events that are there.
    func story<Key>(_ events: Events<Key>, _ count: Int) async -> [String] {
        var lines: [String] = []
        for await event in events {
            let cause = event.cause.map { " \($0)" } ?? ""
            let lost = event.lost == 0 ? "" : " (\(event.lost) lost)"
            lines.append("\(event.at.components.seconds) \(event.kind) \(event.key) \(event.count)\(cause)\(lost)")
            if lines.count == count { break }
        }
        return lines
    }

    @Test
    func `tell its story in order, with key, instant, count and edge`() async {
        let it = KeyedDebouncer(for: .seconds(2), options: .init(capacity: 2), clock: clock, onFailure: { _, _ in }) {
            (_: String, value: Int) in
            if value < 0 { throw Refusal() }
        }
        let events = it.events()
        it.submit(1, for: "a")
        it.submit(2, for: "a")
        await clock.advance(by: .seconds(1))
        it.submit(-1, for: "b")
        it.submit(3, for: "c")
        await clock.advance(by: .seconds(1))
        await clock.advance(by: .seconds(1))
        it.submit(4, for: "a")
        it.cancel("a")
        #expect(
            await story(events, 12) == [
                "0 submitted a 1", "0 submitted a 1", "0 superseded a 1", "1 submitted b 1", "1 submitted c 1",
                "1 rejected(LullCore.Rejection.overCapacity) c 1", "2 started a 2 trailing", "2 executed a 2 trailing",
                "3 started b 1 trailing", "3 failed b 1 trailing", "3 submitted a 1", "3 cancelled a 1",
            ])
    }

    @Test
    func `tell of what was due before a call ahead of the call, at its due instant`() async {
        // With no wait, each submit finds the one before it due, and no timer has been there.
        let it = KeyedDebouncer(for: .zero, clock: clock) { (_: String, _: Int) in }
        let events = it.events()
        it.submit(1, for: "a")
        it.submit(2, for: "a")
        #expect(await story(events, 3) == ["0 submitted a 1", "0 started a 1 trailing", "0 submitted a 1"])
        await clock.advance(by: .zero)
    }

    @Test
    func `are lost, the oldest first, if the observer is slow, and it learns how many`() async {
        let it = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        let events = it.events(bufferingNewest: 3)
        for value in 0..<50 { it(value) }
        let lines = await story(events, 3)
        #expect(lines.first?.hasSuffix("(96 lost)") == true)
        #expect(lines.dropFirst().allSatisfy { !$0.contains("lost") })
    }

    @Test
    func `come to several observers, each for itself, also to one that waits`() async throws {
        let it = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        let first = it.events()
        let waiting = clock.task { await story(first, 2) }
        await clock.advance(by: .zero, until: .started)
        it(1)
        let second = it.events()
        await clock.advance(by: .seconds(2), until: .started)
        #expect(try await waiting.value.count == 2)
        #expect(await story(second, 2).last == "2 executed NoKey() 1 trailing")
    }

    @Test
    func `end when the debouncer is released, and when the observing task is cancelled`() async throws {
        var it: Debouncer<Int, Void>? = Debouncer(for: .seconds(2)) { (_: Int) in }
        let events = try #require(it).events()
        let cancelled = clock.task { await story(events, 100) }
        await clock.advance(by: .zero, until: .started)
        cancelled.cancel()
        #expect(try await cancelled.value == [])
        let others = try #require(it).events()
        it?.submit(1)
        it?.cancel()
        it = nil
        #expect(await story(others, 100).count == 2)
        #expect(await story(others, 100) == [])
    }

    @Test(.timeLimit(.minutes(1)))
    func `end when the debouncer is released and its work is done, though a recording is held`() async throws {
        var it: Debouncer<Int, Void>? = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        let recording = try #require(it).startRecording()
        let events = try #require(it).events()
        it?.submit(1)
        it = nil
        await clock.advance(by: .seconds(2))
        #expect(
            await story(events, 100) == [
                "0 submitted NoKey() 1", "2 started NoKey() 1 trailing", "2 executed NoKey() 1 trailing",
            ])
        #expect(recording.count == 1)
    }

    @Test
    func `come to each iteration for itself: to the first from the beginning, to others from theirs`() async throws {
        let it = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        let events = it.events()
        it(1)
        let first = clock.task { await story(events, 3) }
        await clock.advance(by: .zero, until: .started)
        let second = clock.task { await story(events, 2) }
        let cancelled = clock.task { await story(events, 100) }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(2), until: .started)
        #expect(
            try await first.value == [
                "0 submitted NoKey() 1", "2 started NoKey() 1 trailing", "2 executed NoKey() 1 trailing",
            ])
        #expect(try await second.value == ["2 started NoKey() 1 trailing", "2 executed NoKey() 1 trailing"])
        cancelled.cancel()
        #expect(try await cancelled.value.count == 2)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `stop the program with a message if two tasks wait at one iterator`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let it = Debouncer(for: .seconds(2)) { (_: Int) in }
                // What the compiler keeps others from doing, too.
                nonisolated(unsafe) var iterator = it.events().makeAsyncIterator()
                nonisolated(unsafe) var copy = iterator
                async let first = iterator.next()
                async let second = copy.next()
                _ = await (first, second)
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Lull: two tasks wait for the next event of one iterator"))
        }
    #endif

    @Test
    func `release a key without the lock: its deinit may call the debouncer`() async throws {
        let holder = Guarded<KeyedDebouncer<CallingKey, Int, Void>?>(nil)
        let it = KeyedDebouncer(for: .zero, clock: clock) { (_: CallingKey, _: Int) in }
        _ = holder.exchange(it)
        let events = it.events(bufferingNewest: 3)
        try await withinReason {
            for number in 0..<200 { it.submit(number, for: CallingKey(number) { _ = holder.value?.counters }) }
        }
        #expect(it.counters.submitted == 200)
        await clock.advance(by: .zero)
        _ = await story(events, 3)
        _ = holder.exchange(nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a consumer that is cancelled ends, though events keep coming`() async throws {
        let it = Debouncer(for: .seconds(1000)) { (_: Int) in }
        let events = it.events()
        let isOver = Guarded(false)
        let load = Task.detached {
            while !isOver.value {
                for value in 0..<100 { it(value) }
                await Task.yield()
            }
        }
        let seen = Guarded(0)
        let consumer = Task.detached { for await _ in events { seen.change { $0 += 1 } } }
        try await waitUntil { seen.value > 1000 }
        consumer.cancel()
        await consumer.value
        _ = isOver.exchange(true)
        await load.value
    }
}
