@testable import LullCore
@testable import LullEngine
import LullReference

/// An engine with a driver that records its actions, for tests that read like a story.
///
/// Keys and values are words; instants are small whole numbers. Handlers return at once, unless the rig is created with
/// `handlersTakeTime`; then the test ends them.
final class Rig {
    private(set) var engine: Engine<String, String>
    /// What was started: the due instant, the edge, the key if it is not `k`, the values, and the count if it is not 1.
    private(set) var executions: [String] = []
    /// The instants of the oldest submits behind the executions.
    private(set) var firsts: [Int] = []
    /// The values whose executions were cancelled.
    private(set) var stopped: [String] = []
    /// The values whose executions were overdue.
    private(set) var overdue: [String] = []
    /// The callers that were resumed.
    private(set) var resumed: [WaiterID] = []
    /// The keys that were handed out to be released.
    private(set) var released: [String] = []
    /// The result of the last call.
    private(set) var last = Actions<String, String>()

    private var fates: [String: ReferenceFate] = [:]
    private var running: [(value: String, execution: Execution<String, String>)] = []
    /// Executions whose outcomes are being told.
    private var telling: [(value: String, run: RunID)] = []
    private let handlersTakeTime: Bool

    convenience init(
        _ policy: Policy, combination: CombinationRule = .latest, whileRunning: OverlapPolicy = .queue,
        maxConcurrent: Int? = nil, capacity: Int? = nil, maxBatch: Int? = nil, limit: RateLimit? = nil,
        handlersTakeTime: Bool = false
    ) throws {
        try self.init(
            Setup(
                policy, combination: combination, whileRunning: whileRunning, maxConcurrent: maxConcurrent,
                capacity: capacity, maxBatch: maxBatch, limit: limit), handlersTakeTime: handlersTakeTime)
    }

    init(_ setup: Setup, handlersTakeTime: Bool) {
        engine = Engine(setup)
        self.handlersTakeTime = handlersTakeTime
    }

    // MARK: - Calls

    func submit(_ value: String, _ key: String = "k", at instant: Int, wait: CoreDuration? = nil) {
        fates[value] = .pending
        note(engine.submit(value, for: key, at: CoreInstant(instant), wait: wait))
    }

    func advance(to instant: Int, limit: Int = .max) {
        note(engine.advance(to: CoreInstant(instant), limit: limit))
    }

    func flush(_ key: String? = nil, at instant: Int) {
        note(key.map { engine.flush($0, at: CoreInstant(instant)) } ?? engine.flush(at: CoreInstant(instant)))
    }

    func cancel(_ key: String? = nil, running: Bool = false, at instant: Int) {
        let at = CoreInstant(instant)
        note(key.map { engine.cancel($0, running: running, at: at) } ?? engine.cancel(running: running, at: at))
    }

    func touch(_ key: String = "k", at instant: Int, wait: CoreDuration? = nil) {
        note(engine.touch(key, at: CoreInstant(instant), wait: wait))
    }

    func shutDown(flushing: Bool, at instant: Int) {
        note(engine.shutDown(flushing: flushing, at: CoreInstant(instant)))
    }

    func dropUnreachable(at instant: Int) {
        note(engine.sweep(.dropUnreachable, at: CoreInstant(instant)))
    }

    func wait(_ waiter: WaiterID, _ key: String? = nil) -> Bool { engine.addWaiter(waiter, for: key) }

    func stopWaiting(_ waiter: WaiterID, _ key: String? = nil) { engine.removeWaiter(waiter, for: key) }

    /// Ends the execution that got `value` last, whose outcome is told in some steps.
    func end(_ value: String, _ ending: Ending = .returned, telling steps: Int = 0) {
        guard let index = running.firstIndex(where: { $0.value == value }) else {
            executions.append("\(value) is not running")
            return
        }
        let ended = running.remove(at: index).execution
        if steps > 0 { telling.append((value, ended.run)) }
        let (verdict, actions) = engine.ended(ended.run, ending, returning: ended.batch, telling: steps)
        if verdict != .replaced { for value in ended.batch.values { fates[value] = ReferenceFate(verdict) } }
        note(actions)
    }

    /// Ends a step of telling the outcome of the execution that got `value` last.
    func tell(_ value: String) {
        guard let told = telling.first(where: { $0.value == value }) else {
            executions.append("\(value) is not being told")
            return
        }
        note(engine.told(told.run))
    }

    // MARK: - Questions

    func fate(_ value: String) -> ReferenceFate? { fates[value] }

    func fates(_ values: String...) -> [ReferenceFate?] { values.map { fates[$0] } }

    func due(_ key: String? = "k", at instant: Int) -> Int? {
        let at = CoreInstant(instant)
        return (key.map { engine.nextDue($0, at: at) } ?? engine.nextDue(at: at)).map { Int($0.nanoseconds) }
    }

    /// How things stand under a key, once everything has been done that was due.
    func state(_ key: String = "k", at instant: Int) -> CoreState {
        let (state, actions) = engine.state(of: key, at: CoreInstant(instant))
        note(actions)
        return state
    }

    var isIdle: Bool { engine.isIdle }

    /// The rules of the engine's data that do not hold, and the law of conservation if the fates break it.
    var broken: [String] {
        let rules = engine.checkInvariants()
        return Counters(Array(fates.values), restarts: engine.counters.restarted, overdue: overdue.count)
            == engine.counters
            ? rules : rules + ["the counters are those of the fates"]
    }

    // MARK: - The driver

    private func note(_ actions: Actions<String, String>) {
        last = actions
        if let displaced = actions.displaced { fates[displaced] = ReferenceFate(actions.fate) }
        for action in actions.more {
            switch action {
            case .start(let execution): start(execution)
            case .cancel(let run): stopped += values(of: run)
            case .overdue(let run): overdue += values(of: run)
            case .replace(let run, let fate):
                for execution in running where execution.execution.run == run {
                    for value in execution.execution.batch.values { fates[value] = ReferenceFate(fate) }
                }
            case .resolve(_, let batch, let fate): for value in batch.values { fates[value] = ReferenceFate(fate) }
            case .resume(let waiter): resumed.append(waiter)
            case .release(let key): released.append(key)
            }
        }
        guard !handlersTakeTime else { return }
        while let value = running.first?.value { end(value) }
    }

    /// The value that an execution got last, if it is running.
    private func values(of run: RunID) -> [String] {
        running.filter { $0.execution.run == run }.map { $0.value }
    }

    private func start(_ execution: Execution<String, String>) {
        var words = ["\(execution.at.nanoseconds)", "\(execution.cause.name)"]
        if execution.key != "k" { words.append("\(execution.key):") }
        words.append(execution.batch.values.joined(separator: "+"))
        if execution.count > 1 { words.append("×\(execution.count)") }
        executions.append(words.joined(separator: " "))
        firsts.append(Int(execution.first.nanoseconds))
        for value in execution.batch.values { fates[value] = .running }
        running.append((execution.batch.value, execution))
    }
}

extension Policy {
    /// A debounce in whole units.
    static func debounce(
        _ wait: Int, maxWait: Int? = nil, _ edges: Edges = .trailing, _ delayRule: DelayRule = .restart,
        maxCount: Int? = nil, spacing: Int? = nil
    ) throws -> Policy {
        try .debounce(
            wait: CoreDuration(wait), maxWait: maxWait.map { CoreDuration($0) }, edges: edges, delayRule: delayRule,
            maxCount: maxCount, spacing: spacing.map { CoreDuration($0) })
    }

    /// A throttle in whole units.
    static func throttle(_ interval: Int, _ edges: Edges = [.leading, .trailing], maxCount: Int? = nil) throws -> Policy
    {
        try .throttle(interval: CoreDuration(interval), edges: edges, maxCount: maxCount)
    }
}

extension CoreState {
    init(pending: Int = 0, waiting: Int = 0, running: Int = 0, due: Int? = nil) {
        self.init()
        (self.pending, self.waiting, self.running) = (pending, waiting, running)
        self.due = due.map { CoreInstant($0) }
    }
}
