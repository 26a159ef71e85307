internal import LullCore
internal import LullTuning

// Tries a series of waits on a recorded trace, as `lull tune` does, with the same code for the gates of all candidates,
// the percentiles, the series and the suggestion.

// Calls never overlap, as for the answer buffer.
nonisolated(unsafe) private var trials = Trials([], talliesKeys: false)
/// The policies of the series, debounces first.
nonisolated(unsafe) private var series: [Policy] = []
nonisolated(unsafe) private var debounces = 0
/// What the present trace has been tried on so far, and its number of submits.
nonisolated(unsafe) private var counted: [Candidate] = []
nonisolated(unsafe) private var submits = 0

/// Begins another trace.
@c(lull_tune_forget)
public func forgetTrace() {
    counted = []
    submits = 0
}

/// Begins a series of waits, from `first` to `last`, as `50ms..5s` does. Returns how many of them are new for this
/// trace: without any, the trace need not be read again.
@c(lull_tune_begin)
public func beginTuning(_ first: Int64, _ last: Int64, _ maxWait: Int64) -> Int32 {
    let limit: CoreDuration? = maxWait < 0 ? nil : CoreDuration(nanoseconds: maxWait)
    var policies: [Policy] = []
    var throttles: [Policy] = []
    for wait in WaitSeries.steps(from: CoreDuration(nanoseconds: first), to: CoreDuration(nanoseconds: last)) {
        // A wait longer than `maxWait` is not a valid policy.
        if let policy = try? Policy.debounce(wait: wait, maxWait: limit) { policies.append(policy) }
        if let policy = try? Policy.throttle(interval: wait) { throttles.append(policy) }
    }
    debounces = policies.count
    series = policies + throttles
    let new = series.filter { result(of: $0) == nil }
    trials = Trials(new, talliesKeys: false)
    return Int32(new.count)
}

/// Submits. Keys have the numbers 0, 1, 2 … in the order in which they come, and instants never go back.
@c(lull_tune_submit)
public func tuneSubmit(_ key: Int32, _ now: Int64, _ wait: Int64) {
    trials.submit(
        Int(key), at: CoreInstant(nanoseconds: now), wait: wait < 0 ? nil : CoreDuration(nanoseconds: wait))
}

/// Says "still busy" of a key.
@c(lull_tune_touch)
public func tuneTouch(_ key: Int32, _ now: Int64, _ wait: Int64) {
    trials.touch(
        Int(key), at: CoreInstant(nanoseconds: now), wait: wait < 0 ? nil : CoreDuration(nanoseconds: wait))
}

/// Flushes a key, or all.
@c(lull_tune_flush)
public func tuneFlush(_ key: Int32, _ now: Int64) {
    trials.flush(key < 0 ? nil : Int(key), at: CoreInstant(nanoseconds: now))
}

/// Cancels a key, or all.
@c(lull_tune_cancel)
public func tuneCancel(_ key: Int32, _ now: Int64) {
    trials.cancel(key < 0 ? nil : Int(key), at: CoreInstant(nanoseconds: now))
}

/// Lets time run until nothing is pending.
@c(lull_tune_finish)
public func finishTuning() {
    trials.finish()
    counted += trials.candidates
    submits = max(submits, trials.submits)
}

/// Writes a row for each candidate: whether it is a throttle, wait, executions, premature ones, delays after the
/// last submit (p50, p90, p99) and after the first, the longest, the limit that it lacks (0 if none), whether it is
/// efficient, and why it is suggested (0 if it is not).
///
/// `saving` is a share from 0 to 1, and `delay` is in nanoseconds; a negative one means no target.
@c(lull_tune_outcomes)
public func tuneOutcomes(_ saving: Double, _ delay: Int64) {
    answers.clear()
    var targets = Targets()
    if saving >= 0 { targets.saving = saving }
    if delay >= 0 { targets.delay = CoreDuration(nanoseconds: delay) }
    var results = series.compactMap(result).map { TrialResult($0, submits: submits) }
    for (kind, range) in [0..<debounces, debounces..<results.count].enumerated() {
        results.markEfficient(range)
        let suggestion = Suggestion.make(results, range, targets)
        for index in range {
            let result = results[index]
            answers.append(kind)
            answers.append(result.policy.wait.nanoseconds)
            answers.append(result.executions)
            answers.append(result.premature)
            // Without executions there are no delays.
            let none: [Int64] = [0, 0, 0]
            for delay in (result.delayFromLast ?? none) + (result.delayFromFirst ?? none) { answers.append(delay) }
            answers.append(result.starvation ?? 0)
            answers.append(result.missingMaxWait?.nanoseconds ?? 0)
            answers.append(result.isEfficient ? 1 : 0)
            answers.append(suggestion.map { $0.index == index ? number(of: $0.reason) : 0 } ?? 0)
        }
    }
}

private func result(of policy: Policy) -> Candidate? {
    counted.first { $0.policy == policy }
}

private func number(of reason: Suggestion.Reason) -> Int64 {
    switch reason {
    case .knee: 1
    case .most: 2
    case .target: 3
    case .nearest: 4
    }
}
