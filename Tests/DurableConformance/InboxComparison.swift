package import LullCore
package import LullDurable
internal import LullReference
internal import Testing

/// The same calls to a store with an inbox and to one in memory: to the former directly or through its inbox, at
/// random. Whoever touches a key makes the calls that wait for it first, each at its own instant, so both lead to the
/// same.
package struct InboxComparison: Sendable {
    /// A call of a producer that is not the library.
    package enum Call: Sendable {
        case submit(value: String, wait: CoreDuration?, token: String? = nil, context: String? = nil)
        case touch(wait: CoreDuration?)
        case change(DurableChange)

        package var name: String {
            switch self {
            case .submit: "submit"
            case .touch: "touch"
            case .change(let change): "\(change)"
            }
        }
    }

    private let time = ManualTime()
    private let maker: any StoreMaker
    private let place: String
    private let store: any StoreCalls
    private let memory: any StoreCalls
    /// Adds a call to the inbox of the store, as at an instant.
    private let append: @Sendable (Call, String, any StoreCalls, CoreInstant) async throws -> Void

    package init(
        _ maker: any StoreMaker, _ place: String,
        append: @escaping @Sendable (Call, String, any StoreCalls, CoreInstant) async throws -> Void
    ) async throws {
        (self.maker, self.place, self.append) = (maker, place, append)
        store = try await maker.open(place, DurableLimits(), time.clock)
        memory = MemoryStore(on: time.clock)
    }

    /// What was done.
    package struct Figures: Sendable {
        package var calls = 0
        package var appended = 0
    }

    /// Makes so many random calls, each sixty of them to stores of their own.
    package static func compare(
        _ calls: Int, from seed: UInt64, _ make: (_ trial: Int) async throws -> InboxComparison
    ) async throws -> Figures {
        var random = SplitMix(seed: seed)
        var figures = Figures()
        var trial = 0
        while figures.calls < calls {
            trial += 1
            try await make(trial).play(&random, &figures, "LULL_SEED=\(seed) LULL_DIFFERENTIAL=\(calls)")
        }
        return figures
    }

    private func rules(_ random: inout SplitMix) throws -> DurableRules {
        let wait = CoreDuration.milliseconds(.random(in: 0...6, using: &random))
        let combination = random.pick([CombinationRule.latest, .first, .collect])
        let edges = random.pick([Edges.trailing, .trailing, .leading, [.leading, .trailing]])
        let policy: Policy =
            random.oneIn(3)
            ? try .throttle(interval: wait, edges: edges)
            : try .debounce(
                wait: wait, edges: edges, maxCount: edges.contains(.trailing) && random.oneIn(3) ? 3 : nil,
                spacing: edges.contains(.trailing) && random.oneIn(3) ? .milliseconds(4) : nil)
        return try DurableRules(
            policy, combination: combination, maxBatch: combination == .collect && random.oneIn(2) ? 2 : nil,
            whileRunning: random.pick([.queue, .restart]))
    }

    private func open(_ rules: DurableRules) async throws {
        try await store.open("n", rules)
        try await memory.open("n", rules)
    }

    private func play(_ random: inout SplitMix, _ figures: inout Figures, _ name: String) async throws {
        try await open(rules(&random))
        var held: [String: (store: DurableRun, memory: DurableRun)] = [:]
        for _ in 0..<60 {
            figures.calls += 1
            let comment = Comment(rawValue: "\(name): call \(figures.calls)")
            time.pass(.milliseconds(Int.random(in: 0...3, using: &random)))
            let key = random.pick(["a", "b", "c"])
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<9:
                let wait = random.oneIn(4) ? CoreDuration.milliseconds(.random(in: 0...9, using: &random)) : nil
                let context = random.oneIn(5) ? "c\(figures.calls)" : nil
                let call: Call =
                    switch Int.random(in: 0..<9, using: &random) {
                    case 0: .touch(wait: wait)
                    case 1: .change(.flush)
                    case 2: .change(.cancel)
                    default: .submit(value: "\(figures.calls)", wait: wait, context: context)
                    }
                let expected = try await make(call, key, memory)
                if random.oneIn(2) {
                    figures.appended += 1
                    try await append(call, key, store, store.presentInstant(in: "n"))
                } else {
                    #expect(try await make(call, key, store) == expected, comment)
                }
            case 9:
                let change = random.pick([DurableChange.flush, .cancel])
                let expected = try await memory.change(change, .selection(.all), in: "n").count
                #expect(try await store.change(change, .selection(.all), in: "n").count == expected, comment)
            case 10..<13:
                // All that may start, so that it does not matter in which order.
                let found = try await claim(store, holding: held.values.map(\.store.number))
                let expected = try await claim(memory, holding: held.values.map(\.memory.number))
                #expect(text(found) == text(expected), comment)
                for run in found {
                    guard let other = expected.first(where: { $0.key == run.key }) else { continue }
                    held[String(decoding: run.key, as: UTF8.self)] = (run, other)
                }
            case 13, 14:
                guard let run = held.removeValue(forKey: key) else { continue }
                let kind = random.pick([
                    DurableReport.Kind.completed, .failed("no", retry: .milliseconds(2)), .released, .interrupted,
                ])
                func report(_ run: DurableRun) -> DurableReport {
                    DurableReport(namespace: "n", key: run.key, run: run.number, fence: run.fence, owner: 7, kind)
                }
                let expected = try await memory.report(report(run.memory))
                #expect(try await store.report(report(run.store)) == expected, comment)
            default:
                // A question about a key makes its calls, too.
                let receipt = DurableReceipt(
                    namespace: "n", key: Array(key.utf8), generation: 0, dueIn: nil, due: nil)
                _ = try await store.state(of: receipt)
                let expected = try await listings(memory, Array(key.utf8))
                #expect(try await listings(store, Array(key.utf8)) == expected, comment)
            }
        }
        try await compareEnd(Comment(rawValue: "\(name): until call \(figures.calls)"))
    }

    private func compareEnd(_ comment: Comment) async throws {
        for store in [store, memory] {
            for key in ["a", "b", "c"] { _ = try await store.touch(Array(key.utf8), in: "n", wait: nil) }
        }
        let (left, right) = (try await listings(store, []), try await listings(memory, []))
        #expect(left == right, comment)
        let broken = try await maker.brokenRules(of: store, isComplete: true)
        #expect(broken == [], comment)
        func ends(_ store: any StoreCalls) async throws -> [EndKind: Int] {
            try await store.ended(of: nil, in: "n", limit: 10_000).reduce(into: [:]) { $0[$1.how, default: 0] += 1 }
        }
        let (ended, expected) = (try await ends(store), try await ends(memory))
        #expect(ended == expected, comment)
        await store.close()
        try await maker.remove(place)
    }

    /// Makes a call directly, and returns its count; 0 for a submit.
    private func make(_ call: Call, _ key: String, _ store: any StoreCalls) async throws -> Int {
        switch call {
        case .submit(let value, let wait, let token, let context):
            _ = try await store.submit(
                DurableSubmission(
                    namespace: "n", key: Array(key.utf8), value: Array(value.utf8), wait: wait, token: token,
                    context: context))
            return 0
        case .touch(let wait): return try await store.touch(Array(key.utf8), in: "n", wait: wait) ? 1 : 0
        case .change(let change): return try await store.change(change, .keys([Array(key.utf8)]), in: "n").count
        }
    }

    private func claim(_ store: any StoreCalls, holding: [Int64]) async throws -> [DurableRun] {
        let terms = DurableClaim.Terms(owner: 7, lease: .seconds(600), maxAttempts: 9)
        return try await store.claim(DurableClaim(namespace: "n", terms: terms, holding: holding, limit: 9)).runs
    }

    private func text(_ runs: [DurableRun]) -> [String] {
        runs.map { "\($0.key) \($0.values) \($0.count) \($0.cause) \($0.attempt) \($0.context ?? "")" }.sorted()
    }

    /// What a store lists, without the numbers.
    private func listings(_ store: any StoreCalls, _ prefix: [UInt8]) async throws -> [String] {
        try await store.list(in: "n", prefix: prefix, from: [], limit: 9).map { listing in
            """
            \(listing.key) \(listing.pending) \(listing.ready) \(listing.dueIn as Any) \(listing.run?.attempt as Any) \
            \(listing.run?.submits as Any) \(listing.run?.worker as Any)
            """
        }
    }

    /// A call with a token counts once, and one with the token of another key is dead with its reason.
    package func compareTokens() async throws {
        try await store.open("n", DurableRules(try .debounce(for: .seconds(1)), combination: .collect))
        func submit(_ key: String, _ value: String) async throws {
            let now = try await store.presentInstant(in: "n")
            try await append(.submit(value: value, wait: nil, token: "t"), key, store, now)
        }
        try await submit("a", "1")
        try await submit("a", "2")
        // Makes the calls so far: those of several keys have no order.
        #expect(try await claim(store, holding: []).isEmpty)
        try await submit("b", "3")
        time.pass(.seconds(1))
        #expect(try await claim(store, holding: []).map(\.values) == [[Array("1".utf8)]])
        let dead = try await store.deadRuns(matching: .all, in: "n", newestFirst: false, limit: 9, withValues: true)
        #expect(dead.map(\.key) == [Array("b".utf8)])
        #expect(dead.map(\.values) == [[Array("3".utf8)]])
        #expect(dead.first?.error == "\(DurableError.tokenOfOtherKey(token: "t"))")
        #expect(try await maker.brokenRules(of: store, isComplete: true) == [])
        await store.close()
        try await maker.remove(place)
    }
}
