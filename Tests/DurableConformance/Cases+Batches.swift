internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Limits on the number of values in a run.
    static let batches: [ConformanceCase] = [
        ConformanceCase("a claim takes the first values, and the parts follow each other in order") { fixture in
            try await fixture.open(.debounce(10, .collect, maxBatch: 2))
            let receipts = try await fixture.submitAll("a", "b", "c", "d", "e")
            fixture.pass(10)
            var first = 1
            for (part, text) in ["k trailing a+b ×2", "k trailing c+d ×2", "k trailing e"].enumerated() {
                let run = try await fixture.claimOne()
                #expect(run.text == text && run.attempt == 1)
                // The ranges tile, and the rest has the due instant and the oldest submit of the whole.
                let last = min(first + 1, 5)
                #expect(fixture.covers(run.submits, receipts[first - 1].generation...receipts[last - 1].generation))
                #expect(run.due.nanoseconds == receipts[4].due)
                #expect(run.first == run.due.advanced(by: .milliseconds(-10)))
                for (number, receipt) in receipts.enumerated() where part == 1 {
                    let expected: DurableState = [.executed, .running(attempt: 1), .ready][number / 2]
                    #expect(try await fixture.state(receipt) == expected)
                }
                // No part starts before the one before it has ended.
                #expect(try await fixture.claim(by: 2) == [])
                fixture.pass(1)
                try await fixture.complete(run)
                first = last + 1
            }
            #expect(try await fixture.claim() == [])
            for receipt in receipts { #expect(try await fixture.state(receipt) == .executed) }
        },
        ConformanceCase("what fits is one run, and a single value is a part like others") { fixture in
            try await fixture.open(.debounce(10, .collect, maxBatch: 2))
            try await fixture.submitAll("a", "b")
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing a+b ×2"])
            try await fixture.change(.debounce(10, .collect, maxBatch: 1))
            try await fixture.submitAll("c", "d", "e")
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing c", "k trailing d", "k trailing e"])
        },
        ConformanceCase("later values join the rest, and are counted with it") { fixture in
            try await fixture.open(.debounce(10, maxCount: 5, .collect, maxBatch: 2))
            let early = try await fixture.submitAll("a", "b", "c")
            fixture.pass(10)
            let first = try await fixture.claimOne()
            try await fixture.submitAll("d", "e", "f", "g", "h")
            #expect(try await fixture.list().map(\.ready) == [6])
            try await fixture.complete(first)
            let second = try await fixture.claimOne()
            #expect(second.text == "k maxCount c+d ×2")
            #expect(second.due.nanoseconds == early[2].due && second.first == first.first)
            try await fixture.complete(second)
            #expect(try await fixture.work() == ["k maxCount e+f ×2", "k maxCount g+h ×2"])
        },
        ConformanceCase("what falls due behind the rest joins it when a worker comes late") { fixture in
            try await fixture.open(.debounce(10, .collect, maxBatch: 2))
            try await fixture.submitAll("a", "b", "c")
            fixture.pass(10)
            let first = try await fixture.claimOne(lease: 1000)
            try await fixture.submitAll("d", "e")
            fixture.pass(10)
            #expect(try await fixture.complete(first) == .accepted)
            #expect(try await fixture.work() == ["k trailing c+d ×2", "k trailing e"])
        },
        ConformanceCase("a part that fails is tried again by itself, before the rest") { fixture in
            try await fixture.open(.debounce(10, .collect, maxBatch: 2))
            let receipts = try await fixture.submitAll("a", "b", "c")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(try await fixture.fail(run, retry: 20) == .accepted)
            fixture.pass(19)
            #expect(try await fixture.claim() == [])
            #expect(try await fixture.state(receipts[2]) == .ready)
            fixture.pass(1)
            let again = try await fixture.claimOne()
            #expect(again.id == run.id && again.values == run.values && again.submits == run.submits)
            #expect(again.attempt == 2)
            try await fixture.complete(again)
            #expect(try await fixture.work() == ["k trailing c"])
        },
        ConformanceCase("a part that is dead stops nothing, and can be tried again before the rest") { fixture in
            try await fixture.open(.debounce(10, .collect, maxBatch: 2))
            let receipts = try await fixture.submitAll("a", "b", "c", "d", "e")
            fixture.pass(10)
            let dead = try await fixture.claimOne()
            #expect(try await fixture.fail(dead, retry: nil) == .accepted)
            #expect(try await fixture.state(receipts[1]) == .dead(error: "it broke"))
            let next = try await fixture.claimOne()
            #expect(next.text == "k trailing c+d ×2")
            try await fixture.complete(next)
            #expect(try await fixture.retry(dead) == .accepted)
            #expect(try await fixture.work() == ["k trailing a+b ×2", "k trailing e"])
            for receipt in receipts { #expect(try await fixture.state(receipt) == .executed) }
        },
        ConformanceCase("a part whose lease ends is taken over, and dies without its rest") { fixture in
            try await fixture.open(.debounce(10, .collect, maxBatch: 1))
            let receipts = try await fixture.submitAll("a", "b")
            fixture.pass(10)
            for attempt in 1...2 {
                let run = try await fixture.claimOne(by: Int64(attempt), lease: 50, maxAttempts: 2)
                #expect(run.text == "k trailing a" && run.attempt == attempt)
                fixture.pass(50)
            }
            let rest = try await fixture.claimOne(by: 3, maxAttempts: 2)
            #expect(rest.text == "k trailing b" && rest.attempt == 1)
            guard case .dead(.some) = try await fixture.state(receipts[0]) else {
                throw Surprise("it is \(try await fixture.state(receipts[0]))")
            }
        },
        ConformanceCase("a part that is given back keeps its turn before the rest") { fixture in
            try await fixture.open(.debounce(10, .collect, maxBatch: 2))
            try await fixture.submitAll("a", "b", "c")
            fixture.pass(10)
            #expect(try await fixture.report(.released, try await fixture.claimOne()) == .accepted)
            #expect(try await fixture.work() == ["k trailing a+b ×2", "k trailing c"])
        },
        ConformanceCase("what a flush makes ready has been done with the part of its last submit") { fixture in
            try await fixture.open(.debounce(1000, .collect, maxBatch: 2))
            let receipts = try await fixture.submitAll("a", "b", "c")
            #expect(try await fixture.flush() == 1)
            let first = try await fixture.claimOne()
            #expect(first.text == "k flush a+b ×2")
            // Nothing is pending, and the rest is ready already.
            #expect(try await fixture.flush() == 0)
            try await fixture.complete(first)
            #expect(try await fixture.state(receipts[2]) == .ready)
            #expect(try await fixture.work() == ["k flush c"])
            #expect(try await fixture.state(receipts[2]) == .executed)
        },
        ConformanceCase("a cancel while a part is claimed ends the rest and leaves the part") { fixture in
            try await fixture.open(.debounce(10, .collect, maxBatch: 2))
            let receipts = try await fixture.submitAll("a", "b", "c", "d", "e")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            try await fixture.submit("f")
            #expect(try await fixture.cancel() == 4)
            #expect(try await fixture.state(receipts[1]) == .running(attempt: 1))
            for receipt in receipts[2...] { #expect(try await fixture.state(receipt) == .cancelled) }
            #expect(try await fixture.complete(run) == .accepted)
            #expect(try await fixture.work() == [])
        },
        ConformanceCase("after each part the rest queues behind the keys that wait") { fixture in
            try await fixture.open(.debounce(10, .collect, maxBatch: 1))
            try await fixture.submitAll("a", "b", "c")
            fixture.pass(1)
            try await fixture.submit("1", "other")
            fixture.pass(9)
            var order: [String] = []
            for _ in 0..<4 {
                let run = try #require(try await fixture.claim(limit: 1).first)
                order.append(run.text)
                fixture.pass(2)
                try await fixture.complete(run)
            }
            #expect(order == ["k trailing a", "other trailing 1", "k trailing b", "k trailing c"])
        },
        ConformanceCase("submits that were absorbed stay with the value that stood for them") { fixture in
            try await fixture.open(.debounce(10, .leading, .collect, maxBatch: 1))
            // Absorbed: b, c and e; a worker comes when two bursts are over.
            let receipts = try await fixture.submitAll("a", "b", "c")
            fixture.pass(10)
            let more = try await fixture.submitAll("d", "e")
            let first = try await fixture.claimOne()
            #expect(first.text == "k leading a")
            #expect(first.submits.contains(receipts[0].generation))
            fixture.pass(10)
            let last = try await fixture.submit("f")
            try await fixture.complete(first)
            let second = try await fixture.claimOne()
            #expect(
                second.text == "k leading d" && fixture.covers(second.submits, more[0].generation...more[1].generation))
            try await fixture.complete(second)
            let third = try await fixture.claimOne()
            #expect(third.text == "k leading f" && fixture.covers(third.submits, last.generation...last.generation))
        },
        ConformanceCase("a limit that is changed holds from the next claim on; a run keeps its values") { fixture in
            try await fixture.open(.debounce(10, .collect))
            try await fixture.submitAll("a", "b", "c")
            fixture.pass(10)
            let whole = try await fixture.claimOne()
            try await fixture.submitAll("d", "e", "f")
            fixture.pass(10)
            #expect(try await fixture.change(.debounce(10, .collect, maxBatch: 2)).maxBatch == 2)
            try await fixture.fail(whole, retry: 0)
            #expect(
                try await fixture.work() == ["k trailing a+b+c ×3", "k trailing d+e ×2", "k trailing f"])
            try await fixture.submitAll("g", "h", "i", "j")
            fixture.pass(10)
            try await fixture.complete(try await fixture.claimOne())
            #expect(try await fixture.change(.debounce(10, .collect)).maxBatch == nil)
            #expect(try await fixture.work() == ["k trailing i+j ×2"])
        },
        ConformanceCase("the limit and a rest are there after the store was opened again") { fixture in
            let rules = try DurableRules.debounce(10, .collect, maxBatch: 2)
            try await fixture.open(rules)
            try await fixture.submitAll("a", "b,", "c", "d")
            fixture.pass(10)
            let run = try await fixture.claimOne()
            let fixture = try await fixture.reopened()
            #expect(try await fixture.open(nil) == rules)
            #expect(try await fixture.store.status().map(\.rules) == [rules])
            try await fixture.complete(run)
            #expect(try await fixture.work() == ["k trailing c+d ×2"])
            await fixture.closeOther()
        },
    ]
}

extension StoreFixture {
    /// Submits one value after the other.
    @discardableResult
    fileprivate func submitAll(_ values: String...) async throws -> [DurableReceipt] {
        var receipts: [DurableReceipt] = []
        for value in values { receipts.append(try await submit(value)) }
        return receipts
    }
}

extension DurableRules {
    /// A debounce in milliseconds with a limit.
    fileprivate static func debounce(
        _ wait: Int, _ combination: CombinationRule, maxBatch: Int
    ) throws -> DurableRules {
        try .debounce(wait, .trailing, combination, maxBatch: maxBatch)
    }

    fileprivate static func debounce(
        _ wait: Int, _ edges: Edges, _ combination: CombinationRule, maxBatch: Int
    ) throws -> DurableRules {
        try .debounce(wait, maxWait: nil, edges, .restart, maxCount: nil, combination, maxBatch: maxBatch)
    }
}
