package import LullCore

/// All candidates on one trace, in one pass: each key has one gate for each candidate.
///
/// These gates make the decisions everywhere else in Lull too. What an engine adds (values, timers, executions that
/// take time) does not change what falls due when, and would cost its price once for each candidate.
package struct Trials {
    package private(set) var candidates: [Candidate]
    package private(set) var submits = 0
    /// The counts of each key under each candidate; nil unless asked for.
    package private(set) var keyTallies: [KeyTally]?

    /// The cells of a key are contiguous: a submit visits all of them.
    private var cells: [Cell] = []
    /// The instant of each key's latest submit.
    private var latest: [CoreInstant] = []

    /// The counts of a single key.
    package struct KeyTally {
        package var submits: UInt32
        /// Indexed by candidate.
        package var executions: [UInt32]

        package init(submits: UInt32 = 0, executions: [UInt32]) {
            self.submits = submits
            self.executions = executions
        }
    }

    /// - Parameter talliesKeys: Whether to count the executions of each key too.
    package init(_ policies: [Policy], talliesKeys: Bool) {
        candidates = policies.map { Candidate($0) }
        keyTallies = talliesKeys ? [] : nil
    }

    /// The number of keys.
    package var keyCount: Int { latest.count }

    // MARK: - Calls, none at an earlier instant than the one before

    /// Handles a submit. Keys are numbered 0, 1, 2 … in order of appearance.
    package mutating func submit(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        if key == latest.count { addKey() }
        submits += 1
        keyTallies?[key].submits += 1
        visit(key) { cell, candidate, last in cell.submit(at: now, wait: wait, last: last, &candidate) }
        latest[key] = now
    }

    /// Handles a flush of a key, or of all keys.
    package mutating func flush(_ key: Int?, at now: CoreInstant) {
        for key in key.map({ $0..<$0 + 1 }) ?? latest.indices {
            settle(key, at: now)
            visit(key) { cell, candidate, last in cell.flush(at: now, last: last, &candidate) }
        }
    }

    /// Handles a cancel of a key, or of all keys.
    package mutating func cancel(_ key: Int?, at now: CoreInstant) {
        for key in key.map({ $0..<$0 + 1 }) ?? latest.indices {
            settle(key, at: now)
            visit(key) { cell, candidate, _ in cell.cancel(at: now, by: candidate.policy) }
        }
    }

    /// Handles a touch of a key.
    package mutating func touch(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        settle(key, at: now)
        visit(key) { cell, candidate, _ in cell.touch(at: now, wait: wait, by: candidate.policy) }
    }

    /// Executes everything that is pending, when it is due.
    package mutating func finish() {
        for key in latest.indices { settle(key, at: .farFuture) }
    }

    // MARK: - Parts

    /// Does what was due, before a call that is rarer than a submit: in a function of its own, so that it is compiled
    /// once.
    private mutating func settle(_ key: Int, at now: CoreInstant) {
        visit(key) { cell, candidate, last in cell.settle(at: now, last: last, &candidate) }
    }

    private mutating func addKey() {
        latest.append(.origin)
        cells.append(contentsOf: repeatElement(Cell(), count: candidates.count))
        keyTallies?.append(KeyTally(executions: Array(repeating: 0, count: candidates.count)))
    }

    /// Calls `body` for each candidate's cell of a key, and counts the executions.
    @inline(__always)
    private mutating func visit(
        _ key: Int, _ body: (inout Cell, inout Candidate, _ last: CoreInstant) -> Void
    ) {
        let width = candidates.count
        let last = latest[key]
        cells.withUnsafeMutableBufferPointer { cells in
            candidates.withUnsafeMutableBufferPointer { candidates in
                for number in 0..<width {
                    let before = candidates[number].executions
                    body(&cells[key * width + number], &candidates[number], last)
                    let more = candidates[number].executions - before
                    if more > 0 { keyTallies?[key].executions[number] += UInt32(more) }
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
        case .lead: execute(Gate.Due(at: now, cause: .leading, count: 1, first: now), last: now, &candidate)
        case .complete(let due): execute(due, last: now, &candidate)
        }
    }

    // The calls below come after `settle`.

    mutating func flush(at now: CoreInstant, last: CoreInstant, _ candidate: inout Candidate) {
        if let due = gate.flush(at: now, by: candidate.policy) { execute(due, last: last, &candidate) }
    }

    mutating func cancel(at now: CoreInstant, by policy: Policy) {
        gate.close(at: now, by: policy)
    }

    mutating func touch(at now: CoreInstant, wait: CoreDuration?, by policy: Policy) {
        gate.touch(at: now, wait: wait, by: policy)
    }

    private mutating func execute(_ due: Gate.Due, last: CoreInstant, _ candidate: inout Candidate) {
        candidate.add(at: due.at, first: due.first, last: last)
        lastsUntil = due.at.advanced(by: max(candidate.policy.wait, candidate.policy.spacing))
    }
}
