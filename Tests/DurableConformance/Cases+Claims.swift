internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Which runs are handed out, and in which order.
    static let claims: [ConformanceCase] = [
        ConformanceCase("a worker whose own leases have ended dies of them, and finds what is due behind them") {
            fixture in
            try await fixture.open(.debounce(0))
            for key in ["d", "e", "b"] { try await fixture.submit("old", key) }
            let held = try await fixture.claim(lease: 3, maxAttempts: 1)
            fixture.pass(9)
            try await fixture.submit("new", "c")
            let answer = try await fixture.answer(limit: 1, maxAttempts: 1, holding: held)
            #expect(answer.runs.map(\.text) == ["c trailing new"])
            #expect(answer.dead.map(\.number).sorted() == held.map(\.number).sorted())
        },
        ConformanceCase("runs are handed out in the order of the instants since which they may start") { fixture in
            try await fixture.open(.debounce(10))
            // Of `lease` the lease ends at 22, of `retry` the backoff at 24; the others are due at 21, 23 and 25.
            try await fixture.submit("a", "lease")
            fixture.pass(1)
            try await fixture.submit("a", "retry")
            fixture.pass(11)
            let runs = try await fixture.claim(lease: 10)
            #expect(runs.map(\.text) == ["lease trailing a", "retry trailing a"])
            for (key, wait) in [("last", 13), ("first", 9), ("third", 11)] {
                try await fixture.submit("a", key, wait: wait)
            }
            #expect(try await fixture.fail(runs[1], retry: 12) == .accepted)
            fixture.pass(20)
            let order = try await fixture.claim(by: 2).map { String(decoding: $0.key, as: UTF8.self) }
            #expect(order == ["first", "lease", "third", "retry", "last"])
        },
        ConformanceCase("the order is the same when they are asked for one at a time") { fixture in
            try await fixture.open(.debounce(100))
            // A submit may leave the instant of an earlier wake-up behind: the second of each key makes it due later.
            let waits = [("a", 5, 50), ("b", 6, 20), ("c", 40, 40), ("d", 7, 30), ("e", 1, 60), ("f", 10, 10)]
            for (key, wait, later) in waits {
                try await fixture.submit("1", key, wait: wait)
                try await fixture.submit("2", key, wait: later)
            }
            fixture.pass(200)
            var order: [String] = []
            while let run = try await fixture.claim(limit: 1, lease: 1000).first {
                order.append(String(decoding: run.key, as: UTF8.self))
                // Runs that are not named would be handed out again.
                try await fixture.complete(run)
            }
            #expect(order == ["f", "b", "d", "c", "a", "e"])
        },
        ConformanceCase("no more runs are handed out than are asked for") { fixture in
            try await fixture.open(.debounce(10))
            for key in ["a", "b", "c", "d", "e"] { try await fixture.submit("1", key) }
            fixture.pass(10)
            #expect(try await fixture.claim(limit: 0) == [])
            let two = try await fixture.answer(limit: 2)
            #expect(two.runs.count == 2 && two.next == .zero)
            #expect(try await fixture.claim(by: 2, limit: 2).count == 2)
            #expect(try await fixture.claim(by: 3, limit: 2).count == 1)
        },
        ConformanceCase("a worker that claims again at the announced time is never late") { fixture in
            try await fixture.open(.throttle(10))
            for key in ["a", "b", "c"] {
                try await fixture.submit("1", key)
                try await fixture.submit("2", key)
                fixture.pass(3)
            }
            // Dues: 0, 10; 3, 13; 6, 16, of which all leading ones are late.
            var late: [Int64] = []
            while case let answer = try await fixture.answer(lease: 1000), !answer.runs.isEmpty || answer.next != nil {
                for run in answer.runs {
                    if run.cause == .trailing { late.append(try await fixture.lateness(of: run)) }
                    try await fixture.complete(run)
                }
                if let next = answer.next { fixture.time.pass(next) }
            }
            #expect(late == [0, 0, 0])
        },
        ConformanceCase("where nothing is left there is nothing to come back for") { fixture in
            try await fixture.open(.debounce(10))
            #expect(try await fixture.answer().next == nil)
            try await fixture.submit("a")
            let next = try #require(try await fixture.answer().next)
            #expect(next <= .milliseconds(10))
            fixture.pass(10)
            _ = try await fixture.work()
            #expect(try await fixture.answer().next == nil)
        },
        ConformanceCase("a run knows its key, values, range, count, edge, instants and attempt") { fixture in
            try await fixture.open(.debounce(10, .collect))
            let first = try await fixture.submit("a")
            fixture.pass(4)
            let last = try await fixture.submit("b")
            fixture.pass(30)
            let run = try await fixture.claimOne()
            #expect(run.key == Array("k".utf8) && run.values == [Array("a".utf8), Array("b".utf8)])
            #expect(fixture.covers(run.submits, first.generation...last.generation) && run.count == 2)
            #expect(run.cause == .trailing && run.attempt == 1)
            #expect(run.due.nanoseconds == last.due && run.first.duration(to: run.due) == .milliseconds(14))
        },
        ConformanceCase("run ids and fences are new with every run, of all keys and namespaces") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.open(.debounce(0), "m")
            var ids: [Int64] = []
            var fences: [Int64] = []
            let namespaces = fixture.maker.countsByTime ? [StoreFixture.namespace] : [StoreFixture.namespace, "m"]
            for round in 0..<4 {
                for namespace in namespaces {
                    for key in ["a", "b"] { try await fixture.submit("\(round)", key, in: namespace) }
                    for run in try await fixture.claim(in: namespace) {
                        ids.append(run.number)
                        fences.append(run.fence)
                        #expect(try await fixture.report(.completed, run, in: namespace) == .accepted)
                    }
                }
            }
            let count = 8 * namespaces.count
            #expect(Set(ids).count == count && fences == fences.sorted() && Set(fences).count == count)
        },
        ConformanceCase("no two workers have the same key") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("a")
            let run = try await fixture.claimOne()
            try await fixture.submit("b")
            #expect(try await fixture.claim(by: 2) == [])
            #expect(try await fixture.claim(by: 1, holding: [run]) == [])
            try await fixture.complete(run)
            #expect(try await fixture.claimOne(by: 2).text == "k trailing b")
        },
        ConformanceCase("what one instance has taken is executed and ended by another") { fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            let other = try await fixture.another()
            #expect(try await other.submit("b").generation > receipt.generation)
            fixture.pass(10)
            let run = try await other.claimOne()
            #expect(run.text == "k trailing b ×2")
            #expect(try await fixture.claim(by: 2) == [])
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await other.complete(run) == .alreadyDone)
            #expect(try await other.state(receipt) == .executed)
            await other.closeOther()
        },
    ]

    /// How long a run is a worker's.
    static let leases: [ConformanceCase] = [
        ConformanceCase("a run is not taken from a worker before its lease ends, and then it is") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let first = try await fixture.claimOne(by: 1, lease: 50)
            fixture.pass(49)
            #expect(try await fixture.claim(by: 2) == [])
            fixture.pass(1)
            let second = try await fixture.claimOne(by: 2, lease: 50)
            #expect(second.id == first.id && second.submits == first.submits && second.values == first.values)
            #expect(second.fence > first.fence && second.attempt == 2)
            #expect(second.due == first.due && second.cause == first.cause)
        },
        ConformanceCase("a worker that has lost a run gets that answer to every report, and changes nothing") {
            fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            fixture.pass(10)
            let stale = try await fixture.claimOne(by: 1, lease: 50)
            fixture.pass(50)
            let run = try await fixture.claimOne(by: 2, lease: 50)
            let kinds: [DurableReport.Kind] = [
                .heartbeat(lease: .seconds(9)), .completed, .failed("no", retry: .zero), .failed("no", retry: nil),
                .released,
            ]
            for kind in kinds { #expect(try await fixture.report(kind, stale, by: 1) == .leaseLost) }
            #expect(try await fixture.state(receipt) == .running(attempt: 2))
            #expect(try await fixture.complete(run, by: 2) == .accepted)
            for kind in kinds { #expect(try await fixture.report(kind, stale, by: 1) == .alreadyDone) }
        },
        ConformanceCase("a report counts only with the right run, fence and owner") { fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne(by: 1)
            var wrong = run
            wrong.fence += 1
            #expect(try await fixture.complete(wrong, by: 1) == .leaseLost)
            wrong = run
            wrong.number += 1
            #expect(try await fixture.complete(wrong, by: 1) == .leaseLost)
            wrong = run
            wrong.key = Array("l".utf8)
            #expect(try await fixture.complete(wrong, by: 1) == .leaseLost)
            #expect(try await fixture.complete(run, by: 2) == .leaseLost)
            #expect(try await fixture.state(receipt) == .running(attempt: 1))
            #expect(try await fixture.complete(run, by: 1) == .accepted)
        },
        ConformanceCase("a heartbeat makes the lease last longer") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let run = try await fixture.claimOne(by: 1, lease: 50)
            fixture.pass(40)
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(50)), run) == .accepted)
            fixture.pass(49)
            #expect(try await fixture.claim(by: 2) == [])
            fixture.pass(1)
            #expect(try await fixture.claimOne(by: 2).id == run.id)
        },
        ConformanceCase("a lease that has ended is still good as long as nobody has taken the run") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            try await fixture.submit("a", "l")
            fixture.pass(10)
            let runs = try await fixture.claim(by: 1, lease: 50)
            fixture.pass(500)
            #expect(try await fixture.report(.heartbeat(lease: .milliseconds(50)), runs[0]) == .accepted)
            #expect(try await fixture.complete(runs[1]) == .accepted)
            #expect(try await fixture.claim(by: 2) == [])
            #expect(try await fixture.complete(runs[0]) == .accepted)
        },
        ConformanceCase("a run in a lost answer to a claim is handed out again, with a new fence and no new attempt") {
            fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            let lost = try await fixture.claimOne(by: 1, lease: 50)
            fixture.pass(20)
            let run = try await fixture.claimOne(by: 1, lease: 50)
            #expect(run.id == lost.id && run.attempt == 1 && run.fence > lost.fence && run.values == lost.values)
            #expect(run.submits == lost.submits && run.count == lost.count && run.cause == lost.cause)
            #expect(try await fixture.complete(lost) == .leaseLost)
            fixture.pass(49)
            #expect(try await fixture.claim(by: 2) == [])
            fixture.pass(1)
            #expect(try await fixture.claimOne(by: 2).attempt == 2)
        },
        ConformanceCase("a run that its worker says it holds is not handed out again") { fixture in
            try await fixture.open(.debounce(10))
            for key in ["a", "b", "c"] { try await fixture.submit("1", key) }
            fixture.pass(10)
            let runs = try await fixture.claim(by: 1)
            let again = try await fixture.claim(by: 1, holding: Array(runs[0...1]))
            #expect(again.map(\.key) == [runs[2].key] && again.map(\.id) == [runs[2].id])
            for run in runs[0...1] { #expect(try await fixture.complete(run) == .accepted) }
        },
        ConformanceCase("no worker is handed out what another one has") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1")
            fixture.pass(10)
            _ = try await fixture.claim(by: 1)
            #expect(try await fixture.claim(by: 2) == [])
            #expect(try await fixture.claim(by: -1) == [])
        },
    ]
}

extension StoreFixture {
    /// Returns how long ago a run was due, in nanoseconds of the store's own time.
    func lateness(of run: DurableRun) async throws -> Int64 {
        // A submit that is due at once returns the present instant.
        let probe = try await submit("probe", "probe \(run.id)", wait: 0)
        guard let now = probe.due else { throw Surprise("a submit has no due instant") }
        try await cancel("probe \(run.id)")
        return now - run.due.nanoseconds
    }
}
