import LullDurable
import LullCore
import Testing

/// A row, with the ended ranges of its key: the test decides what happens at which second.
struct RowRig {
    var rules: DurableRules
    var row: DurableRow
    var endings: [DurableEnding] = []
    var sequence: Int64 = 100
    /// The number of attempts of a run.
    var maxAttempts = 3

    static let lease = CoreDuration.seconds(30)

    init(
        _ policy: Policy? = nil, combination: CombinationRule = .latest, maxBatch: Int? = nil,
        whileRunning: DurableOverlapPolicy = .queue, base: Int64 = 0
    ) throws {
        let policy = try policy ?? .debounce(wait: .seconds(2))
        rules = try DurableRules(policy, combination: combination, maxBatch: maxBatch, whileRunning: whileRunning)
        row = DurableRow(base: base)
    }

    /// The namespace is opened with another limit.
    mutating func change(maxBatch: Int?) throws {
        rules = try DurableRules(
            rules.policy, combination: rules.combination, maxBatch: maxBatch, whileRunning: rules.whileRunning)
    }

    static func at(_ seconds: Double) -> CoreInstant {
        CoreInstant(nanoseconds: Int64((seconds * 1e9).rounded()))
    }

    /// Performs a step, and checks the invariants of the row and that nothing was lost.
    mutating func step<Result>(
        _ location: SourceLocation, _ body: (inout RowRig) throws -> Result
    ) rethrows -> Result {
        let result = try body(&self)
        #expect(row.checkInvariants() == [], sourceLocation: location)
        #expect(gaps() == [], sourceLocation: location)
        return result
    }

    /// Returns what is wrong with the ranges of the key: they must tile all submits from the first to the newest.
    func gaps() -> [String] {
        var ranges = endings.map(\.submits)
        if let run = row.run { ranges.append(run.value.submits) }
        if let ready = row.ready { ranges.append(ready.submits) }
        if let pending = row.pendingSubmits { ranges.append(pending) }
        // A dead run that was retried may be older than the row.
        ranges.removeAll { $0.upperBound <= row.born }
        ranges.sort { $0.lowerBound < $1.lowerBound }
        var next = row.born + 1
        for range in ranges {
            if range.lowerBound != next { return ["\(ranges) do not tile \(row.born + 1)...\(row.generation)"] }
            next = range.upperBound + 1
        }
        return next == row.generation + 1 ? [] : ["\(ranges) end before \(row.generation)"]
    }

    @discardableResult
    mutating func submit(
        _ value: UInt8, at seconds: Double, wait: Double? = nil, _ location: SourceLocation = #_sourceLocation
    ) -> Double? {
        step(location) { rig in
            let wait = wait.map { CoreDuration.nanoseconds(Int64($0 * 1e9)) }
            return rig.row.submit(
                [value], at: Self.at(seconds), wait: wait, by: rig.rules, &rig.endings
            ).map { Double($0.nanoseconds) / 1e9 }
        }
    }

    mutating func settle(at seconds: Double, _ location: SourceLocation = #_sourceLocation) {
        step(location) { $0.row.settle(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    @discardableResult
    mutating func claim(
        at seconds: Double, owner: Int64 = 7, _ location: SourceLocation = #_sourceLocation
    ) -> Bool {
        step(location) { rig in
            let claim = DurableClaim.Terms(owner: owner, lease: Self.lease, maxAttempts: rig.maxAttempts)
            let before = rig.sequence
            let isClaimed = rig.row.claim(
                claim, at: Self.at(seconds), by: rig.rules, sequence: &rig.sequence, &rig.endings)
            #expect(!isClaimed || rig.row.run?.fence == rig.sequence && rig.sequence > before)
            return isClaimed
        }
    }

    mutating func complete(at seconds: Double, _ location: SourceLocation = #_sourceLocation) {
        step(location) { $0.row.complete(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    mutating func fail(
        at seconds: Double, retry: Double?, error: String = "no", _ location: SourceLocation = #_sourceLocation
    ) {
        step(location) { rig in
            let retry = retry.map { CoreDuration.nanoseconds(Int64($0 * 1e9)) }
            rig.row.fail(Array(error.utf8), retry: retry, at: Self.at(seconds), by: rig.rules, &rig.endings)
        }
    }

    mutating func release(at seconds: Double, _ location: SourceLocation = #_sourceLocation) {
        step(location) { $0.row.release(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    mutating func interrupted(at seconds: Double, _ location: SourceLocation = #_sourceLocation) {
        step(location) { $0.row.interrupted(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    @discardableResult
    mutating func touch(
        at seconds: Double, wait: Double? = nil, _ location: SourceLocation = #_sourceLocation
    ) -> Bool {
        step(location) { rig in
            let wait = wait.map { CoreDuration.nanoseconds(Int64($0 * 1e9)) }
            return rig.row.touch(at: Self.at(seconds), wait: wait, by: rig.rules, &rig.endings)
        }
    }

    mutating func retry(
        _ dead: DurableRow.Run, newest: Int64? = nil, at seconds: Double,
        _ location: SourceLocation = #_sourceLocation
    ) -> DurableRow.Retry {
        // A range that is retried has no longer ended.
        let ended = endings
        endings.removeAll { $0.run?.id == dead.id }
        return step(location) { rig in
            let answer = rig.row.retry(dead, newest: newest, at: Self.at(seconds), by: rig.rules)
            if answer != .accepted { rig.endings = ended }
            return answer
        }
    }

    @discardableResult
    mutating func flush(at seconds: Double, _ location: SourceLocation = #_sourceLocation) -> Bool {
        step(location) { $0.row.flush(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    @discardableResult
    mutating func cancel(at seconds: Double, _ location: SourceLocation = #_sourceLocation) -> Int {
        step(location) { $0.row.cancel(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    // MARK: - The state as text

    /// The values of a batch.
    static func values(_ batch: Batch<DurablePayload>) -> [UInt8] {
        batch.values.flatMap { payload -> [UInt8] in
            if case .bytes(let bytes, _) = payload { bytes } else { [] }
        }
    }

    var ready: [UInt8]? { row.ready.map { Self.values($0.batch) } }
    var pending: [UInt8]? { row.pending.map { Self.values($0.batch) } }
    var run: [UInt8]? { row.run.map { Self.values($0.value.batch) } }

    /// The ends so far: `1-2 completed`.
    var ends: [String] {
        endings.map { "\($0.submits.lowerBound)-\($0.submits.upperBound) \($0.how.name)" }
    }

    /// The instant from which the run may be claimed, in seconds.
    var runEnd: Double? { row.run.map { Double($0.state.end.nanoseconds) / 1e9 } }
}
