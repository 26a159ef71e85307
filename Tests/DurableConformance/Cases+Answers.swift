internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// What a handler says of its run: again later, given up; and handlers that hang.
    static let answers: [ConformanceCase] = [
        ConformanceCase("a run that is snoozed is handed out again after that time, and no attempt is spent") {
            fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            fixture.pass(10)
            let first = try await fixture.claimOne(maxAttempts: 1)
            for times in 1...3 {
                let run = times == 1 ? first : try await fixture.claimOne(maxAttempts: 1)
                #expect(run.id == first.id && run.values == first.values && run.attempt == 1)
                #expect(try await fixture.snooze(run, for: 20) == .accepted)
                #expect(try await fixture.snooze(run, for: 20) == .alreadyDone)
                #expect(try await fixture.state(receipt) == .snoozed(times: times))
                let listed = try #require(try await fixture.listed().first?.run)
                #expect(listed.isSnoozed && listed.snoozes == times && listed.attempt == 0 && listed.error == nil)
                fixture.pass(19)
                #expect(try await fixture.claim() == [])
                fixture.pass(1)
            }
            let status = try await fixture.store.status()
            #expect(status.map { [$0.retrying, $0.snoozed, $0.failures, $0.attempts] } == [[1, 3, 0, 3]])
            try await fixture.complete(try await fixture.claimOne(maxAttempts: 1))
            #expect(try await fixture.state(receipt) == .executed)
        },
        ConformanceCase("with latest, a newer value that falls due takes the place of a snoozed run, which has failed")
        {
            fixture in
            try await fixture.open(.debounce(10, .latest))
            let old = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.snooze(run, for: 1000)
            try await fixture.submit("b")
            fixture.pass(9)
            #expect(try await fixture.state(old) == .snoozed(times: 1))
            fixture.pass(1)
            #expect(try await fixture.state(old) == .failed(error: "snoozed; a newer value took its place"))
            #expect(try await fixture.store.status().map(\.retrying) == [0])
            #expect(try await fixture.work() == ["k trailing b"])
        },
        ConformanceCase("with first and collect, a snoozed run goes first, and a newer value waits") { fixture in
            for (namespace, rule) in [("n", CombinationRule.first), ("m", .collect)] {
                try await fixture.open(.debounce(10, rule), namespace)
                try await fixture.submit("a", in: namespace)
                fixture.pass(10)
                let run = try #require(try await fixture.claim(in: namespace).first)
                #expect(try await fixture.report(.snoozed(for: .milliseconds(50)), run, in: namespace) == .accepted)
                try await fixture.submit("b", in: namespace)
                fixture.pass(49)
                #expect(try await fixture.claim(in: namespace) == [])
                fixture.pass(1)
                let again = try #require(try await fixture.claim(in: namespace).first)
                #expect(again.id == run.id && again.text == "k trailing a")
            }
        },
        ConformanceCase("a flush ends a snooze, and a cancel drops what is snoozed") { fixture in
            try await fixture.open(.debounce(10))
            let dropped = try await fixture.submit("b", "dropped", wait: 0)
            let run = try await fixture.claimOne()
            try await fixture.snooze(run, for: 1000)
            #expect(try await fixture.cancel("dropped") == 1)
            #expect(try await fixture.state(dropped) == .cancelled)
            let receipt = try await fixture.submit("a", wait: 0)
            try await fixture.snooze(try await fixture.claimOne(), for: 1000)
            #expect(try await fixture.claim() == [])
            #expect(try await fixture.flush() == 1)
            #expect(try await fixture.state(receipt) == .snoozed(times: 1))
            #expect(try await fixture.claimOne().attempt == 1)
        },
        ConformanceCase("a run that is given up is dead at once, with its reason, and may be retried") { fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a", wait: 0)
            let run = try await fixture.claimOne()
            #expect(try await fixture.report(.gaveUp("no such document"), run) == .accepted)
            #expect(try await fixture.report(.gaveUp("no such document"), run) == .alreadyDone)
            #expect(try await fixture.state(receipt) == .dead(error: "no such document"))
            let dead = try #require(try await fixture.store.dead(in: StoreFixture.namespace, limit: 9).first)
            #expect(dead.id == run.id && dead.error == "no such document" && dead.attempts == 1)
            #expect(try await fixture.store.status().map { [$0.givenUp, $0.failures, $0.dead] } == [[1, 1, 1]])
            #expect(try await fixture.retry(run) == .accepted)
            #expect(try await fixture.work() == ["k trailing a"])
        },
        ConformanceCase("with latest, what is given up or has no attempt left has failed if a newer value is ready") {
            fixture in
            try await fixture.open(.debounce(10, .latest))
            for kind in [DurableReport.Kind.gaveUp("no"), .failed("no", retry: nil)] {
                let old = try await fixture.submit("a", wait: 0)
                let run = try await fixture.claimOne()
                try await fixture.submit("b", wait: 0)
                #expect(try await fixture.report(kind, run) == .accepted)
                #expect(try await fixture.state(old) == .failed(error: "no"))
                #expect(try await fixture.work() == ["k trailing b"])
            }
            #expect(try await fixture.store.status().map(\.dead) == [0])
        },
        ConformanceCase("a run that is snoozed after an interruption goes back") { fixture in
            try await fixture.open(DurableRules(.debounce(wait: .milliseconds(10)), whileRunning: .restart))
            try await fixture.submit("a", wait: 0)
            let run = try await fixture.claimOne()
            try await fixture.submit("b")
            fixture.pass(10)
            #expect(try await fixture.snooze(run, for: 1000) == .accepted)
            #expect(try await fixture.work() == ["k trailing b ×2"])
            #expect(try await fixture.store.status().map { [$0.snoozed, $0.restarted] } == [[0, 1]])
        },
        ConformanceCase("a handler that is overdue is counted, and nothing else changes") { fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a", wait: 0)
            let run = try await fixture.claimOne()
            #expect(try await fixture.report(.overdue, run) == .accepted)
            #expect(try await fixture.state(receipt) == .running(attempt: 1))
            #expect(try await fixture.store.status().map { [$0.overdue, $0.failures, $0.running] } == [[1, 0, 1]])
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await fixture.report(.overdue, run) == .alreadyDone)
            #expect(try await fixture.store.status().map(\.overdue) == [1])
        },
        ConformanceCase("a claim takes over no run that it names as hanging; another worker does, and is obeyed") {
            fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a", wait: 0)
            let run = try await fixture.claimOne(by: 1, lease: 100)
            try await fixture.submit("b", "other", wait: 0)
            fixture.pass(100)
            // What is due besides is handed out, and the worker learns when there is more.
            let answer = try await fixture.hangingClaim(run, by: 1)
            #expect(answer.runs.map(\.text) == ["other trailing b"])
            try await fixture.submit("c", "later", wait: 40)
            let next = try await fixture.hangingClaim(run, by: 1, holding: answer.runs)
            #expect(next.runs == [] && next.next == .milliseconds(40))
            // Nobody has taken it over, so its worker may still end it; here another one comes first.
            let again = try await fixture.claimOne(by: 2)
            #expect(again.id == run.id && again.attempt == 2 && again.fence > run.fence)
            #expect(try await fixture.complete(run, by: 1) == .leaseLost)
            // Should the other one hang, too, or fail, the first does not get it back: it could not execute it.
            fixture.pass(100)
            #expect(try await fixture.hangingClaim(run, by: 1).runs.allSatisfy { $0.id != run.id })
            let third = try await fixture.claimOne(by: 3)
            #expect(third.id == run.id && third.attempt == 3)
            try await fixture.fail(third, by: 3, retry: 0)
            #expect(try await fixture.hangingClaim(run, by: 1).runs.allSatisfy { $0.id != run.id })
            #expect(try await fixture.complete(try await fixture.claimOne(by: 2, maxAttempts: 9), by: 2) == .accepted)
        },
        ConformanceCase("a lone worker whose handler hangs may still end its run after the end of the lease") {
            fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a", wait: 0)
            let run = try await fixture.claimOne(by: 1, lease: 100)
            fixture.pass(300)
            #expect(try await fixture.hangingClaim(run, by: 1).runs == [])
            #expect(try await fixture.complete(run, by: 1) == .accepted)
            #expect(try await fixture.state(receipt) == .executed)
            #expect(try await fixture.store.status().map(\.lostLeases) == [0])
        },
    ]

    /// Pauses that end by themselves.
    static let pausesWithAnEnd: [ConformanceCase] = [
        ConformanceCase("a pause with an end is over then, and says before how long it takes") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("a")
            #expect(try await fixture.pause("429", for: 50).reason == "429")
            fixture.pass(30)
            let answer = try await fixture.answer()
            #expect(answer.runs == [] && answer.pause?.reason == "429" && answer.next == .milliseconds(20))
            let status = try await fixture.store.status()
            #expect(status.map(\.pauseEndsIn) == [.milliseconds(20)] && status.map(\.pause?.reason) == ["429"])
            fixture.pass(20)
            #expect(try await fixture.store.status().map(\.pause) == [nil])
            #expect(try await fixture.answer().pause == nil)
            #expect(try await !fixture.resume())
        },
        ConformanceCase("of two pauses the longer one counts, with its reason; one without an end is the longest") {
            fixture in
            try await fixture.open(.debounce(0))
            let first = try await fixture.pause("one", for: 50)
            #expect(try await fixture.pause("shorter", for: 40).reason == "one")
            let longer = try await fixture.pause("longer", for: 60)
            #expect(longer.reason == "longer" && longer.time == first.time)
            fixture.pass(50)
            #expect(try await fixture.store.status().map(\.pauseEndsIn) == [.milliseconds(10)])
            #expect(try await fixture.pause("until it is repaired").reason == "until it is repaired")
            #expect(try await fixture.pause("429", for: 9000).reason == "until it is repaired")
            #expect(try await fixture.store.status().map(\.pauseEndsIn) == [nil])
            fixture.pass(100_000)
            #expect(try await fixture.answer().pause?.reason == "until it is repaired")
            #expect(try await fixture.resume())
            // What is over counts for nothing.
            try await fixture.pause("over", for: 10)
            fixture.pass(10)
            let last = try await fixture.pause(for: 10)
            #expect(last.reason == nil && last.time > first.time)
        },
        ConformanceCase("a resume ends a pause that would end by itself, and one of no length is none") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("a")
            try await fixture.pause(for: 9000)
            #expect(try await fixture.claim() == [])
            #expect(try await fixture.resume())
            #expect(try await fixture.work() == ["k trailing a"])
            try await fixture.pause(for: 0)
            try await fixture.submit("b")
            #expect(try await fixture.work() == ["k trailing b"])
            try await fixture.pause(for: -50)
            #expect(try await fixture.store.status().map(\.pause) == [nil])
        },
    ]
}

extension StoreFixture {
    @discardableResult
    fileprivate func snooze(
        _ run: DurableRun, by owner: Int64 = 1, for milliseconds: Int
    ) async throws -> DurableReport.Answer {
        try await report(.snoozed(for: .milliseconds(Int64(milliseconds))), run, by: owner)
    }

    fileprivate func listed() async throws -> [DurableListing<[UInt8]>] {
        try await store.list(in: Self.namespace, prefix: [], limit: 9)
    }

    /// Claims as a worker does one of whose handlers hangs.
    fileprivate func hangingClaim(
        _ run: DurableRun, by owner: Int64, holding others: [DurableRun] = []
    ) async throws -> DurableClaim.Answer {
        let terms = DurableClaim.Terms(owner: owner, lease: .milliseconds(100), maxAttempts: 3)
        return try await store.claim(
            DurableClaim(
                namespace: Self.namespace, terms: terms, holding: [run.number] + others.map(\.number),
                hanging: [run.number], limit: 100))
    }
}
