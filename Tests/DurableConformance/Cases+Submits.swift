internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Receipts, and when what was submitted falls due.
    static let submits = [
        ConformanceCase("a submit is executed when it is due, and not before") { bench in
            try await bench.open(.debounce(10))
            let receipt = try await bench.submit("a")
            #expect(receipt.namespace == Bench.namespace && receipt.key == Array("k".utf8))
            #expect(receipt.dueIn == .milliseconds(10))
            bench.time.pass(.nanoseconds(9_999_999))
            #expect(try await bench.work() == [])
            #expect(try await bench.state(receipt) == .pending)
            bench.time.pass(.nanoseconds(1))
            #expect(try await bench.state(receipt) == .ready)
            #expect(try await bench.work() == ["k trailing a"])
            #expect(try await bench.state(receipt) == .completed)
        },
        ConformanceCase("the submits of a key are numbered one after the other") { bench in
            try await bench.open(.debounce(10))
            let numbers = try await [bench.submit("a"), bench.submit("b"), bench.submit("c")].map(\.generation)
            #expect(numbers == Array(numbers[0]...numbers[0] + 2))
            bench.pass(10)
            let run = try await bench.claimOne()
            #expect(run.submits == numbers[0]...numbers[2] && run.count == 3)
            #expect(try await bench.submit("d").generation == numbers[2] + 1)
        },
        ConformanceCase("a key never gets the same number twice, also after nothing was left of it") { bench in
            try await bench.open(.debounce(10))
            var highest: Int64 = 0
            for round in 0..<5 {
                for key in ["k", "l", "m"].prefix(1 + round % 3) {
                    let receipt = try await bench.submit("a", key)
                    if key == "k" {
                        #expect(receipt.generation > highest)
                        highest = receipt.generation
                    }
                }
                bench.pass(10)
                _ = try await bench.work()
                #expect(try await bench.store.list(in: Bench.namespace, prefix: [], limit: 9) == [])
            }
        },
        ConformanceCase("a number is not given twice after the store was opened anew") { bench in
            try await bench.open(.debounce(10))
            let first = try await bench.submit("a")
            bench.pass(10)
            _ = try await bench.work()
            let bench = try await bench.reopened()
            #expect(try await bench.submit("b").generation > first.generation)
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing b"])
            await bench.closeOther()
        },
        ConformanceCase("what is pending is there after the store was opened anew") { bench in
            try await bench.open(.debounce(10, .both, maxCount: 9, .collect))
            try await bench.submit("a")
            try await bench.submit("b")
            let bench = try await bench.reopened()
            try await bench.submit("c")
            let run = try await bench.claimOne()
            let again = try await bench.reopened()
            #expect(try await again.complete(run) == .accepted)
            again.pass(10)
            #expect(try await again.work() == ["k trailing b+c ×2"])
            await again.closeOther()
        },
        ConformanceCase("each submit moves the due instant of a debounce; the longest wait holds") { bench in
            try await bench.open(.debounce(10, maxWait: 25))
            for value in ["a", "b", "c"] {
                #expect(try await bench.submit(value).dueIn == .milliseconds(value == "c" ? 9 : 10))
                bench.pass(8)
            }
            #expect(try await bench.work() == [])
            bench.pass(1)
            let run = try await bench.claimOne()
            #expect(run.words == "k maxWait c ×3")
            #expect(run.first.duration(to: run.due) == .milliseconds(25))
        },
        ConformanceCase("a delay of its own replaces the running one, unless the rule is to extend") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a", wait: 30)
            #expect(try await bench.submit("b", wait: 5).dueIn == .milliseconds(5))
            try await bench.open(.debounce(10, .trailing, .extend), "e")
            try await bench.submit("a", wait: 30, in: "e")
            bench.pass(1)
            #expect(try await bench.submit("b", wait: 5, in: "e").dueIn == .milliseconds(29))
        },
        ConformanceCase("a delay of its own that is negative counts as none") { bench in
            try await bench.open(.debounce(10))
            #expect(try await bench.submit("a", wait: -5).dueIn == .zero)
            #expect(try await bench.work() == ["k trailing a"])
        },
        ConformanceCase("what is due in the far future waits without end, and can be flushed") { bench in
            try await bench.open(.debounce(10))
            let submission = DurableSubmission(
                namespace: Bench.namespace, key: Array("k".utf8), value: Array("a".utf8), wait: .infinite)
            _ = try await bench.store.submit(submission)
            bench.time.pass(.seconds(3600 * 24 * 365))
            #expect(try await bench.work() == [])
            #expect(try await bench.flush() == 1)
            #expect(try await bench.work() == ["k flush a"])
        },
        ConformanceCase("a call at the due instant begins something new") { bench in
            try await bench.open(.debounce(10))
            try await bench.submit("a")
            bench.pass(10)
            #expect(try await bench.submit("b").dueIn == .milliseconds(10))
            #expect(try await bench.work() == ["k trailing a"])
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing b"])
        },
        ConformanceCase("with no wait every submit is due at once") { bench in
            try await bench.open(.debounce(0))
            #expect(try await bench.submit("a").dueIn == .zero)
            #expect(try await bench.work() == ["k trailing a"])
            try await bench.submit("b")
            #expect(try await bench.work() == ["k trailing b"])
        },
        ConformanceCase("on the leading edge alone what follows is absorbed") { bench in
            try await bench.open(.debounce(10, .leading))
            let first = try await bench.submit("a")
            #expect(first.dueIn == .zero && first.due != nil)
            #expect(try await bench.work() == ["k leading a"])
            let absorbed = try await bench.submit("b")
            #expect(absorbed.dueIn == nil && absorbed.due == nil)
            #expect(try await bench.state(absorbed) == .absorbed)
            bench.pass(9)
            try await bench.submit("c")
            bench.pass(10)
            #expect(try await bench.work() == [])
            try await bench.submit("d")
            #expect(try await bench.work() == ["k leading d"])
        },
        ConformanceCase("what is absorbed while its value waits for a worker shares that one's fate") { bench in
            try await bench.open(.debounce(10, .leading))
            let first = try await bench.submit("a")
            let absorbed = try await bench.submit("b")
            #expect(absorbed.due == nil)
            let run = try await bench.claimOne()
            #expect(run.words == "k leading a")
            #expect(run.submits == first.generation...absorbed.generation)
            try await bench.complete(run)
            #expect(try await bench.state(absorbed) == .completed)
        },
        ConformanceCase("on both edges the first is executed at once and the last at the end") { bench in
            try await bench.open(.debounce(10, [.leading, .trailing]))
            try await bench.submit("a")
            #expect(try await bench.work() == ["k leading a"])
            try await bench.submit("b")
            try await bench.submit("c")
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing c ×2"])
        },
        ConformanceCase("an unbroken stream on the leading edge executes once a longest wait") { bench in
            try await bench.open(.debounce(10, maxWait: 20, .leading))
            var done: [String] = []
            for value in 0..<9 {
                try await bench.submit("\(value)")
                done += try await bench.work()
                bench.pass(5)
            }
            #expect(done == ["k leading 0", "k leading 4", "k leading 8"])
        },
        ConformanceCase("so many submits are executed at once") { bench in
            try await bench.open(.debounce(10, maxCount: 2))
            try await bench.submit("a")
            #expect(try await bench.submit("b").dueIn == .zero)
            #expect(try await bench.work() == ["k maxCount b ×2"])
        },
        ConformanceCase("a throttle executes the first at once and the latest once a window") { bench in
            try await bench.open(.throttle(10))
            try await bench.submit("a")
            #expect(try await bench.work() == ["k leading a"])
            bench.pass(4)
            #expect(try await bench.submit("b", wait: 1).dueIn == .milliseconds(6))
            bench.pass(2)
            try await bench.submit("c")
            bench.pass(4)
            #expect(try await bench.work() == ["k trailing c ×2"])
            bench.pass(1)
            #expect(try await bench.submit("d").dueIn == .milliseconds(9))
        },
        ConformanceCase("a value that is too large is refused, and changes nothing", limits: .init(largestValue: 4)) {
            bench in
            try await bench.open(.debounce(10))
            try await bench.submit("four")
            await #expect(throws: DurableError.tooLarge(bytes: 5, limit: 4)) { try await bench.submit("fives") }
            bench.pass(10)
            #expect(try await bench.work() == ["k trailing four"])
        },
        ConformanceCase("keys and values are any bytes") { bench in
            try await bench.open(.debounce(10, .trailing, .restart, .collect))
            let all = Array(UInt8.min...UInt8.max)
            for (key, value) in [([], []), ([0], all), (all, [0, 0]), ([0, 0], [0xFF])] as [([UInt8], [UInt8])] {
                _ = try await bench.store.submit(
                    DurableSubmission(namespace: Bench.namespace, key: key, value: value))
            }
            bench.pass(10)
            let runs = try await bench.claim()
            let found = Dictionary(uniqueKeysWithValues: runs.map { ($0.key, $0.values) })
            #expect(found == [[]: [[]], [0]: [all], all: [[0, 0]], [0, 0]: [[0xFF]]])
        },
    ]

    /// How values become one.
    static let combinations = [
        ConformanceCase("of a burst the latest value stays, or the first, or all of them in order") { bench in
            for (combination, values) in [(Combination.latest, "c"), (.first, "a"), (.collect, "a+b+c")] {
                let namespace = "\(combination)"
                try await bench.open(.debounce(10, combination), namespace)
                for value in ["a", "b", "c"] { try await bench.submit(value, in: namespace) }
                bench.pass(10)
                let runs = try await bench.claim(in: namespace)
                #expect(runs.map(\.words) == ["k trailing \(values) ×3"])
                for run in runs { #expect(try await bench.report(.completed, run, in: namespace) == .accepted) }
            }
        },
        ConformanceCase("what falls due while a due value waits for a worker joins it; the older instant counts") {
            bench in
            for (combination, values) in [(Combination.latest, "c"), (.first, "a"), (.collect, "a+b+c")] {
                let namespace = "\(combination)"
                try await bench.open(.debounce(10, combination), namespace)
                let first = try await bench.submit("a", in: namespace)
                bench.pass(10)
                try await bench.submit("b", in: namespace)
                let last = try await bench.submit("c", in: namespace)
                bench.pass(15)
                let runs = try await bench.claim(in: namespace)
                #expect(runs.map(\.words) == ["k trailing \(values) ×3"])
                #expect(runs.first?.due.nanoseconds == first.due)
                #expect(runs.first?.submits == first.generation...last.generation)
                #expect(runs.first.map { $0.first.duration(to: $0.due) } == .milliseconds(10))
            }
        },
        ConformanceCase("what falls due while a run is claimed is one follow-up run") { bench in
            for (combination, values) in [(Combination.latest, "c"), (.first, "b"), (.collect, "b+c")] {
                let namespace = "\(combination)"
                try await bench.open(.debounce(10, combination), namespace)
                try await bench.submit("a", in: namespace)
                bench.pass(10)
                let runs = try await bench.claim(lease: 1000, in: namespace)
                #expect(runs.map(\.words) == ["k trailing a"])
                for value in ["b", "c"] {
                    try await bench.submit(value, in: namespace)
                    bench.pass(10)
                }
                #expect(try await bench.claim(by: 2, in: namespace) == [])
                for run in runs { #expect(try await bench.report(.completed, run, in: namespace) == .accepted) }
                #expect(try await bench.claim(by: 2, in: namespace).map(\.words) == ["k trailing \(values) ×2"])
            }
        },
    ]
}

extension DurableRules {
    /// A debounce in milliseconds.
    static func debounce(_ wait: Int, _ combination: Combination) throws -> DurableRules {
        try .debounce(wait, .trailing, .restart, combination)
    }
}

extension Edges {
    static var both: Edges { [.leading, .trailing] }
}
