import Foundation
import Lull
import LullDurable
import LullSQLite
import LullTesting
import TestSupport
import Testing

// The code of the articles of LullDurable.

struct Note: Codable, Sendable, Equatable {
    var id: String
    var text: String
}

/// A server that remembers the run ids that it has received.
actor Server {
    private(set) var notes: [Note] = []
    private(set) var requests: [Int64] = []
    var isDown = false

    func put(_ note: Note, named run: Int64) throws {
        if isDown { throw WorkerFixture.Refusal() }
        if !requests.contains(run) { notes.append(note) }
        requests.append(run)
    }

    func goDown(_ isDown: Bool) { self.isDown = isDown }
}

struct NoteSync: Sendable {
    private let sync: DurableDebouncer<String, Note>
    private let server: Server

    init(store: any DurableStore, server: Server, clock: any Clock<Duration> = ContinuousClock()) async throws {
        sync = try await DurableDebouncer(
            for: .seconds(2), maxWait: .seconds(30), namespace: "notes", in: store, clock: clock)
        self.server = server
    }

    /// Returns when the change has been recorded.
    func edited(_ note: Note) async throws {
        try await sync.submit(note, for: note.id)
    }

    /// Sends what is pending now, if there is time: call it when the app leaves the foreground.
    func leave() async throws {
        try await sync.flush()
    }

    /// Runs as long as the app does.
    func work() async throws {
        try await sync.run(maxConcurrent: 2, grace: .seconds(5)) { execution in
            try await server.put(execution.value, named: execution.runID)
        }
    }
}

struct Push: Codable, Sendable {
    var commit: String
}

struct Stale: Error {}

struct Builds: Sendable {
    private let builds: DurableDebouncer<String, Push>
    private let builder: Builder

    init(store: any DurableStore, builder: Builder, clock: any Clock<Duration> = ContinuousClock()) async throws {
        builds = try await DurableDebouncer(
            for: .seconds(10), maxWait: .seconds(60), namespace: "builds", in: store, clock: clock)
        self.builder = builder
    }

    /// Returns the status for the sender, which repeats a delivery under the same name until it receives a 202.
    func receive(_ push: Push, from repository: String, delivery: String) async -> Int {
        do {
            try await builds.submit(push, for: repository, token: delivery)
            return 202
        } catch .tooLarge {
            return 413
        } catch {
            return 503
        }
    }

    /// Runs on each machine until the task is cancelled.
    func work() async throws {
        try await builds.run(maxConcurrent: 4, lease: .seconds(60), grace: .seconds(20)) { execution in
            try await builder.build(
                execution.key, at: execution.value.commit, named: execution.runID, fence: execution.fence)
        }
    }
}

actor Builder {
    private(set) var published: [String: String] = [:]
    private var fences: [String: Int64] = [:]

    func build(_ repository: String, at commit: String, named run: Int64, fence: Int64) async throws {
        guard fence >= fences[repository, default: 0] else { throw Stale() }
        fences[repository] = fence
        published[repository] = commit
    }
}

@Suite("The samples of LullDurable")
struct DocumentationSamples {
    let clock = ManualClock()
    let server = Server()
    let note = Note(id: "a", text: "b")

    @Test("the first page")
    func overview() async throws {
        let (store, server, note) = (MemoryStore(), server, note)
        let worker = Task {
            let sync = try await DurableDebouncer<String, Note>(
                for: .seconds(2), maxWait: .seconds(30), namespace: "notes", in: store)

            try await sync.submit(note, for: note.id)

            try await sync.run { execution in
                try await server.put(execution.value, named: execution.runID)
            }
        }
        worker.cancel()
        try await worker.value
    }

    @Test("a user's own test")
    func testing() async throws {
        let (server, note) = (server, note)
        let clock = ManualClock()
        let store = MemoryStore(clock: StoreClock(clock))
        let sync = try await DurableDebouncer<String, Note>(
            for: .seconds(2), namespace: "notes", in: store, clock: clock)
        let worker = clock.task {
            try await sync.run { execution in try await server.put(execution.value, named: execution.runID) }
        }

        let receipt = try await sync.submit(note, for: note.id)
        await clock.advance(by: .seconds(2))
        #expect(try await sync.state(of: receipt) == .completed)

        worker.cancel()
        try await worker.value
        #expect(await server.notes == [note])
    }

    @Test("monitoring dead and late runs")
    func supervising() async throws {
        let store = MemoryStore(clock: StoreClock(clock))
        let sync = try await DurableDebouncer<String, Int>(for: .seconds(2), namespace: "n", in: store, clock: clock)
        let worker = clock.task {
            try await sync.run(retry: RetryPolicy(maxAttempts: 1), onFailure: { _ in }) { execution in
                if execution.value < 0 { throw WorkerFixture.Refusal() }
            }
        }
        for key in ["a", "b"] { try await sync.submit(-1, for: key) }
        await clock.advance(by: .seconds(2))
        worker.cancel()
        try await worker.value
        try await sync.submit(1, for: "b")
        await clock.advance(by: .seconds(100))

        var lines: [String] = []
        func print(_ line: String) { lines.append(line) }
        let status = try await sync.status()
        if status.dead > 0 || status.oldestDue ?? .zero > .seconds(60) {
            print("\(status.dead) dead, \(status.ready) ready, the oldest for \(status.oldestDue ?? .zero)")
        }
        for run in try await sync.dead() {
            print("\(run.key.map { "\($0)" } ?? "unreadable"): \(run.error ?? "") after \(run.attempts) attempts")
            if try await sync.retry(run.id) == .outdated {
                try await sync.discard(run.id)
            }
        }
        #expect(lines.first == "2 dead, 1 ready, the oldest for 98.0 seconds")
        #expect(lines.dropFirst().sorted() == ["a: no after 1 attempts", "b: no after 1 attempts"])
        #expect(try await sync.status().dead == 0)
        #expect(try await sync.status().retrying == 1)
    }

    @Test("how much one execution gets")
    func batches() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: StoreClock(clock))
        let sync = try await DurableDebouncer<String, Note>(
            for: .seconds(2), combining: .collect, maxBatch: 100, namespace: "sync", in: store)
        for number in 0..<250 { try await sync.submit(Note(id: "a", text: "\(number)"), for: "a") }
        let sizes = Record<Int>()
        let worker = clock.task {
            let worked = try await DurableDebouncer<String, Note>(namespace: "sync", in: store, clock: clock)
            try await worked.run { execution in sizes.add(execution.values.count) }
        }
        await clock.advance(by: .seconds(2))
        #expect(sizes.all == [100, 100, 50])
        worker.cancel()
        try await worker.value
    }

    // MARK: - Finishing the sync

    @Test("the start of the app")
    func start() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = server
        do {
            let store = try await SQLiteStore(path: folder.appending(path: "notes.lull").path)
            try await NoteSync(store: store, server: server).edited(note)
            await store.close()
        }
        let store = try await SQLiteStore(path: folder.appending(path: "notes.lull").path)
        let notes = try await NoteSync(store: store, server: server)
        let worker = Task { try await notes.work() }
        try await notes.leave()
        for _ in 0..<2000 where await server.notes.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        #expect(await server.notes == [note])
        worker.cancel()
        try await worker.value
        await store.close()
    }

    @Test("a change that was recorded before the app was killed is sent at its next start, once")
    func killedBefore() async throws {
        let store = MemoryStore(clock: StoreClock(clock))
        let first = try await NoteSync(store: store, server: server, clock: clock)
        try await first.edited(Note(id: "a", text: "b"))
        try await first.edited(note)
        // Killed. An hour later:
        await clock.advance(by: .seconds(3600))
        let second = try await NoteSync(store: store, server: server, clock: clock)
        let worker = clock.task { try await second.work() }
        await clock.advance(by: .zero)
        #expect(await server.notes == [note])
        worker.cancel()
        try await worker.value
    }

    @Test("a change that was being sent when the app was killed is sent again, and the server drops it")
    func killedWhile() async throws {
        let store = MemoryStore(clock: StoreClock(clock))
        let first = try await NoteSync(store: store, server: server, clock: clock)
        try await first.edited(note)
        await clock.advance(by: .seconds(2))
        // The first start's last act: it sends the note, and is killed before it reports that to the store.
        let claim = DurableClaim(
            namespace: "notes", terms: .init(owner: 1, lease: .seconds(30), maxAttempts: 20), limit: 1)
        let run = try #require(try await store.claim(claim).runs.first)
        try await server.put(note, named: run.id)

        let second = try await NoteSync(store: store, server: server, clock: clock)
        let worker = clock.task { try await second.work() }
        await clock.advance(by: .seconds(29))
        #expect(await server.requests.count == 1)
        await clock.advance(by: .seconds(1))
        #expect(await server.requests == [run.id, run.id])
        #expect(await server.notes == [note])
        worker.cancel()
        try await worker.value
    }

    @Test("what waits for the network is sent when the app leaves the foreground with a network")
    func leaving() async throws {
        let store = MemoryStore(clock: StoreClock(clock))
        let notes = try await NoteSync(store: store, server: server, clock: clock)
        let worker = clock.task { try await notes.work() }
        await server.goDown(true)
        try await notes.edited(note)
        await clock.advance(by: .seconds(600))
        #expect(await server.notes.isEmpty)
        await server.goDown(false)
        try await notes.leave()
        await clock.advance(by: .zero)
        #expect(await server.notes == [note])
        worker.cancel()
        try await worker.value
    }

    // MARK: - Coalescing webhooks

    @Test("pushes to any machine are one build by some machine, each delivery counting once")
    func webhooks() async throws {
        let store = MemoryStore(clock: StoreClock(clock))
        let builder = Builder()
        var machines: [Builds] = []
        for _ in 0..<3 { machines.append(try await Builds(store: store, builder: builder, clock: clock)) }
        let workers = machines.map { machine in clock.task { try await machine.work() } }
        for number in 0..<12 {
            let push = Push(commit: "commit \(number)")
            #expect(await machines[number % 3].receive(push, from: "lull", delivery: "\(number)") == 202)
        }
        // Delivered again, to another machine: it is not the newest.
        #expect(await machines[1].receive(Push(commit: "commit 0"), from: "lull", delivery: "0") == 202)
        let large = Push(commit: String(repeating: "x", count: 2 << 20))
        #expect(await machines[0].receive(large, from: "lull", delivery: "large") == 413)
        await clock.advance(by: .seconds(9))
        #expect(await builder.published == [:])
        await clock.advance(by: .seconds(1))
        #expect(await builder.published == ["lull": "commit 11"])
        for worker in workers {
            worker.cancel()
            try await worker.value
        }
        await store.close()
        #expect(await machines[0].receive(Push(commit: "late"), from: "lull", delivery: "late") == 503)
    }

    @Test("the builder refuses an older fence")
    func fences() async throws {
        let builder = Builder()
        try await builder.build("lull", at: "new", named: 2, fence: 5)
        await #expect(throws: Stale.self) { try await builder.build("lull", at: "old", named: 1, fence: 4) }
        #expect(await builder.published == ["lull": "new"])
    }

    @Test(
        "the code of the articles is the code above",
        arguments: [
            "LullDurable", "WorkThatSurvives", "FinishingTheSync", "CoalescingWebhooks",
        ])
    func articles(name: String) throws {
        let article = try ArticleCode("Sources/LullDurable/LullDurable.docc/\(name).md")
        #expect(article.samples.count >= 1)
        #expect(try article.missing(from: "Tests/LullDurableTests/DocumentationSamples.swift") == [])
    }
}
