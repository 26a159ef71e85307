/// The guarantees of a durable store, implemented naively: lists of every submit ever accepted and of every range of
/// submits, searched from one end to the other at every step.
///
/// It takes the calls on a store with their instants, in the order in which the store handled them, and returns what
/// the answers have to be. Where a store is free (the numbers of submits and runs, the order of what may start at one
/// instant), it takes the store's choice, and returns whether that was allowed. A value is a number that identifies its
/// submit.
public struct DurableReference: Sendable {
    /// Where a range of submits is.
    public enum Place: Hashable, Sendable {
        /// Not due yet.
        case pending
        /// Interrupted, and joined by the next value that falls due.
        case held
        /// Due, and claimed by no worker.
        case ready
        /// Claimed by a worker.
        case claimed
        /// Waiting for another attempt.
        case backoff
        /// It has ended.
        case ended(End)
    }

    /// How a range ends.
    public enum End: String, CaseIterable, Sendable {
        /// The handler returned.
        case completed
        /// The handler threw, and a newer value replaced it.
        case failed
        /// It was cancelled.
        case cancelled
        /// Another value stood for it.
        case absorbed
        /// It has used up its attempts.
        case dead
        /// It was dead, and was discarded.
        case discarded
    }

    /// A range of submits of one key that share their fate.
    public struct Span: Hashable, Sendable {
        /// The key.
        public var key: String
        /// The numbers of the submits.
        public var numbers: ClosedRange<Int>
        /// The values that a handler gets.
        public var values: [Int]
        /// The submits that the values come from.
        public var origins: [Int] = []
        /// The number of submits behind the values: the others were absorbed.
        public var count: Int
        /// The instant of the oldest submit.
        public var first: Int
        /// When it fell due.
        public var due = Int.max
        /// Why it fell due.
        public var cause = ReferenceEdge.trailing
        /// Where it is.
        public var place: Place
        /// The number of the run, once it was claimed.
        public var run: Int?
        /// The number of its latest claim.
        public var fence = 0
        /// The worker that claimed it last.
        public var owner = 0
        /// The end of the lease or of the backoff.
        public var until = 0
        /// The number of times it was handed out.
        public var attempt = 0
        /// The number of times that its handler has snoozed it.
        public var snoozes = 0
        /// Whether its handler snoozed it last.
        public var isSnoozed = false
        /// Why it failed last: `?` stands for any reason.
        public var error: String?
        /// When it ended.
        public var endedAt = 0
        /// The submitters of what is pending; 0 for submits without one.
        public var submitters: Set<Int> = []

        /// Whether a newer value has interrupted the run.
        public var isInterrupted = false
        /// Whether no newer value interrupts it.
        public var isExempt = false

        /// For the rest of a batch, the instant at which the part before it was claimed, or has ended.
        public var since: Int?

        /// The instant from which a worker may claim it.
        public var start: Int? {
            switch place {
            case .ready: since ?? due
            case .claimed, .backoff: until
            case .pending, .held, .ended: nil
            }
        }
    }

    struct KeyState: Sendable {
        var key: String
        var gate: ReferenceGate
        /// The number of the newest submit.
        var newest = 0
        /// Whether the store had nothing else of the key when a dead run of it was retried.
        var isReborn = false
    }

    struct Token: Sendable {
        var token: String
        var number: Int
        var due: Int?
        var at: Int
    }

    /// When a newer value interrupts a run.
    public enum Interruption: CaseIterable, Sendable {
        /// When it falls due.
        case whenDue
        /// When it is submitted.
        case whenSubmitted
    }

    /// The policy and the combination.
    public internal(set) var setup: ReferenceSetup
    /// When a newer value interrupts a run; nil for never.
    public let interrupting: Interruption?
    /// The greatest number of values of `collect` that one run gets.
    public private(set) var maxBatch: Int?
    /// How long the store must remember ends.
    public let retention: Int
    /// How long the store must remember tokens.
    public let tokenLifetime: Int
    /// The reason of the pause, perhaps an empty one, and its end if it has one; nil if the store is not paused.
    public private(set) var pause: (reason: String, end: Int?)?
    /// All ranges that there ever were, by the instant at which they began.
    public internal(set) var spans: [Span] = []
    /// The violations that the store has committed.
    public internal(set) var findings: [String] = []

    var keys: [KeyState] = []
    var tokens: [Token] = []
    /// How often values went back.
    public internal(set) var restarted = 0
    /// What the limit of the setup has counted: when the next run would start if all so far had been spread evenly.
    var tat: Int?
    /// The highest fence of a claim.
    var highestFence = 0

    /// Creates the model of an empty store.
    public init(
        _ setup: ReferenceSetup, interrupting: Interruption? = nil, maxBatch: Int? = nil, retention: Int,
        tokenLifetime: Int
    ) {
        self.setup = setup
        self.interrupting = interrupting
        self.maxBatch = maxBatch
        self.retention = retention
        self.tokenLifetime = tokenLifetime
    }

    /// Changes the durations of the policy, which apply from the next submit on, and the limit of a run's values, which
    /// applies from the next claim on.
    public mutating func change(_ policy: ReferencePolicy, maxBatch: Int?) {
        setup.policy = policy
        self.maxBatch = maxBatch
    }

    /// Pauses the store, for a time or until it is resumed; without a reason it keeps the one that it has. The longer
    /// one of two pauses stays as it was.
    ///
    /// - Returns: The reason as it is now.
    public mutating func pause(_ reason: String?, for time: Int?, at now: Int) -> String? {
        let end = time.map { later(now, by: max(0, $0)) }
        if !isPaused(at: now) { pause = nil }
        if let old = pause {
            let isShorter = old.end == nil && end != nil || (old.end ?? .min) > (end ?? .max)
            if !isShorter { pause = (reason ?? old.reason, end) }
        } else {
            pause = (reason ?? "", end)
        }
        return pause?.reason == "" ? nil : pause?.reason
    }

    /// Whether nothing starts.
    public func isPaused(at now: Int) -> Bool {
        guard let pause else { return false }
        return pause.end.map { $0 > now } ?? true
    }

    /// Ends the pause.
    ///
    /// - Returns: Whether there was one.
    public mutating func resume(at now: Int) -> Bool {
        defer { pause = nil }
        return isPaused(at: now)
    }

    func find(_ key: String, _ places: Place...) -> Int? {
        spans.firstIndex { $0.key == key && places.contains($0.place) }
    }

    mutating func end(_ index: Int, _ end: End, at now: Int) {
        let wasClaimed = spans[index].place == .claimed
        spans[index].place = .ended(end)
        spans[index].endedAt = now
        // The rest of its batch queues behind whatever waits now.
        if wasClaimed, let rest = find(spans[index].key, .ready), spans[rest].since != nil { spans[rest].since = now }
    }

    // MARK: - Step 0 of every call

    /// Lets everything due by now fall due.
    public mutating func settle(at now: Int) {
        for index in keys.indices {
            while let next = keys[index].gate.nextChange, next <= now {
                if let due = keys[index].gate.change() { fallDue(keys[index].key, due, at: now) }
            }
        }
    }

    mutating func fallDue(_ key: String, _ due: ReferenceGate.Due, at now: Int) {
        guard let pending = find(key, .pending) else { return findings.append("nothing is pending at \(key)") }
        var span = spans.remove(at: pending)
        span.count = due.count
        span.first = due.first
        span.due = due.at
        span.cause = due.cause
        makeReady(span, at: now)
    }

    mutating func makeReady(_ newer: Span, at now: Int) {
        var span = newer
        if let held = find(span.key, .held) { span.join(behind: spans.remove(at: held), by: combine) }
        if let index = find(span.key, .ready) {
            // They become one: the older due instant counts, and why the newer one fell due.
            spans[index].values = combine(spans[index].values, span.values)
            spans[index].origins = combine(spans[index].origins, span.origins)
            spans[index].numbers = spans[index].numbers.lowerBound...span.numbers.upperBound
            spans[index].count += span.count
            spans[index].cause = span.cause
        } else {
            span.place = .ready
            spans.append(span)
        }
        interrupt(span.key, at: newer.due)
        giveWay(span.key, at: now)
    }

    /// Ends a run that is tried no more.
    mutating func die(_ index: Int, at now: Int) {
        let isReplaced = setup.combination == .latest && find(spans[index].key, .ready) != nil
        end(index, isReplaced ? .failed : .dead, at: now)
    }

    /// Ends a run that has failed or was snoozed if a newer value is due, with `latest`.
    mutating func giveWay(_ key: String, at now: Int) {
        guard setup.combination == .latest, find(key, .ready) != nil, let run = find(key, .backoff),
            spans[run].error != nil || spans[run].isSnoozed
        else { return }
        if spans[run].isSnoozed { spans[run].error = "snoozed; a newer value took its place" }
        end(run, .failed, at: now)
    }

    func combine(_ older: [Int], _ newer: [Int]) -> [Int] {
        switch setup.combination {
        case .latest: newer
        case .first: older
        case .collect: older + newer
        }
    }
}
