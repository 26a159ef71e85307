internal import LullReference

/// One thing that happens to a store, its producers and its workers. Times are in the simulation's units; numbers that
/// choose one of several things are taken modulo how many there are.
enum SimulationStep: Sendable {
    /// Time passes.
    case pass(Int)
    /// The wall clock is set.
    case setWall(by: Int)
    /// The machine is off for a while.
    case reboot(after: Int)
    /// The machine is restored from a snapshot.
    case restore(from: Int)
    /// Another process opens the store.
    case reopen
    /// The durations of the policy are changed, and how many values a run gets at most.
    case change(ReferencePolicy, maxBatch: Int?)
    /// A producer submits, if it does not wait for an answer; with `lost` the answer is dropped on the way.
    case submit(Int, key: String, wait: Int?, hasToken: Bool, isNamed: Bool, lost: Bool)
    /// A producer that waits for an answer submits the same again.
    case resubmit(Int, lost: Bool)
    /// An old submit with a token arrives once more.
    case redeliver(Int)
    /// A producer dies, with the submit that it was about to repeat.
    case killProducer(Int)
    /// A worker claims runs; with `forgets` it names none of those that it has, and with `hangs` it lets their leases
    /// end.
    case claim(Int, limit: Int, lease: Int, maxAttempts: Int, forgets: Bool, hangs: Bool, lost: Bool)
    /// A worker reports on one of its runs.
    case report(Int, run: Int, DurableReference.ReportKind, lost: Bool)
    /// An old report arrives once more.
    case resend(Int)
    /// A worker dies, and restarts without any state.
    case killWorker(Int)
    /// A producer says that a key is still busy.
    case touch(key: String, wait: Int?)
    /// A worker looks for interruptions of its runs.
    case lookAtRuns(Int)
    case flush(String?)
    case cancel(String?)
    /// Somebody flushes or cancels a selection, or looks for its dead runs.
    case flushSome(DurableReference.Selection)
    case cancelSome(DurableReference.Selection)
    case lookForDead(DurableReference.Selection)
    /// A producer flushes, or cancels, what it alone has submitted.
    case flushOwn(Int)
    case cancelOwn(Int)
    /// Somebody retries one of the runs that were ever dead.
    case retry(Int)
    case discard(Int)
    /// Somebody pauses the namespace, or ends its pause.
    case pause(String?, for: Int?)
    case resume
    /// Somebody looks at the counts.
    case look
}

/// The parameters of a simulation, all derived from a seed.
struct SimulationTrial: Sendable {
    var setup: ReferenceSetup
    var interrupting: DurableReference.Interruption?
    var maxBatch: Int?
    var retention: Int
    var tokenLifetime: Int
    var steps: [SimulationStep]

    /// Longer than all that passes when a wall clock goes forward over a restart.
    static let forEver = 100_000_000_000

    /// Few keys and small whole times, so that ties are the rule.
    init(length: Int, using random: inout SplitMix) {
        let wait = Int.random(in: 0...6, using: &random)
        let edges = random.pick([(true, false), (false, true), (true, true), (false, true)])
        var policy = ReferencePolicy(
            random.pick(ReferencePolicy.Kind.allCases), wait: wait, leading: edges.0, trailing: edges.1,
            extends: random.oneIn(3))
        if policy.kind == .debounce, random.oneIn(2) { policy.maxWait = wait + Int.random(in: 0...8, using: &random) }
        if policy.trailing, random.oneIn(3) { policy.maxCount = random.pick([1, 2, 3, 5]) }
        policy.spacing = Self.spacing(of: policy, using: &random)
        setup = ReferenceSetup(policy, combination: random.pick(ReferenceSetup.CombinationRule.allCases))
        interrupting = random.pick([nil, .whenDue, .whenSubmitted])
        maxBatch = Self.maxBatch(of: setup.combination, using: &random)
        if random.oneIn(3) {
            let starts = Int.random(in: 1...4, using: &random)
            let burst = Int.random(in: 1...starts, using: &random)
            // Stores count in smaller units than the model: what is divided has to come out even.
            let period = (starts - burst + 1) * Int.random(in: 1...6, using: &random)
            setup.limit = ReferenceSetup.Limit(starts, per: period, burst: burst)
        }
        // Where runs go back or die the order of those at one instant decides who gets a slot.
        if interrupting == nil, random.oneIn(4) { setup.maxConcurrent = random.pick([1, 1, 2, 3]) }
        retention = random.oneIn(4) ? Int.random(in: 2...30, using: &random) : SimulationTrial.forEver
        tokenLifetime = random.oneIn(4) ? Int.random(in: 2...30, using: &random) : SimulationTrial.forEver
        steps = []
        let maker = StepMaker(
            policy: policy, combination: setup.combination, isRestarting: interrupting != nil,
            isMortal: setup.maxConcurrent == nil, using: &random)
        for _ in 0..<length { steps.append(maker.step(using: &random)) }
    }

    fileprivate static func spacing(of policy: ReferencePolicy, using random: inout SplitMix) -> Int? {
        policy.kind == .debounce && policy.trailing && random.oneIn(2) ? Int.random(in: 0...16, using: &random) : nil
    }

    fileprivate static func maxBatch(
        of combination: ReferenceSetup.CombinationRule, using random: inout SplitMix
    ) -> Int? {
        combination == .collect ? random.pick([nil, 1, 1, 2, 3]) : nil
    }
}

/// Makes steps of one temper: some trials are restless, some are full of accidents, in some handlers take long.
private struct StepMaker {
    private let policy: ReferencePolicy
    private let combination: ReferenceSetup.CombinationRule
    private let isRestarting: Bool
    private let keys: [String]
    private let loss: Int
    private let anonymity: Int
    private let accidents: Int
    private let haste: Int
    private let maxAttempts: Int
    private let isMortal: Bool
    private let weights: [Int]

    init(
        policy: ReferencePolicy, combination: ReferenceSetup.CombinationRule, isRestarting: Bool, isMortal: Bool,
        using random: inout SplitMix
    ) {
        self.policy = policy
        self.isRestarting = isRestarting
        self.combination = combination
        keys = Array(["a", "b", "c", "d", "e"].prefix(Int.random(in: 1...5, using: &random)))
        loss = random.pick([2, 4, 10, 1000])
        anonymity = random.pick([1, 3, 1000])
        accidents = random.pick([1, 1, 3, 8])
        haste = Int.random(in: 1...4, using: &random)
        maxAttempts = isMortal ? random.pick([1, 2, 3, 3, 100]) : 1000
        self.isMortal = isMortal
        weights = [random.pick([4, 8, 16]), random.pick([4, 8]), random.pick([4, 8])]
    }

    func step(using random: inout SplitMix) -> SimulationStep {
        let common = weights[0] + weights[1] + weights[2] + 4
        var choice = Int.random(in: 0..<(common + accidents * 3), using: &random)
        for (kind, weight) in (weights + [4]).enumerated() {
            if choice < weight { return frequent(kind, using: &random) }
            choice -= weight
        }
        return accident(using: &random)
    }

    private func frequent(_ kind: Int, using random: inout SplitMix) -> SimulationStep {
        switch kind {
        case 0:
            let wait = random.oneIn(5) ? random.pick([0, 1, 2, 4, 9, -1]) : nil
            return .submit(
                anyone(&random), key: random.pick(keys), wait: wait, hasToken: !random.oneIn(4),
                isNamed: !random.oneIn(anonymity), lost: random.oneIn(loss))
        case 1:
            return .claim(
                anyone(&random), limit: random.pick([0, 1, 1, 2, 3, 100]), lease: random.pick([1, 3, 8, 20]),
                maxAttempts: isMortal && random.oneIn(5) ? random.pick([1, 2, 4]) : maxAttempts,
                forgets: random.oneIn(15), hangs: random.oneIn(6), lost: random.oneIn(loss))
        case 2:
            return .report(anyone(&random), run: anyone(&random), reportKind(using: &random), lost: random.oneIn(loss))
        default:
            return .pass(random.oneIn(haste) ? random.pick([1, 1, 2, 3, 5, 9]) : 0)
        }
    }

    private func reportKind(using random: inout SplitMix) -> DurableReference.ReportKind {
        switch Int.random(in: 0..<(isRestarting ? 16 : 13), using: &random) {
        case 0...3: .completed
        case 10...11: .snoozed(for: random.pick([0, 1, 2, 5, 12]))
        case 12: random.oneIn(3) ? .overdue : .gaveUp(random.pick(["no", "no use"]))
        case 13...15: .interrupted
        case 4...6:
            .failed(
                random.pick(["no", "not yet", ""]), retry: random.oneIn(4) ? nil : random.pick([0, 1, 2, 5, 12]))
        case 7: .released
        default: .heartbeat(lease: random.pick([1, 3, 8, 20]))
        }
    }

    private func accident(using random: inout SplitMix) -> SimulationStep {
        switch Int.random(in: 0..<38, using: &random) {
        case 0...1: .setWall(by: random.pick([-3_600_000, -40, -3, 2, 50, 3_600_000]))
        case 2: .reboot(after: random.pick([0, 1, 4, 15]))
        case 3: .restore(from: random.pick([1, 5, 400]))
        case 4: .reopen
        case 5:
            .change(
                changed(using: &random), maxBatch: SimulationTrial.maxBatch(of: combination, using: &random))
        case 6...8: .resubmit(anyone(&random), lost: random.oneIn(loss))
        case 9...10: .redeliver(anyone(&random))
        case 11: .killProducer(anyone(&random))
        case 12...14: .resend(anyone(&random))
        case 15...16: .killWorker(anyone(&random))
        case 17...18: .flush(random.oneIn(4) ? nil : random.pick(keys))
        case 19: .cancel(random.oneIn(4) ? nil : random.pick(keys))
        case 20...21: .retry(anyone(&random))
        case 22: .discard(anyone(&random))
        case 23: .flushOwn(anyone(&random))
        case 24: .cancelOwn(anyone(&random))
        case 28...29: .touch(key: random.pick(keys), wait: random.oneIn(2) ? random.pick([0, 1, 3, 9, -1]) : nil)
        case 30: .lookAtRuns(anyone(&random))
        case 31:
            .pause(
                random.pick([nil, "maintenance", "the API is down"]), for: random.pick([nil, nil, 0, 1, 4, 12]))
        case 32...33: .resume
        case 34...35: .flushSome(selection(using: &random))
        case 36: .cancelSome(selection(using: &random))
        case 37: .lookForDead(selection(using: &random))
        case 25: .pass(random.pick([10, 20, 35]))
        default: .look
        }
    }

    private func changed(using random: inout SplitMix) -> ReferencePolicy {
        var policy = policy
        policy.wait = Int.random(in: 0...6, using: &random)
        policy.extends = random.oneIn(2)
        policy.maxWait =
            policy.kind == .debounce && random.oneIn(2) ? policy.wait + Int.random(in: 0...8, using: &random) : nil
        policy.maxCount = policy.trailing && random.oneIn(3) ? random.pick([1, 2, 3, 5]) : nil
        policy.spacing = SimulationTrial.spacing(of: policy, using: &random)
        return policy
    }

    private func selection(using random: inout SplitMix) -> DurableReference.Selection {
        DurableReference.Selection(
            prefix: random.oneIn(2) ? "" : random.pick(keys), age: random.oneIn(2) ? nil : random.pick([0, 1, 3, 9]),
            error: random.oneIn(3) ? random.pick(["not", "no"]) : nil)
    }

    private func anyone(_ random: inout SplitMix) -> Int { Int.random(in: 0..<60, using: &random) }
}
