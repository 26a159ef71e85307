import Lull
import LullTesting
import TestSupport
import Testing

/// The memory of a debounced sequence, counted in elements.
@Suite("The memory of a debounced sequence", .ownThreads)
struct StreamMemoryTests {
    let clock = ManualClock()

    static let many = 100_000

    @Test
    func `does not grow with the number of elements`() async {
        let tokens = Tokens(count: 1_000_000)
        var seen: [Int] = []
        for await token in tokens.debounced(for: .seconds(1), clock: clock) { seen.append(token.number) }
        #expect(seen == [1_000_000])
        #expect(tokens.census.most <= 4)
        #expect(await tokens.areGone())
    }

    @Test
    func `does not grow with a consumer that is busy all the time`() async {
        let tokens = Tokens(count: Self.many)
        let (asked, door) = (Record<Int>(), Door())
        let consumer = clock.task {
            for await token in tokens.throttled(every: .seconds(1), clock: clock) {
                asked.add(token.number)
                await door.pass()
            }
        }
        // Time stands still: the first element opens a window, and all others come while its consumer is busy.
        await clock.advance(by: .zero, until: .started)
        #expect(asked.all == [1])
        #expect(tokens.census.most <= 5)
        door.open()
        await clock.advance(by: .zero)
        _ = await consumer.result
        #expect(asked.all == [1, Self.many])
        #expect(await tokens.areGone())
    }

    @Test
    func `holds a few batches where elements are collected, and loses none of them`() async {
        let tokens = Tokens(count: Self.many)
        var next = 1
        for await batch in tokens.debounced(collectingFor: .seconds(1), maxCount: 100, clock: clock) {
            #expect(batch.map(\.number) == Array(next..<next + batch.count))
            next += batch.count
        }
        #expect(next == Self.many + 1)
        // Two, and those of executions that have ended and whose tasks are still being taken down.
        #expect(tokens.census.most <= 1000)
    }

    @Test
    func `holds no more than 1,024 elements that are to be merged, and the one after them`() async throws {
        let numbers = Numbers(count: 5000)
        let first = clock.task { [clock] in
            // Time goes on only when nothing moves any more: the upstream is read for one element beyond the limit.
            var iterator = numbers.debounced(for: .seconds(1), combining: .merge(+=), clock: clock).makeAsyncIterator()
            return try await iterator.next()
        }
        await clock.advance(by: .zero, until: .started)
        #expect(numbers.asked.all.count == 1025)
        await clock.advance(by: .seconds(1), until: .started)
        #expect(try await first.value == 1024 * 1025 / 2)
    }

    @Test
    func `with keys that are collected, elements are read when they arrive while the consumer has time`() async {
        let seen = Record<String>()
        let (stream, input) = AsyncStream.makeStream(of: String.self)
        let sequence = stream.debounced(collectingFor: .seconds(1), by: { $0.first }, maxCount: 2, clock: clock)
        let consumer = clock.task { for await batch in sequence { seen.add(batch.joined()) } }
        await clock.advance(by: .zero, until: .started)
        for element in ["a", "b", "c"] { input.yield(element) }
        await clock.advance(by: .milliseconds(500), until: .started)
        input.yield("d")
        await clock.advance(by: .milliseconds(500), until: .started)
        #expect(seen.all == ["a", "b", "c"])
        await clock.advance(by: .milliseconds(500), until: .started)
        #expect(seen.all == ["a", "b", "c", "d"])
        consumer.cancel()
        _ = await consumer.result
    }

    @Test
    func `with keys that are collected, the upstream is not read while a full batch waits`() async {
        let numbers = Numbers(count: 1000)
        let (seen, door) = (Record<[Int]>(), Door())
        let sequence = numbers.debounced(collectingFor: .seconds(1), by: { $0 % 10 }, maxCount: 5, clock: clock)
        let consumer = clock.task {
            for try await batch in sequence {
                seen.add(batch)
                await door.pass()
            }
        }
        // The 41st number fills the first batch, which the consumer takes, and the 42nd the second, which waits. One
        // more is read.
        await clock.advance(by: .zero, until: .started)
        #expect(seen.all == [[1, 11, 21, 31, 41]])
        #expect(numbers.asked.all.count == 43)
        door.open()
        await clock.advance(by: .zero)
        _ = await consumer.result
        #expect(seen.all.joined().sorted() == Array(1...1000))
    }
}

extension Tokens {
    /// Whether none is left, given the time that it takes to take down the tasks of executions that have ended.
    fileprivate func areGone() async -> Bool {
        (try? await waitUntil { census.living == 0 }) != nil
    }
}
