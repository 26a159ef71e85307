import TestSupport
import Lull
import LullTesting
import Testing

// The code of the articles "Choosing a policy", "While a handler runs", "Outcomes" and "Sequences". Where a sample has
// no clock of its own, the clock of the test has been added.

@Suite("The samples of the articles")
struct ArticleSamples {
    let clock = ManualClock()

    // MARK: - Choosing a policy

    @Test("batches and merges")
    func batches() async {
        typealias Event = String
        let (server, counter) = (Service(), Service())
        let upload = Debouncer(
            collectingFor: .seconds(5), maxWait: .seconds(30), options: .init(maxCount: 100), clock: clock
        ) {
            (events: [Event]) in
            try await server.upload(events)
        }
        let count = Throttler(every: .seconds(1), combining: .merge { $0 += $1 }, clock: clock) { (clicks: Int) in
            await counter.add(clicks)
        }
        for event in ["a", "b"] { upload(event) }
        for _ in 0..<5 { count(1) }
        await clock.advance(by: .seconds(5))
        #expect(await server.told == ["a+b"])
        #expect(await counter.told == ["+1", "+4"])
    }

    @Test("a bound on batches, and a tolerance")
    func bounds() async {
        typealias Event = String
        let (server, store) = (Service(), Store())
        let upload = Debouncer(
            collectingFor: .seconds(5), options: .init(maxCount: 100, maxBatch: 500), clock: clock
        ) {
            (events: [Event]) in
            try await server.upload(events)
        }
        let backup = Debouncer(
            for: .seconds(60), options: .init(tolerance: .seconds(5)), clock: clock
        ) { (draft: Draft) in
            try await store.save(draft)
        }
        for event in ["a", "b"] { upload(event) }
        backup(Draft("c"))
        await clock.advance(by: .seconds(65))
        #expect(await server.told == ["a+b"])
        #expect(await store.drafts == [Draft("c")])
    }

    @Test("settings from outside")
    func settings() {
        let wait = Duration.seconds(2)
        let maxWait = Duration.seconds(1)
        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }

        do {
            let policy = try Policy.debounce(for: wait, maxWait: maxWait)
            print("executed after \(policy.wait) at rest")
        } catch {
            print("in the settings: \(error)")
        }
        #expect(lines == ["in the settings: the maxWait is 1s, but must be at least the wait of 2s"])
    }

    // MARK: - While a handler runs

    @Test("stale answers")
    func stale() async {
        let (index, screen) = (Index(clock: clock), Service())
        let search = Debouncer(for: .milliseconds(300), whileRunning: .cancelRunning, clock: clock) {
            (query: String) in
            let hits = try await index.find(query)
            await screen.show(hits, for: query)
        }
        search("ca")
        await clock.advance(by: .seconds(1))
        search("cat")
        await clock.advance(by: .seconds(20))
        #expect(await screen.told == ["cat: 1"])
        #expect(search.counters.superseded == 1)
    }

    @Test("late answers")
    func late() async {
        let (legacy, screen) = (Legacy(index: Index(clock: clock)), Service())
        let search = Debouncer(for: .milliseconds(300), whileRunning: .cancelRunning, clock: clock) {
            (query: String) in
            let hits = await legacy.find(query)
            try Task.checkCancellation()
            await screen.show(hits, for: query)
        }
        search("ca")
        await clock.advance(by: .seconds(1))
        search("cat")
        await clock.advance(by: .seconds(20))
        #expect(await screen.told == ["cat: 1"])
        #expect(search.counters.superseded == 1)
    }

    @Test("a delay of its own")
    func delay() async {
        let (store, draft) = (Store(), Draft("a"))
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }
        save.submit(draft, after: .milliseconds(200))
        await clock.advance(by: .milliseconds(200))
        #expect(await store.drafts == [draft])
    }

    typealias Source = Service

    @MainActor
    final class Feed {
        private let source: Source
        private(set) var pages: [String] = []

        private lazy var load: Debouncer<Int, Void> = Debouncer(for: .seconds(1)) {
            @MainActor [weak self] (page: Int) in
            guard let self, let text = try await source.page(page) else { return }
            pages.append(text)
            load(page + 1)
        }

        init(source: Source) {
            self.source = source
        }

        func start() {
            load(1)
        }
    }

    @Test("a handler that submits")
    @MainActor
    func feed() async {
        let feed = Feed(source: Source())
        feed.start()
        await feed.loadAll()
        #expect(feed.pages == ["page 1", "page 2", "page 3"])
    }

    @Test("few slots, and the end of the owner")
    func slots() async {
        let (index, screen) = (Service(), Service())
        let reindex = KeyedDebouncer(for: .seconds(5), options: .init(maxConcurrent: 4), clock: clock) {
            (document: Int, revision: Int) in
            try await index.update(document, to: revision)
        }
        reindex.submit(1, for: 1)
        do {
            let preview = Debouncer(
                for: .milliseconds(300), options: .init(atEnd: .drop), clock: clock
            ) { (text: String) in
                await screen.preview(text)
            }
            preview("a")
        }
        await clock.advance(by: .seconds(5))
        #expect(await index.told + screen.told == ["1 to 1"])
    }

    // MARK: - Outcomes

    @Test("an outcome that is awaited", arguments: ["a", ""])
    func outcome(text: String) async throws {
        let (store, draft, lines) = (Store(), Draft(text), Record<String>())
        let print = { @Sendable (line: String) in lines.add(line) }

        let task = clock.task {
            let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }

            switch try await save.outcome(of: draft) {
            case .executed(let revision):
                print("saved as revision \(revision)")
            case .failed(let error):
                print("not saved: \(error)")
            case .superseded, .absorbed:
                print("another draft stands for this one")
            case .cancelled:
                print("cancelled")
            case .rejected(let why):
                print("not accepted: \(why)")
            @unknown default:
                break
            }
        }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(2))
        try await task.value
        #expect(lines.all == [text.isEmpty ? "not saved: Refusal(reason: \"no\")" : "saved as revision 1"])
    }

    @Test("every waiting caller gets the last result, also one that calls while the handler runs")
    func lastResult() async throws {
        let source = SlowSource(clock: clock)
        let load = Debouncer(for: .seconds(1), combining: .merge { $0 = $1 }, clock: clock) { (page: Int) in
            try await source.page(page)
        }
        var waiting: [Task<String, any Error>] = []
        func ask(for page: Int) async {
            waiting.append(
                clock.task {
                    switch try await load.outcome(of: page) {
                    case .executed(let text): text
                    case .failed: "failed"
                    case let other: "\(other)"
                    }
                })
            await clock.advance(by: .zero, until: .started)
        }
        for page in 1...3 { await ask(for: page) }
        await clock.advance(by: .seconds(1))
        for page in [4, 0] { await ask(for: page) }
        await clock.advance(by: .seconds(30))
        var texts: [String] = []
        for task in waiting { texts.append(try await task.value) }
        #expect(texts == ["page 3", "page 3", "page 3", "failed", "failed"])
        #expect(await source.asked == [3, 0])
        #expect(load.counters.superseded == 0)
    }

    /// Takes ten seconds, and has no page 0.
    actor SlowSource {
        private(set) var asked: [Int] = []
        private let clock: ManualClock

        init(clock: ManualClock) { self.clock = clock }

        func page(_ number: Int) async throws -> String {
            asked.append(number)
            try await clock.sleep(for: .seconds(10))
            if number == 0 { throw Refusal() }
            return "page \(number)"
        }
    }

    @Test("a callback")
    @MainActor
    func callback() async {
        let (store, draft) = (Store(), Draft("a"))
        var shown: [Int] = []
        func show(_ revision: Int) { shown.append(revision) }
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }
        save.submit(draft) { outcome in
            if case .executed(let revision) = outcome { show(revision) }
        }
        await clock.advance(by: .seconds(2))
        #expect(shown == [1])
    }

    @Test("a failure handler")
    func failures() async {
        let (store, screen) = (Store(), Service())
        let save = Debouncer(
            for: .seconds(2), clock: clock,
            onFailure: { error in await screen.show("not saved: \(error)") }
        ) { (draft: Draft) in
            try await store.save(draft)
        }
        save(Draft(""))
        await clock.advance(by: .seconds(2))
        #expect(await screen.told == ["not saved: Refusal(reason: \"no\")"])
    }

    // MARK: - Sequences

    struct Reading: Sendable {
        var sensor: Int
        var value: Int
    }

    @Test("debounced and throttled sequences")
    func sequences() async throws {
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

    @Test("a sequence without repetition")
    nonisolated func withoutRepetition() async throws {
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

    @Test("a sequence under the manual clock")
    nonisolated func sequenceUnderTest() async {
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

extension ArticleSamples.Feed {
    fileprivate func loadAll() async {
        while load.counters.pending + load.counters.running > 0 { await load.flushAndWait() }
    }
}
