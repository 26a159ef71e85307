internal import LullCore
internal import LullEngine
internal import LullTuning

/// Candidates that a trace is played to, call by call.
protocol TraceTrials {
    var candidates: [Candidate] { get }
    var submits: Int { get }
    var keyCount: Int { get }
    /// The counts of each key under each candidate; nil unless asked for.
    var keyTallies: [Trials.KeyTally]? { get }

    /// Carries out a call on a key, or on all keys.
    mutating func take(_ line: TraceLine, _ key: Int?)
    mutating func finish()
}

extension Trials: TraceTrials {
    mutating func take(_ line: TraceLine, _ key: Int?) {
        switch (line.operation, key) {
        case (.submit, let key?): submit(key, at: line.at, wait: line.wait)
        case (.submit, nil): preconditionFailure("a submit has a key, if only null")
        case (.flush, _): flush(key, at: line.at)
        case (.cancel, _): cancel(key, at: line.at)
        case (.touch, let key?): touch(key, at: line.at, wait: line.wait)
        case (.touch, nil): break
        }
    }
}

/// Candidates under a limit on the starts of all keys together.
struct LimitedTrials: TraceTrials {
    private let trials: [LimitedTrial]
    private let talliesKeys: Bool
    private(set) var submits = 0
    /// The submits of each key.
    private var submitsByKey: [UInt32] = []

    init(_ policies: [Policy], _ limit: RateLimit, talliesKeys: Bool) throws(PolicyError) {
        var trials: [LimitedTrial] = []
        for policy in policies { trials.append(try LimitedTrial(policy, limit)) }
        self.trials = trials
        self.talliesKeys = talliesKeys
    }

    var candidates: [Candidate] { trials.map(\.candidate) }
    var keyCount: Int { submitsByKey.count }

    var keyTallies: [Trials.KeyTally]? {
        guard talliesKeys else { return nil }
        return submitsByKey.enumerated().map { key, submits in
            Trials.KeyTally(submits: submits, executions: trials.map { $0.tallies[key] })
        }
    }

    mutating func take(_ line: TraceLine, _ key: Int?) {
        if line.operation == .submit, let key {
            if key == submitsByKey.count { submitsByKey.append(0) }
            submits += 1
            submitsByKey[key] += 1
        }
        for trial in trials { trial.take(line, key) }
    }

    func finish() { for trial in trials { trial.finish() } }
}

/// A candidate under a limit on the starts of all keys together: what counts is when an execution starts, not when it
/// is due.
///
/// Which keys wait for the limit depends on all of them, so that this needs an engine, where ``Trials`` gets by with a
/// gate for each key.
private final class LimitedTrial {
    /// The value of a submit is its instant.
    private var engine: Engine<Int, CoreInstant>
    private(set) var candidate: Candidate
    /// By key: a submit before this instant makes the latest execution premature.
    private var lastsUntil: [CoreInstant] = []
    /// The executions of each key.
    private(set) var tallies: [UInt32] = []

    init(_ policy: Policy, _ limit: RateLimit) throws(PolicyError) {
        engine = Engine(try Setup(policy, whileRunning: .concurrent, limit: limit))
        candidate = Candidate(policy)
    }

    func take(_ line: TraceLine, _ key: Int?) {
        let now = line.at
        advance(to: now)
        switch (line.operation, key) {
        case (.submit, let key?): submit(key, at: now, wait: line.wait)
        case (.flush, let key?): perform(engine.flush(key, at: now), at: now)
        case (.flush, nil): perform(engine.flush(at: now), at: now)
        case (.cancel, let key?): perform(engine.cancel(key, at: now), at: now)
        case (.cancel, nil): perform(engine.cancel(at: now), at: now)
        case (.touch, let key?): perform(engine.touch(key, at: now, wait: line.wait), at: now)
        case (.submit, nil), (.touch, nil): break
        }
    }

    private func submit(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        if key == tallies.count {
            lastsUntil.append(.farPast)
            tallies.append(0)
        }
        if now < lastsUntil[key] {
            candidate.premature += 1
            lastsUntil[key] = .farPast
        }
        perform(engine.submit(now, for: key, at: now, wait: wait), at: now)
    }

    /// Starts everything that is pending, when it is due and the limit allows it.
    func finish() {
        advance(to: .farFuture)
        perform(engine.advance(to: .farFuture), at: .farFuture)
    }

    /// Does what is due and what may start, one instant after another.
    private func advance(to now: CoreInstant) {
        while engine.alarm <= now, engine.alarm < .farFuture {
            let next = engine.alarm
            perform(engine.advance(to: next), at: next)
        }
    }

    private func perform(_ actions: consuming Actions<Int, CoreInstant>, at now: CoreInstant) {
        for case .start(let execution) in actions.more {
            candidate.add(at: now, first: execution.first, last: execution.batch.value)
            tallies[execution.key] += 1
            lastsUntil[execution.key] = now.advanced(by: max(candidate.policy.wait, candidate.policy.spacing))
            // It takes no time, and nothing waits for its key.
            _ = engine.ended(execution.run, .returned, at: now)
        }
    }
}
