/// The semantics, implemented naively: a list of every key ever seen, searched from one end to the other at every step.
///
/// A value is the number of its submit, counted from 0, which identifies its fate.
public struct ReferenceModel: Sendable {
    /// Everything kept for one key.
    struct KeyState: Sendable {
        var key: String
        var gate: ReferenceGate
        /// The number of the burst, in the order in which bursts began.
        var burst = 0
        /// The pending values, combined.
        var values: [Int] = []
        var waiting: Waiting?
        /// What an interrupted execution has given back, while nothing newer is due. Its instant and edge mean nothing.
        var held: Waiting?
        var running: [Run] = []
    }

    /// A value that is due and has not started.
    struct Waiting: Sendable {
        var values: [Int]
        var due: ReferenceGate.Due
        /// The instant and the number that decide when it gets a concurrency slot.
        var queuedAt: Int
        var dueNumber: Int
        /// Whether it is the rest of a larger batch, a part of which has started.
        var isRest = false
    }

    /// An execution that has started, until its outcome has been told.
    struct Run: Sendable {
        var number: Int
        var values: [Int]
        /// The number of submits behind it, and the instant of the oldest.
        var count: Int
        var first: Int
        /// Whether its values go back if it throws.
        var isInterrupted = false
        /// Whether its submits were superseded while it ran.
        var isReplaced = false
        /// When it started.
        var startedAt: Int
        /// Whether its time limit has passed, and whether it was the first to tell it to stop.
        var hasPassedLimit = false
        var isExpired = false
        /// Whether it was told that it goes on.
        var isOverdue = false
        /// Once its handler has ended: how many steps of telling its outcome have not.
        var telling: Int?
        /// How its submits end if it throws.
        var fateIfItThrows: ReferenceFate = .failed
    }

    /// A caller that waits for what runs (by number) and for what waits (by key, with the last of its values).
    struct Waiter: Sendable {
        var id: Int
        var runs: [Int]
        var keys: [String: Int]
    }

    /// The settings.
    public private(set) var setup: ReferenceSetup
    /// The fate of every submit, by its number.
    public internal(set) var fates: [ReferenceFate] = []
    /// Every execution that was started, in order.
    public internal(set) var executions: [ReferenceExecution] = []
    /// What the driver has to do, since the list was last emptied.
    public var events: [ReferenceEvent] = []
    /// The last instant handled.
    public private(set) var now = Int.min

    var keys: [KeyState] = []
    var waiters: [Waiter] = []
    var bursts = 0
    var dueCount = 0
    var isShutDown = false
    /// Section 7, the limit: when each execution has started that counts for it, by its number.
    var limitedStarts: [(run: Int, at: Int)] = []
    /// How often values went back.
    public internal(set) var restarts = 0
    /// How many executions went on after their time limit.
    public internal(set) var overdueExecutions = 0
    /// Once nothing is held any more: whether what goes back is flushed or cancelled.
    var flushesHeld: Bool?

    /// Creates a model with nothing pending.
    public init(_ setup: ReferenceSetup) {
        self.setup = setup
    }

    // MARK: - Section 2

    /// Advances time to `instant`, or leaves it if that is earlier, and does everything due by then, in order of due
    /// instants, equal ones in the order in which the bursts began.
    public mutating func advance(to instant: Int) {
        now = max(now, instant)
        while true {
            let changing = keys.indices.filter { isOpen($0) && nextChange($0) <= now }
            let next = changing.min { (nextChange($0), keys[$0].burst) < (nextChange($1), keys[$1].burst) }
            // At one instant, what falls due comes before what a time limit asks for.
            if let limit = nextTimeLimit, limit.at <= now, next.map({ limit.at < nextChange($0) }) ?? true {
                passTimeLimit(limit.key, limit.run)
                continue
            }
            guard let next else { return startLimited() }
            if let due = keys[next].gate.change() { fallDue(next, takeValues(next), due) }
        }
    }

    func nextChange(_ index: Int) -> Int { keys[index].gate.nextChange ?? .max }

    func isOpen(_ index: Int) -> Bool { keys[index].gate.openUntil != nil }

    mutating func takeValues(_ index: Int) -> [Int] {
        defer { keys[index].values = [] }
        return keys[index].values
    }

    // MARK: - Sections 3 and 4

    /// Submits the next value under a key.
    ///
    /// - Returns: The number of the submit.
    @discardableResult
    public mutating func submit(_ key: String, at instant: Int, wait: Int? = nil) -> Int {
        advance(to: instant)
        let number = fates.count
        fates.append(.pending)
        if isShutDown {
            fates[number] = .rejectedByShutDown
            return number
        }
        let index = keys.firstIndex { $0.key == key }
        if let index, joins(number, index) { return number }
        if let capacity = setup.capacity, index.map(countsForCapacity) != true {
            if keys.indices.filter(countsForCapacity).count >= capacity {
                fates[number] = .rejectedByCapacity
                return number
            }
        }
        if let maxPending = setup.maxPending {
            var then = self
            then.submit(number, to: index ?? then.add(key), wait)
            // What goes back may have exceeded the bound before.
            if then.keptCount > max(maxPending, keptCount) {
                switch setup.overflow {
                case .reject:
                    fates[number] = .rejectedAsTooMany
                    return number
                case .dropNewest:
                    fates[number] = .absorbed
                    return number
                case .dropOldest:
                    dropOldest()
                    advance(to: now)
                }
            }
        }
        submit(number, to: index ?? add(key), wait)
        return number
    }

    /// The number of submits whose values are pending, held or waiting.
    var keptCount: Int {
        keys.reduce(0) { $0 + $1.values.count + ($1.held?.values.count ?? 0) + ($1.waiting?.values.count ?? 0) }
    }

    /// The oldest submit that is kept is superseded.
    private mutating func dropOldest() {
        let kept = keys.flatMap { $0.values + ($0.held?.values ?? []) + ($0.waiting?.values ?? []) }
        guard let oldest = kept.min() else { return }
        fates[oldest] = .superseded
        for index in keys.indices {
            if keys[index].values.first == oldest {
                keys[index].values.removeFirst()
                keys[index].gate.dropFirst(leaving: keys[index].values.count)
            }
            if keys[index].held?.values.first == oldest {
                keys[index].held?.values.removeFirst()
                keys[index].held?.due.count -= 1
                if keys[index].held?.values.isEmpty == true { keys[index].held = nil }
            }
            if keys[index].waiting?.values.first == oldest {
                keys[index].waiting?.values.removeFirst()
                keys[index].waiting?.due.count -= 1
                if keys[index].waiting?.values.isEmpty == true { keys[index].waiting = nil }
                let key = keys[index].key
                for waiter in waiters.indices
                where keys[index].waiting == nil || waiters[waiter].keys[key] == oldest {
                    waiters[waiter].keys[key] = nil
                }
                resumeWaiters()
            }
        }
    }

    /// Whether a key has an open gate or a waiting value.
    func isActive(_ index: Int) -> Bool { isOpen(index) || keys[index].waiting != nil || keys[index].held != nil }

    /// Whether a key is remembered for its spacing alone.
    func isResting(_ index: Int) -> Bool { !isActive(index) && keys[index].gate.next ?? .min > now }

    /// Whether a key is one of those whose number the capacity limits.
    func countsForCapacity(_ index: Int) -> Bool { isActive(index) || isResting(index) }

    mutating func add(_ key: String) -> Int {
        keys.append(KeyState(key: key, gate: ReferenceGate(setup.policy)))
        return keys.count - 1
    }

    mutating func submit(_ number: Int, to index: Int, _ wait: Int?) {
        if !isOpen(index) {
            bursts += 1
            keys[index].burst = bursts
        }
        switch keys[index].gate.submit(at: now, wait: wait) {
        case .pending:
            keys[index].values = combine(keys[index].values, with: [number])
            if setup.interruptsWhenSubmitted, fates[number] != .absorbed { interruptRuns(index, at: now) }
        case .completes(let due):
            let values = combine(takeValues(index), with: [number])
            fallDue(index, values, due)
        case .leads(let due):
            fallDue(index, [number], due)
        case .absorbed:
            fates[number] = .absorbed
        }
        startLimited()
    }

    /// Section 8: returns what remains of older values when newer ones come, and records the fate of the others.
    mutating func combine(_ older: [Int], with newer: [Int]) -> [Int] {
        if older.isEmpty { return newer }
        switch setup.combination {
        case .latest:
            for value in older { fates[value] = .superseded }
            return newer
        case .first:
            for value in newer { fates[value] = .absorbed }
            return older
        case .collect:
            return older + newer
        }
    }

    // MARK: - Section 5

    /// Executes what is pending under a key, or under all in the order in which the bursts began.
    public mutating func flush(_ key: String? = nil, at instant: Int) {
        advance(to: instant)
        for index in inOrderOfBursts(key) {
            if let due = keys[index].gate.flush(at: now) {
                fallDue(index, takeValues(index), due)
            } else {
                flushHeld(index)
            }
        }
        startLimited()
    }

    /// "Still busy", without a value.
    public mutating func touch(_ key: String, at instant: Int, wait: Int? = nil) {
        advance(to: instant)
        for index in keys.indices where keys[index].key == key { keys[index].gate.touch(at: now, wait: wait) }
    }

    /// Another wait for what is submitted, or another interval for the windows that begin, from now on.
    public mutating func setWait(_ wait: Int, at instant: Int) {
        advance(to: instant)
        setup.policy.wait = wait
        for index in keys.indices { keys[index].gate.policy.wait = wait }
    }

    /// Drops what is pending or waiting under a key or under all.
    public mutating func cancel(_ key: String? = nil, running: Bool = false, at instant: Int) {
        advance(to: instant)
        for index in inOrderOfBursts(key) {
            keys[index].gate.cancel()
            for value in takeValues(index) { fates[value] = .cancelled }
            cancelWaiting(index)
            // The value for which they were cancelled is dropped.
            for run in keys[index].running.indices where keys[index].running[run].fateIfItThrows == .superseded {
                keys[index].running[run].fateIfItThrows = .cancelled
            }
            if running {
                for run in keys[index].running.indices
                where keys[index].running[run].isInterrupted || keys[index].running[run].isExpired {
                    keys[index].running[run].isInterrupted = false
                    keys[index].running[run].isExpired = false
                    keys[index].running[run].fateIfItThrows = .cancelled
                }
                cancelRuns(index, .cancelled)
            }
        }
    }

    /// The owner is released: drops what is due in the far future, which is never executed.
    public mutating func dropUnreachable(at instant: Int) {
        advance(to: instant)
        for index in keys.indices {
            if keys[index].gate.due == .max {
                keys[index].gate.cancel()
                for value in takeValues(index) + (keys[index].held?.values ?? []) { fates[value] = .cancelled }
                keys[index].held = nil
            } else if keys[index].gate.due == nil {
                flushHeld(index)
            }
        }
        startLimited()
    }

    /// Holds nothing from now on.
    public mutating func stopHolding(flushing: Bool) { flushesHeld = flushing }

    /// Refuses submits from now on, and flushes or drops what is pending.
    public mutating func shutDown(flushing: Bool, at instant: Int) {
        isShutDown = true
        stopHolding(flushing: flushing)
        if flushing { flush(at: instant) } else { cancel(at: instant) }
    }

    func inOrderOfBursts(_ key: String?) -> [Int] {
        keys.indices.filter { key == nil || keys[$0].key == key }.sorted { keys[$0].burst < keys[$1].burst }
    }

    /// When time has to be advanced next, before the far future: the earliest due instant, or when the limit allows a
    /// start, or when a time limit asks for something.
    public var alarm: Int? {
        let starts = waitsForLimit ? setup.limit?.next(tat) : nil
        let limits = [starts, nextTimeLimit?.at].compactMap { $0 }
        return (keys.compactMap { $0.gate.due } + limits).filter { $0 < .max }.min()
    }

    /// Returns when what is pending under a key, or under any, is due, as if everything due by `instant` had been done.
    public func nextDue(_ key: String? = nil, at instant: Int) -> Int? {
        var then = self
        then.advance(to: instant)
        return then.keys.filter { key == nil || $0.key == key }.compactMap { $0.gate.due }.min()
    }

    /// Returns the numbers of values of a key, or of all, that are pending or held, wait to start, and are handled.
    public func state(_ key: String? = nil) -> [Int] {
        let keys = keys.filter { key == nil || $0.key == key }
        return [
            keys.reduce(0) { $0 + $1.values.count + ($1.held?.values.count ?? 0) },
            keys.reduce(0) { $0 + ($1.waiting?.values.count ?? 0) },
            keys.reduce(0) {
                $0 + $1.running.reduce(0) { $0 + ($1.telling == nil && !$1.isReplaced ? $1.values.count : 0) }
            },
        ]
    }

    /// The number of keys with an open gate or a waiting value, after everything due by `now` has been done.
    public var openKeys: Int { keys.indices.filter(isActive).count }

    /// The number of other keys that are remembered for their spacing, after everything due by `now` has been done.
    public var restingKeys: Int { keys.indices.filter(isResting).count }

    // MARK: - Section 6

    /// Returns the number of submits with each fate.
    public func counts() -> [ReferenceFate: Int] {
        fates.reduce(into: [:]) { counts, fate in counts[fate, default: 0] += 1 }
    }
}
