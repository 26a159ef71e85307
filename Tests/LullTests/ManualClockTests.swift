import Foundation
import TestSupport
import Lull
import LullTesting
import Testing

@Suite("A manual clock")
struct ManualClockTests {
    let clock = ManualClock()

    @Test
    func `stands still until it is advanced`() async {
        #expect(clock.now == .zero)
        await clock.advance(by: .seconds(3))
        #expect(clock.now.sinceStart == .seconds(3))
        await clock.advance(to: .zero)
        #expect(clock.now.sinceStart == .seconds(3))
    }

    @Test
    func `goes from due instant to due instant, and a handler sees its own`() async {
        let seen = Record<String>()
        let it = KeyedDebouncer(for: .seconds(1), clock: clock) { [clock] (key: String, value: Int) in
            seen.add("\(key) at \(clock.now.sinceStart.components.seconds)")
        }
        it.submit(1, for: "a", after: .seconds(3))
        it.submit(1, for: "b", after: .seconds(1))
        it.submit(1, for: "c", after: .seconds(2))
        await clock.advance(by: .seconds(10))
        #expect(seen.all == ["b at 1", "c at 2", "a at 3"])
    }

    @Test
    func `follows what a handler submits, within one advance`() async {
        let seen = Record<Int>()
        let second = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in seen.add(value) }
        let first = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in second(value + 1) }
        first(1)
        await clock.advance(by: .seconds(2))
        #expect(seen.all == [2])
    }

    @Test
    func `lets handlers sleep on it, and wakes them in order`() async {
        let seen = Record<String>()
        let it = KeyedDebouncer(for: .seconds(1), clock: clock) { [clock] (key: String, delay: Int) in
            seen.add("\(key) sleeps")
            try await clock.sleep(for: .seconds(delay))
            seen.add("\(key) wakes")
        }
        it.submit(2, for: "a")
        await clock.advance(by: .seconds(1))
        it.submit(3, for: "b")
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["a sleeps", "b sleeps"])
        await clock.advance(by: .seconds(10))
        #expect(seen.all == ["a sleeps", "b sleeps", "a wakes", "b wakes"])
    }

    @Test
    func `counts the tasks that a handler starts and awaits as the handler`() async {
        let seen = Record<String>()
        let it = Debouncer(for: .seconds(1), clock: clock) { [clock] (_: Int) in
            async let one: Void = clock.sleep(for: .seconds(1))
            async let two: Void = clock.sleep(for: .seconds(2))
            _ = try await (one, two)
            seen.add("both")
        }
        it(1)
        await clock.advance(by: .seconds(2))
        #expect(seen.all == [])
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["both"])
    }

    @Test
    func `ends a sleep whose task is cancelled`() async {
        let task = clock.task { [clock] in try await clock.sleep(for: .seconds(1)) }
        await clock.advance(by: .zero)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test
    func `returns from a sleep that is over at once`() async throws {
        try await clock.sleep(until: .zero)
        try await clock.sleep(for: .seconds(-1))
    }

    @Test
    func
        `when an advance until started returns, handlers with any isolation have been entered`()
        async
    {
        actor Place {
            let seen: Record<String>
            init(_ seen: Record<String>) { self.seen = seen }
            func make(_ clock: ManualClock, _ door: Door) -> Debouncer<Int, Void> {
                Debouncer(for: .seconds(1), clock: clock) { (_: Int) in
                    self.seen.add("actor")
                    await door.pass()
                }
            }
        }
        for _ in 0..<50 {
            let clock = ManualClock()
            let seen = Record<String>()
            let door = Door()
            let free = Debouncer(for: .seconds(1), clock: clock) { (_: Int) in
                seen.add("free")
                await door.pass()
            }
            let main = Debouncer(for: .seconds(1), clock: clock) { @MainActor (_: Int) in
                seen.add("main")
                await door.pass()
            }
            let place = Place(seen)
            let isolated = await place.make(clock, door)
            free(1)
            main(1)
            isolated(1)
            await clock.advance(by: .seconds(1), until: .started)
            #expect(Set(seen.all) == ["free", "main", "actor"])
            door.open()
            await clock.advance(by: .zero)
            #expect(free.counters.executed + main.counters.executed + isolated.counters.executed == 3)
        }
    }

    @Test
    func `gives up with the key and the remedy when nothing moves`() async {
        let stalls = Record<Stall>()
        let clock = ManualClock(patience: .milliseconds(50), onStall: { stalls.add($0) })
        let door = Door()
        let it = KeyedDebouncer(for: .seconds(1), clock: clock) { (_: String, _: Int) in await door.pass() }
        it.submit(1, for: "lamp")
        await clock.advance(by: .seconds(1))
        #expect(stalls.all.map(\.keys) == [["key lamp"]])
        #expect(stalls.all.map(\.milestone) == [.ended])
        #expect("\(stalls.all)".contains("until: .started"))
        door.open()
        await it.flushAndWait()
    }

    @Test
    func `gives up although the description of a key asks the debouncer and the clock`() async {
        struct Key: Hashable, CustomStringConvertible {
            let describe: @Sendable () -> String
            var description: String { describe() }
            static func == (left: Key, right: Key) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
        let stalls = Record<Stall>()
        let clock = ManualClock(patience: .milliseconds(50), onStall: { stalls.add($0) })
        let door = Door()
        let it = KeyedDebouncer(for: .seconds(1), clock: clock) { (_: Key, _: Int) in await door.pass() }
        it.submit(1, for: Key { "\(it.counters.running) at \(clock.now.sinceStart)" })
        await clock.advance(by: .seconds(1))
        #expect(stalls.all.map(\.keys) == [["key 1 at 1.0 seconds"]])
        door.open()
        await it.flushAndWait()
    }

    @Test
    func `gives up with the actor when the main actor is blocked`() async {
        let stalls = Record<Stall>()
        let isToldOfActor: @Sendable () -> Bool = {
            stalls.all.contains { "\($0)".contains("The main actor, or the actor of a handler, is blocked") }
        }
        let clock = ManualClock(patience: .milliseconds(20), onStall: { stalls.add($0) })
        let sleeping = clock.task { [clock] in try await clock.sleep(for: .seconds(1)) }
        let blocking = Task { @MainActor in
            try blockUntil { isToldOfActor() }
        }
        // On a busy machine the clock may give up before the task sleeps.
        for _ in 0..<100 where !isToldOfActor() { await clock.advance(by: .zero) }
        #expect(isToldOfActor())
        _ = await blocking.result
        sleeping.cancel()
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        // The messages are also those of an optimised build, which a precondition has not: hence the word before them.
        @Test
        func `stops the program when nothing moves, by default`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let clock = ManualClock(patience: .milliseconds(20))
                let door = Door()
                let it = KeyedDebouncer(for: .seconds(1), clock: clock) { (_: String, _: Int) in await door.pass() }
                it.submit(1, for: "lamp")
                await clock.advance(by: .seconds(1))
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Lull: ManualClock: for 0.02 seconds nothing has moved"))
            #expect(text.contains("key lamp"))
        }

        @Test
        func `stops with a message when two tasks advance it`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let clock = ManualClock()
                let it = Debouncer(for: .seconds(1), clock: clock) { (_: Int) in await clock.advance(by: .seconds(1)) }
                it(1)
                await clock.advance(by: .seconds(1))
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Lull: ManualClock: two tasks advance the clock at once, or a handler does"))
        }
    #endif
}
