internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Flushing and cancelling what one submitter alone has submitted.
    static let submitters = [
        ConformanceCase("a submitter flushes what it alone has submitted, in the order of the first submits") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a", "y", by: 1)
            try await bench.submit("b", "x", by: 1)
            try await bench.submit("c", "others", by: 2)
            try await bench.submit("d", "nobody's")
            let newest = try await bench.submit("e", "y", by: 1)
            let (flushed, mixed) = try await bench.flush(by: 1)
            #expect(flushed.map(\.key) == [Array("y".utf8), Array("x".utf8)] && mixed == 0)
            #expect(flushed.first?.generation == newest.generation)
            #expect(try await bench.work() == ["y flush e ×2", "x flush b"])
            // A second time there is nothing.
            #expect(try await bench.flush(by: 1).flushed.isEmpty)
            bench.pass(10)
            #expect(try await bench.work() == ["others trailing c", "nobody's trailing d"])
        },
        ConformanceCase("a submitter cancels what it alone has submitted, and each range ends so") { bench in
            try await bench.open(.debounce(10, .collect))
            let first = try await bench.submit("a", "own", by: 1)
            let second = try await bench.submit("b", "own", by: 1)
            try await bench.submit("c", "others", by: 2)
            try await bench.submit("d", "nobody's")
            let (cancelled, mixed) = try await bench.cancel(by: 1)
            #expect(cancelled == 2 && mixed == 0)
            for receipt in [first, second] { #expect(try await bench.state(receipt) == .cancelled) }
            #expect(try await bench.cancel(by: 1).cancelled == 0)
            bench.pass(10)
            #expect(try await bench.work() == ["others trailing c", "nobody's trailing d"])
        },
        ConformanceCase("what others have submitted too stays, and is counted") { bench in
            for combination in [Combination.latest, .first, .collect] {
                try await bench.open(.debounce(10, combination), "\(combination)")
                for (key, second) in [("two", 2), ("unnamed", nil), ("mine", 1)] as [(String, Int64?)] {
                    try await bench.submit("a", key, by: 1, in: "\(combination)")
                    try await bench.submit("b", key, by: second, in: "\(combination)")
                }
                let flushed = try await bench.store.flush(submittedBy: 1, in: "\(combination)")
                #expect(flushed.flushed.map(\.key) == [Array("mine".utf8)] && flushed.mixed == 2)
                let cancelled = try await bench.store.cancel(submittedBy: 2, in: "\(combination)")
                #expect(cancelled.cancelled == 0 && cancelled.mixed == 2)
            }
        },
        ConformanceCase("a burst's end forgets its submitters") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a", by: 1)
            bench.pass(10)
            try await bench.submit("b", by: 2)
            #expect(try await bench.flush(by: 1).mixed == 0)
            #expect(try await bench.flush(by: 2).flushed.count == 1)
            #expect(try await bench.work() == ["k flush b ×2"])
        },
        ConformanceCase("no submitter's flush or cancel touches what is due, claimed or between two attempts") {
            bench in
            try await bench.open(.debounce(10, .collect))
            try await bench.submit("a", "due", by: 1)
            try await bench.submit("b", "claimed", by: 1)
            try await bench.submit("c", "failed", by: 1)
            bench.pass(10)
            let runs = try await bench.claim(limit: 3)
            #expect(runs.map(\.words) == ["due trailing a", "claimed trailing b", "failed trailing c"])
            try await bench.complete(runs[0])
            try await bench.fail(runs[2], retry: 50)
            try await bench.submit("d", "due", by: 1)
            bench.pass(10)
            #expect(try await bench.flush(by: 1).flushed.isEmpty)
            let (cancelled, mixed) = try await bench.cancel(by: 1)
            #expect(cancelled == 0 && mixed == 0)
            #expect(try await bench.work() == ["due trailing d"])
            #expect(try await bench.complete(runs[1]) == .accepted)
            bench.pass(50)
            #expect(try await bench.work() == ["failed trailing c"])
        },
        ConformanceCase("what is cancelled behind a value that waits for a worker is covered by that one's range") {
            bench in
            for combination in [Combination.latest, .first, .collect] {
                let namespace = "\(combination)"
                try await bench.open(.debounce(10, combination), namespace)
                let ready = try await bench.submit("a", by: 2, in: namespace)
                bench.pass(10)
                let dropped = try await bench.submit("b", by: 1, in: namespace)
                #expect(try await bench.store.cancel(submittedBy: 1, in: namespace).cancelled == 1)
                #expect(try await bench.state(dropped) == .ready)
                let last = try await bench.submit("c", by: 1, in: namespace)
                bench.pass(10)
                let runs = try await bench.claim(in: namespace)
                let values = [Combination.latest: "c", .first: "a"][combination] ?? "a+c"
                #expect(runs.map(\.words) == ["k trailing \(values) ×2"])
                #expect(runs.first?.submits == ready.generation...last.generation)
                for run in runs { #expect(try await bench.report(.completed, run, in: namespace) == .accepted) }
            }
        },
        ConformanceCase("a submitter's flush and cancel make the gate idle") { bench in
            try await bench.open(.throttle(10))
            for (round, value) in ["b", "c"].enumerated() {
                try await bench.submit("a", by: 1)
                #expect(try await bench.work() == ["k leading a"])
                try await bench.submit(value, by: 1)
                if round == 0 {
                    #expect(try await bench.flush(by: 1).flushed.count == 1)
                    #expect(try await bench.work() == ["k flush b"])
                } else {
                    #expect(try await bench.cancel(by: 1).cancelled == 1)
                }
            }
            #expect(try await bench.list() == [])
        },
        ConformanceCase("who has submitted is known after the store was opened anew") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a", "own", by: -7)
            try await bench.submit("b", "mixed", by: -7)
            try await bench.submit("c", "mixed", by: .max)
            let bench = try await bench.reopened()
            let (flushed, mixed) = try await bench.flush(by: -7)
            #expect(flushed.map(\.key) == [Array("own".utf8)] && mixed == 1)
            await bench.closeOther()
        },
        ConformanceCase("the number 0 is nobody's") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a", by: 0)
            #expect(try await bench.flush(by: 0).flushed.isEmpty)
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing a"])
        },
    ]
}

extension Bench {
    fileprivate func flush(
        by submitter: Int64
    ) async throws -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        try await store.flush(submittedBy: submitter, in: Bench.namespace)
    }

    fileprivate func cancel(by submitter: Int64) async throws -> (cancelled: Int, mixed: Int) {
        try await store.cancel(submittedBy: submitter, in: Bench.namespace)
    }
}
