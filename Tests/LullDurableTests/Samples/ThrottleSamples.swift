import Lull
import LullDurable
import LullTesting
import TestSupport
import Testing

enum Category: String, DurableKey {
    case steps, sleep
}

struct CategorySync: Sendable {
    private let sync: DurableThrottler<Category, Int>
    private let server: HealthServer

    init(store: any DurableStore, server: HealthServer, clock: any Clock<Duration> = ContinuousClock()) async throws {
        sync = try await DurableThrottler(every: .seconds(120), namespace: "health", in: store, clock: clock)
        self.server = server
    }

    /// Returns when it has been recorded that the server is to be told of all changes up to this one.
    func changed(_ category: Category, upTo change: Int) async throws {
        try await sync.submit(change, for: category)
    }

    /// Runs as long as the app does.
    func work() async throws {
        try await sync.run { execution in
            await server.sync(execution.key, upTo: execution.value)
        }
    }
}

actor HealthServer {
    private(set) var syncs: [String] = []

    func sync(_ category: Category, upTo change: Int) {
        syncs.append("\(category) \(change)")
    }
}

@Suite("The samples of the page on syncing at most once in two minutes")
struct ThrottleSamples {
    let clock = ManualClock()
    let server = HealthServer()

    @Test
    func `a category is synced at once, then once in two minutes, with the newest change`() async throws {
        let store = MemoryStore(clock: clock)
        let health = try await CategorySync(store: store, server: server, clock: clock)
        let worker = clock.task { try await health.work() }
        for change in 1...103 {
            try await health.changed(change % 40 == 0 ? .sleep : .steps, upTo: change)
            await clock.advance(by: .milliseconds(10))
        }
        #expect(await server.syncs == ["steps 1", "sleep 40"])
        await clock.advance(by: .seconds(118))
        #expect(await server.syncs == ["steps 1", "sleep 40"])
        await clock.advance(by: .seconds(2))
        #expect(await server.syncs == ["steps 1", "sleep 40", "steps 103", "sleep 80"])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a window survives the end of the app, and so does the change that is pending in it`() async throws {
        let store = MemoryStore(clock: clock)
        let first = try await CategorySync(store: store, server: server, clock: clock)
        let worker = clock.task { try await first.work() }
        try await first.changed(.steps, upTo: 1)
        await clock.advance(by: .seconds(30))
        try await first.changed(.steps, upTo: 2)
        worker.cancel()
        try await worker.value
        // The app starts again a minute after the first sync.
        await clock.advance(by: .seconds(30))
        let second = try await CategorySync(store: store, server: server, clock: clock)
        let successor = clock.task { try await second.work() }
        try await second.changed(.steps, upTo: 3)
        await clock.advance(by: .seconds(59))
        #expect(await server.syncs == ["steps 1"])
        await clock.advance(by: .seconds(1))
        #expect(await server.syncs == ["steps 1", "steps 3"])
        successor.cancel()
        try await successor.value
    }
}
