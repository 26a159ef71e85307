internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Flush and cancel.
    static let ends = [
        ConformanceCase("flush makes what is pending ready now, and the gate idle") { bench in
            try await bench.open(.debounce(10, .both))
            try await bench.submit("a")
            _ = try await bench.work()
            let receipt = try await bench.submit("b")
            #expect(try await bench.flush() == 1)
            #expect(try await bench.state(receipt) == .ready)
            #expect(try await bench.work() == ["k flush b"])
            #expect(try await bench.flush() == 0)
            try await bench.submit("c")
            #expect(try await bench.work() == ["k leading c"])
        },
        ConformanceCase("flush ends a backoff") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.fail(run, retry: 1000)
            #expect(try await bench.flush() == 1)
            #expect(try await bench.claimOne().id == run.id)
        },
        ConformanceCase("with latest, flushing a newer value ends a run in backoff") { bench in
            try await bench.open(.debounce(10, .latest))
            let old = try await bench.submit("a")
            bench.pass(10)
            try await bench.fail(try await bench.claimOne(), retry: 1000)
            try await bench.submit("b")
            #expect(try await bench.flush() == 1)
            #expect(try await bench.state(old) == .failed(error: "it broke"))
            #expect(try await bench.work() == ["k flush b"])
        },
        ConformanceCase("flush does not touch a claimed run; its follow-up waits for it") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne(by: 1)
            try await bench.submit("b")
            #expect(try await bench.flush() == 1)
            #expect(try await bench.claim(by: 2) == [])
            #expect(try await bench.complete(run) == .accepted)
            #expect(try await bench.work() == ["k flush b"])
        },
        ConformanceCase("flush of all keys makes everything ready") { bench in
            try await bench.open(.debounce(10))
            for key in ["a", "b", "c"] { try await bench.submit("1", key) }
            #expect(try await bench.flush(nil) == 3)
            #expect(try await bench.work().sorted() == ["a flush 1", "b flush 1", "c flush 1"])
            #expect(try await bench.flush(nil) == 0)
        },
        ConformanceCase("flush of all keys makes the gates idle of those that have nothing, too") { bench in
            try await bench.open(.debounce(10, .leading))
            try await bench.submit("a")
            #expect(try await bench.work() == ["k leading a"])
            #expect(try await bench.flush(nil) == 0)
            try await bench.submit("b")
            #expect(try await bench.work() == ["k leading b"])
        },
        ConformanceCase("what fell due before a flush did so by itself") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(11)
            #expect(try await bench.flush() == 0)
            #expect(try await bench.work() == ["k trailing a"])
        },
        ConformanceCase("cancel ends what is pending, and the gate is idle") { bench in
            try await bench.open(.debounce(10, .both))
            try await bench.submit("a")
            _ = try await bench.work()
            let receipts = try await [bench.submit("b"), bench.submit("c")]
            #expect(try await bench.cancel() == 2)
            for receipt in receipts { #expect(try await bench.state(receipt) == .cancelled) }
            #expect(try await bench.cancel() == 0)
            try await bench.submit("d")
            #expect(try await bench.work() == ["k leading d"])
        },
        ConformanceCase("cancel ends each range by itself: in backoff, ready, pending; not what is claimed") { bench in
            try await bench.open(.debounce(10, .collect))
            let backoff = try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.fail(run, retry: 1000)
            let ready = try await bench.submit("b")
            bench.pass(10)
            let pending = try await bench.submit("c")
            let claimed = try await bench.submit("a", "claimed", wait: 0)
            let held = try await bench.claimOne()
            #expect(try await bench.cancel(nil) == 3)
            for receipt in [backoff, ready, pending] { #expect(try await bench.state(receipt) == .cancelled) }
            #expect(try await bench.state(claimed) == .running(attempt: 1))
            bench.pass(2000)
            #expect(try await bench.complete(run) == .alreadyDone)
            #expect(try await bench.complete(held) == .accepted)
            #expect(try await bench.work() == [])
        },
        ConformanceCase("cancel leaves a claimed run alone, and drops its follow-up") { bench in
            try await bench.open(.debounce(10))
            let first = try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            let second = try await bench.submit("b")
            #expect(try await bench.cancel() == 1)
            #expect(try await bench.state(second) == .cancelled)
            let third = try await bench.submit("c")
            #expect(try await bench.complete(run) == .accepted)
            #expect(try await bench.state(first) == .completed)
            bench.pass(10)
            let next = try await bench.claimOne()
            #expect(next.words == "k trailing c" && next.submits == third.generation...third.generation)
        },
        ConformanceCase("flush and cancel of a key that has nothing do nothing") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            #expect(try await bench.flush("other") == 0)
            #expect(try await bench.cancel("other") == 0)
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing a"])
        },
    ]

    /// Repeating a submit whose answer was lost.
    static let tokens = [
        ConformanceCase("a submit that is repeated with its token counts once, and has its first answer") { bench in
            try await bench.open(.debounce(10))
            let first = try await bench.submit("a", token: "t")
            bench.pass(4)
            let again = try await bench.submit("changed", token: "t")
            #expect(again.generation == first.generation && again.due == first.due)
            #expect(again.dueIn == .milliseconds(6))
            bench.pass(6)
            #expect(try await bench.work() == ["k trailing a"])
            #expect(try await bench.submit("a", token: "t").generation == first.generation)
            #expect(try await bench.submit("a", token: "t").dueIn == .zero)
            bench.pass(100)
            #expect(try await bench.work() == [])
        },
        ConformanceCase("an absorbed submit that is repeated is absorbed once") { bench in
            try await bench.open(.debounce(10, .leading))
            try await bench.submit("a", token: "1")
            _ = try await bench.work()
            let first = try await bench.submit("b", token: "2")
            bench.pass(20)
            let again = try await bench.submit("b", token: "2")
            #expect(again.generation == first.generation && again.due == nil && again.dueIn == nil)
            #expect(try await bench.work() == [])
        },
        ConformanceCase("a token that was used with another key is an error, and changes nothing") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a", token: "t")
            await #expect(throws: DurableError.tokenOfOtherKey(token: "t")) {
                try await bench.submit("b", "other", token: "t")
            }
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing a"])
        },
        ConformanceCase("each namespace has tokens of its own") { bench in
            try await bench.open(.debounce(10))
            try await bench.open(.debounce(10), "m")
            try await bench.submit("a", token: "t")
            try await bench.submit("b", "other", token: "t", in: "m")
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing a"])
            #expect(try await bench.claim(in: "m").map(\.words) == ["other trailing b"])
        },
        ConformanceCase("tokens are kept for their lifetime", limits: .init(tokenLifetime: .seconds(60))) { bench in
            try await bench.open(.debounce(10))
            let first = try await bench.submit("a", token: "t")
            bench.time.pass(.seconds(60))
            #expect(try await bench.submit("a", token: "t").generation == first.generation)
            bench.pass(1)
            // Stores forget a little at a time.
            for _ in 0..<3 { try await bench.submit("x", "other") }
            #expect(try await bench.submit("b", token: "t").generation > first.generation)
        },
        ConformanceCase("tokens are there after the store was opened anew") { bench in
            try await bench.open(.debounce(10))
            let first = try await bench.submit("a", token: "t")
            let bench = try await bench.reopened()
            #expect(try await bench.submit("a", token: "t").generation == first.generation)
            await bench.closeOther()
        },
    ]

    /// How long ends are remembered.
    static let keeping = [
        ConformanceCase("ends are kept for the retention, dead runs for ever", limits: .init(retention: .seconds(60))) {
            bench in
            try await bench.open(.debounce(10))
            let done = try await bench.submit("a")
            let dead = try await bench.submit("b", "dead")
            bench.pass(10)
            for run in try await bench.claim() {
                if run.key == Array("dead".utf8) {
                    try await bench.fail(run, retry: nil)
                } else {
                    try await bench.complete(run)
                }
            }
            bench.time.pass(.seconds(60))
            try await bench.submit("x", "other")
            #expect(try await bench.state(done) == .completed)
            bench.pass(1)
            for _ in 0..<3 { try await bench.submit("x", "other") }
            #expect(try await bench.state(done) == .forgotten)
            #expect(try await bench.state(dead) == .dead(error: "it broke"))
            #expect(try await bench.dead().count == 1)
        },
        ConformanceCase(
            "a dead run stays outdated when the newer end is older than the retention",
            limits: .init(retention: .seconds(60))
        ) { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.fail(run, retry: nil)
            let newer = try await bench.submit("b")
            bench.pass(10)
            _ = try await bench.work()
            bench.time.pass(.seconds(600))
            for _ in 0..<3 { try await bench.submit("x", "other") }
            #expect(try await bench.retry(run) == .outdated)
            #expect(try await bench.discard(run))
            bench.time.pass(.seconds(600))
            for _ in 0..<3 { try await bench.submit("x", "other") }
            #expect(try await bench.state(newer) == .forgotten)
        },
        ConformanceCase(
            "a dead run is outdated when the newer end was forgotten before it died",
            limits: .init(retention: .seconds(60))
        ) { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne()
            let newer = try await bench.submit("b")
            #expect(try await bench.cancel() == 1)
            bench.time.pass(.seconds(600))
            for _ in 0..<3 { try await bench.submit("x", "other") }
            #expect(try await bench.fail(run, retry: nil) == .accepted)
            #expect(try await bench.retry(run) == .outdated)
            #expect(try await bench.submit("c").generation > newer.generation)
        },
    ]
}
