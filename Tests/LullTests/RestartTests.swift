import Dispatch
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

/// Semantics, section 7, restarting, and section 5, touch: one answer to all messages, however they come.
@Suite("Restart and touch")
struct RestartTests {
    let clock = ManualClock()
    let seen = Record<String>()
    let outcomes = Record<Ended<Int>>()

    /// A bot that needs ten seconds for an answer, and is told when a writer has paused for two.
    func bot(
        _ rule: OverlapPolicy = .restart, maxWait: Duration? = nil
    ) -> KeyedDebouncer<String, Int, Int> {
        KeyedDebouncer(collectingFor: .seconds(2), maxWait: maxWait, whileRunning: rule, clock: clock) {
            [clock, seen] (room: String, messages: [Int]) in
            seen.add("\(room) begins \(messages)")
            try await clock.sleep(for: .seconds(10))
            seen.add("\(room) answers \(messages)")
            return messages.count
        }
    }

    @Test
    func `a message that falls due during the answer begins it again with all of them, and nothing is lost`() async {
        let bot = bot()
        bot.submit(1, for: "a", into: outcomes)
        bot.submit(2, for: "a", into: outcomes)
        await clock.advance(by: .seconds(5))
        bot.submit(3, for: "a", into: outcomes)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["a begins [1, 2]"], "the newer message is not due")
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["a begins [1, 2]", "a begins [1, 2, 3]"])
        #expect(bot.counters.restarted == 1)
        #expect(bot.counters.addUp)
        await clock.advance(by: .seconds(10))
        #expect(seen.all.last == "a answers [1, 2, 3]")
        #expect(outcomes.all == [.executed(3), .executed(3), .executed(3)])
        #expect(bot.counters.executed == 3)
        #expect(bot.state.isDone)
    }

    @Test
    func `interrupting at the submit, the answer stops at once, and the values are held until the pause`() async {
        let bot = bot(.restart(interrupting: .whenSubmitted))
        bot.submit(1, for: "a")
        await clock.advance(by: .seconds(3))
        #expect(bot.state.running > 0)
        bot.submit(2, for: "a")
        await clock.advance(by: .zero)
        #expect(bot.state.running == 0)
        #expect(bot.state(of: "a").pending > 0 && bot.state.pending > 0)
        #expect(bot.counters.pending == 2)
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["a begins [1]", "a begins [1, 2]"])
        await clock.advance(by: .seconds(10))
        #expect(bot.counters.executed == 2)
    }

    @Test
    func `with maxWait a writer who never pauses for long is answered`() async {
        let bot = bot(maxWait: .seconds(15))
        for message in 1...20 {
            bot.submit(message, for: "a")
            await clock.advance(by: .seconds(3))
        }
        await clock.advance(by: .seconds(30))
        #expect(seen.all.contains { $0.hasPrefix("a answers [1, 2,") })
        #expect(bot.counters.executed == 20)
        #expect(bot.counters.restarted > 0)
    }

    @Test
    func `a handler that returns although it was interrupted is executed, and the newer value starts alone`() async {
        let door = Door()
        let it = Debouncer(collectingFor: .seconds(1), whileRunning: .restart, clock: clock) {
            [seen] (values: [Int]) in
            seen.add("\(values)")
            await door.pass()
        }
        it(1)
        await clock.advance(by: .seconds(1), until: .started)
        it(2)
        await clock.advance(by: .seconds(1), until: .started)
        door.open()
        await clock.advance(by: .zero)
        #expect(seen.all == ["[1]", "[2]"])
        #expect(it.counters.restarted == 0)
    }

    @Test
    func `merged values are folded anew, with all of them`() async {
        let it = Debouncer(for: .seconds(1), combining: .merge { $0 += $1 }, whileRunning: .restart, clock: clock) {
            [clock, seen] (sum: Int) in
            seen.add("\(sum)")
            try await clock.sleep(for: .seconds(5))
        }
        for value in [1, 2, 4] {
            it(value)
            await clock.advance(by: .seconds(2))
        }
        await clock.advance(by: .seconds(5))
        #expect(seen.all == ["1", "3", "7"])
        #expect(it.counters.executed == 3)
    }

    @Test
    func `the interrupted execution is an event, with the number of submits that go back, and has not failed`() async {
        let failures = Record<String>()
        let it = Debouncer(
            collectingFor: .seconds(1), whileRunning: .restart, clock: clock, onFailure: { failures.add("\($0)") }
        ) { [clock] (_: [Int]) in
            try await clock.sleep(for: .seconds(5))
        }
        let events = it.events()
        it(1)
        it(2)
        await clock.advance(by: .seconds(2))
        it(3)
        await clock.advance(by: .seconds(6))
        var story: [String] = []
        for await event in events {
            story.append("\(event.kind) \(event.count)")
            if story.count == 7 { break }
        }
        #expect(
            story == [
                "submitted 1", "submitted 1", "started 2", "submitted 1", "interrupted 2", "started 3", "executed 3",
            ])
        #expect(failures.all == [])
    }

    @Test
    func `a flush that waits includes the execution that takes the interrupted one's place`() async {
        let bot = bot()
        bot.submit(1, for: "a")
        await clock.advance(by: .seconds(3))
        bot.submit(2, for: "a")
        let flushed = clock.task { await bot.flushAndWait("a") }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(9))
        #expect(seen.all == ["a begins [1]", "a begins [1, 2]"])
        await clock.advance(by: .seconds(2))
        try? await flushed.value
        #expect(seen.all.last == "a answers [1, 2]")
    }

    /// A debouncer whose handler, once it was cancelled, throws when the door opens.
    func behindDoor(_ door: Door, atEnd: EndPolicy = .executeWhenDue) -> Debouncer<Int, Void> {
        Debouncer(
            collectingFor: .seconds(2), whileRunning: .restart(interrupting: .whenSubmitted),
            options: .init(atEnd: atEnd), clock: clock
        ) { [seen] (values: [Int]) in
            seen.add("begins \(values)")
            await door.pass()
            try Task.checkCancellation()
            seen.add("ends \(values)")
        }
    }

    @Test
    func `cancelling what runs ends its submits as cancelled, also after an interruption`() async {
        let door = Door()
        let it = behindDoor(door)
        it(1)
        await clock.advance(by: .seconds(3), until: .started)
        it(2)
        it.cancel(includingRunning: true)
        door.open()
        await clock.advance(by: .seconds(30))
        #expect(it.counters.cancelled == 2)
        #expect(it.counters.restarted == 0)
        #expect(it.state.isDone)
    }

    @Test(arguments: [EndPolicy.executeWhenDue, .flush, .drop])
    func `what an interrupted execution gives back after the owner's end follows its rule`(rule: EndPolicy) async {
        let door = Door()
        var it: Debouncer<Int, Void>? = behindDoor(door, atEnd: rule)
        it?.submit(1)
        await clock.advance(by: .seconds(3), until: .started)
        it?.submit(2)
        it?.cancel()
        it = nil
        door.open()
        await clock.advance(by: .seconds(10))
        #expect(seen.all == (rule == .drop ? ["begins [1]"] : ["begins [1]", "begins [1]", "ends [1]"]))
    }

    @Test
    func `on a queue, an execution that has not begun is interrupted, and nothing is lost`() async {
        let queue = DispatchQueue(label: "restart")
        let it = Debouncer(for: .seconds(100), on: queue, combining: .merge { $0 += $1 }, whileRunning: .restart) {
            [seen] (values: [Int]) in seen.add("\(values)")
        }
        queue.suspend()
        for value in 1...2 {
            it([value])
            it.flush()
        }
        queue.resume()
        await it.flushAndWait()
        #expect(seen.all == ["[1, 2]"])
        #expect(it.counters.executed == 2)
    }

    @Test
    func `under load from many tasks every submit is executed, however often it was interrupted`() async {
        let sum = Record<Int>()
        let it = KeyedDebouncer(
            collectingFor: .microseconds(50), whileRunning: .restart(interrupting: .whenSubmitted)
        ) { (_: Int, values: [Int]) in
            for _ in 0..<20 {
                try Task.checkCancellation()
                await Task.yield()
            }
            sum.add(values.reduce(0, +))
        }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for value in 0..<2500 {
                        it.submit(1, for: (task + value) % 3)
                        if value % 50 == 0 { await Task.yield() }
                    }
                }
            }
        }
        while !it.state.isDone { await it.flushAndWait() }
        #expect(sum.all.reduce(0, +) == 10_000)
        #expect(it.counters.executed == 10_000)
        #expect(it.counters.addUp)
    }

    // MARK: - Touch

    @Test
    func `a touch postpones the answer while somebody types, and is bounded by maxWait`() async {
        let bot = bot(maxWait: .seconds(5))
        bot.submit(1, for: "a")
        for _ in 0..<3 {
            await clock.advance(by: .seconds(1))
            bot.touch("a")
        }
        #expect(seen.all == [])
        bot.touch("a", after: .seconds(60))
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["a begins [1]"])
        #expect(bot.counters.submitted == 1)
    }

    @Test
    func `a recording has touches, too`() async {
        let it = Debouncer(for: .seconds(2), clock: clock) { (_: Int) in }
        let recording = it.startRecording()
        it(1)
        await clock.advance(by: .seconds(1))
        it.touch()
        #expect(recording.trace() == "{\"at\":0.000000000}\n{\"at\":1.000000000,\"op\":\"touch\"}\n")
    }

    // MARK: - Answers

    @Test
    func `the output of an outcome is returned, and everything else is thrown`() throws {
        struct Refusal: Error {}
        #expect(try Outcome.executed(7).get() == 7)
        #expect(throws: Refusal.self) { try Outcome<Int>.failed(Refusal()).get() }
        #expect(throws: NotExecutedError.superseded) { try Outcome<Int>.superseded.get() }
        #expect(throws: NotExecutedError.rejected(.shutDown)) { try Outcome<Int>.rejected(.shutDown).get() }
    }
}
