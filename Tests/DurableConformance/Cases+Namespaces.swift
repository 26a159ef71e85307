internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Namespaces and their rules.
    static let namespaces: [ConformanceCase] = [
        ConformanceCase("equal keys of two namespaces have nothing to do with each other") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.open(.throttle(50, .collect), "m")
            try await fixture.submit("a")
            try await fixture.submit("b", in: "m")
            #expect(try await fixture.claim(in: "m").map(\.text) == ["k leading b"])
            #expect(try await fixture.claim() == [])
            #expect(try await fixture.cancel(nil) == 1)
            try await fixture.submit("c", in: "m")
            fixture.pass(50)
            #expect(try await fixture.claim(by: 2, in: "m") == [])
            #expect(try await fixture.work() == [])
        },
        ConformanceCase("a namespace has to be opened with rules once, and keeps them") { fixture in
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await fixture.submit("a") }
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await fixture.open(nil) }
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await fixture.claim() }
            let rules = try DurableRules.debounce(10, maxWait: 30, .both, .extend, maxCount: 5, .first)
            #expect(try await fixture.open(rules) == rules)
            #expect(try await fixture.open(nil) == rules)
            #expect(try await fixture.open(rules) == rules)
            let fixture = try await fixture.reopened()
            #expect(try await fixture.open(nil) == rules)
            await fixture.closeOther()
        },
        ConformanceCase("values to be merged stay as they are, and a worker folds them in order") { fixture in
            let merging = try await DurableDebouncer<String, [Int]>(
                for: .milliseconds(10), combining: .merge { $0 += $1 }, namespace: StoreFixture.namespace,
                in: fixture.store)
            try await merging.submit([1, 2], for: "k")
            try await merging.submit([], for: "k")
            try await merging.submit([3], for: "k")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(run.text == "k trailing [1,2]+[]+[3] ×3")
            try await fixture.fail(run, retry: 0)
            let (executions, continuation) = AsyncStream<DurableExecution<String, [Int]>>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await merging.run { continuation.yield($0) } }
                for await execution in executions {
                    #expect(execution.values == [[1, 2, 3]] && execution.count == 3 && execution.attempt == 2)
                    break
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        },
        ConformanceCase("a long backlog is counted as what it is by now") { fixture in
            try await fixture.open(.debounce(10_000))
            for number in 0..<600 { try await fixture.submit("a", "key \(number)") }
            fixture.pass(20_000)
            try await fixture.submit("b", "late")
            let runs = try await fixture.claim()
            #expect(runs.count == 100)
            try await fixture.fail(runs[0], retry: 60_000)
            for _ in 0..<2 {
                let status = try await fixture.store.status()
                #expect(status.map(\.pending) == [1])
                #expect(status.map(\.ready) == [500])
                #expect(status.map(\.running) == [99])
                #expect(status.map(\.retrying) == [1])
                #expect(status.map(\.oldestDue) == [.seconds(10)])
                // What is kept has been summed up since.
                try await fixture.submit("c", "late")
            }
            #expect(try await fixture.cancel(nil) == 504)
            #expect(try await fixture.store.status().map(\.ready) == [0])
        },
        ConformanceCase("a list has the keys with a prefix in the order of their bytes") { fixture in
            try await fixture.open(.debounce(10))
            let keys: [[UInt8]] = [[1], [1, 0], [1, 255], [1, 255, 3], [2], [255], [255, 255, 7], [7, 7]]
            for key in keys.reversed() {
                _ = try await fixture.store.submit(
                    DurableSubmission(namespace: StoreFixture.namespace, key: key, value: []))
            }
            let prefixes: [[UInt8]] = [[], [1], [1, 255], [255], [255, 255], [3], [7]]
            for prefix in prefixes {
                let expected = keys.filter { $0.starts(with: prefix) }.sorted { $0.lexicographicallyPrecedes($1) }
                for limit in [0, 1, 2, 100] {
                    let listed = try await fixture.store.list(
                        in: StoreFixture.namespace, prefix: prefix, limit: limit)
                    #expect(listed.map(\.key) == Array(expected.prefix(limit)))
                }
            }
        },
    ]

    /// Forgetting a namespace.
    static let forgetting = [
        ConformanceCase("a namespace without work is forgotten, and may be opened again with other rules") { fixture in
            try await fixture.open(.debounce(10, .collect))
            try await fixture.open(.debounce(10), "other")
            let first = try await fixture.submit("a", token: "t")
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing a"])
            try await fixture.store.forget("n")
            #expect(try await fixture.store.status().map(\.namespace) == ["other"])
            let gone = DurableError.noPolicy(namespace: "n")
            await #expect(throws: gone) { try await fixture.open(nil) }
            await #expect(throws: gone) { try await fixture.submit("b") }
            await #expect(throws: gone) { try await fixture.claim() }
            await #expect(throws: gone) { try await fixture.state(first) }
            await #expect(throws: gone) { try await fixture.store.forget("n") }
            let rules = try DurableRules.throttle(50, .trailing)
            #expect(try await fixture.open(rules) == rules)
            #expect(try await fixture.store.status().first == DurableStatus(namespace: "n", rules: rules))
            #expect(try await fixture.state(first) == .forgotten)
            #expect(try await fixture.store.ended(of: nil, in: "n", limit: 10) == [])
            let second = try await fixture.submit("c", token: "t")
            #expect(second.generation > first.generation)
            fixture.pass(50)
            #expect(try await fixture.work() == ["k trailing c"])
        },
        ConformanceCase("a namespace with work or dead runs is not forgotten, and the error says so") {
            fixture in
            try await fixture.open(.debounce(10))
            for key in ["dead", "retrying", "running"] { try await fixture.submit("1", key) }
            func kept() async throws -> String {
                do { try await fixture.store.forget("n") } catch DurableError.hasWork(let status) {
                    return status.workText
                }
                return "nothing"
            }
            #expect(try await kept() == "3 keys pending")
            fixture.pass(10)
            #expect(try await kept() == "3 keys ready")
            let runs = try await fixture.claim()
            for run in runs {
                switch String(decoding: run.key, as: UTF8.self) {
                case "dead": try await fixture.fail(run, retry: nil)
                case "retrying": try await fixture.fail(run, retry: 1000)
                default: break
                }
            }
            #expect(try await kept() == "1 key running, 1 retrying, 1 dead run")
            for run in runs where run.key == Array("running".utf8) { try await fixture.complete(run) }
            try await fixture.cancel(nil)
            #expect(try await kept() == "1 dead run")
            for run in try await fixture.store.dead(in: "n", limit: 10) {
                try await fixture.store.discard(run.number, in: "n")
            }
            try await fixture.store.forget("n")
            #expect(try await fixture.store.status() == [])
        },
        ConformanceCase("a gate that still rests does not keep its namespace, and its key begins anew") { fixture in
            try await fixture.open(.debounce(10, .both, spacing: 1000))
            let first = try await fixture.submit("a")
            #expect(try await fixture.work() == ["k leading a"])
            fixture.pass(20)
            try await fixture.store.forget("n")
            try await fixture.open(.debounce(10, .both, spacing: 1000))
            let second = try await fixture.submit("b")
            #expect(second.dueIn == .zero && second.generation > first.generation)
            #expect(try await fixture.work() == ["k leading b"])
            await #expect(throws: DurableError.noPolicy(namespace: "typo")) { try await fixture.store.forget("typo") }
        },
        ConformanceCase("a forgotten namespace and a new one never share what they have") { fixture in
            for name in ["a", "b"] { try await fixture.open(.debounce(10), name) }
            try await fixture.store.forget("a")
            try await fixture.open(.debounce(10), "c")
            try await fixture.submit("1", in: "b")
            #expect(try await fixture.store.status().map(\.namespace) == ["b", "c"])
            #expect(try await fixture.store.status().map(\.pending) == [1, 0])
        },
    ]

    /// The list of workers.
    static let workers: [ConformanceCase] = [
        ConformanceCase("a worker is listed for 150 s after it has announced itself, and as long as it has runs") {
            fixture in
            try await fixture.open(.debounce(10))
            try await fixture.open(.debounce(10), "other")
            #expect(try await fixture.workers() == [])
            try await fixture.announce(2, "beta", 20)
            fixture.pass(1000)
            try await fixture.announce(.min, "alpha", 30)
            try await fixture.announce(1, "alpha", 4)
            #expect(try await fixture.workers() == ["alpha 4: 0, 0 s", "alpha 30: 0, 0 s", "beta 20: 0, 1 s"])
            #expect(try await fixture.store.workers(in: "other") == [])
            for key in ["a", "b", "c"] { try await fixture.submit("1", key) }
            fixture.pass(10_000)
            let runs = try await fixture.claim(by: .min, limit: 2)
            _ = try await fixture.claim(by: 1, limit: 1)
            #expect(try await fixture.workers() == ["alpha 4: 1, 10 s", "alpha 30: 2, 10 s", "beta 20: 0, 11 s"])
            _ = try await fixture.report(.completed, runs[0], by: .min)
            fixture.pass(139_000)
            #expect(try await fixture.workers() == ["alpha 4: 1, 149 s", "alpha 30: 1, 149 s", "beta 20: 0, 150 s"])
            fixture.pass(2000)
            // Their leases have expired, but nobody has taken the runs over.
            #expect(try await fixture.workers() == ["alpha 4: 1, 151 s", "alpha 30: 1, 151 s"])
            try await fixture.announce(2, "beta", 20)
            #expect(try await fixture.claim(by: 2).count == 2)
            #expect(try await fixture.workers() == ["beta 20: 2, 0 s"])
            try await fixture.announce(1, "gamma", 5)
            #expect(try await fixture.workers() == ["beta 20: 2, 0 s", "gamma 5: 0, 0 s"])
        },
        ConformanceCase("a worker that was silent for a day is forgotten, but not what it has done") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.announce(1, "alpha", 1)
            try await fixture.submit("a")
            fixture.pass(10)
            _ = try await fixture.claim(by: 1)
            fixture.pass(24 * 3_600_000 + 1)
            #expect(try await fixture.workers() == ["alpha 1: 1, 86400 s"])
            for worker in [2, 3] as [Int64] { try await fixture.announce(worker, "beta", worker) }
            #expect(try await fixture.workers() == ["beta 2: 0, 0 s", "beta 3: 0, 0 s"])
            #expect(try await fixture.store.status().first?.attempts == 1)
            _ = try await fixture.claim(by: 2)
            #expect(try await fixture.workers() == ["beta 2: 1, 0 s", "beta 3: 0, 0 s"])
            let status = try await fixture.store.status().first
            #expect(status?.attempts == 2 && status?.running == 1)
        },
        ConformanceCase("workers are forgotten with their namespace, and there are none where there is none") {
            fixture in
            try await fixture.open(.debounce(10))
            try await fixture.announce(1, "alpha", 1)
            try await fixture.store.forget("n")
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await fixture.workers() }
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await fixture.announce(1, "alpha", 1) }
            try await fixture.open(.debounce(10))
            #expect(try await fixture.workers() == [])
        },
    ]

    /// Status and listings.
    static let looking: [ConformanceCase] = [
        ConformanceCase("the status counts keys as if everything due had fallen due") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.open(.debounce(10), "empty")
            try await fixture.submit("1", "dead")
            try await fixture.submit("1", "retrying")
            try await fixture.submit("1", "running")
            fixture.pass(10)
            for run in try await fixture.claim() {
                switch String(decoding: run.key, as: UTF8.self) {
                case "dead": try await fixture.fail(run, retry: nil)
                case "retrying": try await fixture.fail(run, retry: 1000)
                default: break
                }
            }
            try await fixture.submit("1", "ready")
            fixture.pass(5)
            try await fixture.submit("1", "pending")
            try await fixture.submit("1", "also pending")
            fixture.pass(8)
            let statuses = try await fixture.store.status()
            #expect(statuses.map(\.namespace) == ["empty", "n"])
            let status = try #require(statuses.last)
            #expect(status.rules == (try .debounce(10)))
            #expect([status.pending, status.ready, status.running, status.retrying, status.dead] == [2, 1, 1, 1, 1])
            #expect(status.oldestDue == .milliseconds(3))
            let empty = DurableStatus(namespace: "empty", rules: try .debounce(10))
            #expect(statuses.first == empty)
        },
        ConformanceCase("a key with a run and a newer value counts for both") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1")
            fixture.pass(10)
            _ = try await fixture.claimOne()
            try await fixture.submit("2")
            let status = try #require(try await fixture.store.status().first)
            #expect([status.pending, status.ready, status.running] == [1, 0, 1])
            let key = try #require(try await fixture.list().first)
            #expect(key.pending == 1 && key.ready == 0 && key.dueIn == .milliseconds(10))
            #expect(key.run?.isClaimed == true && key.run?.attempt == 1 && key.run?.error == nil)
        },
        ConformanceCase("a run whose lease has expired, or whose next attempt is due, waits for a worker") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1", "lost")
            try await fixture.submit("1", "failed")
            fixture.pass(10)
            for run in try await fixture.claim(lease: 50) where String(decoding: run.key, as: UTF8.self) == "failed" {
                try await fixture.fail(run, retry: 30)
            }
            #expect(try await fixture.store.status().first?.oldestDue == nil)
            fixture.pass(35)
            #expect(try await fixture.store.status().first?.oldestDue == .milliseconds(5))
            _ = try await fixture.claim(by: 2)
            #expect(try await fixture.store.status().first?.oldestDue == nil)
            fixture.pass(17)
            #expect(try await fixture.store.status().first?.oldestDue == .milliseconds(2))
        },
        ConformanceCase("keys are listed in the order of their bytes, by prefix, no more than asked for") { fixture in
            try await fixture.open(.debounce(10))
            for key in ["b", "a/2", "é", "a/1", "a", "B", "a/10"] { try await fixture.submit("1", key) }
            let keys = try await fixture.list().map { String(decoding: $0.key, as: UTF8.self) }
            #expect(keys == ["B", "a", "a/1", "a/10", "a/2", "b", "é"])
            let some = try await fixture.list("a/").map { String(decoding: $0.key, as: UTF8.self) }
            #expect(some == ["a/1", "a/10", "a/2"])
            #expect(try await fixture.list("a/", limit: 2).count == 2)
            #expect(try await fixture.list("nothing") == [])
        },
        ConformanceCase("keys are one key exactly if their bytes are equal, whatever they mean as text") { fixture in
            try await fixture.open(.debounce(10))
            let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
            try await fixture.submit("1", composed)
            try await fixture.submit("2", decomposed)
            #expect(try await fixture.list().map(\.key) == [Array(decomposed.utf8), Array(composed.utf8)])
            fixture.pass(10)
            let runs = try await fixture.claim()
            let found = Dictionary(uniqueKeysWithValues: runs.map { ($0.key, $0.values) })
            #expect(found == [Array(composed.utf8): [Array("1".utf8)], Array(decomposed.utf8): [Array("2".utf8)]])
        },
        ConformanceCase("prefixes are bytes, also those at the end of the alphabet") { fixture in
            try await fixture.open(.debounce(10))
            let keys: [[UInt8]] = [[0xFE, 0xFF], [0xFF], [0xFF, 0], [0xFF, 0xFF], [0xFF, 0xFF, 1], [0x25], [0x5F]]
            for key in keys {
                _ = try await fixture.store.submit(
                    DurableSubmission(namespace: StoreFixture.namespace, key: key, value: [1]))
            }
            for prefix in [[0xFF], [0xFF, 0xFF], [0x25], [0x5F], []] as [[UInt8]] {
                let found = try await fixture.store.list(in: StoreFixture.namespace, prefix: prefix, limit: 100).map(
                    \.key)
                #expect(found == keys.filter { $0.starts(with: prefix) }.sorted { $0.lexicographicallyPrecedes($1) })
            }
        },
        ConformanceCase("a listed key has what is pending, what is ready, and why its run failed") { fixture in
            try await fixture.open(.debounce(10, .collect))
            try await fixture.submit("1")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: 1000)
            try await fixture.submit("2")
            try await fixture.submit("3")
            fixture.pass(10)
            try await fixture.submit("4")
            fixture.pass(4)
            let key = try #require(try await fixture.list().first)
            #expect(key.pending == 1 && key.ready == 2 && key.dueIn == .milliseconds(6))
            #expect(key.run?.id == run.id && key.run?.isClaimed == false && key.run?.error == "it broke")
        },
        ConformanceCase("looking changes nothing") { fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            for _ in 0..<12 {
                _ = try await fixture.store.status()
                _ = try await fixture.list()
                _ = try await fixture.state(receipt)
                fixture.pass(1)
            }
            #expect(try await fixture.work() == ["k trailing a"])
        },
        ConformanceCase("what was never submitted is forgotten") { fixture in
            try await fixture.open(.debounce(10))
            var receipt = try await fixture.submit("a")
            receipt.generation += 7
            #expect(try await fixture.state(receipt) == .forgotten)
            receipt.key = Array("other".utf8)
            #expect(try await fixture.state(receipt) == .forgotten)
        },
        ConformanceCase("a store that was closed answers no more") { fixture in
            try await fixture.open(.debounce(10))
            let other = try await fixture.another()
            await other.store.close()
            await #expect(throws: DurableError.closed) { try await other.submit("a") }
            await #expect(throws: DurableError.closed) { try await other.claim() }
            await other.store.close()
        },
    ]
}

extension StoreFixture {
    func list(_ prefix: String = "", limit: Int = 100) async throws -> [DurableListing<[UInt8]>] {
        try await store.list(in: StoreFixture.namespace, prefix: Array(prefix.utf8), limit: limit)
    }
}

extension DurableRules {
    /// A throttle in milliseconds.
    static func throttle(_ interval: Int, _ combination: CombinationRule) throws -> DurableRules {
        try .throttle(interval, .both, combination)
    }
}
