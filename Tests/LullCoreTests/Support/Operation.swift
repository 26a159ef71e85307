import LullReference

/// One call on both an engine and the reference model.
enum Operation: Sendable, CustomStringConvertible {
    case submit(String, at: Int, wait: Int?)
    case flush(String?, at: Int)
    case cancel(String?, running: Bool, at: Int)
    case touch(String, at: Int, wait: Int?)
    case shutDown(flushing: Bool, at: Int)
    case setWait(Int, at: Int)
    /// The owner is released.
    case dropUnreachable(at: Int)
    /// No more submits are expected.
    case stopHolding(flushing: Bool)
    /// Time advances; with a `limit`, the engine does no more than this many executions a call.
    case advance(to: Int, limit: Int?)
    /// One of the running executions ends: the n-th, modulo their number. Its outcome is told in some steps.
    case ended(Int, ReferenceEnding, telling: Int)
    /// The handler of one of the running executions is called: the n-th, modulo their number.
    case confirmed(Int)
    /// A step of telling an outcome ends: of the n-th execution, modulo the number of those.
    case told(Int)
    /// A caller waits for a key, or for all.
    case wait(String?)
    /// A caller that has waited is withdrawn: the n-th, modulo their number.
    case stopWaiting(Int)
    /// Asks what is pending, now or in the future.
    case ask(at: Int)

    var description: String {
        switch self {
        case .submit(let key, let at, let wait): "\(at) submit \(key)" + (wait.map { " wait \($0)" } ?? "")
        case .flush(let key, let at): "\(at) flush \(key ?? "all")"
        case .cancel(let key, let running, let at): "\(at) cancel \(key ?? "all")" + (running ? " and running" : "")
        case .touch(let key, let at, let wait): "\(at) touch \(key)" + (wait.map { " wait \($0)" } ?? "")
        case .setWait(let wait, let at): "\(at) wait of \(wait) from now on"
        case .stopHolding(let flushing): "hold nothing, " + (flushing ? "flushing" : "dropping")
        case .shutDown(let flushing, let at): "\(at) shut down " + (flushing ? "flushing" : "dropping")
        case .dropUnreachable(let at): "\(at) drop what is unreachable"
        case .advance(let at, let limit): "\(at) advance" + (limit.map { " limit \($0)" } ?? "")
        case .ended(let number, let ending, let steps):
            "run \(number) \(ending)" + (steps > 0 ? ", told in \(steps)" : "")
        case .confirmed(let number): "run \(number) is handled"
        case .told(let number): "told \(number)"
        case .wait(let key): "wait for \(key ?? "all")"
        case .stopWaiting(let number): "withdraw \(number)"
        case .ask(let at): "ask about \(at)"
        }
    }
}

/// A setup and a list of calls, generated from one seed.
struct Trial: Sendable {
    var setup: ReferenceSetup
    var operations: [Operation]
    /// Whether the engine learns the time only from the calls on each key, as from a driver whose timer is late, and
    /// carries out calls for all keys in portions, with other calls in between.
    var isLazy: Bool

    init(setup: ReferenceSetup, operations: [Operation], isLazy: Bool = false) {
        self.setup = setup
        self.operations = operations
        self.isLazy = isLazy
    }

    /// Few keys and small whole times, so that ties are the rule; now and then the ends of the range.
    init(length: Int, keys: ClosedRange<Int> = 1...6, using random: inout SplitMix) {
        isLazy = random.oneIn(4)
        setup = ReferenceSetup(random: &random)
        if isLazy { (setup.maxConcurrent, setup.limit, setup.timeLimit) = (nil, nil, nil) }
        if keys.lowerBound > 6 { setup.maxPending = setup.maxPending.map { $0 * keys.lowerBound / 4 } }
        if keys.lowerBound > 6 { setup.capacity = setup.capacity.map { $0 * keys.lowerBound / 4 } }
        let keys = (0..<Int.random(in: keys, using: &random)).map {
            $0 < 6 ? String("abcdef".dropFirst($0).prefix(1)) : "\($0)"
        }
        let ends = Int.random(in: 1...12, using: &random)
        let restless = Int.random(in: 1...4, using: &random)
        let tells = random.oneIn(2)
        // Not the far past itself, before which nothing happens.
        var now = random.oneIn(8) ? random.pick([.min + 1, -8, Int.max - 40]) : 0
        operations = []
        for _ in 0..<length {
            now = later(now, by: random.oneIn(restless) ? random.pick([1, 1, 2, 3, 5, 9]) : 0)
            let at = random.oneIn(20) && now > .min + 9 ? now - 3 : now
            switch Int.random(in: 0..<40, using: &random) {
            case 0: operations.append(.flush(random.oneIn(4) ? nil : random.pick(keys), at: at))
            case 1:
                let key = random.oneIn(4) ? nil : random.pick(keys)
                operations.append(.cancel(key, running: random.oneIn(2), at: at))
            case 2 where random.oneIn(3): operations.append(.stopWaiting(Int.random(in: 0..<100, using: &random)))
            case 2: operations.append(.wait(random.oneIn(3) ? nil : random.pick(keys)))
            case 3...5: operations.append(.ask(at: later(at, by: random.pick([0, 0, 1, 2, 5, 20]))))
            case 6...8: operations.append(.advance(to: at, limit: random.oneIn(3) ? random.pick([1, 2]) : nil))
            case 9..<(9 + ends):
                let number = Int.random(in: 0..<8, using: &random)
                let steps = tells ? random.pick([0, 0, 1, 1, 2]) : 0
                let ending: ReferenceEnding = random.oneIn(3) ? .threw : .returned
                if setup.removesDuplicates, random.oneIn(3) {
                    operations.append(
                        random.oneIn(3) ? .confirmed(number) : .ended(number, .unchanged, telling: steps))
                } else {
                    operations.append(
                        tells && random.oneIn(2) ? .told(number) : .ended(number, ending, telling: steps))
                }
            case 9...20 where random.oneIn(200): operations.append(.stopHolding(flushing: random.oneIn(2)))
            case 39 where random.oneIn(8):
                let wait = Int.random(in: 0...9, using: &random)
                operations.append(.setWait(min(wait, setup.policy.maxWait ?? .max), at: at))
            case 39:
                operations.append(
                    .touch(random.pick(keys), at: at, wait: random.oneIn(4) ? random.pick([0, 1, 4, 8]) : nil))
            case 9...20 where random.oneIn(60): operations.append(.dropUnreachable(at: at))
            case 9...20 where random.oneIn(120): operations.append(.shutDown(flushing: random.oneIn(2), at: at))
            default:
                let wait = random.oneIn(4) ? random.pick([0, 1, 2, 4, 8, -1, .min, .max, .max - 3, 1 << 40]) : nil
                operations.append(.submit(random.pick(keys), at: at, wait: wait))
            }
        }
    }
}

extension ReferenceSetup {
    init(random: inout SplitMix) {
        let edges = random.pick([(true, false), (false, true), (true, true)])
        let wait = random.oneIn(20) ? .max : Int.random(in: 0...6, using: &random)
        var policy = ReferencePolicy(
            random.pick(ReferencePolicy.Kind.allCases), wait: wait, leading: edges.0, trailing: edges.1,
            extends: random.oneIn(3))
        if policy.kind == .debounce, random.oneIn(2), wait < .max {
            policy.maxWait = random.oneIn(12) ? .max - 5 : wait + Int.random(in: 0...8, using: &random)
        }
        if policy.trailing, random.oneIn(3) { policy.maxCount = random.pick([1, 2, 3, 5]) }
        if policy.kind == .debounce, policy.trailing, random.oneIn(2) {
            policy.spacing =
                random.oneIn(12) ? random.pick([.max, .max - 5, 0]) : Int.random(in: 0...14, using: &random)
        }
        self.init(
            policy, combination: random.pick(CombinationRule.allCases),
            whileRunning: random.pick(OverlapPolicy.allCases),
            maxConcurrent: random.oneIn(2) ? random.pick([1, 1, 2, 3]) : nil,
            capacity: random.oneIn(3) ? random.pick([1, 2, 3, 4]) : nil)
        if whileRunning == .cancelRunning || whileRunning == .restart { interruptsWhenSubmitted = random.oneIn(2) }
        if random.oneIn(3) {
            let starts = Int.random(in: 1...5, using: &random)
            let period = random.oneIn(12) ? random.pick([.max, .max - 5, 1]) : Int.random(in: 1...20, using: &random)
            limit = Limit(starts, per: period, burst: Int.random(in: 1...starts, using: &random))
        }
        removesDuplicates = random.oneIn(4)
        if random.oneIn(3) {
            timeLimit = random.oneIn(12) ? random.pick([.max, .max - 5]) : Int.random(in: 1...12, using: &random)
            isSynchronous = random.oneIn(3)
        }
        if random.oneIn(3) {
            maxPending = random.pick([1, 2, 3, 5, 8])
            overflow = random.pick(OverflowPolicy.allCases)
        }
        if combination == .collect {
            if [.cancelRunning, .replace, .share].contains(whileRunning) { whileRunning = .restart }
            if random.oneIn(2) { maxBatch = random.pick([1, 2, 2, 3]) }
        }
    }
}

/// Returns the instant `duration` after `instant`, or the last one there is.
func later(_ instant: Int, by duration: Int) -> Int {
    let (sum, overflow) = instant.addingReportingOverflow(duration)
    return overflow ? .max : sum
}
