import DurableConformance
import LullRedis
import TestSupport
import Testing

/// The conformance suite, on a server.
@Suite("Conformance in Redis", .onRedis, .serialized, .timeLimit(.minutes(20)))
struct RedisConformanceTests {
    /// What holds for the keys of a shard together, and not for those of several: the order of their runs, and a token
    /// that another key has had.
    private static let ofOneShard: Set<String> = [
        "a submitter flushes what it alone has submitted, in the order of the first submits",
        "a submitter cancels what it alone has submitted, and each range ends so",
        "a submitter's flush or cancel does not change what is due, claimed or between two attempts",
        "runs are handed out in the order of the instants since which they may start",
        "the order is the same when they are asked for one at a time",
        "a worker whose own leases have ended dies of them, and finds what is due behind them",
        "run ids and fences are new with every run, of all keys and namespaces",
        "a token that was used with another key is an error, and changes nothing",
    ]

    @Test(arguments: ConformanceCase.short)
    func `a store in Redis does what every store does`(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: RedisMaker(shards: Self.ofOneShard.contains(conformance.name) ? 1 : 3))
    }

    @Test(.longForm, arguments: ConformanceCase.short.filter { !ofOneShard.contains($0.name) })
    func `a store in Redis does the same in one shard`(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: RedisMaker())
    }

    @Test(.longForm, arguments: ConformanceCase.scenarios)
    func `a store in Redis plays the published scenarios`(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: RedisMaker())
    }

    @Test
    func `a store in Redis answers as the reference model does`() async throws {
        try await DurableSimulation.compare(steps: "LULL_SERVER_STEPS", 400, in: "RedisConformanceTests") {
            RedisMaker()
        }
    }

    @Test(.ownThreads)
    func `an interruption reaches the handler of another process by a hint, long before a heartbeat`() async throws {
        let url = try TestRedis.shared.get().url(998)
        try await InterruptionLatency.check(worker: RedisStore(url: url), producer: RedisStore(url: url))
    }
}
