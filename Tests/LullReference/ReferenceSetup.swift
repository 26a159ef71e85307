/// When values fall due: a debounce or a throttle with its options, in the terms of the semantics.
///
/// Instants and durations are whole numbers of any unit; `Int.max` is the far future.
public struct ReferencePolicy: Hashable, Sendable {
    /// The two families of policies.
    public enum Kind: String, Codable, CaseIterable, Sendable {
        /// Section 3.
        case debounce
        /// Section 4.
        case throttle
    }

    /// Debounce or throttle.
    public var kind: Kind
    /// The wait of a debounce, the interval of a throttle.
    public var wait: Int
    /// No value of a debounce waits longer, if it is set.
    public var maxWait: Int?
    /// Whether `edges` contains `leading`.
    public var leading: Bool
    /// Whether `edges` contains `trailing`.
    public var trailing: Bool
    /// Whether the delay rule is `extend`.
    public var extends: Bool
    /// This many pending submits are executed at once, if it is set.
    public var maxCount: Int?
    /// The least time between two due instants of a key, if it is set.
    public var spacing: Int?

    /// Creates a policy from its parts, unchecked.
    public init(
        _ kind: Kind, wait: Int, maxWait: Int? = nil, leading: Bool, trailing: Bool, extends: Bool = false,
        maxCount: Int? = nil, spacing: Int? = nil
    ) {
        self.kind = kind
        self.wait = wait
        self.maxWait = maxWait
        self.leading = leading
        self.trailing = trailing
        self.extends = extends
        self.maxCount = maxCount
        self.spacing = spacing
    }
}

/// A policy, and what becomes of values under it.
public struct ReferenceSetup: Hashable, Sendable {
    /// Section 8, without `merge`, which is `collect` folded.
    public enum CombinationRule: String, CaseIterable, Sendable {
        /// The last value stays.
        case latest
        /// The first value stays.
        case first
        /// All of them stay, in order.
        case collect
    }

    /// Section 7.
    public enum OverlapPolicy: String, CaseIterable, Sendable {
        /// A due value waits for the running one.
        case queue
        /// The running one is cancelled, and awaited.
        case cancelRunning
        /// The running one is interrupted, and awaited; if it throws, its values go back.
        case restart
        /// Both run.
        case concurrent
        /// A due value is dropped, unless it was flushed.
        case skip
        /// A due value starts; the running one is cancelled, and counts for nothing.
        case replace
        /// A submitted value joins the running one.
        case share
    }

    /// Section 7: how often executions may start.
    public struct Limit: Hashable, Sendable {
        /// The most starts in any window.
        public var starts: Int
        /// The length of a window.
        public var period: Int
        /// The most starts at one instant.
        public var burst: Int

        /// Creates a limit from its parts.
        public init(_ starts: Int, per period: Int, burst: Int) {
            self.starts = starts
            self.period = period
            self.burst = burst
        }

        /// The time between two starts in the long run.
        var interval: Int {
            let shares = starts - burst + 1
            return period == .max ? .max : period / shares + (period % shares > 0 ? 1 : 0)
        }

        /// Returns the earliest instant of a start, if all so far would have been spread evenly until `tat`.
        func next(_ tat: Int?) -> Int {
            guard let tat else { return .min }
            let (early, overflow) = interval.multipliedReportingOverflow(by: burst - 1)
            let (next, underflow) = tat.subtractingReportingOverflow(overflow ? .max : early)
            return tat == .max ? .max : underflow ? .min : next
        }
    }

    /// Section 7: what a submit does beyond the bound of what is pending.
    public enum OverflowPolicy: CaseIterable, Sendable {
        /// It is rejected.
        case reject
        /// It is absorbed.
        case dropNewest
        /// It supersedes the oldest.
        case dropOldest
    }

    /// When values fall due.
    public var policy: ReferencePolicy
    /// How values become one.
    public var combination: CombinationRule
    /// What becomes of a value that falls due while an execution of its key is running.
    public var whileRunning: OverlapPolicy
    /// Whether a running execution is cancelled or interrupted by a submit, rather than when that is due.
    public var interruptsWhenSubmitted = false
    /// The greatest number of executions that run at once, if there is a limit.
    public var maxConcurrent: Int?
    /// The greatest number of keys that are open or waiting, if there is a limit.
    public var capacity: Int?
    /// The greatest number of values that one execution gets, if there is a limit.
    public var maxBatch: Int?
    /// How often executions may start, if there is a limit.
    public var limit: Limit?
    /// Whether executions with an unchanged value are left out.
    public var removesDuplicates = false
    /// The greatest number of submits that are pending, if there is a limit.
    public var maxPending: Int?
    /// What a submit beyond that does.
    public var overflow = OverflowPolicy.reject

    /// How long an execution may run, if there is a limit.
    public var timeLimit: Int?
    /// Whether handlers cannot be told to stop.
    public var isSynchronous = false

    /// Creates a setup from its parts.
    public init(
        _ policy: ReferencePolicy, combination: CombinationRule = .latest, whileRunning: OverlapPolicy = .queue,
        maxConcurrent: Int? = nil, capacity: Int? = nil, maxBatch: Int? = nil, limit: Limit? = nil
    ) {
        self.policy = policy
        self.combination = combination
        self.whileRunning = whileRunning
        self.maxConcurrent = maxConcurrent
        self.capacity = capacity
        self.maxBatch = maxBatch
        self.limit = limit
    }
}

extension ReferenceSetup: CustomStringConvertible {
    /// The settings that differ from the defaults, on one line.
    public var description: String {
        var words = ["\(policy.kind) \(policy.wait)"]
        if let maxWait = policy.maxWait { words.append("maxWait \(maxWait)") }
        if policy.leading { words.append("leading") }
        if policy.trailing { words.append("trailing") }
        if policy.extends { words.append("extend") }
        if let maxCount = policy.maxCount { words.append("maxCount \(maxCount)") }
        if let spacing = policy.spacing { words.append("spacing \(spacing)") }
        words.append("\(combination)")
        words.append("\(whileRunning)\(interruptsWhenSubmitted ? " when submitted" : "")")
        if let maxConcurrent { words.append("maxConcurrent \(maxConcurrent)") }
        if let capacity { words.append("capacity \(capacity)") }
        if let maxBatch { words.append("maxBatch \(maxBatch)") }
        if let limit { words.append("limit \(limit.starts) in \(limit.period), burst \(limit.burst)") }
        if let maxPending { words.append("maxPending \(maxPending) \(overflow)") }
        if let timeLimit { words.append("timeLimit \(timeLimit)\(isSynchronous ? " synchronous" : "")") }
        if removesDuplicates { words.append("removing duplicates") }
        return words.joined(separator: ", ")
    }
}

/// Why an execution happened.
public enum ReferenceEdge: String, Codable, Sendable {
    /// The first submit of a burst or of a window.
    case leading
    /// The burst paused, or the window ended.
    case trailing
    /// A value had waited for the longest time allowed.
    case maxWait
    /// As many submits were pending as `maxCount` allows.
    case maxCount
    /// A flush, a shut-down or the end of the owner.
    case flush
}

/// One run of the handler.
public struct ReferenceExecution: Hashable, Sendable {
    /// Its number, from 1, in the order in which executions start.
    public var run: Int
    /// The key.
    public var key: String
    /// The numbers of the submits whose values it handles.
    public var values: [Int]
    /// The number of submits behind it.
    public var count: Int
    /// Why it happens.
    public var cause: ReferenceEdge
    /// When it was due.
    public var at: Int
    /// The instant of the oldest submit behind it.
    public var first: Int

    /// Creates an execution from its parts.
    public init(run: Int, key: String, values: [Int], count: Int, cause: ReferenceEdge, at: Int, first: Int) {
        self.run = run
        self.key = key
        self.values = values
        self.count = count
        self.cause = cause
        self.at = at
        self.first = first
    }
}

/// How an execution ends.
public enum ReferenceEnding: CaseIterable, Sendable {
    /// The handler returned.
    case returned
    /// The handler threw.
    case threw
    /// The handler was not called: the value is the one that its key has executed last.
    case unchanged
}

/// What became of one submit: section 6, and the two states before it.
public enum ReferenceFate: String, CaseIterable, Sendable {
    /// Not yet due, or due and not started.
    case pending
    /// Being handled.
    case running
    /// Handled successfully.
    case executed
    /// The handler threw.
    case failed
    /// A later submit replaced it.
    case superseded
    /// Another value stood for it.
    case absorbed
    /// It was cancelled.
    case cancelled
    /// Refused after the shut-down.
    case rejectedByShutDown
    /// Refused over capacity.
    case rejectedByCapacity
    /// Refused since too many submits were pending.
    case rejectedAsTooMany
}

/// What the driver has to do.
public enum ReferenceEvent: Hashable, Sendable {
    /// Run the handler.
    case start(ReferenceExecution)
    /// Cancel a running execution, by its number.
    case stop(Int)
    /// Tell that an execution, by its number, goes on after its time limit.
    case overdue(Int)
    /// Resume the caller with this number.
    case resume(Int)
}

/// Returns the instant `duration` after `instant`, saturating at the far future (section 10).
func later(_ instant: Int, by duration: Int) -> Int {
    if duration == .max { return .max }
    let (sum, overflow) = instant.addingReportingOverflow(duration)
    return overflow ? .max : sum
}

extension ReferenceExecution: CustomStringConvertible {
    /// The parts on one line.
    public var description: String {
        "#\(run) \(key) \(values) of \(count) at \(at) \(cause) first \(first)"
    }
}
