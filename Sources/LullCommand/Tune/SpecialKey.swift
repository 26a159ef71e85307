internal import LullCore

/// A key that would need a wait of its own.
struct SpecialKey {
    /// Its canonical JSON.
    let name: [UInt8]
    let submits: Int
    /// The wait that suits it, and the share that it saves there.
    let wait: CoreDuration
    let saved: Double
    /// The share that it saves with the wait that suits all.
    let savedWithCommon: Double

    /// Fewer submits than this say nothing about a key.
    private static let fewest = 20
    /// Waits that are nearer to each other than this factor are the same for practical purposes.
    private static let factor: Int64 = 2
    static let limit = 20

    /// The keys whose debounce should be a different one than that of all, the busiest first.
    static func find(
        _ tallies: [Trials.KeyTally], _ outcomes: [Outcome], _ debounces: Range<Int>, _ common: Choice?,
        _ targets: Targets, name: (Int) -> [UInt8]
    ) -> [SpecialKey] {
        guard let common else { return [] }
        let commonWait = outcomes[common.index].policy.wait.nanoseconds
        var found: [(number: Int, choice: Outcome, common: Outcome)] = []
        for (number, tally) in tallies.enumerated() where tally.submits >= fewest {
            var own = debounces.map { Outcome(outcomes[$0].policy, Int(tally.executions[$0]), of: Int(tally.submits)) }
            own.markEfficient(own.indices)
            guard let choice = Choice.make(own, own.indices, targets) else { continue }
            let wait = own[choice.index].policy.wait.nanoseconds
            guard wait >= commonWait * factor || wait <= commonWait / factor else { continue }
            found.append((number, own[choice.index], own[common.index - debounces.lowerBound]))
        }
        found.sort { tallies[$0.number].submits > tallies[$1.number].submits }
        return found.prefix(limit).map { number, choice, common in
            SpecialKey(
                name: name(number), submits: Int(tallies[number].submits), wait: choice.policy.wait,
                saved: choice.saved, savedWithCommon: common.saved)
        }
    }
}
