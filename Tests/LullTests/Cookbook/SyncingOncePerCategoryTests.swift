import Lull
import LullTesting
import Testing

@Suite("Syncing once per category")
struct SyncingOncePerCategoryTests {
    let clock = ManualClock()

    nonisolated enum Category: String, Sendable {
        case steps
        case sleep
    }

    actor Store {
        private(set) var synced: [String] = []
        private(set) var problems: [String] = []
        private let clock: ManualClock?
        private var broken: Category?

        init(clock: ManualClock? = nil, broken: Category? = nil) {
            self.clock = clock
            self.broken = broken
        }

        func sync(_ category: Category) async throws {
            if category == broken { throw Refusal() }
            synced.append(category.rawValue)
            try await clock?.sleep(for: .seconds(10))
        }

        func log(_ problem: String) { problems.append(problem) }
    }

    final class HealthSync: Sendable {
        private let sync: KeyedDebouncer<Category, Void, Void>

        init(store: Store, clock: any Clock<Duration> = ContinuousClock()) {
            sync = KeyedDebouncer(
                for: .seconds(2), maxWait: .seconds(30), clock: clock,
                onFailure: { error, category in await store.log("\(category): \(error)") }
            ) { category, _ in
                try await store.sync(category)
            }
        }

        func changed(_ category: Category) {
            sync.submit((), for: category)
        }

        func timeIsRunningOut() async {
            await sync.flushAndWait()
        }
    }

    @Test
    func `a hundred changes of steps and a few of sleep are one sync each`() async {
        let store = Store()
        let health = HealthSync(store: store, clock: clock)
        for change in 1...103 {
            health.changed(change % 40 == 0 ? .sleep : .steps)
            await clock.advance(by: .milliseconds(10))
        }
        await clock.advance(by: .seconds(2))
        #expect(await store.synced.sorted() == ["sleep", "steps"])
    }

    @Test
    func `a sync that fails does not stop the other, and is reported`() async {
        let store = Store(broken: .sleep)
        let health = HealthSync(store: store, clock: clock)
        health.changed(.sleep)
        health.changed(.steps)
        await clock.advance(by: .seconds(2))
        #expect(await store.synced == ["steps"])
        #expect(await store.problems.count == 1)
    }

    @Test
    func `changes during a sync cause one more, and two never overlap`() async {
        let store = Store(clock: clock)
        let health = HealthSync(store: store, clock: clock)
        health.changed(.steps)
        await clock.advance(by: .seconds(2))
        for _ in 1...50 { health.changed(.steps) }
        await clock.advance(by: .seconds(9))
        #expect(await store.synced == ["steps"])
        await clock.advance(by: .seconds(20))
        #expect(await store.synced == ["steps", "steps"])
    }

    @Test
    func `a store that never pauses is synced every thirty seconds`() async {
        let store = Store()
        let health = HealthSync(store: store, clock: clock)
        for _ in 1...61 {
            health.changed(.steps)
            await clock.advance(by: .seconds(1))
        }
        #expect(await store.synced.count == 2)
    }

    @Test
    func `when the time is running out, it has been synced when the call returns`() async {
        let store = Store()
        let health = HealthSync(store: store, clock: clock)
        health.changed(.steps)
        health.changed(.sleep)
        await health.timeIsRunningOut()
        #expect(await store.synced.sorted() == ["sleep", "steps"])
    }
}
