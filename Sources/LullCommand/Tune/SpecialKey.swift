internal import CLullCommand
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

    /// Fewer submits than this say nothing about a key, nor about a trace.
    static let fewest = 20
    /// Waits that are nearer to each other than this factor are the same for practical purposes.
    private static let factor: Int64 = 2
    /// A share of its submits that is worth a setting of its own.
    private static let worthwhile = 0.05
    /// How probable it may be that any key at all is named though all are alike.
    private static let significance = 0.01
    static let limit = 20

    /// The keys whose debounce should be a different one than that of all, the busiest first.
    ///
    /// Chance alone lets some of many keys look different. A key is named only if it saves more with a wait of its own than the
    /// price of that wait, and more than all keys together do, by so much that chance hardly does it to any of them.
    static func find(
        _ tallies: [Trials.KeyTally], _ outcomes: [Outcome], _ debounces: Range<Int>, _ common: Choice?,
        _ targets: Targets, name: (Int) -> [UInt8]
    ) -> [SpecialKey] {
        guard let common else { return [] }
        let pool = Pool(Array(outcomes[debounces]), common.index - debounces.lowerBound, common.reason)
        let judged = tallies.count { $0.submits >= fewest }
        // Each key is tried with each wait.
        let level = significance / Double(max(1, judged * debounces.count))
        var found: [(number: Int, choice: Outcome, common: Outcome)] = []
        for (number, tally) in tallies.enumerated() where tally.submits >= fewest {
            var own = debounces.map { Outcome(outcomes[$0].policy, Int(tally.executions[$0]), of: Int(tally.submits)) }
            own.markEfficient(own.indices)
            guard let choice = targets.areGiven ? Choice.make(own, own.indices, targets)?.index : pool.best(own) else {
                continue
            }
            let wait = own[choice].policy.wait.nanoseconds
            let ratio = wait.quotientAndRemainder(dividingBy: max(1, pool.wait)).quotient
            guard ratio >= factor || wait <= pool.wait / factor else { continue }
            let expected = pool.expectedGain(choice)
            let gain = own[choice].saved - own[pool.common].saved
            guard gain >= expected + worthwhile,
                chance(of: gain, expected: expected, submits: Int(tally.submits)) <= level
            else { continue }
            found.append((number, own[choice], own[pool.common]))
        }
        found.sort { (tallies[$0.number].submits, $1.number) > (tallies[$1.number].submits, $0.number) }
        return found.prefix(limit).map { number, choice, common in
            SpecialKey(
                name: name(number), submits: Int(tallies[number].submits), wait: choice.policy.wait,
                saved: choice.saved, savedWithCommon: common.saved)
        }
    }

    /// A bound of the probability that so much more is saved by chance: Chernoff's, for the sum of independent trials.
    ///
    /// The pauses of a key are not independent: they come in bursts. So they count half.
    private static func chance(of gain: Double, expected: Double, submits: Int) -> Double {
        let expected = max(expected, 0.01)
        guard gain > expected else { return 1 }
        let gain = min(gain, 1)
        var divergence = gain * log(gain / expected)
        if gain < 1 { divergence += (1 - gain) * log((1 - gain) / (1 - expected)) }
        return exp(-Double(submits) / 2 * divergence)
    }
}

/// What the waits do to all keys together.
private struct Pool {
    private let outcomes: [Outcome]
    /// The place of the wait that suits all.
    let common: Int
    /// What a nanosecond of delay has to save to be worth it: at the knee, as much as it does from the first wait to the last;
    /// otherwise nothing, since there delay has no price.
    private let price: Double

    var wait: Int64 { outcomes[common].policy.wait.nanoseconds }

    init(_ outcomes: [Outcome], _ common: Int, _ reason: Choice.Reason) {
        self.outcomes = outcomes
        self.common = common
        var price = 0.0
        if reason == .knee, let first = outcomes.first, let last = outcomes.last {
            let delay = Double(last.delay.nanoseconds) - Double(first.delay.nanoseconds)
            if delay > 0 { price = (last.saved - first.saved) / delay }
        }
        self.price = price
    }

    /// Where a key saves most beyond the price of the delay; of equal ones the shortest wait.
    func best(_ own: [Outcome]) -> Int? {
        func worth(_ index: Int) -> Double { own[index].saved - price * Double(outcomes[index].delay.nanoseconds) }
        return own.indices.max { (worth($0), $1) < (worth($1), $0) }
    }

    /// What a key has to save more at a wait than at the common one to be different from the others: what all do, and at least
    /// the price of the delay.
    func expectedGain(_ index: Int) -> Double {
        let delay = Double(outcomes[index].delay.nanoseconds) - Double(outcomes[common].delay.nanoseconds)
        return max(0, outcomes[index].saved - outcomes[common].saved, price * delay)
    }
}
