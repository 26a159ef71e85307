import Lull
import LullTesting
import TestSupport
import Testing

// The code of the article "Coming from", and its claims about Lull.

@Suite("Coming from elsewhere")
struct ComingFromSamples {
    let clock = ManualClock()

    @Test
    func `the samples`() async throws {
        let screen = Service()
        let (queries, typing) = AsyncStream.makeStream(of: String.self)
        let (positions, moving) = AsyncStream.makeStream(of: String.self)
        for text in ["ca", "cat"] { typing.yield(text) }
        for text in ["here", "there", "elsewhere"] { moving.yield(text) }
        typing.finish()
        moving.finish()

        for await query in queries.debounced(for: .milliseconds(300)) {
            await screen.show(query)
        }
        for await position in positions.throttled(every: .seconds(1), combining: .first) {
            await screen.show(position)
        }
        #expect(await screen.told == ["cat", "here", "there"])
        let article = try ArticleCode("Sources/Lull/Lull.docc/ComingFrom.md")
        #expect(try article.missing(from: "Tests/LullTests/Documentation/ComingFromSamples.swift") == [])
    }

    @Test
    func `combining the first delivers the first value of an interval at its end`() async {
        let seen = Record<String>()
        let it = Throttler(every: .seconds(2), combining: .first, clock: clock) { (value: String) in seen.add(value) }
        for value in ["a", "b", "c"] { it(value) }
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["a", "b"])
    }

    @Test
    func `maxWait counts from the oldest value that waits`() async {
        let seen = Record<Duration>()
        let it = Debouncer(for: .seconds(2), maxWait: .seconds(3), clock: clock) { [clock] in
            seen.add(clock.now.sinceStart)
        }
        // Executed at 3 seconds; the next value waits from 3.5 on, and so until 6.5.
        for instant in [0, 1000, 2000, 3500, 5000, 6000] {
            await clock.advance(to: ManualClock.Instant.zero.advanced(by: .milliseconds(instant)))
            it()
        }
        await clock.advance(by: .milliseconds(500))
        #expect(seen.all == [.seconds(3), .milliseconds(6500)])
    }
}
