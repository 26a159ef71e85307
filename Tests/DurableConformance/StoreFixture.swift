internal import LullCore
package import LullDurable
internal import Lull

/// A store under test: short forms of its calls, in whole milliseconds, in one namespace and on a clock that the test
/// advances.
package struct StoreFixture: Sendable {
    /// The store under test.
    package let store: any StoreCalls
    /// The clocks of the store.
    package let time: ManualTime
    let maker: any StoreMaker
    let place: String
    let limits: DurableLimits

    static let namespace = "n"
    private static let places = Guarded(0)

    /// Opens an empty store, runs a body with it, and removes it.
    package static func with(
        _ maker: any StoreMaker, limits: DurableLimits = DurableLimits(), _ body: (StoreFixture) async throws -> Void
    ) async throws {
        let number = places.change { number in
            number += 1
            return number
        }
        let place = "fixture-\(number)"
        let time = ManualTime()
        let store = try await maker.open(place, limits, time.clock)
        let fixture = StoreFixture(store: store, time: time, maker: maker, place: place, limits: limits)
        do {
            try await body(fixture)
        } catch {
            await store.close()
            try? await maker.remove(place)
            throw error
        }
        await store.close()
        try await maker.remove(place)
    }

    /// Returns another instance of the same store, as in another process; the same instance if the store allows only
    /// one.
    package func another() async throws -> StoreFixture {
        guard maker.isShared else { return self }
        let store = try await maker.open(place, limits, time.clock)
        return StoreFixture(store: store, time: time, maker: maker, place: place, limits: limits)
    }

    /// Returns the store as the next process opens it, after this one has ended.
    package func reopened() async throws -> StoreFixture {
        guard maker.isShared else { return self }
        await store.close()
        return try await another()
    }

    /// Ends the use of an instance that ``another()`` has opened.
    package func closeOther() async {
        if maker.isShared { await store.close() }
    }

    /// Returns whether a run's range is that from one submit to another. Where numbers follow the time, it has gaps at
    /// both ends.
    func covers(_ range: ClosedRange<Int64>, _ submits: ClosedRange<Int64>) -> Bool {
        maker.countsByTime
            ? range.contains(submits.lowerBound) && range.contains(submits.upperBound) : range == submits
    }

    // MARK: - Producers

    @discardableResult
    func open(_ rules: DurableRules?, _ namespace: String = StoreFixture.namespace) async throws -> DurableRules {
        try await store.open(namespace, rules)
    }

    /// Opens the namespace with other durations or counts, for all.
    @discardableResult
    func change(_ rules: DurableRules, _ namespace: String = StoreFixture.namespace) async throws -> DurableRules {
        try await store.open(namespace, rules, changingPolicy: true).rules
    }

    @discardableResult
    func submit(
        _ value: String, _ key: String = "k", wait: Int? = nil, token: String? = nil, by submitter: Int64? = nil,
        in namespace: String = StoreFixture.namespace, context: String? = nil
    ) async throws -> DurableReceipt {
        try await store.submit(
            DurableSubmission(
                namespace: namespace, key: Array(key.utf8), value: Array(value.utf8),
                wait: wait.map { .milliseconds(Int64($0)) }, token: token, submitter: submitter,
                context: context))
    }

    @discardableResult
    func flush(_ key: String? = "k") async throws -> Int {
        try await store.flush(key.map { Array($0.utf8) }, in: StoreFixture.namespace)
    }

    @discardableResult
    func cancel(_ key: String? = "k") async throws -> Int {
        try await store.cancel(key.map { Array($0.utf8) }, in: StoreFixture.namespace)
    }

    func state(_ receipt: DurableReceipt) async throws -> DurableState { try await store.state(of: receipt) }

    // MARK: - Workers

    func announce(_ id: Int64, _ host: String, _ process: Int64) async throws {
        try await store.announce(
            DurableWorker.Identity(id: id, host: host, process: process), in: StoreFixture.namespace)
    }

    /// Returns the listed workers: host, process, runs, seconds since the last word.
    func workers() async throws -> [String] {
        try await store.workers(in: StoreFixture.namespace).map { worker in
            "\(worker.identity.host) \(worker.identity.process): \(worker.running), \(worker.seen.components.seconds) s"
        }
    }

    /// Returns the answer to a claim, by default with a lease of 100 ms and 3 attempts.
    func answer(
        by owner: Int64 = 1, limit: Int = 100, lease: Int = 100, maxAttempts: Int = 3, holding: [DurableRun] = [],
        in namespace: String = StoreFixture.namespace
    ) async throws -> DurableClaim.Answer {
        let terms = DurableClaim.Terms(owner: owner, lease: .milliseconds(Int64(lease)), maxAttempts: maxAttempts)
        return try await store.claim(
            DurableClaim(namespace: namespace, terms: terms, holding: holding.map(\.number), limit: limit))
    }

    func claim(
        by owner: Int64 = 1, limit: Int = 100, lease: Int = 100, maxAttempts: Int = 3, holding: [DurableRun] = [],
        in namespace: String = StoreFixture.namespace
    ) async throws -> [DurableRun] {
        try await answer(
            by: owner, limit: limit, lease: lease, maxAttempts: maxAttempts, holding: holding, in: namespace
        ).runs
    }

    /// Claims the only run.
    func claimOne(
        by owner: Int64 = 1, lease: Int = 100, maxAttempts: Int = 3, holding: [DurableRun] = []
    ) async throws -> DurableRun {
        let runs = try await claim(by: owner, lease: lease, maxAttempts: maxAttempts, holding: holding)
        guard let run = runs.first, runs.count == 1 else {
            throw Surprise("\(runs.count) runs were handed out instead of one: \(runs.map(\.text))")
        }
        return run
    }

    func report(
        _ kind: DurableReport.Kind, _ run: DurableRun, by owner: Int64 = 1,
        in namespace: String = StoreFixture.namespace
    ) async throws -> DurableReport.Answer {
        try await store.report(
            DurableReport(namespace: namespace, key: run.key, run: run.number, fence: run.fence, owner: owner, kind))
    }

    @discardableResult
    func complete(_ run: DurableRun, by owner: Int64 = 1) async throws -> DurableReport.Answer {
        try await report(.completed, run, by: owner)
    }

    /// The handler threw; the run is tried again after a time, or never.
    @discardableResult
    func fail(_ run: DurableRun, by owner: Int64 = 1, retry: Int?) async throws -> DurableReport.Answer {
        try await report(.failed("it broke", retry: retry.map { .milliseconds(Int64($0)) }), run, by: owner)
    }

    /// Claims and completes all that may start now.
    func work() async throws -> [String] {
        var done: [String] = []
        while case let runs = try await claim(by: 99), !runs.isEmpty {
            for run in runs {
                done.append(run.text)
                try await complete(run, by: 99)
            }
        }
        return done
    }

    func pass(_ milliseconds: Int) { time.pass(.milliseconds(milliseconds)) }
}

/// A result that the test did not expect.
struct Surprise: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension DurableRun {
    /// `k trailing a+b ×3`: the key, the edge, the values, and the count if it is not 1.
    var text: String {
        let values = values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "+")
        return "\(String(decoding: key, as: UTF8.self)) \(cause.name) \(values)" + (count == 1 ? "" : " ×\(count)")
    }
}

extension DurableRules {
    /// A debounce in milliseconds.
    static func debounce(
        _ wait: Int, maxWait: Int? = nil, _ edges: Edges = .trailing, _ delayRule: DelayRule = .restart,
        maxCount: Int? = nil, spacing: Int? = nil, _ combination: CombinationRule = .latest, maxBatch: Int? = nil
    ) throws -> DurableRules {
        try DurableRules(
            .debounce(
                wait: .milliseconds(Int64(wait)), maxWait: maxWait.map { .milliseconds(Int64($0)) }, edges: edges,
                delayRule: delayRule, maxCount: maxCount, spacing: spacing.map { .milliseconds(Int64($0)) }),
            combination: combination, maxBatch: maxBatch)
    }

    /// A throttle in milliseconds.
    static func throttle(
        _ interval: Int, _ edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        _ combination: CombinationRule = .latest
    ) throws -> DurableRules {
        DurableRules(
            try .throttle(interval: .milliseconds(Int64(interval)), edges: edges, maxCount: maxCount),
            combination: combination)
    }
}
