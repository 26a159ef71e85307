import DurableConformance
import LullCore
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullRedis

/// Calls of producers in other languages: the script `append` adds them to the inbox, and whoever touches their key
/// makes them first.
///
/// `LULL_DIFFERENTIAL` asks for more calls, `LULL_SEED` for other ones or those of a failure.
@Suite("The inbox", .onRedis, .ownThreads)
struct InboxTests {
    private let calls = environment("LULL_DIFFERENTIAL", default: 3000)
    private let seed = environment("LULL_SEED", default: UInt64(20_261_128))

    /// Makes a call by the script, at an instant in place of the server's.
    @discardableResult
    private func append(
        _ call: [String], to store: RedisStore, in namespace: String, at instant: CoreInstant
    ) async throws -> Int64 {
        let now = instant.microseconds
        let text = Script.append.text.replacing("call('TIME')", with: "{ \(now / 1_000_000), \(now % 1_000_000) }")
        let place = try await store.place(of: Array(call[1].utf8), in: namespace)
        let keys = [Structure.meta, .due, .inbox].map { place.key($0) }
        let reply = try await store.ask(Command(["EVAL", text, "3"] + keys + call), in: namespace)
        return try #require(reply.number)
    }

    /// A store in Redis, and one in memory, at the same time.
    private struct Pair {
        let time = ManualTime()
        let redis: RedisStore
        let memory: any StoreCalls
        let maker: RedisMaker
        let place: String

        init(_ place: String, shards: Int) async throws {
            self.place = place
            maker = RedisMaker(shards: shards)
            redis = try #require(try await maker.open(place, DurableLimits(), time.clock) as? RedisStore)
            memory = MemoryStore(clock: time.clock)
        }

        func open(_ rules: DurableRules) async throws {
            try await redis.open("n", rules)
            try await memory.open("n", rules)
        }

        var now: CoreInstant { get async throws { try await redis.presentInstant(in: "n") } }
    }

    private func rules(_ random: inout SplitMix) throws -> DurableRules {
        let wait = CoreDuration.milliseconds(.random(in: 0...6, using: &random))
        let combination = random.pick([Combination.latest, .first, .collect])
        let edges = random.pick([Edges.trailing, .trailing, .leading, [.leading, .trailing]])
        let policy: Policy =
            random.oneIn(3)
            ? try .throttle(interval: wait, edges: edges)
            : try .debounce(
                wait: wait, edges: edges, maxCount: edges.contains(.trailing) && random.oneIn(3) ? 3 : nil,
                spacing: edges.contains(.trailing) && random.oneIn(3) ? .milliseconds(4) : nil)
        return try DurableRules(
            policy, combination: combination, maxBatch: combination == .collect && random.oneIn(2) ? 2 : nil,
            whileRunning: random.pick([.queue, .restart]))
    }

    /// What a listing says, without the numbers.
    private func text(_ listings: [DurableListing<[UInt8]>]) -> [String] {
        listings.map { listing in
            """
            \(listing.key) \(listing.pending) \(listing.ready) \(listing.dueIn as Any) \(listing.run?.attempt as Any) \
            \(listing.run?.submits as Any) \(listing.run?.worker as Any)
            """
        }
    }

    private func text(_ runs: [DurableRun]) -> [String] {
        runs.map { "\($0.key) \($0.values) \($0.count) \($0.edge) \($0.attempt) \($0.context ?? "")" }.sorted()
    }

    @Test
    func `is folded by whatever comes next: calls by the script lead where direct calls do`() async throws {
        var random = SplitMix(seed: seed)
        var (done, appended, trial) = (0, 0, 0)
        while done < calls {
            trial += 1
            let pair = try await Pair("inbox-\(trial)", shards: random.pick([1, 3]))
            try await pair.open(rules(&random))
            var held: [String: (redis: DurableRun, memory: DurableRun)] = [:]
            for _ in 0..<60 {
                done += 1
                let where_ = Comment("LULL_SEED=\(seed) LULL_DIFFERENTIAL=\(calls): call \(done)")
                pair.time.pass(.milliseconds(Int.random(in: 0...3, using: &random)))
                let key = random.pick(["a", "b", "c"])
                let bytes = Array(key.utf8)
                let isAppended = random.oneIn(2)
                let now = try await pair.now
                let wait = random.oneIn(4) ? Int64.random(in: 0...9, using: &random) : nil
                let duration = wait.map { CoreDuration.milliseconds($0) }
                let waitText = wait.map { "\($0 * 1000)" } ?? ""
                if isAppended { appended += 1 }
                switch Int.random(in: 0..<16, using: &random) {
                case 0..<6:
                    let context = random.oneIn(5) ? "c\(done)" : nil
                    let submission = DurableSubmission(
                        namespace: "n", key: bytes, value: Array("\(done)".utf8), wait: duration, context: context)
                    _ = try await pair.memory.submit(submission)
                    if isAppended {
                        try await append(
                            ["submit", key, "\(done)", waitText, "", context ?? ""], to: pair.redis, in: "n", at: now)
                    } else {
                        _ = try await pair.redis.submit(submission)
                    }
                case 6:
                    let expected = try await pair.memory.touch(bytes, in: "n", wait: duration)
                    if isAppended {
                        try await append(["touch", key, waitText], to: pair.redis, in: "n", at: now)
                    } else {
                        #expect(try await pair.redis.touch(bytes, in: "n", wait: duration) == expected, where_)
                    }
                case 7, 8:
                    let change = random.pick([DurableChange.flush, .cancel])
                    let expected = try await pair.memory.change(change, .keys([bytes]), in: "n").count
                    if isAppended {
                        try await append(["\(change)", key], to: pair.redis, in: "n", at: now)
                    } else {
                        #expect(try await pair.redis.change(change, .keys([bytes]), in: "n").count == expected, where_)
                    }
                case 9:
                    let change = random.pick([DurableChange.flush, .cancel])
                    let expected = try await pair.memory.change(change, .selection(.all), in: "n").count
                    #expect(try await pair.redis.change(change, .selection(.all), in: "n").count == expected, where_)
                case 10..<13:
                    let terms = DurableClaim.Terms(owner: 7, lease: .seconds(600), maxAttempts: 9)
                    // All that may start, so that it does not matter in which order.
                    var found: [(redis: DurableRun, memory: DurableRun)] = []
                    func claim(_ holding: [Int64]) -> DurableClaim {
                        DurableClaim(namespace: "n", terms: terms, holding: holding, limit: 9)
                    }
                    let redis = try await pair.redis.claim(claim(held.values.map(\.redis.id))).runs
                    let memory = try await pair.memory.claim(claim(held.values.map(\.memory.id))).runs
                    #expect(text(redis) == text(memory), where_)
                    for run in redis {
                        if let other = memory.first(where: { $0.key == run.key }) { found.append((run, other)) }
                    }
                    for run in found { held[String(decoding: run.redis.key, as: UTF8.self)] = run }
                case 13, 14:
                    guard let run = held.removeValue(forKey: key) else { continue }
                    let kind = random.pick([
                        DurableReport.Kind.completed, .failed("no", retry: .milliseconds(2)), .released, .interrupted,
                    ])
                    func report(_ run: DurableRun) -> DurableReport {
                        DurableReport(namespace: "n", key: run.key, run: run.id, fence: run.fence, owner: 7, kind)
                    }
                    let expected = try await pair.memory.report(report(run.memory))
                    #expect(try await pair.redis.report(report(run.redis)) == expected, where_)
                default:
                    let receipt = { (generation: Int64) in
                        DurableReceipt(namespace: "n", key: bytes, generation: generation, dueIn: nil, due: nil)
                    }
                    // A question about a key makes its calls, too.
                    _ = try await pair.redis.state(of: receipt(0))
                    let found = text(try await pair.redis.list(in: "n", prefix: bytes, from: [], limit: 9))
                    let expected = text(try await pair.memory.list(in: "n", prefix: bytes, from: [], limit: 9))
                    #expect(found == expected, where_)
                }
            }
            for key in ["a", "b", "c"] { _ = try await pair.redis.touch(Array(key.utf8), in: "n", wait: nil) }
            for key in ["a", "b", "c"] { _ = try await pair.memory.touch(Array(key.utf8), in: "n", wait: nil) }
            let found = text(try await pair.redis.list(in: "n", prefix: [], from: [], limit: 9))
            let expected = text(try await pair.memory.list(in: "n", prefix: [], from: [], limit: 9))
            #expect(found == expected, "\(seed) \(trial)")
            #expect(try await pair.redis.brokenRules() == [], "\(seed) \(trial)")
            func ends(_ store: any StoreCalls) async throws -> [DurableOutcome: Int] {
                try await store.ended(of: nil, in: "n", limit: 10_000).reduce(into: [:]) { $0[$1.how, default: 0] += 1 }
            }
            #expect(try await ends(pair.redis) == ends(pair.memory), "\(seed) \(trial)")
            await pair.redis.close()
            try pair.maker.remove(pair.place)
        }
        print("\(done) calls, \(appended) by the script, no difference")
        #expect(appended > calls / 4)
    }

    @Test
    func `knows tokens: a call counts once, and one with the token of another key is dead with its reason`()
        async throws
    {
        let pair = try await Pair("inbox-tokens", shards: 1)
        try await pair.open(DurableRules(try .debounce(for: .seconds(1)), combination: .collect))
        func submit(_ key: String, _ value: String) async throws {
            try await append(["submit", key, value, "", "t"], to: pair.redis, in: "n", at: pair.now)
        }
        try await submit("a", "1")
        try await submit("a", "2")
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 1)
        let claim = DurableClaim(namespace: "n", terms: terms, limit: 9)
        // Makes the calls so far: those of several keys have no order.
        #expect(try await pair.redis.claim(claim).runs.isEmpty)
        try await submit("b", "3")
        pair.time.pass(.seconds(1))
        let runs = try await pair.redis.claim(claim).runs
        #expect(runs.map(\.values) == [[Array("1".utf8)]])
        let dead = try await pair.redis.deadRuns(
            matching: .all, in: "n", newestFirst: false, limit: 9, withValues: true)
        #expect(dead.map(\.key) == [Array("b".utf8)])
        #expect(dead.map(\.values) == [[Array("3".utf8)]])
        #expect(dead.first?.error == "\(DurableError.tokenOfOtherKey(token: "t"))")
        #expect(try await pair.redis.brokenRules() == [])
        await pair.redis.close()
        try pair.maker.remove(pair.place)
    }

    @Test
    func `wakes a worker, and says what is wrong with a call`() async throws {
        let server = try TestRedis.shared.get()
        try server("-n", "912", "FLUSHDB")
        let store = try await RedisStore(url: server.url(912))
        try await store.open("n", DurableRules(try .debounce(for: .zero)))
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 1)
        let answer = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 1))
        async let woken: Void = store.wait(in: "n", after: answer.mark, atMost: .seconds(30))
        func call(_ words: String...) throws -> String { try append(words, at: server, 912) }
        _ = try call("submit", "k", "v")
        try await woken
        #expect(try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 1)).runs.map(\.count) == [1])
        #expect(try call("sbmit", "k", "v").contains("a call is submit, touch, flush or cancel"))
        #expect(try call("submit", "k", "v", "soon").contains("a wait is a number of microseconds"))
        #expect(try call("flush", "k", "v").contains("too many arguments"))
        await store.close()
    }

    /// Makes a call by the script, at the server's own instant.
    private func append(_ words: [String], at server: TestRedis, _ database: Int) throws -> String {
        let keys = [Structure.meta, .due, .inbox].map { ShardPlace("n", 0).key($0) }
        return try server(["-n", "\(database)", "EVAL", Script.append.text, "3"] + keys + words)
    }

    @Test(arguments: [true, false])
    func `is counted, and folded within a second while the worker is paused or busy`(_ isPaused: Bool) async throws {
        let server = try TestRedis.shared.get()
        try server("-n", "910", "FLUSHDB")
        let store = try await RedisStore(url: server.url(910))
        try await store.open("n", DurableRules(try .debounce(for: .seconds(3600))))
        for call in 0..<250 { _ = try append(["submit", "key \(call / 2)", "v"], at: server, 910) }
        var status = try #require(try await store.status().first)
        #expect(status.entries == 250 && status.pending == 0)
        #expect(try #require(status.oldestEntry) > .zero)
        let error = await #expect(throws: DurableError.self) { try await store.forget("n") }
        #expect("\(error as Any)".contains("250 calls in the inbox"), "\(error as Any)")

        if isPaused { _ = try await store.pause("n", reason: nil) }
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 1)
        _ = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: isPaused ? 1 : 0))
        try await waitUntil { try await store.status().first?.entries == 0 }
        status = try #require(try await store.status().first)
        #expect(status.entries == 0 && status.pending == 125 && status.oldestEntry == nil)
        #expect(try await store.brokenRules() == [])
        await store.close()
    }
}
