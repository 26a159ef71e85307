import Lull
import LullTesting
import Testing

@Suite("Asking once for many callers")
struct AskingOnceForManyCallersTests {
    let clock = ManualClock()
    let server = Server()

    nonisolated struct User: Sendable {
        var name: String
    }

    actor Server {
        private(set) var requests: [[Int]] = []

        func users(_ ids: Set<Int>) throws -> [Int: User] {
            requests.append(ids.sorted())
            if ids.contains(0) { throw Refusal() }
            return Dictionary(uniqueKeysWithValues: ids.map { ($0, User(name: "user \($0)")) })
        }
    }

    final class Users: Sendable {
        private let load: Debouncer<Int, [Int: User]>

        init(server: Server, clock: any Clock<Duration> = ContinuousClock()) {
            load = Debouncer(
                collectingFor: .milliseconds(5), maxWait: .milliseconds(5), maxCount: 100, whileRunning: .concurrent,
                options: .init(maxBatch: 100), clock: clock
            ) { (ids: [Int]) in
                try await server.users(Set(ids))
            }
        }

        func user(_ id: Int) async throws -> User? {
            try await load.outcome(of: id).get()[id]
        }
    }

    @Test
    func `those who ask at about the same time share a request, and each gets its own user`() async throws {
        let users = Users(server: server, clock: clock)
        let names = clock.task {
            async let ann = users.user(1)
            async let bob = users.user(2)
            async let again = users.user(1)
            return try await [ann, bob, again].map { $0?.name }
        }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .milliseconds(5))
        #expect(try await names.value == ["user 1", "user 2", "user 1"])
        #expect(await server.requests == [[1, 2]])
    }

    @Test
    func `more ids than the server takes become several requests`() async throws {
        let users = Users(server: server, clock: clock)
        let loads = (1...250).map { id in clock.task { try await users.user(id)?.name } }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .milliseconds(5))
        for (index, load) in loads.enumerated() { #expect(try await load.value == "user \(index + 1)") }
        #expect(await server.requests.map(\.count) == [100, 100, 50])
    }

    @Test
    func `a request that fails fails for all who are in it`() async {
        let users = Users(server: server, clock: clock)
        let loads = [0, 1].map { id in clock.task { try await users.user(id)?.name } }
        await clock.advance(by: .zero, until: .started)
        await clock.advance(by: .milliseconds(5))
        for load in loads { await #expect(throws: Refusal.self) { try await load.value } }
    }
}
