import Lull
import LullTesting
import TestSupport
import Testing

/// How a debounced sequence ends: by itself, with an error, or because its consumer has gone.
@Suite("The end of a debounced sequence")
struct StreamEndTests {
    let clock = ManualClock()

    /// Everything that a sequence delivers, and how it ends.
    func story<S: AsyncSequence>(_ sequence: S) async -> [String] {
        var lines: [String] = []
        do {
            for try await element in sequence { lines.append("\(element)") }
            lines.append("end")
        } catch {
            lines.append("\((error as? Refusal)?.reason ?? "another error")")
        }
        return lines
    }

    @Test(arguments: 0...5)
    func `an error comes after what was pending, however many elements came before it`(count: Int) async {
        let numbers = Numbers(count: count, error: Refusal(reason: "broken"))
        let last = count == 0 ? [] : ["\(count)"]
        #expect(await story(numbers.debounced(for: .seconds(1), clock: clock)) == last + ["broken"])
        #expect(await story(numbers.debounced(for: .seconds(1), droppingAtEnd: true, clock: clock)) == ["broken"])
        let ends = count == 0 ? [] : count == 1 ? ["1"] : ["1", "\(count)"]
        #expect(await story(numbers.throttled(every: .seconds(1), clock: clock)) == ends + ["broken"])
        let keys = (1...2).filter { $0 <= count }.map { key in count - (count - key) % 2 }.sorted()
        #expect(
            Set(await story(numbers.debounced(for: .seconds(1), by: { $0 % 2 }, clock: clock)))
                == Set(keys.map { "\($0)" } + ["broken"]))
    }

    @Test
    func `batches come whole and in order before an error`() async {
        let numbers = Numbers(count: 7, error: Refusal(reason: "broken"))
        let batches = numbers.debounced(collectingFor: .seconds(1), maxCount: 3, clock: clock)
        #expect(await story(batches) == ["[1, 2, 3]", "[4, 5, 6]", "[7]", "broken"])
        let kept = numbers.debounced(collectingFor: .seconds(1), maxCount: 3, droppingAtEnd: true, clock: clock)
        #expect(await story(kept).last == "broken")
        #expect(await !story(kept).contains("[7]"))
    }

    @Test
    func `nothing is left to say after the end or the error`() async throws {
        var ended = Numbers(count: 1).debounced(for: .seconds(1), clock: clock).makeAsyncIterator()
        #expect(try await ended.next() == 1)
        for _ in 0..<3 { #expect(try await ended.next() == nil) }

        var failed = Numbers(count: 0, error: Refusal()).debounced(for: .seconds(1), clock: clock).makeAsyncIterator()
        await #expect(throws: Refusal.self) { try await failed.next() }
        for _ in 0..<3 { #expect(try await failed.next() == nil) }
    }

    @Test(arguments: [0, 1, 3])
    func `a stream that has finished before the first request still delivers its elements`(count: Int) async {
        let (stream, input) = AsyncStream.makeStream(of: Int.self)
        for number in 0..<count { input.yield(number) }
        input.finish()
        #expect(
            await story(stream.debounced(for: .seconds(1), clock: clock)) == (count == 0 ? [] : ["\(count - 1)"]) + [
                "end"
            ])
    }

    @Test
    func `the upstream is not touched before the first next`() async {
        let numbers = Numbers()
        do {
            let iterator = numbers.debounced(for: .seconds(1), clock: clock).makeAsyncIterator()
            withExtendedLifetime(iterator) {}
        }
        await clock.advance(by: .seconds(2))
        #expect(numbers.asked.all.isEmpty)
    }

    @Test
    func `every iterator reads the upstream for itself`() async throws {
        let sequence = Numbers(count: 10).debounced(collectingFor: .seconds(1), maxCount: 4, clock: clock)
        var (one, other) = (sequence.makeAsyncIterator(), sequence.makeAsyncIterator())
        #expect(try await one.next() == [1, 2, 3, 4])
        #expect(try await other.next() == [1, 2, 3, 4])
        #expect(try await one.next() == [5, 6, 7, 8])
        #expect(try await one.next() == [9, 10])
        #expect(try await one.next() == nil)
        #expect(try await other.next() == [5, 6, 7, 8])
    }

    @Test
    func `a consumer that is cancelled is let go though the upstream does not react`() async throws {
        let door = Door()
        let numbers = Numbers(door: door)
        let sequence = numbers.debounced(for: .seconds(1), clock: clock)
        let consumer = clock.task { await story(sequence) }
        await clock.advance(by: .zero, until: .started)
        consumer.cancel()
        #expect(try await consumer.value == ["end"])
        door.open()
    }

    @Test(arguments: [nil, Refusal(reason: "broken")])
    func `is noticed while 1,024 elements wait to be merged`(error: Refusal?) async {
        let seen = Record<[String]>()
        let numbers = Numbers(count: 1024, error: error)
        let sequence = numbers.debounced(for: .seconds(3600), combining: .merge(+=), clock: clock)
        let consumer = clock.task { seen.add(await story(sequence)) }
        await clock.advance(by: .zero, until: .started)
        #expect(seen.all == [["\(1024 * 1025 / 2)", error?.reason ?? "end"]])
        await clock.advance(by: .seconds(3600))
        _ = await consumer.result
    }

    // Real time: the cancel falls wherever it falls, and everything must end in any case.
    @Test
    func `a cancel at any point ends the consumer and the upstream`() async {
        for yields in 0..<150 {
            let (stream, input) = AsyncStream.makeStream(of: Int.self)
            let ended = Door()
            input.onTermination = { _ in ended.open() }
            let consumer = Task {
                var count = 0
                for await _ in stream.throttled(every: .microseconds(yields % 7)) { count += 1 }
                return count
            }
            let feeder = Task {
                for number in 0..<50 {
                    input.yield(number)
                    await Task.yield()
                }
            }
            for _ in 0..<yields { await Task.yield() }
            consumer.cancel()
            #expect(await consumer.value <= 50)
            // A consumer that was cancelled before it began has never looked at the upstream.
            input.finish()
            await ended.pass()
            await feeder.value
        }
    }

    @Test(arguments: 0..<4)
    func `releasing the iterator ends the upstream, at any moment`(elements: Int) async {
        let (stream, input) = AsyncStream.makeStream(of: Int.self)
        let ended = Door()
        input.onTermination = { _ in ended.open() }
        for number in 0..<40 { input.yield(number) }
        do {
            var iterator = stream.debounced(collectingFor: .seconds(100), maxCount: 5).makeAsyncIterator()
            for _ in 0...elements { #expect(await iterator.next()?.count == 5) }
        }
        await ended.pass()
    }
}
