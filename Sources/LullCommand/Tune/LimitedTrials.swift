internal import LullCore
internal import LullTuning

/// Candidates that a trace is played to, call by call.
protocol TraceTrials {
    var candidates: [Candidate] { get }
    var submits: Int { get }
    var keyCount: Int { get }
    /// The counts of each key under each candidate; nil unless asked for.
    var keyTallies: [Trials.KeyTally]? { get }

    mutating func submit(_ key: Int, at now: CoreInstant, wait: CoreDuration?)
    mutating func flush(_ key: Int?, at now: CoreInstant)
    mutating func cancel(_ key: Int?, at now: CoreInstant)
    mutating func touch(_ key: Int, at now: CoreInstant, wait: CoreDuration?)
    mutating func finish()
}

extension Trials: TraceTrials {}

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

    mutating func submit(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        if key == submitsByKey.count {
            submitsByKey.append(0)
            for trial in trials { trial.addKey() }
        }
        submits += 1
        submitsByKey[key] += 1
        for trial in trials { trial.submit(key, at: now, wait: wait) }
    }

    func flush(_ key: Int?, at now: CoreInstant) { for trial in trials { trial.flush(key, at: now) } }
    func cancel(_ key: Int?, at now: CoreInstant) { for trial in trials { trial.cancel(key, at: now) } }

    func touch(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        for trial in trials { trial.touch(key, at: now, wait: wait) }
    }

    func finish() { for trial in trials { trial.finish() } }
}

/// A candidate under a limit on the starts of all keys together: what counts is when an execution starts, not when it is due.
///
/// Which keys wait for the limit depends on all of them, so that this needs an engine, where ``Trials`` gets by with a gate for each
/// key.
private final class LimitedTrial {
    private var engine: Engine<Int, Submit>
    private(set) var candidate: Candidate
    /// By key: a submit before this instant makes the latest execution premature.
    private var lastsUntil: [CoreInstant] = []
    /// The executions of each key.
    private(set) var tallies: [UInt32] = []

    /// What is kept of a submit: its instant.
    private struct Submit {
        let at: CoreInstant
    }

    init(_ policy: Policy, _ limit: RateLimit) throws(PolicyError) {
        engine = Engine(try Setup(policy, whileRunning: .concurrent, limit: limit))
        candidate = Candidate(policy)
    }

    func addKey() {
        lastsUntil.append(.farPast)
        tallies.append(0)
    }

    func submit(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        advance(to: now)
        if now < lastsUntil[key] {
            candidate.premature += 1
            lastsUntil[key] = .farPast
        }
        perform(engine.submit(Submit(at: now), for: key, at: now, wait: wait), at: now)
    }

    func flush(_ key: Int?, at now: CoreInstant) {
        advance(to: now)
        perform(key.map { engine.flush($0, at: now) } ?? engine.flush(at: now), at: now)
    }

    func cancel(_ key: Int?, at now: CoreInstant) {
        advance(to: now)
        perform(key.map { engine.cancel($0, at: now) } ?? engine.cancel(at: now), at: now)
    }

    func touch(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        advance(to: now)
        perform(engine.touch(key, at: now, wait: wait), at: now)
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

    private func perform(_ actions: consuming Actions<Int, Submit>, at now: CoreInstant) {
        for case .start(let execution) in actions.more {
            candidate.add(at: now, first: execution.first, last: execution.batch.value.at)
            tallies[execution.key] += 1
            lastsUntil[execution.key] = now.advanced(by: max(candidate.policy.wait, candidate.policy.spacing))
            // It takes no time, and nothing waits for its key.
            _ = engine.ended(execution.run, .returned, at: now)
        }
    }
}
