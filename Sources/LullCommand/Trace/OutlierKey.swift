internal import CLullCommand
internal import LullCore
internal import LullTuning

/// A key that would need a wait of its own.
struct OutlierKey {
    /// Its canonical JSON.
    let name: [UInt8]
    let submits: Int
    /// The wait that suits it, and the share that it saves with that.
    let wait: CoreDuration
    let saved: Double
    /// The share that it saves with the wait that suits all keys.
    let savedWithCommon: Double

    /// The least number of submits from which anything can be concluded, of a key or of a trace.
    static let leastSubmits = 20
    /// Waits that differ by less than this factor are the same for practical purposes.
    private static let factor: Int64 = 2
    /// The additional share of a key's submits that is worth a setting of its own.
    private static let worthwhile = 0.05
    /// The probability that any key at all is named although all are alike.
    private static let significance = 0.01
    static let limit = 20

    /// Returns the keys whose debounce should differ from that of all keys, the busiest first.
    ///
    /// Among many keys, some look different by chance. A key is named only if a wait of its own saves more than the
    /// price of that wait, and more than it saves all keys together, by a margin that chance hardly gives to any of
    /// them.
    static func find(
        _ tallies: [Trials.KeyTally], _ results: [TrialResult], _ debounces: Range<Int>, _ common: Suggestion?,
        _ targets: Targets, name: (Int) -> [UInt8]
    ) -> [OutlierKey] {
        guard let common else { return [] }
        let pool = PooledResults(Array(results[debounces]), common.index - debounces.lowerBound, common.reason)
        let judged = tallies.count { $0.submits >= leastSubmits }
        // Each key is tested with each wait.
        let level = significance / Double(max(1, judged * debounces.count))
        var found: [(number: Int, suggestion: TrialResult, common: TrialResult)] = []
        for (number, tally) in tallies.enumerated() where tally.submits >= leastSubmits {
            var own = debounces.map { TrialResult(results[$0], Int(tally.executions[$0]), of: Int(tally.submits)) }
            own.markEfficient(own.indices)
            guard let suggestion = targets.areGiven ? Suggestion.make(own, own.indices, targets)?.index : pool.best(own)
            else {
                continue
            }
            let wait = own[suggestion].policy.wait.nanoseconds
            let ratio = wait.quotientAndRemainder(dividingBy: max(1, pool.wait)).quotient
            guard ratio >= factor || wait <= pool.wait / factor else { continue }
            let expected = pool.expectedGain(suggestion)
            let gain = own[suggestion].saved - own[pool.common].saved
            guard gain >= expected + worthwhile,
                chance(of: gain, expected: expected, submits: Int(tally.submits)) <= level
            else { continue }
            found.append((number, own[suggestion], own[pool.common]))
        }
        found.sort { (tallies[$0.number].submits, $1.number) > (tallies[$1.number].submits, $0.number) }
        return found.prefix(limit).map { number, suggestion, common in
            OutlierKey(
                name: name(number), submits: Int(tallies[number].submits), wait: suggestion.policy.wait,
                saved: suggestion.saved, savedWithCommon: common.saved)
        }
    }

    /// Returns an upper bound of the probability that chance saves so much more: Chernoff's bound for the sum of
    /// independent trials.
    ///
    /// The pauses of a key come in bursts and so are not independent. Each counts half.
    private static func chance(of gain: Double, expected: Double, submits: Int) -> Double {
        let expected = max(expected, 0.01)
        guard gain > expected else { return 1 }
        let gain = min(gain, 1)
        var divergence = gain * log(gain / expected)
        if gain < 1 { divergence += (1 - gain) * log((1 - gain) / (1 - expected)) }
        return exp(-Double(submits) / 2 * divergence)
    }
}

/// The results of all keys together.
private struct PooledResults {
    private let results: [TrialResult]
    /// The index of the wait that suits all keys.
    let common: Int
    /// How much a nanosecond of delay has to save to be worth it. At the knee that is the average from the first wait
    /// to the last; otherwise it is zero, since delay has no price there.
    private let price: Double

    var wait: Int64 { results[common].policy.wait.nanoseconds }

    init(_ results: [TrialResult], _ common: Int, _ reason: Suggestion.Reason) {
        self.results = results
        self.common = common
        var price = 0.0
        if reason == .knee, let first = results.first, let last = results.last {
            let delay = Double(last.delay.nanoseconds) - Double(first.delay.nanoseconds)
            if delay > 0 { price = (last.saved - first.saved) / delay }
        }
        self.price = price
    }

    /// Returns the wait at which a key saves most after the price of the delay; of equal ones the shortest.
    func best(_ own: [TrialResult]) -> Int? {
        func worth(_ index: Int) -> Double { own[index].saved - price * Double(results[index].delay.nanoseconds) }
        return own.indices.max { (worth($0), $1) < (worth($1), $0) }
    }

    /// Returns how much more a key has to save with a wait than with the common one to differ from the others: as much
    /// as all keys do, and at least the price of the delay.
    func expectedGain(_ index: Int) -> Double {
        let delay = Double(results[index].delay.nanoseconds) - Double(results[common].delay.nanoseconds)
        return max(0, results[index].saved - results[common].saved, price * delay)
    }
}
