internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Which runs are handed out, and in which order.
    static let claims = [
        ConformanceCase("runs are handed out in the order of the instants since which they may start") { bench in
            try await bench.open(.debounce(10))
            // Of `lease` the lease ends at 22, of `retry` the backoff at 24; the others are due at 21, 23 and 25.
            try await bench.submit("a", "lease")
            bench.pass(1)
            try await bench.submit("a", "retry")
            bench.pass(11)
            let runs = try await bench.claim(lease: 10)
            #expect(runs.map(\.words) == ["lease trailing a", "retry trailing a"])
            for (key, wait) in [("last", 13), ("first", 9), ("third", 11)] {
                try await bench.submit("a", key, wait: wait)
            }
            #expect(try await bench.fail(runs[1], retry: 12) == .accepted)
            bench.pass(20)
            let order = try await bench.claim(by: 2).map { String(decoding: $0.key, as: UTF8.self) }
            #expect(order == ["first", "lease", "third", "retry", "last"])
        },
        ConformanceCase("the order is the same when they are asked for one at a time") { bench in
            try await bench.open(.debounce(100))
            // A submit may leave the instant of an earlier wake-up behind: the second of each key makes it due later.
            let waits = [("a", 5, 50), ("b", 6, 20), ("c", 40, 40), ("d", 7, 30), ("e", 1, 60), ("f", 10, 10)]
            for (key, wait, later) in waits {
                try await bench.submit("1", key, wait: wait)
                try await bench.submit("2", key, wait: later)
            }
            bench.pass(200)
            var order: [String] = []
            while let run = try await bench.claim(limit: 1, lease: 1000).first {
                order.append(String(decoding: run.key, as: UTF8.self))
                // Runs that are not named would be handed out again.
                try await bench.complete(run)
            }
            #expect(order == ["f", "b", "d", "c", "a", "e"])
        },
        ConformanceCase("no more runs are handed out than are asked for") { bench in
            try await bench.open(.debounce(10))
            for key in ["a", "b", "c", "d", "e"] { try await bench.submit("1", key) }
            bench.pass(10)
            #expect(try await bench.claim(limit: 0) == [])
            let two = try await bench.answer(limit: 2)
            #expect(two.runs.count == 2 && two.next == .zero)
            #expect(try await bench.claim(by: 2, limit: 2).count == 2)
            #expect(try await bench.claim(by: 3, limit: 2).count == 1)
        },
        ConformanceCase("a worker that comes back when it is told to is never late") { bench in
            try await bench.open(.throttle(10))
            for key in ["a", "b", "c"] {
                try await bench.submit("1", key)
                try await bench.submit("2", key)
                bench.pass(3)
            }
            // Dues: 0, 10; 3, 13; 6, 16, of which all leading ones are late.
            var late: [Int64] = []
            while case let answer = try await bench.answer(lease: 1000), !answer.runs.isEmpty || answer.next != nil {
                for run in answer.runs {
                    if run.edge == .trailing { late.append(try await bench.lateness(of: run)) }
                    try await bench.complete(run)
                }
                if let next = answer.next { bench.time.pass(next) }
            }
            #expect(late == [0, 0, 0])
        },
        ConformanceCase("where nothing is left there is nothing to come back for") { bench in
            try await bench.open(.debounce(10))
            #expect(try await bench.answer().next == nil)
            try await bench.submit("a")
            let next = try #require(try await bench.answer().next)
            #expect(next <= .milliseconds(10))
            bench.pass(10)
            _ = try await bench.work()
            #expect(try await bench.answer().next == nil)
        },
        ConformanceCase("a run knows its key, values, range, count, edge, instants and attempt") { bench in
            try await bench.open(.debounce(10, .collect))
            let first = try await bench.submit("a")
            bench.pass(4)
            let last = try await bench.submit("b")
            bench.pass(30)
            let run = try await bench.claimOne()
            #expect(run.key == Array("k".utf8) && run.values == [Array("a".utf8), Array("b".utf8)])
            #expect(run.submits == first.generation...last.generation && run.count == 2)
            #expect(run.edge == .trailing && run.attempt == 1)
            #expect(run.due.nanoseconds == last.due && run.first.duration(to: run.due) == .milliseconds(14))
        },
        ConformanceCase("run ids and fences are new with every run, of all keys and namespaces") { bench in
            try await bench.open(.debounce(0))
            try await bench.open(.debounce(0), "m")
            var ids: [Int64] = []
            var fences: [Int64] = []
            for round in 0..<4 {
                for namespace in [Bench.namespace, "m"] {
                    for key in ["a", "b"] { try await bench.submit("\(round)", key, in: namespace) }
                    for run in try await bench.claim(in: namespace) {
                        ids.append(run.id)
                        fences.append(run.fence)
                        #expect(try await bench.report(.completed, run, in: namespace) == .accepted)
                    }
                }
            }
            #expect(Set(ids).count == 16 && fences == fences.sorted() && Set(fences).count == 16)
        },
        ConformanceCase("no two workers have the same key") { bench in
            try await bench.open(.debounce(0))
            try await bench.submit("a")
            let run = try await bench.claimOne()
            try await bench.submit("b")
            #expect(try await bench.claim(by: 2) == [])
            #expect(try await bench.claim(by: 1, holding: [run]) == [])
            try await bench.complete(run)
            #expect(try await bench.claimOne(by: 2).words == "k trailing b")
        },
        ConformanceCase("what one instance has taken is executed and ended by another") { bench in
            try await bench.open(.debounce(10))
            let receipt = try await bench.submit("a")
            let other = try await bench.another()
            #expect(try await other.submit("b").generation == receipt.generation + 1)
            bench.pass(10)
            let run = try await other.claimOne()
            #expect(run.words == "k trailing b ×2")
            #expect(try await bench.claim(by: 2) == [])
            #expect(try await bench.complete(run) == .accepted)
            #expect(try await other.complete(run) == .alreadyDone)
            #expect(try await other.state(receipt) == .completed)
            await other.closeOther()
        },
    ]

    /// How long a run is a worker's.
    static let leases = [
        ConformanceCase("a run is not taken from a worker before its lease ends, and then it is") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let first = try await bench.claimOne(by: 1, lease: 50)
            bench.pass(49)
            #expect(try await bench.claim(by: 2) == [])
            bench.pass(1)
            let second = try await bench.claimOne(by: 2, lease: 50)
            #expect(second.id == first.id && second.submits == first.submits && second.values == first.values)
            #expect(second.fence > first.fence && second.attempt == 2)
            #expect(second.due == first.due && second.edge == first.edge)
        },
        ConformanceCase("who has lost a run is told so, whatever it says, and changes nothing") { bench in
            try await bench.open(.debounce(10))
            let receipt = try await bench.submit("a")
            bench.pass(10)
            let stale = try await bench.claimOne(by: 1, lease: 50)
            bench.pass(50)
            let run = try await bench.claimOne(by: 2, lease: 50)
            let kinds: [DurableReport.Kind] = [
                .heartbeat(lease: .seconds(9)), .completed, .failed("no", retry: .zero), .failed("no", retry: nil),
                .released,
            ]
            for kind in kinds { #expect(try await bench.report(kind, stale, by: 1) == .leaseLost) }
            #expect(try await bench.state(receipt) == .running(attempt: 2))
            #expect(try await bench.complete(run, by: 2) == .accepted)
            for kind in kinds { #expect(try await bench.report(kind, stale, by: 1) == .alreadyDone) }
        },
        ConformanceCase("a report counts only with the right run, fence and owner") { bench in
            try await bench.open(.debounce(10))
            let receipt = try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne(by: 1)
            var wrong = run
            wrong.fence += 1
            #expect(try await bench.complete(wrong, by: 1) == .leaseLost)
            wrong = run
            wrong.id += 1
            #expect(try await bench.complete(wrong, by: 1) == .leaseLost)
            wrong = run
            wrong.key = Array("l".utf8)
            #expect(try await bench.complete(wrong, by: 1) == .leaseLost)
            #expect(try await bench.complete(run, by: 2) == .leaseLost)
            #expect(try await bench.state(receipt) == .running(attempt: 1))
            #expect(try await bench.complete(run, by: 1) == .accepted)
        },
        ConformanceCase("a heartbeat makes the lease last longer") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let run = try await bench.claimOne(by: 1, lease: 50)
            bench.pass(40)
            #expect(try await bench.report(.heartbeat(lease: .milliseconds(50)), run) == .accepted)
            bench.pass(49)
            #expect(try await bench.claim(by: 2) == [])
            bench.pass(1)
            #expect(try await bench.claimOne(by: 2).id == run.id)
        },
        ConformanceCase("a lease that has ended is still good as long as nobody has taken the run") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            try await bench.submit("a", "l")
            bench.pass(10)
            let runs = try await bench.claim(by: 1, lease: 50)
            bench.pass(500)
            #expect(try await bench.report(.heartbeat(lease: .milliseconds(50)), runs[0]) == .accepted)
            #expect(try await bench.complete(runs[1]) == .accepted)
            #expect(try await bench.claim(by: 2) == [])
            #expect(try await bench.complete(runs[0]) == .accepted)
        },
        ConformanceCase("a run whose hand-over was lost is handed out again, with a new fence and no new attempt") {
            bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            let lost = try await bench.claimOne(by: 1, lease: 50)
            bench.pass(20)
            let run = try await bench.claimOne(by: 1, lease: 50)
            #expect(run.id == lost.id && run.attempt == 1 && run.fence > lost.fence && run.values == lost.values)
            #expect(run.submits == lost.submits && run.count == lost.count && run.edge == lost.edge)
            #expect(try await bench.complete(lost) == .leaseLost)
            bench.pass(49)
            #expect(try await bench.claim(by: 2) == [])
            bench.pass(1)
            #expect(try await bench.claimOne(by: 2).attempt == 2)
        },
        ConformanceCase("a run that its worker names is not handed out again") { bench in
            try await bench.open(.debounce(10))
            for key in ["a", "b", "c"] { try await bench.submit("1", key) }
            bench.pass(10)
            let runs = try await bench.claim(by: 1)
            let again = try await bench.claim(by: 1, holding: Array(runs[0...1]))
            #expect(again.map(\.key) == [runs[2].key] && again.map(\.id) == [runs[2].id])
            for run in runs[0...1] { #expect(try await bench.complete(run) == .accepted) }
        },
        ConformanceCase("no worker is handed out what another one has") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("1")
            bench.pass(10)
            _ = try await bench.claim(by: 1)
            #expect(try await bench.claim(by: 2) == [])
            #expect(try await bench.claim(by: -1) == [])
        },
    ]
}

extension Bench {
    /// How long ago a run was due, in nanoseconds; asked of the store, whose instants are its own.
    func lateness(of run: DurableRun) async throws -> Int64 {
        // A submit that is due at once names the present instant.
        let probe = try await submit("probe", "probe \(run.id)", wait: 0)
        guard let now = probe.due else { throw Surprise("a submit has no due instant") }
        try await cancel("probe \(run.id)")
        return now - run.due.nanoseconds
    }
}
