internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Namespaces and their rules.
    static let namespaces = [
        ConformanceCase("equal keys of two namespaces have nothing to do with each other") { bench in
            try await bench.open(.debounce(10))
            try await bench.open(.throttle(50, .collect), "m")
            try await bench.submit("a")
            try await bench.submit("b", in: "m")
            #expect(try await bench.claim(in: "m").map(\.words) == ["k leading b"])
            #expect(try await bench.claim() == [])
            #expect(try await bench.cancel(nil) == 1)
            try await bench.submit("c", in: "m")
            bench.pass(50)
            #expect(try await bench.claim(by: 2, in: "m") == [])
            #expect(try await bench.work() == [])
        },
        ConformanceCase("a namespace has to be opened with rules once, and keeps them") { bench in
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await bench.submit("a") }
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await bench.open(nil) }
            await #expect(throws: DurableError.noPolicy(namespace: "n")) { try await bench.claim() }
            let rules = try DurableRules.debounce(10, maxWait: 30, .both, .extend, maxCount: 5, .first)
            #expect(try await bench.open(rules) == rules)
            #expect(try await bench.open(nil) == rules)
            #expect(try await bench.open(rules) == rules)
            let bench = try await bench.reopened()
            #expect(try await bench.open(nil) == rules)
            await bench.closeOther()
        },
        ConformanceCase("another kind, other edges or another combination are refused, and change nothing") { bench in
            let rules = try DurableRules.debounce(10)
            try await bench.open(rules)
            let others: [DurableRules] = [
                try .throttle(10, .trailing), try .debounce(10, .leading), try .debounce(10, .both),
                try .debounce(10, .first), try .debounce(10, .collect),
            ]
            for other in others {
                await #expect(throws: DurableError.otherPolicy(namespace: "n", stored: rules, given: other)) {
                    try await bench.open(other)
                }
            }
            #expect(try await bench.open(nil) == rules)
        },
        ConformanceCase("changed durations hold from the next submit on") { bench in
            try await bench.open(.debounce(10, maxWait: 20))
            let before = try await bench.submit("a", "old")
            try await bench.submit("a")
            let changed = try DurableRules.debounce(100, maxWait: 200)
            #expect(try await bench.open(changed) == changed)
            #expect(try await bench.submit("b").dueIn == .milliseconds(100))
            bench.pass(10)
            #expect(try await bench.state(before) == .ready)
            #expect(try await bench.work() == ["old trailing a"])
            bench.pass(90)
            #expect(try await bench.work() == ["k trailing b ×2"])
        },
        ConformanceCase("a longest wait that is changed holds from the next submit on") { bench in
            try await bench.open(.debounce(10, maxWait: 1000))
            try await bench.submit("a", wait: 500)
            try await bench.submit("a", "other", wait: 500)
            try await bench.open(.debounce(10, maxWait: 20))
            bench.pass(15)
            #expect(try await bench.submit("b", wait: 500).dueIn == .milliseconds(5))
            bench.pass(5)
            #expect(try await bench.work() == ["k maxWait b ×2"])
            bench.pass(480)
            #expect(try await bench.work() == ["other trailing a"])
        },
        ConformanceCase("an interval that is changed holds from the next submit on") { bench in
            try await bench.open(.throttle(10, .trailing))
            try await bench.submit("a")
            try await bench.open(.throttle(50, .trailing))
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing a"])
        },
    ]

    /// What a store tells of itself.
    static let looking = [
        ConformanceCase("the status counts keys as if everything due had fallen due") { bench in
            try await bench.open(.debounce(10))
            try await bench.open(.debounce(10), "empty")
            try await bench.submit("1", "dead")
            try await bench.submit("1", "retrying")
            try await bench.submit("1", "running")
            bench.pass(10)
            for run in try await bench.claim() {
                switch String(decoding: run.key, as: UTF8.self) {
                case "dead": try await bench.fail(run, retry: nil)
                case "retrying": try await bench.fail(run, retry: 1000)
                default: break
                }
            }
            try await bench.submit("1", "ready")
            bench.pass(5)
            try await bench.submit("1", "pending")
            try await bench.submit("1", "also pending")
            bench.pass(8)
            let statuses = try await bench.store.status()
            #expect(statuses.map(\.namespace) == ["empty", "n"])
            let status = try #require(statuses.last)
            #expect(status.rules == (try .debounce(10)))
            #expect([status.pending, status.ready, status.running, status.retrying, status.dead] == [2, 1, 1, 1, 1])
            #expect(status.oldestDue == .milliseconds(3))
            let empty = DurableStatus(namespace: "empty", rules: try .debounce(10))
            #expect(statuses.first == empty)
        },
        ConformanceCase("a key with a run and a newer value counts for both") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("1")
            bench.pass(10)
            _ = try await bench.claimOne()
            try await bench.submit("2")
            let status = try #require(try await bench.store.status().first)
            #expect([status.pending, status.ready, status.running] == [1, 0, 1])
            let key = try #require(try await bench.list().first)
            #expect(key.pending == 1 && key.ready == 0 && key.dueIn == .milliseconds(10))
            #expect(key.run?.isClaimed == true && key.run?.attempt == 1 && key.run?.error == nil)
        },
        ConformanceCase("a run whose lease has expired, or whose next attempt is due, waits for a worker") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("1", "lost")
            try await bench.submit("1", "failed")
            bench.pass(10)
            for run in try await bench.claim(lease: 50) where String(decoding: run.key, as: UTF8.self) == "failed" {
                try await bench.fail(run, retry: 30)
            }
            #expect(try await bench.store.status().first?.oldestDue == nil)
            bench.pass(35)
            #expect(try await bench.store.status().first?.oldestDue == .milliseconds(5))
            _ = try await bench.claim(by: 2)
            #expect(try await bench.store.status().first?.oldestDue == nil)
            bench.pass(17)
            #expect(try await bench.store.status().first?.oldestDue == .milliseconds(2))
        },
        ConformanceCase("attempts and lost leases are counted for each namespace, for ever") { bench in
            try await bench.open(.debounce(10))
            try await bench.store.open("other", try .debounce(10))
            func counts() async throws -> [[Int]] {
                try await bench.store.status().map { [$0.attempts, $0.lostLeases] }
            }
            for key in ["a", "b", "c"] { try await bench.submit("1", key) }
            #expect(try await counts() == [[0, 0], [0, 0]])
            bench.pass(10)
            let runs = try await bench.claim(lease: 100, maxAttempts: 2)
            #expect(try await counts() == [[3, 0], [0, 0]])
            try await bench.complete(runs[0])
            try await bench.fail(runs[1], retry: 0)
            // An attempt after a failure, and one after a lost lease; then a lease is lost by a run that has had its attempts.
            #expect(try await bench.claim(by: 2, lease: 100, maxAttempts: 2).count == 1)
            #expect(try await counts() == [[4, 0], [0, 0]])
            bench.pass(101)
            #expect(try await bench.claim(by: 3, lease: 100, maxAttempts: 2).count == 1)
            #expect(try await counts() == [[5, 2], [0, 0]])
        },
        ConformanceCase("keys are listed in the order of their bytes, by prefix, no more than asked for") { bench in
            try await bench.open(.debounce(10))
            for key in ["b", "a/2", "é", "a/1", "a", "B", "a/10"] { try await bench.submit("1", key) }
            let keys = try await bench.list().map { String(decoding: $0.key, as: UTF8.self) }
            #expect(keys == ["B", "a", "a/1", "a/10", "a/2", "b", "é"])
            let some = try await bench.list("a/").map { String(decoding: $0.key, as: UTF8.self) }
            #expect(some == ["a/1", "a/10", "a/2"])
            #expect(try await bench.list("a/", limit: 2).count == 2)
            #expect(try await bench.list("nothing") == [])
        },
        ConformanceCase("keys are one key exactly if their bytes are equal, whatever they mean as text") { bench in
            try await bench.open(.debounce(10))
            let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
            try await bench.submit("1", composed)
            try await bench.submit("2", decomposed)
            #expect(try await bench.list().map(\.key) == [Array(decomposed.utf8), Array(composed.utf8)])
            bench.pass(10)
            let runs = try await bench.claim()
            let found = Dictionary(uniqueKeysWithValues: runs.map { ($0.key, $0.values) })
            #expect(found == [Array(composed.utf8): [Array("1".utf8)], Array(decomposed.utf8): [Array("2".utf8)]])
        },
        ConformanceCase("prefixes are bytes, also those at the end of the alphabet") { bench in
            try await bench.open(.debounce(10))
            let keys: [[UInt8]] = [[0xFE, 0xFF], [0xFF], [0xFF, 0], [0xFF, 0xFF], [0xFF, 0xFF, 1], [0x25], [0x5F]]
            for key in keys {
                _ = try await bench.store.submit(DurableSubmission(namespace: Bench.namespace, key: key, value: [1]))
            }
            for prefix in [[0xFF], [0xFF, 0xFF], [0x25], [0x5F], []] as [[UInt8]] {
                let found = try await bench.store.list(in: Bench.namespace, prefix: prefix, limit: 100).map(\.key)
                #expect(found == keys.filter { $0.starts(with: prefix) }.sorted { $0.lexicographicallyPrecedes($1) })
            }
        },
        ConformanceCase("a listed key tells what is pending, what is ready, and why its run failed") { bench in
            try await bench.open(.debounce(10, .collect))
            try await bench.submit("1")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.fail(run, retry: 1000)
            try await bench.submit("2")
            try await bench.submit("3")
            bench.pass(10)
            try await bench.submit("4")
            bench.pass(4)
            let key = try #require(try await bench.list().first)
            #expect(key.pending == 1 && key.ready == 2 && key.dueIn == .milliseconds(6))
            #expect(key.run?.id == run.id && key.run?.isClaimed == false && key.run?.error == "it broke")
        },
        ConformanceCase("looking changes nothing") { bench in
            try await bench.open(.debounce(10))
            let receipt = try await bench.submit("a")
            for _ in 0..<12 {
                _ = try await bench.store.status()
                _ = try await bench.list()
                _ = try await bench.state(receipt)
                bench.pass(1)
            }
            #expect(try await bench.work() == ["k trailing a"])
        },
        ConformanceCase("what was never submitted is forgotten") { bench in
            try await bench.open(.debounce(10))
            var receipt = try await bench.submit("a")
            receipt.generation += 7
            #expect(try await bench.state(receipt) == .forgotten)
            receipt.key = Array("other".utf8)
            #expect(try await bench.state(receipt) == .forgotten)
        },
        ConformanceCase("a store that was closed answers no more") { bench in
            try await bench.open(.debounce(10))
            let other = try await bench.another()
            await other.store.close()
            await #expect(throws: DurableError.closed) { try await other.submit("a") }
            await #expect(throws: DurableError.closed) { try await other.claim() }
            await other.store.close()
        },
    ]
}

extension Bench {
    func list(_ prefix: String = "", limit: Int = 100) async throws -> [DurableListing<[UInt8]>] {
        try await store.list(in: Bench.namespace, prefix: Array(prefix.utf8), limit: limit)
    }
}

extension DurableRules {
    /// A throttle in milliseconds.
    static func throttle(_ interval: Int, _ combination: Combination) throws -> DurableRules {
        try .throttle(interval, .both, combination)
    }
}
