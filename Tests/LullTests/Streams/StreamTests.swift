import TestSupport
import Lull
import LullTesting
import Testing

@Suite("A debounced or throttled sequence")
struct StreamTests {
    let clock = ManualClock()
    let seen = Record<String>()

    /// Consumes a sequence, noting its elements and its end.
    func consume<S: AsyncSequence & Sendable>(
        _ sequence: S, busy: @escaping @Sendable (S.Element) async throws -> Void = { _ in }
    ) -> Task<Void, any Error> where S.Element: Sendable {
        clock.task { [seen] in
            do {
                for try await element in sequence {
                    seen.add("\(element)")
                    try await busy(element)
                }
                seen.add("end")
            } catch {
                seen.add("\(error)")
            }
        }
    }

    /// Runs everything that is due now.
    func runAllDue() async {
        await clock.advance(by: .zero, until: .started)
    }

    @Test
    func `delivers the newest element when a burst has ended, counted from its arrival`() async {
        let (queries, input) = AsyncStream.makeStream(of: String.self)
        let task = consume(queries.debounced(for: .seconds(1), clock: clock))
        await runAllDue()
        for query in ["l", "lu", "lul"] {
            input.yield(query)
            await clock.advance(by: .milliseconds(400), until: .started)
        }
        #expect(seen.all == [])
        await clock.advance(by: .milliseconds(600), until: .started)
        #expect(seen.all == ["lul"])
        input.finish()
        await runAllDue()
        #expect(seen.all == ["lul", "end"])
        _ = await task.result
    }

    @Test
    func `keeps due elements apart by the spacing`() async {
        let (queries, input) = AsyncStream.makeStream(of: String.self)
        let task = consume(queries.debounced(for: .seconds(1), spacing: .seconds(5), clock: clock))
        await runAllDue()
        for query in ["l", "lu", "lul"] {
            input.yield(query)
            await clock.advance(by: .seconds(2), until: .started)
        }
        // At 6 seconds, five after the first.
        #expect(seen.all == ["l", "lul"])
        input.finish()
        _ = await task.result
    }

    @Test
    func `delivers no more elements than a limit allows, of all keys together`() async {
        let (words, input) = AsyncStream.makeStream(of: String.self)
        let task = consume(
            words.debounced(
                for: .zero, by: { $0.prefix(1) }, limit: RateLimit(1, per: .seconds(5)), clock: clock))
        await runAllDue()
        for word in ["a1", "b1", "a2", "b2"] {
            input.yield(word)
            await clock.advance(by: .seconds(1), until: .started)
        }
        #expect(seen.all == ["a1"])
        input.finish()
        await clock.advance(by: .seconds(20), until: .started)
        #expect(seen.all == ["a1", "a2", "b2", "end"])
        _ = await task.result
    }

    @Test
    func `delivers at most one element per interval, the newest`() async {
        let (positions, input) = AsyncStream.makeStream(of: Int.self)
        let task = consume(positions.throttled(every: .seconds(1), clock: clock))
        await runAllDue()
        for position in 0..<7 {
            input.yield(position)
            await clock.advance(by: .milliseconds(300), until: .started)
        }
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == ["0", "3", "6"])
        input.finish()
        await runAllDue()
        _ = await task.result
    }

    @Test(arguments: [true, false])
    func `leaves out what is the same as what was delivered last, when asked to`(removed: Bool) async {
        let (queries, input) = AsyncStream.makeStream(of: String.self)
        @Sendable func isSame(_ one: String, _ other: String) -> Bool { one == other }
        let task = consume(
            queries.debounced(for: .seconds(1), removingDuplicates: removed ? isSame : nil, clock: clock))
        await runAllDue()
        // Typed and taken back: when typing pauses, it is what it was.
        for query in ["lull", "lul", "lull", "lullaby"] {
            input.yield(query)
            await runAllDue()
            if query == "lul" { continue }
            await clock.advance(by: .seconds(1), until: .started)
        }
        input.yield("lullaby")
        input.finish()
        await runAllDue()
        let all = ["lull", "lull", "lullaby", "lullaby", "end"]
        #expect(seen.all == (removed ? ["lull", "lullaby", "end"] : all))
        _ = await task.result
    }

    @Test
    func `leaves out duplicates of an Equatable element by its operator`() async {
        let (positions, input) = AsyncStream.makeStream(of: Int.self)
        let task = consume(positions.throttled(every: .seconds(1), removingDuplicates: ==, clock: clock))
        await runAllDue()
        for position in [1, 1, 2, 2, 2] {
            input.yield(position)
            await clock.advance(by: .seconds(1), until: .started)
        }
        #expect(seen.all == ["1", "2"])
        input.finish()
        await runAllDue()
        _ = await task.result
    }

    @Test
    func `keeps keys apart, and lets them take turns with the consumer`() async {
        let (levels, input) = AsyncStream.makeStream(of: String.self)
        let task = consume(levels.debounced(for: .seconds(1), by: { $0.first }, clock: clock))
        await runAllDue()
        for level in ["a1", "b1", "a2", "b2"] { input.yield(level) }
        await runAllDue()
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == ["a2", "b2"])
        input.finish()
        await runAllDue()
        _ = await task.result
    }

    @Test(arguments: [false, true])
    func `delivers what is pending when the upstream ends, unless it drops that`(drops: Bool) async {
        let (queries, input) = AsyncStream.makeStream(of: String.self)
        let task = consume(queries.debounced(for: .seconds(1), droppingAtEnd: drops, clock: clock))
        await runAllDue()
        input.yield("last")
        input.finish()
        await runAllDue()
        #expect(seen.all == (drops ? ["end"] : ["last", "end"]))
        _ = await task.result
    }

    @Test
    func `delivers what is pending, then the error, with its type kept`() async {
        let (queries, input) = AsyncThrowingStream.makeStream(of: String.self)
        let task = consume(queries.debounced(for: .seconds(1), clock: clock))
        await runAllDue()
        input.yield("last")
        input.finish(throwing: Refusal())
        await runAllDue()
        #expect(seen.all == ["last", "Refusal(reason: \"no\")"])
        _ = await task.result
        func keepsFailure<S: AsyncSequence>(_: S) where S.Failure == Never {}
        keepsFailure(AsyncStream.makeStream(of: Int.self).stream.debounced(for: .seconds(1)))
    }

    @Test
    func `does not lose an error that comes before the consumer waits`() async throws {
        let (queries, input) = AsyncThrowingStream.makeStream(of: String.self)
        var iterator = queries.debounced(for: .milliseconds(1)).makeAsyncIterator()
        input.yield("a")
        #expect(try await iterator.next() == "a")
        input.finish(throwing: Refusal())
        await letOthersRun()
        await #expect(throws: Refusal.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test
    func `keeps one element for a slow consumer, the newest`() async {
        let (queries, input) = AsyncStream.makeStream(of: Int.self)
        let task = consume(queries.debounced(for: .seconds(1), clock: clock)) { [clock] _ in
            try await clock.sleep(for: .seconds(100))
        }
        await runAllDue()
        for query in 0..<10 {
            input.yield(query)
            await clock.advance(by: .seconds(2), until: .started)
        }
        #expect(seen.all == ["0"])
        await clock.advance(by: .seconds(90), until: .started)
        #expect(seen.all == ["0", "9"])
        task.cancel()
        _ = await task.result
    }

    @Test
    func `reads the upstream for one element at most while a full batch waits`() async {
        /// Counts how many elements have been asked for.
        struct Counting: AsyncSequence, Sendable {
            let asked: Record<Int>
            struct Iterator: AsyncIteratorProtocol {
                let asked: Record<Int>
                var next = 0
                mutating func next() async -> Int? {
                    next += 1
                    asked.add(next)
                    return next <= 1000 ? next : nil
                }
                mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Int? { await next() }
            }
            func makeAsyncIterator() -> Iterator { Iterator(asked: asked) }
        }
        let asked = Record<Int>()
        let numbers = Counting(asked: asked)
        let task = consume(numbers.debounced(collectingFor: .seconds(1), maxCount: 10, clock: clock)) { [clock] _ in
            try await clock.sleep(for: .seconds(1))
        }
        await runAllDue()
        #expect(seen.all == ["\(Array(1...10))"])
        #expect(asked.all.count == 21)
        await clock.advance(by: .seconds(1), until: .started)
        #expect(asked.all.count == 31)
        await clock.advance(by: .seconds(200), until: .started)
        #expect(seen.all.count == 101)
        #expect(seen.all.last == "end")
        _ = await task.result
    }

    @Test
    func `ends at once when the consumer is cancelled, upstream included`() async {
        let (queries, input) = AsyncStream.makeStream(of: Int.self)
        let ended = Record<String>()
        input.onTermination = { ended.add("\($0)") }
        let task = consume(queries.debounced(for: .seconds(1), clock: clock))
        await runAllDue()
        input.yield(1)
        await runAllDue()
        task.cancel()
        await runAllDue()
        #expect(seen.all == ["end"])
        #expect(ended.all == ["cancelled"])
        _ = await task.result
    }

    @Test
    func `ends when the consumer leaves its loop`() async {
        let (queries, input) = AsyncStream.makeStream(of: Int.self)
        let ended = Record<String>()
        input.onTermination = { ended.add("\($0)") }
        let sequence = queries.debounced(for: .seconds(1), clock: clock)
        let task = clock.task { [seen] in
            for await element in sequence {
                seen.add("\(element)")
                break
            }
        }
        await runAllDue()
        input.yield(1)
        await clock.advance(by: .seconds(1), until: .started)
        await runAllDue()
        #expect(seen.all == ["1"])
        #expect(ended.all == ["cancelled"])
        _ = await task.result
    }

    @Test
    func `delivers the elements of a burst as one if they are merged`() async {
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        let task = consume(numbers.debounced(for: .seconds(1), combining: .merge(+=), clock: clock))
        await runAllDue()
        for number in 1...4 { input.yield(number) }
        await runAllDue()
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == ["10"])
        input.finish()
        await runAllDue()
        _ = await task.result
    }

    @Test
    func `delivers the last element on a real clock as well`() async {
        let (queries, input) = AsyncStream.makeStream(of: Int.self)
        for query in 0..<50 { input.yield(query) }
        var found: [Int] = []
        for await query in queries.debounced(for: .milliseconds(20)) {
            found.append(query)
            guard query < 99 else { continue }
            input.yield(99)
            input.finish()
        }
        #expect(found.last == 99 && found.count <= 3)
    }
}
