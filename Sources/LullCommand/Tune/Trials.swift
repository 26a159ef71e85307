internal import LullCore

/// All candidates on one trace, in one pass: for each key a gate of each.
///
/// These are the gates that every other part of Lull decides with. What an engine has beyond them (values, timers,
/// executions that take time) makes no difference to what falls due when, and would be paid once for each candidate.
struct Trials {
    private(set) var candidates: [Candidate]
    private(set) var submits = 0
    /// For each key, what it did under each candidate; nil unless it was asked for.
    private(set) var keyTallies: [KeyTally]?

    /// The cells of a key lie side by side: a submit visits them all.
    private var cells: [Cell] = []
    /// The instant of each key's latest submit.
    private var latest: [CoreInstant] = []

    /// What a single key did.
    struct KeyTally {
        var submits: UInt32 = 0
        /// By candidate.
        var executions: [UInt32]
    }

    /// - Parameter talliesKeys: Whether executions are counted for each key as well.
    init(_ policies: [Policy], talliesKeys: Bool) {
        candidates = policies.map { Candidate($0) }
        keyTallies = talliesKeys ? [] : nil
    }

    /// The number of keys.
    var keyCount: Int { latest.count }

    // MARK: - Calls, none at an earlier instant than the one before

    /// A submit. Keys have the numbers 0, 1, 2 … in the order in which they come.
    mutating func submit(_ key: Int, at now: CoreInstant, wait: CoreDuration?) {
        if key == latest.count { addKey() }
        submits += 1
        keyTallies?[key].submits += 1
        visit(key) { cell, candidate, last in cell.submit(at: now, wait: wait, last: last, &candidate) }
        latest[key] = now
    }

    /// A flush of a key, or of all.
    mutating func flush(_ key: Int?, at now: CoreInstant) {
        for key in key.map({ $0..<$0 + 1 }) ?? latest.indices {
            visit(key) { cell, candidate, last in cell.flush(at: now, last: last, &candidate) }
        }
    }

    /// A cancel of a key, or of all.
    mutating func cancel(_ key: Int?, at now: CoreInstant) {
        for key in key.map({ $0..<$0 + 1 }) ?? latest.indices {
            visit(key) { cell, candidate, last in cell.cancel(at: now, last: last, &candidate) }
        }
    }

    /// Time runs on until nothing is pending.
    mutating func finish() {
        for key in latest.indices {
            visit(key) { cell, candidate, last in cell.settle(at: .farFuture, last: last, &candidate) }
        }
    }

    // MARK: - Parts

    private mutating func addKey() {
        latest.append(.origin)
        cells.append(contentsOf: repeatElement(Cell(), count: candidates.count))
        keyTallies?.append(KeyTally(executions: Array(repeating: 0, count: candidates.count)))
    }

    /// Does something with each candidate's cell of a key.
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

/// What one candidate knows of one key.
private struct Cell {
    private var gate = Gate()
    /// A submit before this instant makes the latest execution a premature one.
    private var lastsUntil = CoreInstant.farPast

    /// - Parameter last: The instant of the key's latest submit.
    @inline(__always)
    mutating func settle(at now: CoreInstant, last: CoreInstant, _ candidate: inout Candidate) {
        if let ripe = gate.settle(at: now, by: candidate.policy) { execute(ripe, last: last, &candidate) }
    }

    @inline(__always)
    mutating func submit(
        at now: CoreInstant, wait: CoreDuration?, last: CoreInstant, _ candidate: inout Candidate
    ) {
        settle(at: now, last: last, &candidate)
        if now < lastsUntil {
            candidate.addPremature()
            lastsUntil = .farPast
        }
        switch gate.submit(at: now, wait: wait, by: candidate.policy) {
        case .join, .absorb: break
        case .lead: execute(Gate.Due(at: now, edge: .leading, count: 1, first: now), last: now, &candidate)
        case .complete(let ripe): execute(ripe, last: now, &candidate)
        }
    }

    mutating func flush(at now: CoreInstant, last: CoreInstant, _ candidate: inout Candidate) {
        settle(at: now, last: last, &candidate)
        if let ripe = gate.flush(at: now) { execute(ripe, last: last, &candidate) }
    }

    mutating func cancel(at now: CoreInstant, last: CoreInstant, _ candidate: inout Candidate) {
        settle(at: now, last: last, &candidate)
        gate.close()
    }

    private mutating func execute(_ ripe: Gate.Due, last: CoreInstant, _ candidate: inout Candidate) {
        candidate.add(at: ripe.at, first: ripe.first, last: last)
        lastsUntil = ripe.at.advanced(by: candidate.policy.wait)
    }
}
