import Lull
import LullDurable
import LullSQLite
import LullTesting
import TestSupport
import Testing

// The code in the documentation comments of LullDurable and LullSQLite.

enum Topic: String, DurableKey {
    case orders, invoices
}

@Suite("The samples in the comments of LullDurable and LullSQLite")
struct CommentSamples {
    typealias Change = Note

    struct Screen: Sendable {
        let shown = Record<String>()
        func showSaved() { shown.add("saved") }
    }

    struct Service: Sendable {
        let server = Server()
        func send(_ change: Change, named run: DurableRun.ID) async throws { try await server.put(change, named: run) }
    }

    let server = Service()
    let document = "a"
    let change = Change(id: "a", text: "text")

    /// Compiled, and not run: it would write there.
    func onDisk() async throws {
        let store = try await SQLiteStore(path: "/var/lib/app/sync.db")
        let sync = try await DurableDebouncer<String, Change>(for: .seconds(2), namespace: "sync", in: store)
        _ = sync
    }

    /// Compiled, and not run: the work would never end.
    func work(_ store: any DurableStore) async throws {
        let sync = try await DurableDebouncer<String, Change>(
            for: .seconds(2), maxWait: .seconds(10), namespace: "sync", in: store)
        try await sync.submit(change, for: document)

        try await sync.run { execution in
            try await server.send(execution.value, named: execution.runID)
        }
    }

    /// Compiled, and not run: the work would never end.
    func throttled(_ store: any DurableStore) async throws {
        let sync = try await DurableThrottler<Category, Change>(every: .seconds(120), namespace: "sync", in: store)
        try await sync.submit(change, for: .steps)

        try await sync.run { execution in
            try await server.send(execution.value, named: execution.runID)
        }
    }

    @Test
    func `a worker that knows the name alone, of what is throttled as of what is debounced`() async throws {
        let store = MemoryStore()
        struct Settings { var interval: Duration }
        let settings = Settings(interval: .seconds(120))
        let policy = try Policy.throttle(every: settings.interval)
        let sync = try await DurableThrottler<Category, Change>(policy: policy, namespace: "sync", in: store)
        let receipt = try await sync.submit(change, for: .steps)
        let worker = Task {
            let sync = try await DurableDebouncer<String, Change>(namespace: "sync", in: store)
            try await sync.run { execution in try await server.send(execution.value, named: execution.runID) }
        }
        #expect(try await sync.wait(for: receipt, atMost: .seconds(60)) == .executed)
        worker.cancel()
        #expect(await server.server.notes == [change])
    }

    @Test
    func `a store on the clock of the test`() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: clock)
        let sync = try await DurableDebouncer<String, Change>(
            for: .seconds(2), namespace: "sync", in: store, clock: clock)
        let receipt = try await sync.submit(change, for: document)
        #expect(try await sync.state(of: receipt) == .pending)
        await clock.advance(by: .seconds(2))
        #expect(try await sync.state(of: receipt) == .ready)
    }

    @Test
    func `settings from outside, and a key of one's own`() async throws {
        let store = MemoryStore()
        let settings = (wait: Duration.seconds(2), maxWait: Duration.seconds(10))
        let policy = try Policy.debounce(for: settings.wait, maxWait: settings.maxWait)
        let sync = try await DurableDebouncer<String, Change>(policy: policy, namespace: "sync", in: store)
        #expect(try await sync.status().rules.policy == policy)
        #expect(Topic(durableBytes: Topic.invoices.durableBytes) == .invoices)

    }

    @Test
    func `a limit that a handler has just learned`() {
        struct Response { let status = 429 }
        let response = Response()
        #expect(throws: PauseFor(.seconds(60), because: "429 Too Many Requests")) {
            if response.status == 429 { throw PauseFor(.seconds(60), because: "429 Too Many Requests") }
        }
    }

    @Test
    func `runs that begin again`() async throws {
        typealias Message = Change
        let store = MemoryStore()
        let replies = try await DurableDebouncer<String, Message>(
            collectingFor: .seconds(3), maxWait: .seconds(60), whileRunning: .restart,
            namespace: "replies", in: store)
        try await replies.submit(change, for: "a")
        #expect(try await replies.touch("a"))
        #expect(replies.whileRunning == .restart(interrupting: .whenDue))
    }

    @Test
    func `a selection`() async throws {
        let sync = try await DurableDebouncer<String, Change>(for: .seconds(60), namespace: "sync", in: MemoryStore())
        try await sync.submit(change, for: "customer-7/a")
        try await sync.flush(matching: DurableSelection(prefix: "customer-7/"))
        let retries = try await sync.retry(matching: DurableSelection(error: "503"))
        #expect(try await sync.status().ready == 1 && retries == [:])
    }

    @Test
    func `a submit that is waited for`() async throws {
        let screen = Screen()
        let sync = try await DurableDebouncer<String, Change>(for: .seconds(60), namespace: "sync", in: MemoryStore())
        let worker = Task { try await sync.run { try await server.send($0.value, named: $0.runID) } }
        defer { worker.cancel() }
        let receipt = try await sync.submit(change, for: document)
        try await sync.flush(document)
        if try await sync.wait(for: receipt, atMost: .seconds(5)) == .executed { screen.showSaved() }
        try await sync.wait(for: receipt, atMost: .seconds(60))
        #expect(await server.server.notes == [change])
    }
}
