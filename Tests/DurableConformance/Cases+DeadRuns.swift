internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Runs that have used up their attempts.
    static let deadRuns: [ConformanceCase] = [
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
            #expect(try await fixture.state(receipt) == .executed)
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
            for combination in [CombinationRule.first, .collect] {
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
                #expect(try await fixture.store.retry(run.number, in: namespace) == .accepted)
                #expect(try await fixture.state(old) == .waitingForRetry(attempt: 0, error: nil))
                let again = try await fixture.claim(in: namespace)
                #expect(again.map(\.text) == ["k trailing a"] && again.map(\.id) == [run.id])
                #expect(again.map(\.attempt) == [1] && again.map(\.submits) == [run.submits])
                #expect(try await fixture.state(ready) == .ready)
                #expect(try await fixture.state(pending) == .pending)
                #expect(try await fixture.report(.completed, try #require(again.first), in: namespace) == .accepted)
                #expect(try await fixture.claim(in: namespace).map(\.text) == ["k trailing b"])
                #expect(try await fixture.state(old) == .executed)
            }
        },
        ConformanceCase("a dead run that is tried again long after its key was idle leaves the key's numbers alone") {
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
            #expect(try await fixture.state(old) == .executed)
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing d"])
            #expect(try await fixture.state(later) == .executed)
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
        ConformanceCase("a dead run is found by its number with its values, and listed without them") { fixture in
            for combination in [CombinationRule.latest, .collect] {
                let namespace = "\(combination)"
                try await fixture.open(.debounce(10, combination), namespace)
                try await fixture.submit("a", in: namespace)
                try await fixture.submit("b", in: namespace, context: "c")
                fixture.pass(10)
                let run = try #require(try await fixture.claim(in: namespace).first)
                #expect(try await fixture.deadRun(run.number, in: namespace) == nil)
                let failed = DurableReport.Kind.failed("no", retry: nil)
                #expect(try await fixture.report(failed, run, in: namespace) == .accepted)
                fixture.pass(5)
                let dead = try #require(try await fixture.deadRun(run.number, in: namespace))
                #expect(try await fixture.store.dead(in: namespace, limit: 9) == [dead])
                #expect(dead.values == run.values && dead.context == "c" && dead.count == 2 && dead.attempts == 1)
                #expect(dead.error == "no" && dead.age == .milliseconds(5) && dead.submits == run.submits)
                var bare = dead
                bare.values = []
                bare.context = nil
                #expect(try await fixture.deadRuns(.all, in: namespace) == [bare])
                #expect(try await fixture.deadRun(run.number + 1, in: namespace) == nil)
                #expect(try await fixture.store.discard(run.number, in: namespace))
                #expect(try await fixture.deadRun(run.number, in: namespace) == nil)
            }
        },
        ConformanceCase("what has ended is listed with the newest first, with its error, of one key or of all") {
            fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1", "a")
            fixture.pass(10)
            try await fixture.complete(try await fixture.claimOne())
            fixture.pass(5)
            // A newer value that falls due replaces a run that waits for another attempt.
            let older = try await fixture.submit("1", "b")
            fixture.pass(10)
            try await fixture.fail(try await fixture.claimOne(), retry: 60)
            let newer = try await fixture.submit("2", "b")
            fixture.pass(10)
            try await fixture.complete(try await fixture.claimOne())
            fixture.pass(5)
            try await fixture.submit("1", "c")
            fixture.pass(10)
            try await fixture.fail(try await fixture.claimOne(), retry: nil)
            fixture.pass(5)
            let all = try await fixture.ended()
            #expect(all.map { String(decoding: $0.key, as: UTF8.self) } == ["c", "b", "b", "a"])
            #expect(all.map(\.how) == [.dead, .completed, .failed, .completed])
            #expect(all.map { $0.error == nil } == [false, true, false, true])
            #expect(all.map(\.age) == [5, 20, 20, 45].map { Duration.milliseconds($0) })
            #expect(all[1].submits.contains(newer.generation) && all[2].submits.contains(older.generation))
            #expect(all[2].submits.upperBound < all[1].submits.lowerBound && all[2].run != nil)
            #expect(try await fixture.ended(limit: 3) == Array(all.prefix(3)))
            #expect(try await fixture.ended(of: "b") == Array(all[1...2]))
            #expect(try await fixture.ended(of: "d") == [])
        },
        ConformanceCase("dead runs are there after the store was opened again") { fixture in
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

    func deadRuns(
        _ selection: DurableSelection, newestFirst: Bool = false, limit: Int = 100,
        in namespace: String = StoreFixture.namespace
    ) async throws -> [DurableDeadRun<[UInt8]>] {
        try await store.deadRuns(
            matching: selection, in: namespace, newestFirst: newestFirst, limit: limit, withValues: false)
    }

    func deadRun(
        _ run: Int64, in namespace: String = StoreFixture.namespace
    ) async throws -> DurableDeadRun<[UInt8]>? {
        try await store.deadRun(run, in: namespace)
    }

    func ended(of key: String? = nil, limit: Int = 100) async throws -> [DurableEnd<[UInt8]>] {
        try await store.ended(of: key.map { Array($0.utf8) }, in: StoreFixture.namespace, limit: limit)
    }

    func retry(_ run: DurableRun) async throws -> DurableRetry {
        try await store.retry(run.number, in: StoreFixture.namespace)
    }

    func discard(_ run: DurableRun) async throws -> Bool {
        try await store.discard(run.number, in: StoreFixture.namespace)
    }
}
