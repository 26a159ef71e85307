import TestSupport
import Lull
import LullTesting
import Observation
import Testing

// The code of the page "Sequences". Where a sample has no clock of its own, the clock of the test has been added.

@Suite("The samples of the page on sequences")
struct SequenceSamples {
    let clock = ManualClock()

    struct Reading: Sendable {
        var sensor: Int
        var value: Int
    }

    @Test
    func `debounced and throttled sequences`() async throws {
        let (screen, server) = (Service(), Service())
        func stream<Element: Sendable>(_ elements: [Element]) -> AsyncStream<Element> {
            let (stream, input) = AsyncStream.makeStream(of: Element.self)
            for element in elements { input.yield(element) }
            input.finish()
            return stream
        }

        let queries = stream(["ca", "cat"])
        for await query in queries.debounced(for: .milliseconds(300)) {
            await screen.show("searching for \(query)")
        }
        #expect(await screen.told == ["searching for cat"])

        let readings = stream([Reading(sensor: 1, value: 2), Reading(sensor: 1, value: 3)])
        for await reading in readings.throttled(every: .seconds(1), by: { $0.sensor }) {
            await screen.show("\(reading.sensor): \(reading.value)")
        }
        #expect(await screen.told.dropFirst() == ["1: 2", "1: 3"])

        let events = stream(["a", "b"])
        for await events in events.debounced(collectingFor: .seconds(5), maxCount: 100) {
            try await server.upload(events)
        }
        #expect(await server.told == ["a+b"])
    }

    @Test
    func `a delay of each element`() async {
        let screen = Service()
        let (queries, input) = AsyncStream.makeStream(of: String.self)
        let reading = clock.task { [clock] in
            let lookups = queries.debounced(for: .seconds(1), after: { $0.isEmpty ? .zero : .seconds(1) }, clock: clock)
            for await query in lookups {
                await screen.show("looking for \(query)")
            }
        }
        await clock.advance(by: .zero, until: .started)
        input.yield("cat")
        await clock.advance(by: .milliseconds(900), until: .started)
        #expect(await screen.told == [])
        input.yield("")
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .zero, until: .started)
        #expect(await screen.told == ["looking for "])
        input.finish()
        _ = await reading.result
    }

    @Test
    func `another rule while a handler runs`() async {
        let screen = Service()
        let (queries, input) = AsyncStream.makeStream(of: String.self)
        input.yield("ca")
        input.yield("cat")
        input.finish()
        let search = Debouncer(for: .milliseconds(300), whileRunning: .replace) { (query: String) in
            await screen.show("results for \(query)")
        }
        for await query in queries { search(query) }
        await search.flushAndWait()
        #expect(await screen.told == ["results for cat"])
    }

    @MainActor @Observable
    final class SearchModel {
        var text = ""
        var hits: [String] = []
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test
    @MainActor
    func `what observation tracks`() async throws {
        let model = SearchModel()
        let following = Task { [clock] in
            let texts = Observations { model.text }
            for await text in texts.debounced(for: .milliseconds(300), clock: clock) {
                model.hits = [text]
            }
        }
        try await waitUntil {
            if model.hits.isEmpty { await clock.advance(by: .milliseconds(100), until: .started) }
            return model.hits == [""]
        }
        for text in ["c", "ca", "cat"] { model.text = text }
        try await waitUntil {
            if model.hits == [""] { await clock.advance(by: .milliseconds(100), until: .started) }
            return model.hits == ["cat"]
        }
        following.cancel()
        await following.value
    }

    @Test
    nonisolated func `a sequence without repetition`() async throws {
        let screen = Service()
        let (queries, input) = AsyncStream.makeStream(of: String.self)
        let consumer = clock.task {
            let settled = queries.debounced(for: .milliseconds(300), removingDuplicates: { $0 == $1 }, clock: clock)
            for await query in settled {
                await screen.show("searching for \(query)")
            }
        }
        await clock.advance(by: .zero, until: .started)
        for query in ["cat", "cat", "cats"] {
            input.yield(query)
            await clock.advance(by: .zero, until: .started)
            await clock.advance(by: .seconds(1), until: .started)
        }
        input.finish()
        try await consumer.value
        #expect(await screen.told == ["searching for cat", "searching for cats"])
    }

    @Test
    nonisolated func `a sequence under the manual clock`() async {
        let seen = Record<String>()
        let (queries, input) = AsyncStream.makeStream(of: String.self)
        let consumer = clock.task {
            for await query in queries.debounced(for: .seconds(1), clock: clock) { seen.add(query) }
        }
        await clock.advance(by: .zero, until: .started)

        input.yield("ca")
        input.yield("cat")
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == ["cat"])
        consumer.cancel()
    }
}
