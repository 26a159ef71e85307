import LullDurable
import LullCore
import Testing

/// A row, with the ended ranges of its key: the test decides what happens at which second.
struct RowRig {
    var rules: DurableRules
    var row: DurableRow
    var endings: [EndedSubmits] = []
    var sequence: Int64 = 100
    /// The number of attempts of a run.
    let maxAttempts = 3

    static let lease = CoreDuration.seconds(30)

    init(
        _ policy: Policy, combination: CombinationRule, maxBatch: Int?, whileRunning: DurableOverlapPolicy, base: Int64
    ) throws {
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
    private mutating func step<Result>(_ body: (inout RowRig) -> Result) -> Result {
        let result = body(&self)
        #expect(row.checkInvariants() == [])
        #expect(gaps() == [])
        return result
    }

    /// Returns what is wrong with the ranges of the key: they must tile all submits from the first to the newest.
    func gaps() -> [String] {
        var ranges = endings.map(\.submits)
        if let run = row.run { ranges.append(run.value.submits) }
        if let ready = row.ready { ranges.append(ready.submits) }
        if let pending = row.pendingSubmits { ranges.append(pending) }
        ranges.sort { $0.lowerBound < $1.lowerBound }
        var next = row.born + 1
        for range in ranges {
            if range.lowerBound != next { return ["\(ranges) do not tile \(row.born + 1)...\(row.generation)"] }
            next = range.upperBound + 1
        }
        return next == row.generation + 1 ? [] : ["\(ranges) end before \(row.generation)"]
    }

    mutating func submit(_ value: UInt8, at seconds: Double, wait: Double? = nil) {
        step { rig in
            let wait = wait.map { CoreDuration.nanoseconds(Int64($0 * 1e9)) }
            rig.row.submit([value], at: Self.at(seconds), wait: wait, by: rig.rules, &rig.endings)
        }
    }

    mutating func claim(at seconds: Double) -> Bool {
        step { rig in
            let claim = DurableClaim.Terms(owner: 7, lease: Self.lease, maxAttempts: rig.maxAttempts)
            let before = rig.sequence
            let isClaimed = rig.row.claim(
                claim, at: Self.at(seconds), by: rig.rules, sequence: &rig.sequence, &rig.endings)
            #expect(!isClaimed || rig.row.run?.fence == rig.sequence && rig.sequence > before)
            return isClaimed
        }
    }

    mutating func complete(at seconds: Double) {
        step { $0.row.complete(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    mutating func fail(at seconds: Double, retry: Double?) {
        step { rig in
            let retry = retry.map { CoreDuration.nanoseconds(Int64($0 * 1e9)) }
            rig.row.fail(Array("no".utf8), retry: retry, at: Self.at(seconds), by: rig.rules, &rig.endings)
        }
    }

    mutating func release(at seconds: Double) {
        step { $0.row.release(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    mutating func snooze(_ time: Double, at seconds: Double) {
        step {
            $0.row.snooze(
                for: .nanoseconds(Int64(time * 1e9)), at: Self.at(seconds), by: $0.rules, &$0.endings)
        }
    }

    mutating func interrupted(at seconds: Double) {
        step { $0.row.interrupted(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    mutating func touch(at seconds: Double, wait: Double? = nil) {
        step { rig in
            let wait = wait.map { CoreDuration.nanoseconds(Int64($0 * 1e9)) }
            _ = rig.row.touch(at: Self.at(seconds), wait: wait, by: rig.rules, &rig.endings)
        }
    }

    mutating func flush(at seconds: Double) {
        step { _ = $0.row.flush(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }

    mutating func cancel(at seconds: Double) {
        step { _ = $0.row.cancel(at: Self.at(seconds), by: $0.rules, &$0.endings) }
    }
}
