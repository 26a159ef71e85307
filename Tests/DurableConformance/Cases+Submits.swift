internal import LullCore
internal import LullDurable
internal import LullReference
internal import Testing

extension ConformanceCase {
    /// Receipts, and when what was submitted falls due.
    static let submits: [ConformanceCase] = [
        ConformanceCase("a submit is executed when it is due, and not before") { fixture in
            try await fixture.open(.debounce(10))
            let receipt = try await fixture.submit("a")
            #expect(receipt.namespace == StoreFixture.namespace && receipt.key == Array("k".utf8))
            #expect(receipt.dueIn == .milliseconds(10))
            fixture.time.pass(.nanoseconds(9_999_999))
            #expect(try await fixture.work() == [])
            #expect(try await fixture.state(receipt) == .pending)
            fixture.time.pass(.nanoseconds(1))
            #expect(try await fixture.state(receipt) == .ready)
            #expect(try await fixture.work() == ["k trailing a"])
            #expect(try await fixture.state(receipt) == .executed)
        },
        ConformanceCase("the submits of a key are numbered one after the other") { fixture in
            try await fixture.open(.debounce(10))
            let numbers = try await [fixture.submit("a"), fixture.submit("b"), fixture.submit("c")].map(\.generation)
            #expect(numbers == numbers.sorted() && Set(numbers).count == 3)
            if !fixture.maker.countsByTime { #expect(numbers == Array(numbers[0]...numbers[0] + 2)) }
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(fixture.covers(run.submits, numbers[0]...numbers[2]) && run.count == 3)
            let next = try await fixture.submit("d").generation
            #expect(fixture.maker.countsByTime ? next > numbers[2] : next == numbers[2] + 1)
        },
        ConformanceCase("any bytes are a key, and none are one, too") { fixture in
            try await fixture.open(.debounce(10, .trailing, .restart, .collect, maxBatch: 1))
            let keys: [[UInt8]] = [[], [0], [0xFF, 0], Array("a:b".utf8), Array("{a}".utf8)]
            for key in keys {
                var receipts: [DurableReceipt] = []
                for value: UInt8 in 1...2 {
                    let submission = DurableSubmission(namespace: StoreFixture.namespace, key: key, value: [value])
                    receipts.append(try await fixture.store.submit(submission))
                }
                #expect(try await fixture.state(receipts[1]) == .pending, "\(key)")
                #expect(try await fixture.store.flush(key, in: StoreFixture.namespace) == 1, "\(key)")
                #expect(
                    try await fixture.store.list(in: StoreFixture.namespace, prefix: [], limit: 9).map(\.key) == [key])
                for value: UInt8 in 1...2 {
                    let run = try await fixture.claimOne()
                    #expect(run.key == key && run.values == [[value]])
                    #expect(try await fixture.state(receipts[Int(value) - 1]) == .running(attempt: 1))
                    #expect(try await fixture.complete(run) == .accepted)
                }
                #expect(try await fixture.state(receipts[1]) == .executed)
            }
        },
        ConformanceCase("a key never gets the same number twice, even after it was idle") { fixture in
            try await fixture.open(.debounce(10))
            var highest: Int64 = 0
            for round in 0..<5 {
                for key in ["k", "l", "m"].prefix(1 + round % 3) {
                    let receipt = try await fixture.submit("a", key)
                    if key == "k" {
                        #expect(receipt.generation > highest)
                        highest = receipt.generation
                    }
                }
                fixture.pass(10)
                _ = try await fixture.work()
                #expect(try await fixture.store.list(in: StoreFixture.namespace, prefix: [], limit: 9) == [])
            }
        },
        ConformanceCase("a number is not given twice after the store was reopened") { fixture in
            try await fixture.open(.debounce(10))
            let first = try await fixture.submit("a")
            fixture.pass(10)
            _ = try await fixture.work()
            let fixture = try await fixture.reopened()
            #expect(try await fixture.submit("b").generation > first.generation)
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing b"])
            await fixture.closeOther()
        },
        ConformanceCase("what is pending is there after the store was reopened") { fixture in
            try await fixture.open(.debounce(10, .both, maxCount: 9, .collect))
            try await fixture.submit("a")
            try await fixture.submit("b")
            let fixture = try await fixture.reopened()
            try await fixture.submit("c")
            let run = try await fixture.claimOne()
            let again = try await fixture.reopened()
            #expect(try await again.complete(run) == .accepted)
            again.pass(10)
            #expect(try await again.work() == ["k trailing b+c ×2"])
            await again.closeOther()
        },
        ConformanceCase("each submit moves the due instant of a debounce, up to the longest wait") { fixture in
            try await fixture.open(.debounce(10, maxWait: 25))
            for value in ["a", "b", "c"] {
                #expect(try await fixture.submit(value).dueIn == .milliseconds(value == "c" ? 9 : 10))
                fixture.pass(8)
            }
            #expect(try await fixture.work() == [])
            fixture.pass(1)
            let run = try await fixture.claimOne()
            #expect(run.text == "k maxWait c ×3")
            #expect(run.first.duration(to: run.due) == .milliseconds(25))
        },
        ConformanceCase("a delay of its own replaces the running one, unless the rule is to extend") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a", wait: 30)
            #expect(try await fixture.submit("b", wait: 5).dueIn == .milliseconds(5))
            try await fixture.open(.debounce(10, .trailing, .extend), "e")
            try await fixture.submit("a", wait: 30, in: "e")
            fixture.pass(1)
            #expect(try await fixture.submit("b", wait: 5, in: "e").dueIn == .milliseconds(29))
        },
        ConformanceCase("a delay of its own that is negative counts as none") { fixture in
            try await fixture.open(.debounce(10))
            #expect(try await fixture.submit("a", wait: -5).dueIn == .zero)
            #expect(try await fixture.work() == ["k trailing a"])
        },
        ConformanceCase("what is due in the far future waits without end, and can be flushed") { fixture in
            try await fixture.open(.debounce(10))
            let submission = DurableSubmission(
                namespace: StoreFixture.namespace, key: Array("k".utf8), value: Array("a".utf8), wait: .infinite)
            _ = try await fixture.store.submit(submission)
            fixture.time.pass(.seconds(3600 * 24 * 365))
            #expect(try await fixture.work() == [])
            #expect(try await fixture.flush() == 1)
            #expect(try await fixture.work() == ["k flush a"])
        },
        ConformanceCase("a call at the due instant begins something new") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("a")
            fixture.pass(10)
            #expect(try await fixture.submit("b").dueIn == .milliseconds(10))
            #expect(try await fixture.work() == ["k trailing a"])
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing b"])
        },
        ConformanceCase("with no wait every submit is due at once") { fixture in
            try await fixture.open(.debounce(0))
            #expect(try await fixture.submit("a").dueIn == .zero)
            #expect(try await fixture.work() == ["k trailing a"])
            try await fixture.submit("b")
            #expect(try await fixture.work() == ["k trailing b"])
        },
        ConformanceCase("on the leading edge alone what follows is absorbed") { fixture in
            try await fixture.open(.debounce(10, .leading))
            let first = try await fixture.submit("a")
            #expect(first.dueIn == .zero && first.due != nil)
            #expect(try await fixture.work() == ["k leading a"])
            let absorbed = try await fixture.submit("b")
            #expect(absorbed.dueIn == nil && absorbed.due == nil)
            #expect(try await fixture.state(absorbed) == .absorbed)
            fixture.pass(9)
            try await fixture.submit("c")
            fixture.pass(10)
            #expect(try await fixture.work() == [])
            try await fixture.submit("d")
            #expect(try await fixture.work() == ["k leading d"])
        },
        ConformanceCase("what is absorbed extends the range right before it, whatever has ended since") { fixture in
            try await fixture.open(.debounce(10, .leading))
            try await fixture.submit("a")
            let run = try await fixture.claimOne()
            let first = try await fixture.submit("b")
            fixture.pass(1)
            try await fixture.complete(run)
            fixture.pass(1)
            let last = try await fixture.submit("c")
            let absorbed = try await fixture.ended(of: "k").filter { $0.how == .absorbed }.map(\.submits)
            #expect(absorbed == [first.generation...last.generation])
        },
        ConformanceCase("what is absorbed while its value waits for a worker ends as that value does") { fixture in
            try await fixture.open(.debounce(10, .leading))
            let first = try await fixture.submit("a")
            let absorbed = try await fixture.submit("b")
            #expect(absorbed.due == nil)
            let run = try await fixture.claimOne()
            #expect(run.text == "k leading a")
            #expect(fixture.covers(run.submits, first.generation...absorbed.generation))
            try await fixture.complete(run)
            #expect(try await fixture.state(absorbed) == .executed)
        },
        ConformanceCase("on both edges the first is executed at once and the last at the end") { fixture in
            try await fixture.open(.debounce(10, [.leading, .trailing]))
            try await fixture.submit("a")
            #expect(try await fixture.work() == ["k leading a"])
            try await fixture.submit("b")
            try await fixture.submit("c")
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing c ×2"])
        },
        ConformanceCase("an unbroken stream on the leading edge executes once a longest wait") { fixture in
            try await fixture.open(.debounce(10, maxWait: 20, .leading))
            var done: [String] = []
            for value in 0..<9 {
                try await fixture.submit("\(value)")
                done += try await fixture.work()
                fixture.pass(5)
            }
            #expect(done == ["k leading 0", "k leading 4", "k leading 8"])
        },
        ConformanceCase("a value falls due as soon as this many submits are pending") { fixture in
            try await fixture.open(.debounce(10, maxCount: 2))
            try await fixture.submit("a")
            #expect(try await fixture.submit("b").dueIn == .zero)
            #expect(try await fixture.work() == ["k maxCount b ×2"])
        },
        ConformanceCase("a throttle executes the first at once and the latest once a window") { fixture in
            try await fixture.open(.throttle(10))
            try await fixture.submit("a")
            #expect(try await fixture.work() == ["k leading a"])
            fixture.pass(4)
            #expect(try await fixture.submit("b", wait: 1).dueIn == .milliseconds(6))
            fixture.pass(2)
            try await fixture.submit("c")
            fixture.pass(4)
            #expect(try await fixture.work() == ["k trailing c ×2"])
            fixture.pass(1)
            #expect(try await fixture.submit("d").dueIn == .milliseconds(9))
        },
        ConformanceCase("a value that is too large is refused, and changes nothing", limits: .init(largestValue: 4)) {
            fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("four")
            await #expect(throws: DurableError.tooLarge(bytes: 5, limit: 4)) { try await fixture.submit("fives") }
            fixture.pass(10)
            #expect(try await fixture.work() == ["k trailing four"])
        },
        ConformanceCase("a key has at most 1,024 bytes, however well they compress") { fixture in
            try await fixture.open(.debounce(10))
            // What an index of PostgreSQL could hold depends on how well it compresses.
            var random = SplitMix(seed: 1)
            let noise = String(
                decoding: (0..<4000).map { _ in UInt8.random(in: 33...126, using: &random) }, as: UTF8.self)
            for key in [String(noise.prefix(1024)), String(repeating: "k", count: 1024)] {
                try await fixture.submit("v", key)
            }
            for key in [String(noise.prefix(1025)), noise, String(repeating: "k", count: 100_000)] {
                await #expect(throws: DurableError.keyTooLong(bytes: key.utf8.count, limit: 1024)) {
                    try await fixture.submit("v", key)
                }
                #expect(try await fixture.flush(key) == 0)
                #expect(try await fixture.cancel(key) == 0)
            }
            fixture.pass(10)
            #expect(try await fixture.work().count == 2)
        },
        ConformanceCase("keys and values are any bytes") { fixture in
            try await fixture.open(.debounce(10, .trailing, .restart, .collect))
            let all = Array(UInt8.min...UInt8.max)
            for (key, value) in [([], []), ([0], all), (all, [0, 0]), ([0, 0], [0xFF])] as [([UInt8], [UInt8])] {
                _ = try await fixture.store.submit(
                    DurableSubmission(namespace: StoreFixture.namespace, key: key, value: value))
            }
            fixture.pass(10)
            let runs = try await fixture.claim()
            let found = Dictionary(uniqueKeysWithValues: runs.map { ($0.key, $0.values) })
            #expect(found == [[]: [[]], [0]: [all], all: [[0, 0]], [0, 0]: [[0xFF]]])
        },
    ]

    /// How values are combined.
    static let combinations: [ConformanceCase] = [
        ConformanceCase("a burst keeps its latest value, its first, or all of them in order") { fixture in
            for (combination, values) in [(CombinationRule.latest, "c"), (.first, "a"), (.collect, "a+b+c")] {
                let namespace = "\(combination)"
                try await fixture.open(.debounce(10, combination), namespace)
                for value in ["a", "b", "c"] { try await fixture.submit(value, in: namespace) }
                fixture.pass(10)
                let runs = try await fixture.claim(in: namespace)
                #expect(runs.map(\.text) == ["k trailing \(values) ×3"])
                for run in runs { #expect(try await fixture.report(.completed, run, in: namespace) == .accepted) }
            }
        },
        ConformanceCase("what falls due while a due value waits for a worker joins it; the older instant counts") {
            fixture in
            for (combination, values) in [(CombinationRule.latest, "c"), (.first, "a"), (.collect, "a+b+c")] {
                let namespace = "\(combination)"
                try await fixture.open(.debounce(10, combination), namespace)
                let first = try await fixture.submit("a", in: namespace)
                fixture.pass(10)
                try await fixture.submit("b", in: namespace)
                let last = try await fixture.submit("c", in: namespace)
                fixture.pass(15)
                let runs = try await fixture.claim(in: namespace)
                #expect(runs.map(\.text) == ["k trailing \(values) ×3"])
                #expect(runs.first?.due.nanoseconds == first.due)
                #expect(runs.first.map { fixture.covers($0.submits, first.generation...last.generation) } == true)
                #expect(runs.first.map { $0.first.duration(to: $0.due) } == .milliseconds(10))
            }
        },
        ConformanceCase("what falls due while a run is claimed is one follow-up run") { fixture in
            for (combination, values) in [(CombinationRule.latest, "c"), (.first, "b"), (.collect, "b+c")] {
                let namespace = "\(combination)"
                try await fixture.open(.debounce(10, combination), namespace)
                try await fixture.submit("a", in: namespace)
                fixture.pass(10)
                let runs = try await fixture.claim(lease: 1000, in: namespace)
                #expect(runs.map(\.text) == ["k trailing a"])
                for value in ["b", "c"] {
                    try await fixture.submit(value, in: namespace)
                    fixture.pass(10)
                }
                #expect(try await fixture.claim(by: 2, in: namespace) == [])
                for run in runs { #expect(try await fixture.report(.completed, run, in: namespace) == .accepted) }
                #expect(try await fixture.claim(by: 2, in: namespace).map(\.text) == ["k trailing \(values) ×2"])
            }
        },
    ]
}

extension DurableRules {
    /// A debounce in milliseconds.
    static func debounce(_ wait: Int, _ combination: CombinationRule) throws -> DurableRules {
        try .debounce(wait, .trailing, .restart, combination)
    }
}

extension Edges {
    static var both: Edges { [.leading, .trailing] }
}
