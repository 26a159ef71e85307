internal import LullCore
internal import LullDurable
internal import LullReference

/// A store, its producers and its workers, and the reference model that gets the same calls.
///
/// Everything happens one step after the other, at instants of a time that only the simulation moves.
final class SimulationRun {
    struct Worker {
        var owner: Int
        var held: [DurableReference.Handed] = []
    }

    struct Submission {
        var key: String
        var value: Int
        var wait: Int?
        var token: String?
        var submitter: Int?
    }

    struct Report {
        var kind: DurableReference.ReportKind
        var key: String
        var run: Int
        var fence: Int
        var owner: Int
    }

    let namespace = "simulation"
    let maker: any StoreMaker
    let place: String
    let limits: DurableLimits
    let time = ManualTime()
    var store: any StoreCalls
    var model: DurableReference
    var books = Books()
    var numbers: Numbers
    var figures = SimulationFigures()
    /// What has happened in the namespace; a failure of a run that was interrupted is among the failures, too.
    var totals = DurableTotals()
    /// The first mistake of the store.
    var finding: String?

    /// The instant of the store in units, and the nanoseconds that it counts from.
    var now = 0
    private var origin: Int64 = 0
    /// The instant and the wall clock when the store's time was last tied to a boot.
    private var anchor: (at: Int, wall: Int64) = (0, 0)

    var workers = (0..<3).map { Worker(owner: $0 + 1) }
    var owners = 3
    /// Of each producer, what it has to repeat.
    var outboxes = [Submission?](repeating: nil, count: 3)
    var submissions: [Submission] = []
    var reports: [Report] = []
    var values = 0
    /// Whether some end may have been forgotten or discarded.
    var isComplete: Bool

    init(_ trial: SimulationTrial, on maker: any StoreMaker, at place: String) async throws {
        self.maker = maker
        self.place = place
        numbers = Numbers(hasGaps: maker.countsByTime)
        limits = DurableLimits(
            retention: Duration(units: trial.retention), tokenLifetime: Duration(units: trial.tokenLifetime))
        model = DurableReference(
            trial.setup, interrupting: trial.interrupting, maxBatch: trial.maxBatch, retention: trial.retention,
            tokenLifetime: trial.tokenLifetime)
        isComplete = trial.retention == SimulationTrial.forEver
        store = try await maker.open(place, limits, time.clock)
        try await store.open("time", DurableRules(.debounce(wait: .zero)))
        try await store.open(namespace, DurableRules(trial.setup, trial.interrupting, maxBatch: trial.maxBatch))
        origin = try await probe()
        anchor = (0, time.reading.wall.nanoseconds)
    }

    func fail(_ what: String?) { finding = finding ?? what }

    // MARK: - Time

    /// The store's instant, from a submit that is due at once.
    private func probe() async throws -> Int64 {
        let receipt = try await store.submit(DurableSubmission(namespace: "time", key: [], value: []))
        try await store.cancel(nil, in: "time")
        return receipt.due ?? .min
    }

    func units(_ nanoseconds: Int64) -> Int { Int((nanoseconds - origin) / Duration.unit) }

    func pass(_ units: Int) {
        time.pass(Duration(units: units))
        now += units
    }

    /// The clocks do something that ties the store's time to them again.
    func startAnew(_ mishap: (ManualTime) -> Void) async throws {
        // The last write has the latest instant that the store knows for certain.
        let before = units(try await probe())
        if before != now { fail("the store's time is \(before), not \(now)") }
        mishap(time)
        let passed = time.reading.wall.nanoseconds - anchor.wall
        now = max(before, anchor.at + max(0, Int(passed / Duration.unit)))
        if maker.isShared { try await reopen() }
        let after = units(try await probe())
        if after != now { fail("after a restart the store's time is \(after), not \(now)") }
        anchor = (now, time.reading.wall.nanoseconds)
        figures.reboots += 1
    }

    func reopen() async throws {
        guard maker.isShared else { return }
        await store.close()
        store = try await maker.open(place, limits, time.clock)
    }

    func close() async throws {
        await store.close()
        try await maker.remove(place)
    }

    // MARK: - Comparing

    /// Compares a submit's fate with the model's.
    func compare(_ key: String, _ number: Int) async throws {
        guard let span = model.span(of: key, number, at: now) else { return fail("\(key) #\(number) is unknown") }
        let receipt = DurableReceipt(
            namespace: namespace, key: Array(key.utf8), generation: numbers.stored(number, of: key), dueIn: nil,
            due: nil)
        let state = try await store.state(of: receipt)
        if state == .forgotten, model.mayBeForgotten(span, at: now) { return }
        if !state.isFate(of: span) { fail("\(key) #\(number) is \(state) instead of \(span)") }
        if state == .executed, !books.isCompleted(key, number) { fail("\(key) #\(number) was never completed") }
    }

    /// Checks the rules that hold after every step.
    func check(_ step: Int) async throws {
        let broken = try await maker.brokenRules(of: store, isComplete: isComplete)
        fail(broken.first)
        fail(model.findings.first)
        if step % 8 == 0 { fail(model.broken) }
        let keys = model.knownKeys
        guard !keys.isEmpty else { return }
        let key = keys[step % keys.count]
        let numbers = model.numbers(of: key)
        if let newest = numbers.last { try await compare(key, newest) }
        if !numbers.isEmpty { try await compare(key, numbers[step % numbers.count]) }
    }

    /// Compares everything, when nothing is left.
    func compareAll() async throws {
        let restarted = try await store.status().first { $0.namespace == namespace }?.restarted ?? 0
        if restarted != model.restarted { fail("\(restarted) runs went back, not \(model.restarted)") }
        for key in model.knownKeys {
            for number in model.numbers(of: key) { try await compare(key, number) }
        }
        for (key, number) in books.acknowledged {
            guard let span = model.span(of: key, number, at: now), case .ended(let end) = span.place else {
                fail("\(key) #\(number) was acknowledged, and has not ended")
                continue
            }
            if (end == .completed) != books.isCompleted(key, number) {
                fail("\(key) #\(number) was acknowledged, and is \(end)")
            }
        }
    }
}

extension Duration {
    /// The unit of time of a simulation, in nanoseconds.
    static let unit: Int64 = 1_000_000

    init(units: Int) { self = .nanoseconds(Int64(units) * Duration.unit) }
}

extension CoreDuration {
    init(units: Int) { self.init(nanoseconds: Int64(units) * Duration.unit) }
}

extension DurableRules {
    init(
        _ setup: ReferenceSetup, _ interrupting: DurableReference.Interruption?, maxBatch: Int?
    ) throws {
        let policy = setup.policy
        let maxWait = policy.maxWait.map { CoreDuration(units: $0) }
        let wait = CoreDuration(units: policy.wait)
        var edges: Edges = []
        if policy.leading { edges.insert(.leading) }
        if policy.trailing { edges.insert(.trailing) }
        let whileRunning: DurableOverlapPolicy =
            switch interrupting {
            case nil: .queue
            case .whenDue: .restart(interrupting: .whenDue)
            case .whenSubmitted: .restart(interrupting: .whenSubmitted)
            }
        let combination: CombinationRule =
            switch setup.combination {
            case .latest: .latest
            case .first: .first
            case .collect: .collect
            }
        let limit = setup.limit.map {
            RateLimit(starts: $0.starts, period: CoreDuration(units: $0.period), burst: $0.burst)
        }
        switch policy.kind {
        case .debounce:
            try self.init(
                .debounce(
                    wait: wait, maxWait: maxWait, edges: edges, delayRule: policy.extends ? .extend : .restart,
                    maxCount: policy.maxCount,
                    spacing: policy.spacing.map { CoreDuration(units: $0) }),
                combination: combination, maxBatch: maxBatch, limit: limit, maxRunning: setup.maxConcurrent,
                whileRunning: whileRunning)
        case .throttle:
            try self.init(
                .throttle(interval: wait, edges: edges, maxCount: policy.maxCount), combination: combination,
                maxBatch: maxBatch, limit: limit, maxRunning: setup.maxConcurrent, whileRunning: whileRunning)
        }
    }
}

extension DurableState {
    /// Whether the model says the same.
    func isFate(of span: DurableReference.Span) -> Bool {
        switch (self, span.place) {
        case (.pending, .pending), (.pending, .held), (.ready, .ready), (.executed, .ended(.completed)),
            (.cancelled, .ended(.cancelled)), (.absorbed, .ended(.absorbed)):
            true
        case (.running(let attempt), .claimed): attempt == span.attempt
        case (.waitingForRetry(let attempt, let error), .backoff):
            !span.isSnoozed && attempt == span.attempt && isReason(error, span.error)
        case (.snoozed(let times), .backoff): span.isSnoozed && times == span.snoozes
        case (.failed(let error), .ended(.failed)): isReason(error, span.error)
        case (.dead(let error), .ended(.dead)): isReason(error, span.error)
        default: false
        }
    }

    private func isReason(_ error: String?, _ expected: String?) -> Bool {
        expected == "?" ? error != nil : error == expected
    }
}
