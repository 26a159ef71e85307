internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Flush and cancel.
    static let ends: [ConformanceCase] = [
        ConformanceCase("neighbouring runs are listed as two that have ended") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("a")
            let first = try await fixture.claimOne()
            try await fixture.submit("b")
            try await fixture.complete(first)
            let second = try await fixture.claimOne()
            try await fixture.complete(second)
            let ended = try await fixture.ended(of: "k")
            #expect(ended.map(\.how) == [.completed, .completed])
            #expect(ended.map(\.run) == [second.id, first.id])
            #expect(ended.map(\.submits) == [second.submits, first.submits])
            #expect(second.submits.lowerBound == first.submits.upperBound + 1)
            #expect(try await fixture.ended() == ended)
        },
        ConformanceCase("flush makes what is pending ready now, and the gate idle") { fixture in
            try await fixture.open(.debounce(10, .both))
            try await fixture.submit("a")
            _ = try await fixture.work()
            let receipt = try await fixture.submit("b")
            #expect(try await fixture.flush() == 1)
            #expect(try await fixture.state(receipt) == .ready)
            #expect(try await fixture.work() == ["k flush b"])
            #expect(try await fixture.flush() == 0)
            try await fixture.submit("c")
            #expect(try await fixture.work() == ["k leading c"])
        },
        ConformanceCase("flush ends a backoff") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: 1000)
            #expect(try await fixture.flush() == 1)
            #expect(try await fixture.claimOne().id == run.id)
        },
        ConformanceCase("with latest, flushing a newer value ends a run in backoff") { fixture in
            try await fixture.open(.debounce(10, .latest))
            let old = try await fixture.submit("a")
            fixture.pass(10)
            try await fixture.fail(try await fixture.claimOne(), retry: 1000)
            try await fixture.submit("b")
            #expect(try await fixture.flush() == 1)
            #expect(try await fixture.state(old) == .failed(error: "it broke"))
            #expect(try await fixture.work() == ["k flush b"])
        },
        ConformanceCase("flush does not touch a claimed run; its follow-up waits for it") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne(by: 1)
            try await fixture.submit("b")
            #expect(try await fixture.flush() == 1)
            #expect(try await fixture.claim(by: 2) == [])
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await fixture.work() == ["k flush b"])
        },
        ConformanceCase("flush of all keys makes everything ready") { fixture in
            try await fixture.open(.debounce(10))
            for key in ["a", "b", "c"] { try await fixture.submit("1", key) }
            #expect(try await fixture.flush(nil) == 3)
            #expect(try await fixture.work().sorted() == ["a flush 1", "b flush 1", "c flush 1"])
            #expect(try await fixture.flush(nil) == 0)
        },
        ConformanceCase("flush of all keys makes the gates idle of those that have nothing, too") { fixture in
            try await fixture.open(.debounce(10, .leading))
            try await fixture.submit("a")
            #expect(try await fixture.work() == ["k leading a"])
            #expect(try await fixture.flush(nil) == 0)
            try await fixture.submit("b")
            #expect(try await fixture.work() == ["k leading b"])
        },
        ConformanceCase("what fell due before a flush did so by itself") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(11)
            #expect(try await fixture.flush() == 0)
            #expect(try await fixture.work() == ["k trailing a"])
        },
        ConformanceCase("cancel ends what is pending, and the gate is idle") { fixture in
            try await fixture.open(.debounce(10, .both))
            try await fixture.submit("a")
            _ = try await fixture.work()
            let receipts = try await [fixture.submit("b"), fixture.submit("c")]
            #expect(try await fixture.cancel() == 2)
            for receipt in receipts { #expect(try await fixture.state(receipt) == .cancelled) }
            #expect(try await fixture.cancel() == 0)
            try await fixture.submit("d")
            #expect(try await fixture.work() == ["k leading d"])
        },
        ConformanceCase("cancel ends each range by itself: in backoff, ready, pending; not what is claimed") {
            fixture in
            try await fixture.open(.debounce(10, .collect))
            let backoff = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: 1000)
            let ready = try await fixture.submit("b")
            fixture.pass(10)
            let pending = try await fixture.submit("c")
            let claimed = try await fixture.submit("a", "claimed", wait: 0)
            let held = try await fixture.claimOne()
            #expect(try await fixture.cancel(nil) == 3)
            for receipt in [backoff, ready, pending] { #expect(try await fixture.state(receipt) == .cancelled) }
            #expect(try await fixture.state(claimed) == .running(attempt: 1))
            fixture.pass(2000)
            #expect(try await fixture.complete(run) == .alreadyDone)
            #expect(try await fixture.complete(held) == .accepted)
            #expect(try await fixture.work() == [])
        },
        ConformanceCase("cancel leaves a claimed run alone, and drops its follow-up") { fixture in
            try await fixture.open(.debounce(10))
            let first = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            let second = try await fixture.submit("b")
            #expect(try await fixture.cancel() == 1)
            #expect(try await fixture.state(second) == .cancelled)
            let third = try await fixture.submit("c")
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await fixture.state(first) == .executed)
            fixture.pass(10)
            let next = try await fixture.claimOne()
            #expect(next.text == "k trailing c" && fixture.covers(next.submits, third.generation...third.generation))
        },
        ConformanceCase("flush and cancel of a key that has nothing do nothing") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            #expect(try await fixture.flush("other") == 0)
            #expect(try await fixture.cancel("other") == 0)
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing a"])
        },
    ]

    /// Repeating a submit whose answer was lost.
    static let tokens: [ConformanceCase] = [
        ConformanceCase("a submit that is repeated with its token counts once, and has its first answer") { fixture in
            try await fixture.open(.debounce(10))
            let first = try await fixture.submit("a", token: "t")
            fixture.pass(4)
            let again = try await fixture.submit("changed", token: "t")
            #expect(again.generation == first.generation && again.due == first.due)
            #expect(again.dueIn == .milliseconds(6))
            fixture.pass(6)
            #expect(try await fixture.work() == ["k trailing a"])
            #expect(try await fixture.submit("a", token: "t").generation == first.generation)
            #expect(try await fixture.submit("a", token: "t").dueIn == .zero)
            fixture.pass(100)
            #expect(try await fixture.work() == [])
        },
        ConformanceCase("an absorbed submit that is repeated is absorbed once") { fixture in
            try await fixture.open(.debounce(10, .leading))
            try await fixture.submit("a", token: "1")
            _ = try await fixture.work()
            let first = try await fixture.submit("b", token: "2")
            fixture.pass(20)
            let again = try await fixture.submit("b", token: "2")
            #expect(again.generation == first.generation && again.due == nil && again.dueIn == nil)
            #expect(try await fixture.work() == [])
        },
        ConformanceCase("a token that was used with another key is an error, and changes nothing") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a", token: "t")
            await #expect(throws: DurableError.tokenOfOtherKey(token: "t")) {
                try await fixture.submit("b", "other", token: "t")
            }
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing a"])
        },
        ConformanceCase("each namespace has tokens of its own") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.open(.debounce(10), "m")
            try await fixture.submit("a", token: "t")
            try await fixture.submit("b", "other", token: "t", in: "m")
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing a"])
            #expect(try await fixture.claim(in: "m").map(\.text) == ["other trailing b"])
        },
        ConformanceCase("tokens are kept for their lifetime", limits: .init(tokenLifetime: .seconds(60))) { fixture in
            try await fixture.open(.debounce(10))
            let first = try await fixture.submit("a", token: "t")
            fixture.time.pass(.seconds(60))
            #expect(try await fixture.submit("a", token: "t").generation == first.generation)
            fixture.pass(1)
            // Stores delete a little at a time.
            for _ in 0..<3 { try await fixture.submit("x", "other") }
            #expect(try await fixture.submit("b", token: "t").generation > first.generation)
        },
        ConformanceCase("tokens are there after the store was opened again") { fixture in
            try await fixture.open(.debounce(10))
            let first = try await fixture.submit("a", token: "t")
            let fixture = try await fixture.reopened()
            #expect(try await fixture.submit("a", token: "t").generation == first.generation)
            await fixture.closeOther()
        },
    ]

    /// How long ends are retained.
    static let keeping: [ConformanceCase] = [
        ConformanceCase("ends are kept for the retention, dead runs forever", limits: .init(retention: .seconds(60))) {
            fixture in
            try await fixture.open(.debounce(10))
            let done = try await fixture.submit("a")
            let dead = try await fixture.submit("b", "dead")
            fixture.pass(10)
            for run in try await fixture.claim() {
                if run.key == Array("dead".utf8) {
                    try await fixture.fail(run, retry: nil)
                } else {
                    try await fixture.complete(run)
                }
            }
            fixture.time.pass(.seconds(60))
            try await fixture.submit("x", "other")
            #expect(try await fixture.state(done) == .executed)
            fixture.pass(1)
            for _ in 0..<3 { try await fixture.submit("x", "other") }
            #expect(try await fixture.state(done) == .forgotten)
            #expect(try await fixture.state(dead) == .dead(error: "it broke"))
            #expect(try await fixture.dead().count == 1)
        },
        ConformanceCase(
            "a dead run stays outdated when the newer end is older than the retention",
            limits: .init(retention: .seconds(60))
        ) { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: nil)
            let newer = try await fixture.submit("b")
            fixture.pass(10)
            _ = try await fixture.work()
            fixture.time.pass(.seconds(600))
            for _ in 0..<3 { try await fixture.submit("x", "other") }
            #expect(try await fixture.retry(run) == .outdated)
            #expect(try await fixture.discard(run))
            fixture.time.pass(.seconds(600))
            for _ in 0..<3 { try await fixture.submit("x", "other") }
            #expect(try await fixture.state(newer) == .forgotten)
        },
        ConformanceCase(
            "a dead run is outdated when the newer end was forgotten before it died",
            limits: .init(retention: .seconds(60))
        ) { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            let newer = try await fixture.submit("b")
            #expect(try await fixture.cancel() == 1)
            fixture.time.pass(.seconds(600))
            for _ in 0..<3 { try await fixture.submit("x", "other") }
            #expect(try await fixture.fail(run, retry: nil) == .accepted)
            #expect(try await fixture.retry(run) == .outdated)
            #expect(try await fixture.submit("c").generation > newer.generation)
        },
    ]
}
