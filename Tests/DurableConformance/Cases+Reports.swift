internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Reports of workers, and repeated reports.
    static let reports: [ConformanceCase] = [
        ConformanceCase("a run that is completed is over; said again it has been done") { fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(try await fixture.state(receipt) == .running(attempt: 1))
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await fixture.complete(run) == .alreadyDone)
            #expect(try await fixture.state(receipt) == .executed)
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
            #expect(try await fixture.state(receipt) == .executed)
        },
        ConformanceCase("a worker that gave a run up cannot go on with it") { fixture in
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
            unknown.number += 1000
            #expect(try await fixture.complete(unknown) == .leaseLost)
            unknown.key = Array("nothing".utf8)
            #expect(try await fixture.complete(unknown) == .leaseLost)
        },
    ]

    /// Failed runs, and newer values meanwhile.
    static let attempts: [ConformanceCase] = [
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
            #expect(fixture.covers(next.submits, new.generation...new.generation))
            #expect(try await fixture.fail(run, retry: 1000) == .alreadyDone)
            try await fixture.complete(next)
            #expect(try await fixture.state(old) == .failed(error: "it broke"))
            #expect(try await fixture.state(new) == .executed)
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
            for combination in [CombinationRule.first, .collect] {
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
}
