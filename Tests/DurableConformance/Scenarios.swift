internal import LullCore
internal import LullDurable
internal import LullReference
internal import Testing

extension ConformanceCase {
    /// The published conformance cases, each on a store of its own: the calls at their instants, and a worker that
    /// returns when the store says so.
    package static let scenarios = [
        ConformanceCase("every scenario has its executions") { fixture in
            var count = 0
            for scenario in try Scenario.all() {
                let namespace = scenario.id
                try await fixture.open(DurableRules(scenario), namespace)
                let found = try await fixture.play(scenario, in: namespace)
                // Live, different keys are independent: only the order within each is promised, and of instants.
                #expect(found.map(\.at) == found.map(\.at).sorted(), "\(scenario.id): \(scenario.source)")
                for key in Set((found + scenario.expected).map(\.key)) {
                    let expected = scenario.expected.filter { $0.key == key }
                    #expect(found.filter { $0.key == key } == expected, "\(scenario.id): \(scenario.source)")
                }
                count += found.count
            }
            #expect(count > 400)
        },
        ConformanceCase("a late worker changes nothing in what falls due, but that values join one that waits") {
            fixture in
            for scenario in try Scenario.all() where !scenario.ops.contains(where: { $0.op == .cancel }) {
                let namespace = scenario.id
                try await fixture.open(DurableRules(scenario), namespace)
                let found = try await fixture.play(scenario, in: namespace, isWorkerLate: true)
                for key in Set((found + scenario.expected).map(\.key)) {
                    let expected = scenario.expected.filter { $0.key == key }
                    guard let one = found.first(where: { $0.key == key }), let last = expected.last else {
                        Issue.record("\(scenario.id): \(key)")
                        continue
                    }
                    #expect(found.filter { $0.key == key }.count == 1, "\(scenario.id)")
                    #expect(one.value == last.value && one.cause == last.cause, "\(scenario.id)")
                    #expect(one.count == expected.reduce(0) { $0 + $1.count }, "\(scenario.id)")
                    #expect(one.at == expected.first?.at && one.first == expected.first?.first, "\(scenario.id)")
                }
            }
        },
    ]
}

extension StoreFixture {
    /// Makes the calls of a scenario, and returns the executions in milliseconds since its beginning.
    fileprivate func play(
        _ scenario: Scenario, in namespace: String, isWorkerLate: Bool = false
    ) async throws -> [Scenario.Expectation] {
        let start = try await now(in: namespace)
        var found: [Scenario.Expectation] = []
        for operation in scenario.ops {
            let at = start + Int64(operation.at) * 1_000_000
            if isWorkerLate {
                time.pass(.nanoseconds(at - (try await now(in: namespace))))
            } else {
                try await work(until: at, from: start, in: namespace, &found)
            }
            let key = operation.key.map { Array($0.utf8) }
            switch operation.op {
            case .submit:
                let value = (operation.value ?? .null).bytes
                _ = try await store.submit(
                    DurableSubmission(
                        namespace: namespace, key: key ?? [], value: value,
                        wait: operation.wait.map { .milliseconds(Int64($0)) }))
            case .flush: _ = try await store.flush(key, in: namespace)
            case .cancel: _ = try await store.cancel(key, in: namespace)
            }
            if !isWorkerLate { _ = try await work(from: start, in: namespace, &found) }
        }
        if isWorkerLate { time.pass(.seconds(100_000)) }
        try await work(until: .max, from: start, in: namespace, &found)
        return found
    }

    /// Claims whenever the store says so, up to an instant.
    private func work(
        until end: Int64, from start: Int64, in namespace: String, _ found: inout [Scenario.Expectation]
    ) async throws {
        while let next = try await work(from: start, in: namespace, &found), next < .seconds(1_000_000) {
            let now = try await now(in: namespace)
            let step = CoreDuration(passed: next).nanoseconds
            guard step < end - now else {
                time.pass(.nanoseconds(end - now))
                _ = try await work(from: start, in: namespace, &found)
                return
            }
            time.pass(.nanoseconds(step))
        }
        if end < .max { time.pass(.nanoseconds(end - (try await now(in: namespace)))) }
    }

    /// Handlers that take no time.
    private func work(
        from start: Int64, in namespace: String, _ found: inout [Scenario.Expectation]
    ) async throws -> Duration? {
        while true {
            let answer = try await answer(in: namespace)
            guard !answer.runs.isEmpty else { return answer.next }
            for run in answer.runs {
                let value = try #require(run.values.first)
                found.append(
                    Scenario.Expectation(
                        at: Int((run.due.nanoseconds - start) / 1_000_000),
                        key: String(decoding: run.key, as: UTF8.self),
                        value: ScenarioValue(value), count: run.count, cause: ReferenceEdge(run.cause),
                        first: Int((run.first.nanoseconds - start) / 1_000_000)))
                #expect(run.values.count == 1)
                #expect(try await report(.completed, run, in: namespace) == .accepted)
            }
        }
    }

    /// The instant of the store, from a submit of another namespace that is due at once.
    private func now(in namespace: String) async throws -> Int64 {
        try await open(.debounce(0), "time")
        let probe = try await submit("", in: "time")
        try await store.cancel(nil, in: "time")
        guard let due = probe.due else { throw Surprise("a submit has no due instant") }
        return due
    }
}

extension DurableRules {
    fileprivate init(_ scenario: Scenario) throws {
        let policy = scenario.setup.policy
        var edges: Edges = []
        if policy.leading { edges.insert(.leading) }
        if policy.trailing { edges.insert(.trailing) }
        switch policy.kind {
        case .debounce:
            self = try .debounce(
                policy.wait, maxWait: policy.maxWait, edges, policy.extends ? .extend : .restart,
                maxCount: policy.maxCount, spacing: policy.spacing)
        case .throttle:
            self = try .throttle(policy.wait, edges, maxCount: policy.maxCount)
        }
    }
}

extension ScenarioValue {
    fileprivate var bytes: [UInt8] {
        switch self {
        case .text(let text): Array("t\(text)".utf8)
        case .number(let number): Array("n\(number)".utf8)
        case .null: []
        }
    }

    fileprivate init(_ bytes: [UInt8]) {
        let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
        switch bytes.first {
        case UInt8(ascii: "t"): self = .text(text)
        case UInt8(ascii: "n"): self = .number(Int(text) ?? 0)
        default: self = .null
        }
    }
}

extension ReferenceEdge {
    /// The edge as the reference names it.
    init(_ cause: Cause) {
        self =
            switch cause {
            case .leading: .leading
            case .trailing: .trailing
            case .maxWait: .maxWait
            case .maxCount: .maxCount
            case .flush: .flush
            }
    }
}
