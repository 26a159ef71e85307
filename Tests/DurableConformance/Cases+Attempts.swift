internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Reports of workers, and repeated reports.
    static let reports = [
        ConformanceCase("a run that is completed is over; said again it has been done") { fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(try await fixture.state(receipt) == .running(attempt: 1))
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await fixture.complete(run) == .alreadyDone)
            #expect(try await fixture.state(receipt) == .completed)
            fixture.pass(1000)
            #expect(try await fixture.work() == [])
        },
        ConformanceCase("a run that has failed is tried again after its backoff, with the same id and values") {
            fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            fixture.pass(10)
            let first = try await fixture.claimOne()
            #expect(try await fixture.fail(first, retry: 20) == .accepted)
            #expect(try await fixture.fail(first, retry: 20) == .alreadyDone)
            #expect(try await fixture.state(receipt) == .waitingForRetry(attempt: 1, error: "it broke"))
            fixture.pass(19)
            #expect(try await fixture.claim() == [])
            fixture.pass(1)
            let second = try await fixture.claimOne()
            #expect(second.id == first.id && second.values == first.values && second.submits == first.submits)
            #expect(second.attempt == 2 && second.fence > first.fence)
            #expect(try await fixture.fail(first, retry: 20) == .leaseLost)
            #expect(try await fixture.complete(second) == .accepted)
            #expect(try await fixture.state(receipt) == .completed)
        },
        ConformanceCase("who gave a run up cannot go on with it") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(try await fixture.fail(run, retry: 20) == .accepted)
            #expect(try await fixture.complete(run) == .leaseLost)
            #expect(try await fixture.report(.heartbeat(lease: .seconds(1)), run) == .leaseLost)
            fixture.pass(20)
            #expect(try await fixture.claim(by: 2).count == 1)
        },
        ConformanceCase("a run that is given back may start at once, and no attempt is spent") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne(by: 1)
            #expect(try await fixture.report(.released, run, by: 1) == .accepted)
            #expect(try await fixture.report(.released, run, by: 1) == .alreadyDone)
            let again = try await fixture.claimOne(by: 2)
            #expect(again.id == run.id && again.attempt == 1 && again.fence > run.fence)
            #expect(try await fixture.report(.released, run, by: 1) == .leaseLost)
        },
        ConformanceCase("a run that was given back untried keeps its turn before newer values") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.submit("b")
            fixture.pass(10)
            #expect(try await fixture.report(.released, run) == .accepted)
            #expect(try await fixture.work() == ["k trailing a", "k trailing b"])
        },
        ConformanceCase("what nobody knows cannot be reported") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("a", "other")
            let run = try await fixture.claimOne()
            try await fixture.complete(run)
            var unknown = run
            unknown.id += 1000
            #expect(try await fixture.complete(unknown) == .leaseLost)
            unknown.key = Array("nothing".utf8)
            #expect(try await fixture.complete(unknown) == .leaseLost)
        },
    ]

    /// Failed runs, and newer values meanwhile.
    static let attempts = [
        ConformanceCase("with latest, a newer value that falls due replaces a run that has failed") { fixture in
            try await fixture.open(.debounce(10, .latest))
            let old = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(try await fixture.fail(run, retry: 1000) == .accepted)
            let new = try await fixture.submit("b")
            fixture.pass(9)
            #expect(try await fixture.state(old) == .waitingForRetry(attempt: 1, error: "it broke"))
            fixture.pass(1)
            #expect(try await fixture.state(old) == .failed(error: "it broke"))
            let next = try await fixture.claimOne()
            #expect(next.text == "k trailing b" && next.id != run.id && next.attempt == 1)
            #expect(next.submits == new.generation...new.generation)
            #expect(try await fixture.fail(run, retry: 1000) == .alreadyDone)
            try await fixture.complete(next)
            #expect(try await fixture.state(old) == .failed(error: "it broke"))
            #expect(try await fixture.state(new) == .completed)
        },
        ConformanceCase("with latest, a run that fails when a newer value is due already ends at once") { fixture in
            try await fixture.open(.debounce(10, .latest))
            let old = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.submit("b")
            fixture.pass(10)
            #expect(try await fixture.state(old) == .running(attempt: 1))
            #expect(try await fixture.fail(run, retry: 1000) == .accepted)
            #expect(try await fixture.state(old) == .failed(error: "it broke"))
            #expect(try await fixture.work() == ["k trailing b"])
        },
        ConformanceCase("with first and collect the retry goes first, and ranges never merge after a claim") {
            fixture in
            for combination in [Combination.first, .collect] {
                let namespace = "\(combination)"
                try await fixture.open(.debounce(10, combination), namespace)
                let old = try await fixture.submit("a", in: namespace)
                fixture.pass(10)
                let run = try #require(try await fixture.claim(in: namespace).first)
                let failed = DurableReport.Kind.failed("no", retry: .milliseconds(30))
                #expect(try await fixture.report(failed, run, in: namespace) == .accepted)
                let new = try await fixture.submit("b", in: namespace)
                fixture.pass(20)
                #expect(try await fixture.claim(in: namespace) == [])
                #expect(try await fixture.state(new) == .ready)
                fixture.pass(10)
                let again = try await fixture.claim(in: namespace)
                #expect(again.map(\.text) == ["k trailing a"] && again.map(\.id) == [run.id])
                #expect(again.map(\.submits) == [old.generation...old.generation])
                #expect(try await fixture.report(.completed, try #require(again.first), in: namespace) == .accepted)
                #expect(try await fixture.claim(in: namespace).map(\.text) == ["k trailing b"])
            }
        },
        ConformanceCase("a lease that ends is a failed attempt; taken over at once, until there are no more") {
            fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            fixture.pass(10)
            for attempt in 1...3 {
                let run = try await fixture.claimOne(by: Int64(attempt), lease: 50, maxAttempts: 3)
                #expect(run.attempt == attempt)
                fixture.pass(50)
            }
            let answer = try await fixture.answer(by: 9, maxAttempts: 3)
            #expect(answer.runs == [])
            #expect(answer.dead.map(\.attempt) == [3])
            guard case .dead(.some) = try await fixture.state(receipt) else {
                throw Surprise("it is \(try await fixture.state(receipt))")
            }
        },
        ConformanceCase("with latest, a newer value that is due ends a run whose lease has ended") { fixture in
            try await fixture.open(.debounce(10, .latest))
            let old = try await fixture.submit("a")
            fixture.pass(10)
            let stale = try await fixture.claimOne(by: 1, lease: 50)
            try await fixture.submit("b")
            fixture.pass(50)
            let run = try await fixture.claimOne(by: 2)
            #expect(run.text == "k trailing b" && run.attempt == 1 && run.id != stale.id)
            guard case .failed(.some) = try await fixture.state(old) else {
                throw Surprise("it is \(try await fixture.state(old))")
            }
            #expect(try await fixture.complete(stale, by: 1) == .alreadyDone)
        },
    ]

    /// Runs that have used up their attempts.
    static let deadRuns = [
        ConformanceCase("a run without further attempts is dead, keeps its bytes, and does not block its key") {
            fixture in
            try await fixture.open(.debounce(10, .collect))
            let old = try await fixture.submit("a")
            fixture.pass(1)
            try await fixture.submit("b")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(try await fixture.fail(run, retry: nil) == .accepted)
            #expect(try await fixture.fail(run, retry: nil) == .alreadyDone)
            #expect(try await fixture.state(old) == .dead(error: "it broke"))
            fixture.pass(7)
            let dead = try #require(try await fixture.dead().first)
            #expect(dead.id == run.id && dead.key == run.key && dead.values == run.values)
            #expect(dead.submits == run.submits && dead.attempts == 1 && dead.error == "it broke")
            #expect(dead.age == .milliseconds(7))
            try await fixture.submit("c")
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing c"])
            #expect(try await fixture.dead().count == 1)
        },
        ConformanceCase("a dead run may be tried again, with all its attempts, the same id and the same values") {
            fixture in
            try await fixture.open(.debounce(10, .collect))
            let receipt = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: nil)
            #expect(try await fixture.retry(run) == .accepted)
            #expect(try await fixture.retry(run) == .notFound)
            #expect(try await fixture.dead() == [])
            #expect(try await fixture.fail(run, retry: nil) == .alreadyDone)
            let again = try await fixture.claimOne()
            #expect(again.id == run.id && again.values == run.values && again.submits == run.submits)
            #expect(again.attempt == 1 && again.fence > run.fence)
            #expect(try await fixture.complete(again) == .accepted)
            #expect(try await fixture.state(receipt) == .completed)
            #expect(try await fixture.submit("b").generation > receipt.generation)
        },
        ConformanceCase("with latest, a dead run is outdated when its key has a newer generation, however it ended") {
            fixture in
            try await fixture.open(.debounce(10))
            let ends: [@Sendable (StoreFixture) async throws -> Void] = [
                { _ in },
                { _ = try await $0.cancel() },
                { fixture in
                    fixture.pass(10)
                    _ = try await fixture.work()
                },
            ]
            for end in ends {
                try await fixture.submit("a")
                fixture.pass(10)
                let run = try await fixture.claimOne()
                try await fixture.fail(run, retry: nil)
                try await fixture.submit("b")
                try await end(fixture)
                #expect(try await fixture.retry(run) == .outdated)
                #expect(try await fixture.dead().map(\.id) == [run.id])
                #expect(try await fixture.discard(run))
                fixture.pass(10)
                _ = try await fixture.work()
            }
        },
        ConformanceCase("with latest, a dead run is outdated when the newer value came before it died") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.submit("b")
            try await fixture.fail(run, retry: nil)
            #expect(try await fixture.retry(run) == .outdated)
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing b"])
            #expect(try await fixture.retry(run) == .outdated)
        },
        ConformanceCase("with first and collect a dead run may be tried again though newer values came, before them") {
            fixture in
            for combination in [Combination.first, .collect] {
                let namespace = "\(combination)"
                try await fixture.open(.debounce(10, combination), namespace)
                let old = try await fixture.submit("a", in: namespace)
                fixture.pass(10)
                let run = try #require(try await fixture.claim(in: namespace).first)
                let failed = DurableReport.Kind.failed("no", retry: nil)
                #expect(try await fixture.report(failed, run, in: namespace) == .accepted)
                let ready = try await fixture.submit("b", in: namespace)
                fixture.pass(10)
                let pending = try await fixture.submit("c", in: namespace)
                #expect(try await fixture.store.retry(run.id, in: namespace) == .accepted)
                #expect(try await fixture.state(old) == .waitingForRetry(attempt: 0, error: nil))
                let again = try await fixture.claim(in: namespace)
                #expect(again.map(\.text) == ["k trailing a"] && again.map(\.id) == [run.id])
                #expect(again.map(\.attempt) == [1] && again.map(\.submits) == [run.submits])
                #expect(try await fixture.state(ready) == .ready)
                #expect(try await fixture.state(pending) == .pending)
                #expect(try await fixture.report(.completed, try #require(again.first), in: namespace) == .accepted)
                #expect(try await fixture.claim(in: namespace).map(\.text) == ["k trailing b"])
                #expect(try await fixture.state(old) == .completed)
            }
        },
        ConformanceCase("a dead run that is tried again long after its key was at rest leaves the key's numbers alone")
        {
            fixture in
            try await fixture.open(.debounce(10, .collect))
            let old = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: nil)
            var newest = old.generation
            for value in ["b", "c"] {
                for key in ["other", "k"] {
                    newest = max(newest, try await fixture.submit(value, key).generation)
                    fixture.pass(10)
                    _ = try await fixture.work()
                }
            }
            #expect(try await fixture.retry(run) == .accepted)
            let later = try await fixture.submit("d")
            #expect(later.generation > newest)
            #expect(try await fixture.work() == ["k trailing a"])
            #expect(try await fixture.state(old) == .completed)
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing d"])
            #expect(try await fixture.state(later) == .completed)
        },
        ConformanceCase("a dead run cannot be tried again while its key has another run") { fixture in
            try await fixture.open(.debounce(10, .collect))
            try await fixture.submit("a")
            fixture.pass(10)
            let dead = try await fixture.claimOne()
            try await fixture.fail(dead, retry: nil)
            try await fixture.submit("b")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(try await fixture.retry(dead) == .busy)
            try await fixture.fail(run, retry: 50)
            #expect(try await fixture.retry(dead) == .busy)
            #expect(try await fixture.dead().map(\.id) == [dead.id])
            fixture.pass(50)
            try await fixture.complete(try await fixture.claimOne())
            #expect(try await fixture.retry(dead) == .accepted)
            #expect(try await fixture.work() == ["k trailing a"])
        },
        ConformanceCase("a dead run may be discarded, once") { fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: nil)
            #expect(try await fixture.discard(run))
            #expect(try await fixture.discard(run) == false)
            #expect(try await fixture.retry(run) == .notFound)
            #expect(try await fixture.dead() == [])
            #expect(try await fixture.submit("b").generation > receipt.generation)
        },
        ConformanceCase("dead runs are listed with the oldest first, no more than asked for") { fixture in
            try await fixture.open(.debounce(10))
            for key in ["c", "a", "b"] {
                try await fixture.submit("1", key)
                fixture.pass(10)
                try await fixture.fail(try await fixture.claimOne(), retry: nil)
            }
            let keys = try await fixture.dead().map { String(decoding: $0.key, as: UTF8.self) }
            #expect(keys == ["c", "a", "b"])
            #expect(try await fixture.dead(limit: 2).count == 2)
        },
        ConformanceCase("dead runs are there after the store was opened anew") { fixture in
            try await fixture.open(.debounce(10, .collect))
            try await fixture.submit("a")
            try await fixture.submit("b")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: nil)
            let fixture = try await fixture.reopened()
            #expect(try await fixture.dead().map(\.values) == [run.values])
            #expect(try await fixture.retry(run) == .accepted)
            #expect(try await fixture.work() == ["k trailing a+b ×2"])
            await fixture.closeOther()
        },
    ]
}

extension StoreFixture {
    func dead(limit: Int = 100) async throws -> [DurableDeadRun<[UInt8]>] {
        try await store.dead(in: StoreFixture.namespace, limit: limit)
    }

    func retry(_ run: DurableRun) async throws -> DurableRetry {
        try await store.retry(run.id, in: StoreFixture.namespace)
    }

    func discard(_ run: DurableRun) async throws -> Bool {
        try await store.discard(run.id, in: StoreFixture.namespace)
    }
}
