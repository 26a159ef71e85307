internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// What a worker says about its run, and says again.
    static let reports = [
        ConformanceCase("a run that is completed is over; said again it has been done") { bench in
            try await bench.open(.debounce(10))
            let receipt = try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            #expect(try await bench.state(receipt) == .running(attempt: 1))
            #expect(try await bench.complete(run) == .accepted)
            #expect(try await bench.complete(run) == .alreadyDone)
            #expect(try await bench.state(receipt) == .completed)
            bench.pass(1000)
            #expect(try await bench.work() == [])
        },
        ConformanceCase("a run that has failed is tried again after its backoff, with the same id and values") {
            bench in
            try await bench.open(.debounce(10))
            let receipt = try await bench.submit("a")
            bench.pass(10)
            let first = try await bench.claimOne()
            #expect(try await bench.fail(first, retry: 20) == .accepted)
            #expect(try await bench.fail(first, retry: 20) == .alreadyDone)
            #expect(try await bench.state(receipt) == .waitingForRetry(attempt: 1, error: "it broke"))
            bench.pass(19)
            #expect(try await bench.claim() == [])
            bench.pass(1)
            let second = try await bench.claimOne()
            #expect(second.id == first.id && second.values == first.values && second.submits == first.submits)
            #expect(second.attempt == 2 && second.fence > first.fence)
            #expect(try await bench.fail(first, retry: 20) == .leaseLost)
            #expect(try await bench.complete(second) == .accepted)
            #expect(try await bench.state(receipt) == .completed)
        },
        ConformanceCase("who gave a run up cannot go on with it") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            #expect(try await bench.fail(run, retry: 20) == .accepted)
            #expect(try await bench.complete(run) == .leaseLost)
            #expect(try await bench.report(.heartbeat(lease: .seconds(1)), run) == .leaseLost)
            bench.pass(20)
            #expect(try await bench.claim(by: 2).count == 1)
        },
        ConformanceCase("a run that is given back may start at once, and no attempt is spent") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne(by: 1)
            #expect(try await bench.report(.released, run, by: 1) == .accepted)
            #expect(try await bench.report(.released, run, by: 1) == .alreadyDone)
            let again = try await bench.claimOne(by: 2)
            #expect(again.id == run.id && again.attempt == 1 && again.fence > run.fence)
            #expect(try await bench.report(.released, run, by: 1) == .leaseLost)
        },
        ConformanceCase("a run that was given back untried keeps its turn before newer values") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.submit("b")
            bench.pass(10)
            #expect(try await bench.report(.released, run) == .accepted)
            #expect(try await bench.work() == ["k trailing a", "k trailing b"])
        },
        ConformanceCase("what nobody knows cannot be reported") { bench in
            try await bench.open(.debounce(0))
            try await bench.submit("a", "other")
            let run = try await bench.claimOne()
            try await bench.complete(run)
            var unknown = run
            unknown.id += 1000
            #expect(try await bench.complete(unknown) == .leaseLost)
            unknown.key = Array("nothing".utf8)
            #expect(try await bench.complete(unknown) == .leaseLost)
        },
    ]

    /// What happens to a run that fails, and to newer values meanwhile.
    static let attempts = [
        ConformanceCase("with latest, a newer value that falls due takes the place of a run that has failed") { bench in
            try await bench.open(.debounce(10, .latest))
            let old = try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            #expect(try await bench.fail(run, retry: 1000) == .accepted)
            let new = try await bench.submit("b")
            bench.pass(9)
            #expect(try await bench.state(old) == .waitingForRetry(attempt: 1, error: "it broke"))
            bench.pass(1)
            #expect(try await bench.state(old) == .failed(error: "it broke"))
            let next = try await bench.claimOne()
            #expect(next.words == "k trailing b" && next.id != run.id && next.attempt == 1)
            #expect(next.submits == new.generation...new.generation)
            #expect(try await bench.fail(run, retry: 1000) == .alreadyDone)
            try await bench.complete(next)
            #expect(try await bench.state(old) == .failed(error: "it broke"))
            #expect(try await bench.state(new) == .completed)
        },
        ConformanceCase("with latest, a run that fails when a newer value is due already ends at once") { bench in
            try await bench.open(.debounce(10, .latest))
            let old = try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.submit("b")
            bench.pass(10)
            #expect(try await bench.state(old) == .running(attempt: 1))
            #expect(try await bench.fail(run, retry: 1000) == .accepted)
            #expect(try await bench.state(old) == .failed(error: "it broke"))
            #expect(try await bench.work() == ["k trailing b"])
        },
        ConformanceCase("with first and collect the retry goes first, and ranges never merge after a claim") { bench in
            for combination in [Combination.first, .collect] {
                let namespace = "\(combination)"
                try await bench.open(.debounce(10, combination), namespace)
                let old = try await bench.submit("a", in: namespace)
                bench.pass(10)
                let run = try #require(try await bench.claim(in: namespace).first)
                let failed = DurableReport.Kind.failed("no", retry: .milliseconds(30))
                #expect(try await bench.report(failed, run, in: namespace) == .accepted)
                let new = try await bench.submit("b", in: namespace)
                bench.pass(20)
                #expect(try await bench.claim(in: namespace) == [])
                #expect(try await bench.state(new) == .ready)
                bench.pass(10)
                let again = try await bench.claim(in: namespace)
                #expect(again.map(\.words) == ["k trailing a"] && again.map(\.id) == [run.id])
                #expect(again.map(\.submits) == [old.generation...old.generation])
                #expect(try await bench.report(.completed, try #require(again.first), in: namespace) == .accepted)
                #expect(try await bench.claim(in: namespace).map(\.words) == ["k trailing b"])
            }
        },
        ConformanceCase("a lease that ends is a failed attempt; taken over at once, until there are no more") { bench in
            try await bench.open(.debounce(10))
            let receipt = try await bench.submit("a")
            bench.pass(10)
            for attempt in 1...3 {
                let run = try await bench.claimOne(by: Int64(attempt), lease: 50, maxAttempts: 3)
                #expect(run.attempt == attempt)
                bench.pass(50)
            }
            let answer = try await bench.answer(by: 9, maxAttempts: 3)
            #expect(answer.runs == [])
            #expect(answer.dead.map(\.attempt) == [3])
            guard case .dead(.some) = try await bench.state(receipt) else {
                throw Surprise("it is \(try await bench.state(receipt))")
            }
        },
        ConformanceCase("with latest, a newer value that is due ends a run whose lease has ended") { bench in
            try await bench.open(.debounce(10, .latest))
            let old = try await bench.submit("a")
            bench.pass(10)
            let stale = try await bench.claimOne(by: 1, lease: 50)
            try await bench.submit("b")
            bench.pass(50)
            let run = try await bench.claimOne(by: 2)
            #expect(run.words == "k trailing b" && run.attempt == 1 && run.id != stale.id)
            guard case .failed(.some) = try await bench.state(old) else {
                throw Surprise("it is \(try await bench.state(old))")
            }
            #expect(try await bench.complete(stale, by: 1) == .alreadyDone)
        },
    ]

    /// What is done with a run that has used up its attempts.
    static let deadRuns = [
        ConformanceCase("a run without further attempts is dead, keeps its bytes, and does not block its key") {
            bench in
            try await bench.open(.debounce(10, .collect))
            let old = try await bench.submit("a")
            bench.pass(1)
            try await bench.submit("b")
            bench.pass(10)
            let run = try await bench.claimOne()
            #expect(try await bench.fail(run, retry: nil) == .accepted)
            #expect(try await bench.fail(run, retry: nil) == .alreadyDone)
            #expect(try await bench.state(old) == .dead(error: "it broke"))
            bench.pass(7)
            let dead = try #require(try await bench.dead().first)
            #expect(dead.id == run.id && dead.key == run.key && dead.values == run.values)
            #expect(dead.submits == run.submits && dead.attempts == 1 && dead.error == "it broke")
            #expect(dead.age == .milliseconds(7))
            try await bench.submit("c")
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing c"])
            #expect(try await bench.dead().count == 1)
        },
        ConformanceCase("a dead run may be tried again, with all its attempts, the same id and the same values") {
            bench in
            try await bench.open(.debounce(10, .collect))
            let receipt = try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.fail(run, retry: nil)
            #expect(try await bench.retry(run) == .accepted)
            #expect(try await bench.retry(run) == .notFound)
            #expect(try await bench.dead() == [])
            #expect(try await bench.fail(run, retry: nil) == .alreadyDone)
            let again = try await bench.claimOne()
            #expect(again.id == run.id && again.values == run.values && again.submits == run.submits)
            #expect(again.attempt == 1 && again.fence > run.fence)
            #expect(try await bench.complete(again) == .accepted)
            #expect(try await bench.state(receipt) == .completed)
            #expect(try await bench.submit("b").generation > receipt.generation)
        },
        ConformanceCase("with latest, a dead run is outdated when its key has a newer generation, however it ended") {
            bench in
            try await bench.open(.debounce(10))
            let ends: [@Sendable (Bench) async throws -> Void] = [
                { _ in },
                { _ = try await $0.cancel() },
                { bench in
                    bench.pass(10)
                    _ = try await bench.work()
                },
            ]
            for end in ends {
                try await bench.submit("a")
                bench.pass(10)
                let run = try await bench.claimOne()
                try await bench.fail(run, retry: nil)
                try await bench.submit("b")
                try await end(bench)
                #expect(try await bench.retry(run) == .outdated)
                #expect(try await bench.dead().map(\.id) == [run.id])
                #expect(try await bench.discard(run))
                bench.pass(10)
                _ = try await bench.work()
            }
        },
        ConformanceCase("with latest, a dead run is outdated when the newer value came before it died") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.submit("b")
            try await bench.fail(run, retry: nil)
            #expect(try await bench.retry(run) == .outdated)
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing b"])
            #expect(try await bench.retry(run) == .outdated)
        },
        ConformanceCase("with first and collect a dead run may be tried again though newer values came, before them") {
            bench in
            for combination in [Combination.first, .collect] {
                let namespace = "\(combination)"
                try await bench.open(.debounce(10, combination), namespace)
                let old = try await bench.submit("a", in: namespace)
                bench.pass(10)
                let run = try #require(try await bench.claim(in: namespace).first)
                let failed = DurableReport.Kind.failed("no", retry: nil)
                #expect(try await bench.report(failed, run, in: namespace) == .accepted)
                let ready = try await bench.submit("b", in: namespace)
                bench.pass(10)
                let pending = try await bench.submit("c", in: namespace)
                #expect(try await bench.store.retry(run.id, in: namespace) == .accepted)
                #expect(try await bench.state(old) == .waitingForRetry(attempt: 0, error: nil))
                let again = try await bench.claim(in: namespace)
                #expect(again.map(\.words) == ["k trailing a"] && again.map(\.id) == [run.id])
                #expect(again.map(\.attempt) == [1] && again.map(\.submits) == [run.submits])
                #expect(try await bench.state(ready) == .ready)
                #expect(try await bench.state(pending) == .pending)
                #expect(try await bench.report(.completed, try #require(again.first), in: namespace) == .accepted)
                #expect(try await bench.claim(in: namespace).map(\.words) == ["k trailing b"])
                #expect(try await bench.state(old) == .completed)
            }
        },
        ConformanceCase("a dead run that is tried again long after its key was at rest leaves the key's numbers alone")
        {
            bench in
            try await bench.open(.debounce(10, .collect))
            let old = try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.fail(run, retry: nil)
            var newest = old.generation
            for value in ["b", "c"] {
                for key in ["other", "k"] {
                    newest = max(newest, try await bench.submit(value, key).generation)
                    bench.pass(10)
                    _ = try await bench.work()
                }
            }
            #expect(try await bench.retry(run) == .accepted)
            let later = try await bench.submit("d")
            #expect(later.generation > newest)
            #expect(try await bench.work() == ["k trailing a"])
            #expect(try await bench.state(old) == .completed)
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing d"])
            #expect(try await bench.state(later) == .completed)
        },
        ConformanceCase("a dead run cannot be tried again while its key has another run") { bench in
            try await bench.open(.debounce(10, .collect))
            try await bench.submit("a")
            bench.pass(10)
            let dead = try await bench.claimOne()
            try await bench.fail(dead, retry: nil)
            try await bench.submit("b")
            bench.pass(10)
            let run = try await bench.claimOne()
            #expect(try await bench.retry(dead) == .busy)
            try await bench.fail(run, retry: 50)
            #expect(try await bench.retry(dead) == .busy)
            #expect(try await bench.dead().map(\.id) == [dead.id])
            bench.pass(50)
            try await bench.complete(try await bench.claimOne())
            #expect(try await bench.retry(dead) == .accepted)
            #expect(try await bench.work() == ["k trailing a"])
        },
        ConformanceCase("a dead run may be discarded, once") { bench in
            try await bench.open(.debounce(10))
            let receipt = try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.fail(run, retry: nil)
            #expect(try await bench.discard(run))
            #expect(try await bench.discard(run) == false)
            #expect(try await bench.retry(run) == .notFound)
            #expect(try await bench.dead() == [])
            #expect(try await bench.submit("b").generation > receipt.generation)
        },
        ConformanceCase("dead runs are listed with the oldest first, no more than asked for") { bench in
            try await bench.open(.debounce(10))
            for key in ["c", "a", "b"] {
                try await bench.submit("1", key)
                bench.pass(10)
                try await bench.fail(try await bench.claimOne(), retry: nil)
            }
            let keys = try await bench.dead().map { String(decoding: $0.key, as: UTF8.self) }
            #expect(keys == ["c", "a", "b"])
            #expect(try await bench.dead(limit: 2).count == 2)
        },
        ConformanceCase("dead runs are there after the store was opened anew") { bench in
            try await bench.open(.debounce(10, .collect))
            try await bench.submit("a")
            try await bench.submit("b")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.fail(run, retry: nil)
            let bench = try await bench.reopened()
            #expect(try await bench.dead().map(\.values) == [run.values])
            #expect(try await bench.retry(run) == .accepted)
            #expect(try await bench.work() == ["k trailing a+b ×2"])
            await bench.closeOther()
        },
    ]
}

extension Bench {
    func dead(limit: Int = 100) async throws -> [DurableDeadRun<[UInt8]>] {
        try await store.dead(in: Bench.namespace, limit: limit)
    }

    func retry(_ run: DurableRun) async throws -> DurableRetry {
        try await store.retry(run.id, in: Bench.namespace)
    }

    func discard(_ run: DurableRun) async throws -> Bool {
        try await store.discard(run.id, in: Bench.namespace)
    }
}
