internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Flushing and cancelling what one submitter alone has submitted.
    static let submitters: [ConformanceCase] = [
        ConformanceCase("a submitter flushes what it alone has submitted, in the order of the first submits") {
            fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a", "y", by: 1)
            try await fixture.submit("b", "x", by: 1)
            try await fixture.submit("c", "others", by: 2)
            try await fixture.submit("d", "nobody's")
            let newest = try await fixture.submit("e", "y", by: 1)
            let (flushed, mixed) = try await fixture.flush(by: 1)
            #expect(flushed.map(\.key) == [Array("y".utf8), Array("x".utf8)] && mixed == 0)
            #expect(flushed.first?.generation == newest.generation)
            #expect(try await fixture.work() == ["y flush e ×2", "x flush b"])
            // A second time there is nothing.
            #expect(try await fixture.flush(by: 1).flushed.isEmpty)
            fixture.pass(10)
            #expect(try await fixture.work() == ["others trailing c", "nobody's trailing d"])
        },
        ConformanceCase("a submitter cancels what it alone has submitted, and each range ends so") { fixture in
            try await fixture.open(.debounce(10, .collect))
            let first = try await fixture.submit("a", "own", by: 1)
            let second = try await fixture.submit("b", "own", by: 1)
            try await fixture.submit("c", "others", by: 2)
            try await fixture.submit("d", "nobody's")
            let (cancelled, mixed) = try await fixture.cancel(by: 1)
            #expect(cancelled == 2 && mixed == 0)
            for receipt in [first, second] { #expect(try await fixture.state(receipt) == .cancelled) }
            #expect(try await fixture.cancel(by: 1).cancelled == 0)
            fixture.pass(10)
            #expect(try await fixture.work() == ["others trailing c", "nobody's trailing d"])
        },
        ConformanceCase("what others have submitted too stays, and is counted") { fixture in
            for combination in [CombinationRule.latest, .first, .collect] {
                try await fixture.open(.debounce(10, combination), "\(combination)")
                for (key, second) in [("two", 2), ("unnamed", nil), ("mine", 1)] as [(String, Int64?)] {
                    try await fixture.submit("a", key, by: 1, in: "\(combination)")
                    try await fixture.submit("b", key, by: second, in: "\(combination)")
                }
                let flushed = try await fixture.store.flush(submittedBy: 1, in: "\(combination)")
                #expect(flushed.flushed.map(\.key) == [Array("mine".utf8)] && flushed.mixed == 2)
                let cancelled = try await fixture.store.cancel(submittedBy: 2, in: "\(combination)")
                #expect(cancelled.cancelled == 0 && cancelled.mixed == 2)
            }
        },
        ConformanceCase("the end of a burst clears its submitters") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a", by: 1)
            fixture.pass(10)
            try await fixture.submit("b", by: 2)
            #expect(try await fixture.flush(by: 1).mixed == 0)
            #expect(try await fixture.flush(by: 2).flushed.count == 1)
            #expect(try await fixture.work() == ["k flush b ×2"])
        },
        ConformanceCase("a submitter's flush or cancel does not change what is due, claimed or between two attempts") {
            fixture in
            try await fixture.open(.debounce(10, .collect))
            try await fixture.submit("a", "due", by: 1)
            try await fixture.submit("b", "claimed", by: 1)
            try await fixture.submit("c", "failed", by: 1)
            fixture.pass(10)
            let runs = try await fixture.claim(limit: 3)
            #expect(runs.map(\.text) == ["due trailing a", "claimed trailing b", "failed trailing c"])
            try await fixture.complete(runs[0])
            try await fixture.fail(runs[2], retry: 50)
            try await fixture.submit("d", "due", by: 1)
            fixture.pass(10)
            #expect(try await fixture.flush(by: 1).flushed.isEmpty)
            let (cancelled, mixed) = try await fixture.cancel(by: 1)
            #expect(cancelled == 0 && mixed == 0)
            #expect(try await fixture.work() == ["due trailing d"])
            #expect(try await fixture.complete(runs[1]) == .accepted)
            fixture.pass(50)
            #expect(try await fixture.work() == ["failed trailing c"])
        },
        ConformanceCase("what is cancelled behind a value that waits for a worker is covered by that value's range") {
            fixture in
            for combination in [CombinationRule.latest, .first, .collect] {
                let namespace = "\(combination)"
                try await fixture.open(.debounce(10, combination), namespace)
                let ready = try await fixture.submit("a", by: 2, in: namespace)
                fixture.pass(10)
                let dropped = try await fixture.submit("b", by: 1, in: namespace)
                #expect(try await fixture.store.cancel(submittedBy: 1, in: namespace).cancelled == 1)
                #expect(try await fixture.state(dropped) == .ready)
                let last = try await fixture.submit("c", by: 1, in: namespace)
                fixture.pass(10)
                let runs = try await fixture.claim(in: namespace)
                let values = [CombinationRule.latest: "c", .first: "a"][combination] ?? "a+c"
                #expect(runs.map(\.text) == ["k trailing \(values) ×2"])
                #expect(runs.first.map { fixture.covers($0.submits, ready.generation...last.generation) } == true)
                for run in runs { #expect(try await fixture.report(.completed, run, in: namespace) == .accepted) }
            }
        },
        ConformanceCase("a submitter's flush and cancel make the gate idle") { fixture in
            try await fixture.open(.throttle(10))
            for (round, value) in ["b", "c"].enumerated() {
                try await fixture.submit("a", by: 1)
                #expect(try await fixture.work() == ["k leading a"])
                try await fixture.submit(value, by: 1)
                if round == 0 {
                    #expect(try await fixture.flush(by: 1).flushed.count == 1)
                    #expect(try await fixture.work() == ["k flush b"])
                } else {
                    #expect(try await fixture.cancel(by: 1).cancelled == 1)
                }
            }
            #expect(try await fixture.list() == [])
        },
        ConformanceCase("submitters are known after the store was reopened") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a", "own", by: -7)
            try await fixture.submit("b", "mixed", by: -7)
            try await fixture.submit("c", "mixed", by: .max)
            let fixture = try await fixture.reopened()
            let (flushed, mixed) = try await fixture.flush(by: -7)
            #expect(flushed.map(\.key) == [Array("own".utf8)] && mixed == 1)
            await fixture.closeOther()
        },
        ConformanceCase("the number 0 is no submitter's") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a", by: 0)
            #expect(try await fixture.flush(by: 0).flushed.isEmpty)
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing a"])
        },
    ]
}

extension StoreFixture {
    fileprivate func flush(
        by submitter: Int64
    ) async throws -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        try await store.flush(submittedBy: submitter, in: StoreFixture.namespace)
    }

    fileprivate func cancel(by submitter: Int64) async throws -> (cancelled: Int, mixed: Int) {
        try await store.cancel(submittedBy: submitter, in: StoreFixture.namespace)
    }
}
