internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// What a limit on the values of a run does.
    static let batches = [
        ConformanceCase("a claim takes the first values, and the parts follow each other in order") { bench in
            try await bench.open(.debounce(10, .collect, maxBatch: 2))
            let receipts = try await bench.submitAll("a", "b", "c", "d", "e")
            bench.pass(10)
            var first = 1
            for (part, words) in ["k trailing a+b ×2", "k trailing c+d ×2", "k trailing e"].enumerated() {
                let run = try await bench.claimOne()
                #expect(run.words == words && run.attempt == 1)
                // The ranges tile, and the rest has the due instant and the oldest submit of the whole.
                let last = min(first + 1, 5)
                #expect(run.submits == receipts[first - 1].generation...receipts[last - 1].generation)
                #expect(run.due.nanoseconds == receipts[4].due)
                #expect(run.first == run.due.advanced(by: .milliseconds(-10)))
                for (number, receipt) in receipts.enumerated() where part == 1 {
                    let expected: DurableState = [.completed, .running(attempt: 1), .ready][number / 2]
                    #expect(try await bench.state(receipt) == expected)
                }
                // No part starts before the one before it has ended.
                #expect(try await bench.claim(by: 2) == [])
                bench.pass(1)
                try await bench.complete(run)
                first = last + 1
            }
            #expect(try await bench.claim() == [])
            for receipt in receipts { #expect(try await bench.state(receipt) == .completed) }
        },
        ConformanceCase("what fits is one run, and a single value is a part like others") { bench in
            try await bench.open(.debounce(10, .collect, maxBatch: 2))
            try await bench.submitAll("a", "b")
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing a+b ×2"])
            try await bench.open(.debounce(10, .collect, maxBatch: 1))
            try await bench.submitAll("c", "d", "e")
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing c", "k trailing d", "k trailing e"])
        },
        ConformanceCase("later values join the rest, and are counted with it") { bench in
            try await bench.open(.debounce(10, maxCount: 5, .collect, maxBatch: 2))
            let early = try await bench.submitAll("a", "b", "c")
            bench.pass(10)
            let first = try await bench.claimOne()
            try await bench.submitAll("d", "e", "f", "g", "h")
            #expect(try await bench.list().map(\.ready) == [6])
            try await bench.complete(first)
            let second = try await bench.claimOne()
            #expect(second.words == "k maxCount c+d ×2")
            #expect(second.due.nanoseconds == early[2].due && second.first == first.first)
            try await bench.complete(second)
            #expect(try await bench.work() == ["k maxCount e+f ×2", "k maxCount g+h ×2"])
        },
        ConformanceCase("what falls due behind the rest joins it when a worker comes late") { bench in
            try await bench.open(.debounce(10, .collect, maxBatch: 2))
            try await bench.submitAll("a", "b", "c")
            bench.pass(10)
            let first = try await bench.claimOne(lease: 1000)
            try await bench.submitAll("d", "e")
            bench.pass(10)
            #expect(try await bench.complete(first) == .accepted)
            #expect(try await bench.work() == ["k trailing c+d ×2", "k trailing e"])
        },
        ConformanceCase("a part that fails is tried again by itself, before the rest") { bench in
            try await bench.open(.debounce(10, .collect, maxBatch: 2))
            let receipts = try await bench.submitAll("a", "b", "c")
            bench.pass(10)
            let run = try await bench.claimOne()
            #expect(try await bench.fail(run, retry: 20) == .accepted)
            bench.pass(19)
            #expect(try await bench.claim() == [])
            #expect(try await bench.state(receipts[2]) == .ready)
            bench.pass(1)
            let again = try await bench.claimOne()
            #expect(again.id == run.id && again.values == run.values && again.submits == run.submits)
            #expect(again.attempt == 2)
            try await bench.complete(again)
            #expect(try await bench.work() == ["k trailing c"])
        },
        ConformanceCase("a part that is dead stops nothing, and can be tried again before the rest") { bench in
            try await bench.open(.debounce(10, .collect, maxBatch: 2))
            let receipts = try await bench.submitAll("a", "b", "c", "d", "e")
            bench.pass(10)
            let dead = try await bench.claimOne()
            #expect(try await bench.fail(dead, retry: nil) == .accepted)
            #expect(try await bench.state(receipts[1]) == .dead(error: "it broke"))
            let next = try await bench.claimOne()
            #expect(next.words == "k trailing c+d ×2")
            try await bench.complete(next)
            #expect(try await bench.retry(dead) == .accepted)
            #expect(try await bench.work() == ["k trailing a+b ×2", "k trailing e"])
            for receipt in receipts { #expect(try await bench.state(receipt) == .completed) }
        },
        ConformanceCase("a part whose lease ends is taken over, and dies without its rest") { bench in
            try await bench.open(.debounce(10, .collect, maxBatch: 1))
            let receipts = try await bench.submitAll("a", "b")
            bench.pass(10)
            for attempt in 1...2 {
                let run = try await bench.claimOne(by: Int64(attempt), lease: 50, maxAttempts: 2)
                #expect(run.words == "k trailing a" && run.attempt == attempt)
                bench.pass(50)
            }
            let rest = try await bench.claimOne(by: 3, maxAttempts: 2)
            #expect(rest.words == "k trailing b" && rest.attempt == 1)
            guard case .dead(.some) = try await bench.state(receipts[0]) else {
                throw Surprise("it is \(try await bench.state(receipts[0]))")
            }
        },
        ConformanceCase("a part that is given back keeps its turn before the rest") { bench in
            try await bench.open(.debounce(10, .collect, maxBatch: 2))
            try await bench.submitAll("a", "b", "c")
            bench.pass(10)
            #expect(try await bench.report(.released, try await bench.claimOne()) == .accepted)
            #expect(try await bench.work() == ["k trailing a+b ×2", "k trailing c"])
        },
        ConformanceCase("what a flush makes ready has been done with the part of its last submit") { bench in
            try await bench.open(.debounce(1000, .collect, maxBatch: 2))
            let receipts = try await bench.submitAll("a", "b", "c")
            #expect(try await bench.flush() == 1)
            let first = try await bench.claimOne()
            #expect(first.words == "k flush a+b ×2")
            // There is nothing pending, and the rest is ready already.
            #expect(try await bench.flush() == 0)
            try await bench.complete(first)
            #expect(try await bench.state(receipts[2]) == .ready)
            #expect(try await bench.work() == ["k flush c"])
            #expect(try await bench.state(receipts[2]) == .completed)
        },
        ConformanceCase("a cancel while a part is claimed ends the rest and leaves the part") { bench in
            try await bench.open(.debounce(10, .collect, maxBatch: 2))
            let receipts = try await bench.submitAll("a", "b", "c", "d", "e")
            bench.pass(10)
            let run = try await bench.claimOne()
            try await bench.submit("f")
            #expect(try await bench.cancel() == 4)
            #expect(try await bench.state(receipts[1]) == .running(attempt: 1))
            for receipt in receipts[2...] { #expect(try await bench.state(receipt) == .cancelled) }
            #expect(try await bench.complete(run) == .accepted)
            #expect(try await bench.work() == [])
        },
        ConformanceCase("after each part the rest queues behind the keys that wait") { bench in
            try await bench.open(.debounce(10, .collect, maxBatch: 1))
            try await bench.submitAll("a", "b", "c")
            bench.pass(1)
            try await bench.submit("1", "other")
            bench.pass(9)
            var order: [String] = []
            for _ in 0..<4 {
                let run = try #require(try await bench.claim(limit: 1).first)
                order.append(run.words)
                bench.pass(2)
                try await bench.complete(run)
            }
            #expect(order == ["k trailing a", "other trailing 1", "k trailing b", "k trailing c"])
        },
        ConformanceCase("submits that were absorbed stay with the value that stood for them") { bench in
            try await bench.open(.debounce(10, .leading, .collect, maxBatch: 1))
            // Absorbed: b, c and e; a worker comes when two bursts are over.
            let receipts = try await bench.submitAll("a", "b", "c")
            bench.pass(10)
            let more = try await bench.submitAll("d", "e")
            let first = try await bench.claimOne()
            #expect(first.words == "k leading a")
            #expect(first.submits == receipts[0].generation...receipts[2].generation)
            bench.pass(10)
            let last = try await bench.submit("f")
            try await bench.complete(first)
            let second = try await bench.claimOne()
            #expect(second.words == "k leading d" && second.submits == more[0].generation...more[1].generation)
            try await bench.complete(second)
            let third = try await bench.claimOne()
            #expect(third.words == "k leading f" && third.submits == last.generation...last.generation)
        },
        ConformanceCase("a limit that is changed holds from the next claim on; a run keeps its values") { bench in
            try await bench.open(.debounce(10, .collect))
            try await bench.submitAll("a", "b", "c")
            bench.pass(10)
            let whole = try await bench.claimOne()
            try await bench.submitAll("d", "e", "f")
            bench.pass(10)
            #expect(try await bench.open(.debounce(10, .collect, maxBatch: 2)).maxBatch == 2)
            try await bench.fail(whole, retry: 0)
            #expect(
                try await bench.work() == ["k trailing a+b+c ×3", "k trailing d+e ×2", "k trailing f"])
            try await bench.submitAll("g", "h", "i", "j")
            bench.pass(10)
            try await bench.complete(try await bench.claimOne())
            #expect(try await bench.open(.debounce(10, .collect)).maxBatch == nil)
            #expect(try await bench.work() == ["k trailing i+j ×2"])
        },
        ConformanceCase("the limit and a rest are there after the store was opened anew") { bench in
            let rules = try DurableRules.debounce(10, .collect, maxBatch: 2)
            try await bench.open(rules)
            try await bench.submitAll("a", "b,", "c", "d")
            bench.pass(10)
            let run = try await bench.claimOne()
            let bench = try await bench.reopened()
            #expect(try await bench.open(nil) == rules)
            #expect(try await bench.store.status().map(\.rules) == [rules])
            try await bench.complete(run)
            #expect(try await bench.work() == ["k trailing c+d ×2"])
            await bench.closeOther()
        },
    ]
}

extension Bench {
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
        _ wait: Int, _ combination: Combination, maxBatch: Int
    ) throws -> DurableRules {
        try .debounce(wait, .trailing, combination, maxBatch: maxBatch)
    }

    fileprivate static func debounce(
        _ wait: Int, _ edges: Edges, _ combination: Combination, maxBatch: Int
    ) throws -> DurableRules {
        try .debounce(wait, maxWait: nil, edges, .restart, maxCount: nil, combination, maxBatch: maxBatch)
    }
}
