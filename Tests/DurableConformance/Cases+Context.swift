internal import LullCore
internal import LullDurable
internal import Testing

extension StoreFixture {
    /// Submits a value whose context is `c` and the value, or one without a context.
    fileprivate func submit(_ value: String, _ key: String = "k", hasContext: Bool, wait: Int? = nil) async throws {
        try await submit(value, key, wait: wait, context: hasContext ? "c\(value)" : nil)
    }

    /// Claims what may start now: key, values and context of each run, in the order of the keys.
    fileprivate func contexts(by owner: Int64 = 1, lease: Int = 100) async throws -> [String] {
        try await claim(by: owner, lease: lease).map(\.contextText).sorted()
    }
}

extension DurableRun {
    /// `k a+b: cb`.
    fileprivate var contextText: String {
        let values = values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "+")
        return "\(String(decoding: key, as: UTF8.self)) \(values): \(context ?? "-")"
    }
}

extension ConformanceCase {
    /// The context of a submit, which travels with its value.
    static let contexts: [ConformanceCase] = [
        ConformanceCase("with latest, the context is that of the newest submit") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1", hasContext: true)
            try await fixture.submit("2", hasContext: true)
            fixture.pass(10)
            #expect(try await fixture.contexts() == ["k 2: c2"])
        },
        ConformanceCase("a newer submit without a context has none, whatever an older one had") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1", hasContext: true)
            try await fixture.submit("2", hasContext: false)
            try await fixture.submit("1", "other", hasContext: false)
            try await fixture.submit("2", "other", hasContext: true)
            fixture.pass(10)
            #expect(try await fixture.contexts() == ["k 2: -", "other 2: c2"])
        },
        ConformanceCase("with first, the context is that of the first submit") { fixture in
            try await fixture.open(.debounce(10, .trailing, .restart, .first))
            try await fixture.submit("1", hasContext: true)
            try await fixture.submit("2", hasContext: true)
            try await fixture.submit("1", "other", hasContext: false)
            try await fixture.submit("2", "other", hasContext: true)
            fixture.pass(10)
            #expect(try await fixture.contexts() == ["k 1: c1", "other 1: -"])
        },
        ConformanceCase("with collect, the context is that of the newest value of the run") { fixture in
            try await fixture.open(.debounce(10, .trailing, .restart, .collect))
            for number in 1...3 { try await fixture.submit("\(number)", hasContext: number != 2) }
            for number in 1...3 { try await fixture.submit("\(number)", "other", hasContext: number == 2) }
            fixture.pass(10)
            #expect(try await fixture.contexts() == ["k 1+2+3: c3", "other 1+2+3: -"])
        },
        ConformanceCase("a part of a batch has the context of its own newest value") { fixture in
            try await fixture.open(.debounce(10, .trailing, .restart, .collect, maxBatch: 2))
            for number in 1...5 { try await fixture.submit("\(number)", hasContext: number != 4) }
            fixture.pass(10)
            var parts: [String] = []
            while let run = try await fixture.claim().first {
                parts.append(run.contextText)
                try await fixture.complete(run)
            }
            #expect(parts == ["k 1+2: c2", "k 3+4: -", "k 5: c5"])
        },
        ConformanceCase("a value that joins one that is ready brings its context") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("1", hasContext: true)
            fixture.pass(5)
            try await fixture.submit("2", hasContext: true)
            #expect(try await fixture.contexts() == ["k 2: c2"])
        },
        ConformanceCase("a run keeps its context in retries and takeovers, while a newer value waits with its own") {
            fixture in
            try await fixture.open(.debounce(0, .trailing, .restart, .first))
            try await fixture.submit("1", hasContext: true)
            let first = try await fixture.claimOne()
            #expect(first.context == "c1")
            try await fixture.submit("2", hasContext: true)
            try await fixture.fail(first, retry: 10)
            fixture.pass(10)
            #expect(try await fixture.contexts(lease: 50) == ["k 1: c1"])
            fixture.pass(50)
            let third = try await fixture.claimOne(by: 2)
            #expect(third.attempt == 3 && third.context == "c1")
            try await fixture.complete(third, by: 2)
            #expect(try await fixture.contexts() == ["k 2: c2"])
        },
        ConformanceCase("a run that is handed out again or given back keeps its context") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("1", hasContext: true)
            #expect(try await fixture.contexts() == ["k 1: c1"])
            let again = try await fixture.claimOne()
            #expect(again.context == "c1")
            #expect(try await fixture.report(.released, again) == .accepted)
            #expect(try await fixture.contexts(by: 2) == ["k 1: c1"])
        },
        ConformanceCase("a run that is begun again has the context of the newer value") { fixture in
            for (key, combination, texts) in [
                ("a", CombinationRule.latest, ["a 2: c2"]), ("b", .first, ["b 1: c1"]), ("c", .collect, ["c 1+2: c2"]),
            ] {
                var rules = try DurableRules.debounce(0, .trailing, .restart, combination)
                rules.whileRunning = .restart
                try await fixture.open(rules, key)
                try await fixture.submit("1", key, in: key, context: "c1")
                let run = try #require(try await fixture.claim(in: key).first)
                try await fixture.submit("2", key, in: key, context: "c2")
                #expect(try await fixture.report(.heartbeat(lease: .milliseconds(100)), run, in: key) == .interrupted)
                #expect(try await fixture.report(.interrupted, run, in: key) == .accepted)
                #expect(try await fixture.claim(in: key).map(\.contextText) == texts)
            }
        },
        ConformanceCase("a dead run shows its context, and has it again when it is retried") { fixture in
            try await fixture.open(.debounce(0))
            try await fixture.submit("1", hasContext: true)
            let run = try await fixture.claimOne()
            try await fixture.fail(run, retry: nil)
            let dead = try await fixture.store.dead(in: StoreFixture.namespace, limit: 9)
            #expect(dead.map(\.context) == ["c1"] && dead.map(\.values) == [[Array("1".utf8)]])
            #expect(try await fixture.retry(run) == .accepted)
            #expect(try await fixture.contexts() == ["k 1: c1"])
        },
        ConformanceCase("a context is there after a restart") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1", hasContext: true)
            let next = try await fixture.reopened()
            next.pass(10)
            #expect(try await next.contexts() == ["k 1: c1"])
            await next.closeOther()
        },
        ConformanceCase("a submit that is repeated with its token changes no context") { fixture in
            try await fixture.open(.debounce(10))
            try await fixture.submit("1", token: "t", context: "first")
            try await fixture.submit("1", token: "t", context: "again")
            fixture.pass(10)
            #expect(try await fixture.contexts() == ["k 1: first"])
        },
        ConformanceCase("a context has at most 1,024 bytes, and an empty one is none") { fixture in
            try await fixture.open(.debounce(10))
            let longest = String(repeating: "é", count: 512)
            try await fixture.submit("1", context: longest)
            await #expect(throws: DurableError.contextTooLong(bytes: 1025, limit: 1024)) {
                try await fixture.submit("2", context: longest + "e")
            }
            try await fixture.submit("1", "empty", context: "")
            fixture.pass(10)
            #expect(try await fixture.contexts() == ["empty 1: -", "k 1: \(longest)"])
        },
        ConformanceCase("a value of any bytes is not taken for one with a context", limits: .init(largestValue: 4)) {
            fixture in
            try await fixture.open(.debounce(10, .trailing, .restart, .collect))
            // 255 stands before and after a context in the store.
            let values: [[UInt8]] = [[], [255], [255, 255], [255, 97, 255], [255, 97, 255, 98], [97, 255]]
            for context in [nil, "c", nil] {
                for value in values {
                    _ = try await fixture.store.submit(
                        DurableSubmission(
                            namespace: StoreFixture.namespace, key: [1], value: value, context: context))
                }
            }
            fixture.pass(10)
            let run = try await fixture.claimOne()
            #expect(run.values == values + values + values && run.context == nil)
            try await fixture.fail(run, retry: nil)
            #expect(
                try await fixture.store.dead(in: StoreFixture.namespace, limit: 9).map(\.values)
                    == [values + values + values])
        },
    ]
}
