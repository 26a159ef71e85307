package import LullCore

/// All candidates on one trace, in one pass: each key has one gate for each candidate.
///
/// These gates make the decisions everywhere else in Lull too. Under a limit, each candidate has an engine instead (``LimitedTrial``). What an engine adds (values, timers, executions that take time) does
/// not change what falls due when, and would cost its price once for each candidate.
package struct Trials {
    package var candidates: [Candidate] { limited.isEmpty ? unlimited : limited.map(\.candidate) }
    /// The candidates, or under a limit their trials.
    private var unlimited: [Candidate]
    private var limited: [LimitedTrial]
    package private(set) var submits = 0
    /// The counts of each key under each candidate; nil unless asked for.
    package var keyTallies: [KeyTally]? {
        guard !limited.isEmpty, let tallies else { return tallies }
        return tallies.enumerated().map { key, tally in
            KeyTally(submits: tally.submits, executions: limited.map { $0.tallies[key] })
        }
    }

    private var tallies: [KeyTally]?
    /// The cells of a key are contiguous: a submit visits all of them.
    private var cells: [Cell] = []
    /// The instant of each key's latest submit.
    private var latest: [CoreInstant] = []

    /// The counts of a single key.
    package struct KeyTally {
        package var submits: UInt32 = 0
        /// Indexed by candidate.
        package var executions: [UInt32]
    }

    /// - Parameter talliesKeys: Whether to count the executions of each key too.
    package init(_ policies: [Policy], talliesKeys: Bool) {
        unlimited = policies.map { Candidate($0) }
        limited = []
        tallies = talliesKeys ? [] : nil
    }

    /// Creates trials under a limit on the starts of all keys together.
    package init(_ policies: [Policy], under limit: RateLimit, talliesKeys: Bool) throws(PolicyError) {
        self.init(policies, talliesKeys: talliesKeys)
        for policy in policies { limited.append(try LimitedTrial(policy, limit)) }
    }

    /// The number of keys.
    package var keyCount: Int { latest.count }

    // MARK: - Calls, none at an earlier instant than the one before

    /// Handles a submit. Keys are numbered 0, 1, 2 … in order of appearance.
    package mutating func submit(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        if key == latest.count { addKey() }
        submits += 1
        tallies?[key].submits += 1
        for trial in limited { trial.submit(key, at: now, wait: wait) }
        visit(key) { cell, candidate, last in cell.submit(at: now, wait: wait, last: last, &candidate) }
        latest[key] = now
    }

    /// Handles a flush of a key, or of all keys.
    package mutating func flush(_ key: Int?, at now: CoreInstant) {
        for trial in limited { trial.flush(key, at: now) }
        for key in key.map({ $0..<$0 + 1 }) ?? latest.indices {
            visit(key) { cell, candidate, last in cell.flush(at: now, last: last, &candidate) }
        }
    }

    /// Handles a cancel of a key, or of all keys.
    package mutating func cancel(_ key: Int?, at now: CoreInstant) {
        for trial in limited { trial.cancel(key, at: now) }
        for key in key.map({ $0..<$0 + 1 }) ?? latest.indices {
            visit(key) { cell, candidate, last in cell.cancel(at: now, last: last, &candidate) }
        }
    }

    /// Handles a touch of a key.
    package mutating func touch(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        for trial in limited { trial.touch(key, at: now, wait: wait) }
        visit(key) { cell, candidate, last in cell.touch(at: now, wait: wait, last: last, &candidate) }
    }

    /// Executes everything that is pending, when it is due.
    package mutating func finish() {
        for trial in limited { trial.finish() }
        for key in latest.indices {
            visit(key) { cell, candidate, last in cell.settle(at: .farFuture, last: last, &candidate) }
        }
    }

    // MARK: - Parts

    private mutating func addKey() {
        latest.append(.origin)
        for trial in limited { trial.addKey() }
        if limited.isEmpty { cells.append(contentsOf: repeatElement(Cell(), count: unlimited.count)) }
        tallies?.append(KeyTally(executions: Array(repeating: 0, count: unlimited.count)))
    }

    /// Calls `body` for each candidate's cell of a key, and counts the executions.
    @inline(__always)
    private mutating func visit(
        _ key: Int, _ body: (inout Cell, inout Candidate, _ last: CoreInstant) -> Void
    ) {
        guard limited.isEmpty else { return }
        let width = unlimited.count
        let last = latest[key]
        cells.withUnsafeMutableBufferPointer { cells in
            unlimited.withUnsafeMutableBufferPointer { candidates in
                for number in 0..<width {
                    let before = candidates[number].executions
                    body(&cells[key * width + number], &candidates[number], last)
                    let more = candidates[number].executions - before
                    if more > 0 { tallies?[key].executions[number] += UInt32(more) }
                }
            }
        }
    }
}

/// The state of one key under one candidate.
private struct Cell {
    private var gate = Gate()
    /// A submit before this instant makes the latest execution premature.
    private var lastsUntil = CoreInstant.farPast

    /// - Parameter last: The instant of the key's latest submit.
    @inline(__always)
    mutating func settle(at now: CoreInstant, last: CoreInstant, _ candidate: inout Candidate) {
        if let due = gate.settle(at: now, by: candidate.policy) { execute(due, last: last, &candidate) }
    }

    @inline(__always)
    mutating func submit(
        at now: CoreInstant, wait: CoreDuration?, last: CoreInstant, _ candidate: inout Candidate
    ) {
        settle(at: now, last: last, &candidate)
        if now < lastsUntil {
            candidate.premature += 1
            lastsUntil = .farPast
        }
        switch gate.submit(at: now, wait: wait, by: candidate.policy) {
        case .join, .fill, .absorb: break
        case .lead: execute(Gate.Due(at: now, edge: .leading, count: 1, first: now), last: now, &candidate)
        case .complete(let due): execute(due, last: now, &candidate)
        }
    }

    mutating func flush(at now: CoreInstant, last: CoreInstant, _ candidate: inout Candidate) {
        settle(at: now, last: last, &candidate)
        if let due = gate.flush(at: now, by: candidate.policy) { execute(due, last: last, &candidate) }
    }

    mutating func cancel(at now: CoreInstant, last: CoreInstant, _ candidate: inout Candidate) {
        settle(at: now, last: last, &candidate)
        gate.close(at: now, by: candidate.policy)
    }

    mutating func touch(at now: CoreInstant, wait: CoreDuration?, last: CoreInstant, _ candidate: inout Candidate) {
        settle(at: now, last: last, &candidate)
        gate.touch(at: now, wait: wait, by: candidate.policy)
    }

    private mutating func execute(_ due: Gate.Due, last: CoreInstant, _ candidate: inout Candidate) {
        candidate.add(at: due.at, first: due.first, last: last)
        lastsUntil = due.at.advanced(by: max(candidate.policy.wait, candidate.policy.spacing))
    }
}
