import Foundation
import Lull
import LullTesting
import TestSupport
import Testing

// The code in the documentation comments of Lull and of LullTesting.

@Suite("The samples in the comments of LullTesting")
struct TestingCommentSamples {
    @Test
    func `a clock that a test advances`() async {
        let store = Store()
        let clock = ManualClock()
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: Draft) in try await store.save(draft) }
        save(Draft("a"))
        save(Draft("ab"))
        await clock.advance(by: .seconds(2))
        #expect(await store.drafts == [Draft("ab")])
    }

    @Test
    func `a call that returns only after the clock has moved`() async throws {
        let clock = ManualClock()
        let save = Debouncer(for: .seconds(2), clock: clock) { (draft: String) in draft.count }
        let outcome = clock.task { try await save.outcome(of: "ab") }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .seconds(2))
        guard case .executed(2) = try await outcome.value else { Issue.record("not executed"); return }
    }

    @Test
    func `a clock that makes nobody wait`() async throws {
        let save = Debouncer(for: .seconds(2), clock: ImmediateClock()) { (draft: String) in draft.count }
        guard case .executed(2) = try await save.outcome(of: "ab") else { Issue.record("not executed"); return }
    }

    @Test
    func `a clock that is not used`() {
        let save = Debouncer(for: .seconds(2), clock: UnusedClock()) { (draft: String) in draft.count }
        save.flush()  // nothing is pending, and nothing waits
    }

    @Test
    @MainActor
    func `a task that sleeps`() async {
        let clock = ManualClock()
        let poller = SleepingSamples.Poller(clock: clock)
        poller.start()
        await clock.waitForSleeps()
        await clock.advance(by: .seconds(5))
        await clock.waitForSleeps()
        #expect(poller.count == 1)
        poller.stop()
    }
}

/// Compiled, and run as far as time does not matter: what the samples mean is tested elsewhere.
@Suite("The samples in the comments of Lull")
struct CommentSamples {
    typealias DeviceID = String
    typealias Position = Int

    let api = Store()
    let server = Service()
    let hub = Service()
    let counter = Service()
    let screen = Service()
    let log = Log()
    let settings = (wait: Duration.seconds(2), maxWait: Duration.seconds(10), interval: Duration.seconds(1))
    let draft = Draft("a")
    let position = 1
    let lamp = "lamp"

    @Test
    func `a debouncer is flushed`() async {
        let save = Debouncer(for: .seconds(2)) { (draft: Draft) in try await api.save(draft) }
        save(draft)
        await save.flushAndWait()
        #expect(await api.drafts == [draft])
    }

    @Test
    func `a throttler`() async {
        let report = Throttler(every: .seconds(1)) { (position: Position) in try await server.report(position) }
        report(position)
        await report.shutDownAndWait()
        #expect(await server.told == ["at 1"])
    }

    @Test
    func `keys`() async {
        let levels = KeyedDebouncer(for: .seconds(2), maxWait: .seconds(10)) { (device: DeviceID, level: Int) in
            try await hub.set(level, on: device)
        }
        levels.submit(7, for: lamp)
        levels.submit(8, for: lamp, after: .seconds(5))
        await levels.shutDownAndWait()
        #expect(await hub.told == ["lamp=8"])

        let sync = KeyedThrottler(every: .seconds(120)) { (category: Category, _: Void) in
            try await server.sync(category)
        }
        sync.submit(for: .steps)
        await sync.shutDownAndWait()
        #expect(await server.told == ["sync steps"])
    }

    @Test
    func `values that are collected or merged`() async {
        let upload = Debouncer(collectingFor: .seconds(5), maxCount: 100) { (events: [String]) in
            try await server.upload(events)
        }
        for event in ["a", "b"] { upload(event) }
        await upload.shutDownAndWait()
        #expect(await server.told == ["a+b"])

        let count = Throttler(every: .seconds(1), combining: .merge { $0 += $1 }) { (clicks: Int) in
            await counter.add(clicks)
        }
        for _ in 0..<5 { count(1) }
        await count.shutDownAndWait()
        #expect(await counter.told == ["+1", "+4"])
    }

    @Test
    func `options`() async {
        let save = Debouncer(for: .seconds(2), options: .init(atEnd: .flush)) { (draft: Draft) in
            try await api.save(draft)
        }
        let report = Throttler(every: .seconds(10), options: .init(tolerance: .seconds(1))) { (position: Position) in
            try await server.report(position)
        }
        save(draft)
        report(position)
        await save.shutDownAndWait()
        await report.shutDownAndWait()
        #expect(await api.drafts == [draft])
        #expect(await server.told == ["at 1"])
    }

    @Test
    func `what is still to be done`() async {
        let save = Debouncer(for: .seconds(2)) { (draft: Draft) in try await api.save(draft) }
        var isSaved = true
        save(draft)
        isSaved = save.state.isDone
        #expect(!isSaved)
        await save.flushAndWait()
        isSaved = save.state.isDone
        #expect(isSaved)
    }

    @Test
    func `settings from outside`() async throws {
        var save: Debouncer<Draft, Int>?
        do {
            _ = try Policy.debounce(for: settings.wait, maxWait: settings.maxWait)
            save = Debouncer(for: settings.wait, maxWait: settings.maxWait) { (draft: Draft) in
                try await api.save(draft)
            }
        } catch {
            log.error("in the settings: \(error)")
        }
        #expect(save != nil && log.lines.all == [])
    }

    @Test
    func `a handler that gets the key alone`() async {
        enum Account { typealias ID = Int }
        let account = (id: 7, name: "a")
        let sync = KeyedDebouncer(for: .seconds(2)) { (account: Account.ID) in try await server.sync(account) }
        sync.submit(for: account.id)
        await sync.flushAndWait()
        #expect(sync.counters.executed == 1)
    }

    /// Compiled, and not run.
    func outputs(_ users: KeyedDebouncer<Int, Int, String>, _ id: Int) async throws {
        let user = try await users.outcome(of: id, for: id).get()
        _ = user
    }

    @Test
    func `outcomes, by a callback and awaited`() async throws {
        let save = Debouncer(for: .zero) { (draft: Draft) in try await api.save(draft) }
        save.submit(draft) { outcome in
            if case .failed(let error) = outcome { await screen.show("not saved: \(error)") }
        }
        guard case .executed(let count) = try await save.outcome(of: draft) else { return }
        #expect(count >= 1)
    }

    @Test
    func `an answer to a submit`() async {
        let query = "cat"
        let search = Debouncer(for: .zero) { (query: String) in [query] }
        search.submit(query) { outcome in
            if let hits = outcome.value { await screen.show(hits, for: query) }
        }
        await search.flushAndWait()
        #expect(await screen.told == ["cat: 1"])
    }

    /// Compiled, and not run: it would go on until the debouncer is released.
    func observe(_ save: Debouncer<Draft, Int>) async {
        for await event in save.events() {
            log.error("\(event.kind) at \(event.at)")
        }
    }

    /// Compiled, and not run: it would write there.
    func record(_ search: Debouncer<String, Void>, _ file: URL) throws {
        let recording = search.startRecording()
        try Data(recording.trace().utf8).write(to: file)
    }

    @Test
    func `sequences`() async {
        let found = Record<String>()
        func search(_ query: String) async { found.add(query) }
        func show(_ position: Int) async { found.add("\(position)") }
        let (queries, typing) = AsyncStream.makeStream(of: String.self)
        let (positions, moving) = AsyncStream.makeStream(of: Int.self)
        typing.yield("cat")
        typing.finish()
        moving.yield(1)
        moving.finish()
        for await query in queries.debounced(for: .milliseconds(300)) { await search(query) }
        for await position in positions.throttled(every: .seconds(1)) { await show(position) }
        #expect(found.all == ["cat", "1"])
    }

    @Test
    func `a limiter without a debouncer`() async throws {
        struct Server {
            let fetched = Record<Int>()
            func fetch(_ page: Int) async throws { fetched.add(page) }
        }
        let service = Server()
        let pages = 1...3
        let limiter = Limiter(RateLimit(40, per: .seconds(60), burst: 10))
        for page in pages {
            try await limiter.acquire()
            try await service.fetch(page)
        }
        #expect(service.fetched.all == [1, 2, 3])
    }

    @Test
    func `answers of a handler`() async throws {
        let account = SlowAccount()
        await #expect(throws: Snooze(for: .seconds(30))) { try await account.check() }
        let tooMany = RetryAfter(.seconds(30), because: "429 Too Many Requests")
        #expect(throws: tooMany) { try check(Response(status: 429), of: 7) }
        #expect(throws: GiveUp("there is no document 7")) { try check(Response(status: 404), of: 7) }
        let retry = RetryPolicy(initialDelay: .seconds(5), maxDelay: .seconds(3600), maxAttempts: 50)
        #expect(retry.maxAttempts == 50)
    }
}

private struct SlowAccount {
    private var account: SlowAccount { self }
    var isReady: Bool { get async throws { false } }

    func check() async throws {
        guard try await account.isReady else { throw Snooze(for: .seconds(30)) }
    }
}

private struct Response {
    let status: Int
    var retryAfter = 30
}

private func check(_ response: Response, of id: Int) throws {
    if response.status == 429 { throw RetryAfter(.seconds(response.retryAfter), because: "429 Too Many Requests") }
    if response.status == 404 { throw GiveUp("there is no document \(id)") }
}
