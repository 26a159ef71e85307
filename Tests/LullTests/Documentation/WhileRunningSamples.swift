import TestSupport
import Lull
import LullTesting
import Testing

// The code of the page "While a handler runs". Where a sample has no clock of its own, the clock of the test has been
// added.

@Suite("The samples of the page on running handlers")
struct WhileRunningSamples {
    let clock = ManualClock()

    @Test
    func `stale answers`() async {
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

    @Test
    func `late answers`() async {
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

    @Test
    func `an answer that is not older than one that was shown`() async {
        let (legacy, screen) = (Legacy(index: Index(clock: clock)), Service())
        let query = "cat"
        let search = Debouncer(for: .milliseconds(300), whileRunning: .replace, clock: clock) { (query: String) in
            await legacy.find(query)
        }
        search("ca")
        await clock.advance(by: .seconds(1))
        search.submit(query) { outcome in
            if let hits = outcome.value { await screen.show(hits, for: query) }
        }
        await clock.advance(by: .seconds(20))
        #expect(await screen.told == ["cat: 1"])
        #expect(search.counters.superseded == 1)
    }

    @Test
    func `a handler that hangs`() async throws {
        struct Server {
            let clock: ManualClock
            func sync(_ account: Int, _ changes: Int) async throws { try await clock.sleep(for: .seconds(3600)) }
        }
        let server = Server(clock: clock)
        let sync = KeyedDebouncer(for: .seconds(2), options: .init(timeLimit: .seconds(30)), clock: clock) {
            (account: Int, changes: Int) in
            try await server.sync(account, changes)
        }
        let outcome = clock.task { try await sync.outcome(of: 3, for: 1) }
        await clock.advance(by: .seconds(40))
        await #expect(throws: TimeLimitExceeded(.seconds(30))) { try await outcome.value.get() }
    }

    @Test
    func `one request for all who ask meanwhile`() async throws {
        struct Server {
            let asked = Record<Int>()
            let clock: ManualClock
            func user(_ id: Int) async throws -> String {
                asked.add(id)
                try await clock.sleep(for: .seconds(1))
                return "user \(id)"
            }
        }
        let (server, id) = (Server(clock: clock), 7)
        let users = KeyedDebouncer(for: .zero, whileRunning: .share, clock: clock) { (id: Int, _: Void) in
            try await server.user(id)
        }
        let callers = (0..<3).map { _ in
            clock.task {
                let user = try await users.outcome(for: id).get()
                return user
            }
        }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(2))
        for caller in callers { #expect(try await caller.value == "user 7") }
        #expect(server.asked.all == [7])
    }

    @Test
    func `one answer to all messages`() async {
        let (model, chat) = (Model(clock: clock), Service())
        let room = "kitchen"
        let answer = KeyedDebouncer(
            collectingFor: .seconds(2), maxWait: .seconds(30), whileRunning: .restart, clock: clock
        ) { (room: String, messages: [String]) in
            let text = try await model.answer(to: messages)
            await chat.send(text, to: room)
        }
        answer.submit("hello", for: room)
        await clock.advance(by: .seconds(1))
        answer.touch(room)
        await clock.advance(by: .seconds(3))
        answer.submit("are you there?", for: room)
        await clock.advance(by: .seconds(20))
        #expect(await chat.told == ["kitchen: 2 messages"])
        #expect(answer.counters.executed == 2)
    }

    /// Answers to messages, slowly.
    nonisolated struct Model: Sendable {
        let clock: ManualClock

        func answer(to messages: [String]) async throws -> String {
            try await clock.sleep(for: .seconds(10))
            return "\(messages.count) messages"
        }
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

    @Test
    @MainActor
    func `a handler that submits`() async {
        let feed = Feed(source: Source())
        feed.start()
        await feed.loadAll()
        #expect(feed.pages == ["page 1", "page 2", "page 3"])
    }

    @Test
    func `a bound of what collects`() async {
        let server = Service()
        let upload = Debouncer(
            collectingFor: .seconds(5), options: .init(maxBatch: 100, maxPending: 10_000, overflow: .dropOldest)
        ) { (events: [String]) in
            try await server.upload(events)
        }
        for number in 1...10_050 { upload("\(number)") }
        await upload.flushAndWait()
        let told = await server.told
        #expect(told.count == 100 && told.first?.hasPrefix("51+52+") == true && upload.counters.superseded == 50)
    }

    @Test
    func `few slots, and the end of the owner`() async {
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
}

extension WhileRunningSamples.Feed {
    fileprivate func loadAll() async {
        while load.counters.pending + load.counters.running > 0 { await load.flushAndWait() }
    }
}
