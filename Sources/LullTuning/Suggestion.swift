package import LullCore

/// The targets of a search for a wait.
package struct Targets {
    /// The least share of submits that need no execution, from 0 to 1.
    package var saving: Double?
    /// The greatest delay of nine of ten executions after the last submit behind them.
    package var delay: CoreDuration?

    package init() {}

    package var areGiven: Bool { saving != nil || delay != nil }

    package func areMet(by result: TrialResult) -> Bool {
        result.saved >= saving ?? 0 && result.delay <= delay ?? .infinite
    }

    /// Returns by how much a result misses, as a sum of fractions of the targets.
    fileprivate func distance(to result: TrialResult) -> Double {
        var distance = 0.0
        if let saving, result.saved < saving { distance += (saving - result.saved) / max(saving, 1e-9) }
        if let delay, result.delay > delay {
            distance += Double(result.delay.nanoseconds - delay.nanoseconds) / Double(max(delay.nanoseconds, 1))
        }
        return distance
    }
}

/// The suggested wait of one kind of policy, and the reason.
package struct Suggestion {
    /// Why a wait is suggested.
    package enum Reason {
        /// Beyond it, more waiting saves little.
        case knee
        /// It saves most, and there is no knee.
        case most
        /// It meets the targets.
        case target
        /// No wait meets the targets, and this one comes nearest.
        case nearest
    }

    /// The index of its result.
    package let index: Int
    package let reason: Reason

    /// Chooses among the results of one kind, in order of their waits; returns nil if there are none.
    ///
    /// - Parameter indices: The indices of that kind among all results.
    package static func make(_ results: [TrialResult], _ indices: Range<Int>, _ targets: Targets) -> Suggestion? {
        guard let first = indices.first else { return nil }
        guard targets.areGiven else {
            // If all waits save the same there is no knee: choose the shortest.
            if results.isFlat(indices) {
                return Suggestion(index: indices.first { results[$0].isWorthwhile } ?? first, reason: .most)
            }
            if let knee = knee(results, indices) { return Suggestion(index: knee, reason: .knee) }
            return Suggestion(index: savingMost(results, Array(indices)) ?? first, reason: .most)
        }
        let met = indices.filter { targets.areMet(by: results[$0]) }
        if let shortest = met.first {
            // The shortest wait meets any target of delay alone, but saves nothing: suggest the one that saves most
            // within the target.
            let best = targets.saving == nil ? savingMost(results, met) ?? shortest : shortest
            return Suggestion(index: best, reason: .target)
        }
        let nearest = indices.min { targets.distance(to: results[$0]) < targets.distance(to: results[$1]) }
        return Suggestion(index: nearest ?? first, reason: .nearest)
    }

    /// Returns the result that saves most; of equal ones that of the shortest wait.
    private static func savingMost(_ results: [TrialResult], _ indices: [Int]) -> Int? {
        indices.max { (results[$0].saved, $1) < (results[$1].saved, $0) }
    }

    /// Returns the knee: the efficient result furthest above the line from the first result to the last, in a plot of
    /// saving over delay. Up to it a little more delay saves much; beyond it much more delay saves little. Returns nil
    /// if the curve has no such bend.
    private static func knee(_ results: [TrialResult], _ indices: Range<Int>) -> Int? {
        guard let start = indices.first, let end = indices.last else { return nil }
        let delays = Double(results[end].delay.nanoseconds) - Double(results[start].delay.nanoseconds)
        let savings = results[end].saved - results[start].saved
        guard delays > 0, savings > 0 else { return nil }
        func height(_ index: Int) -> Double {
            let delay = Double(results[index].delay.nanoseconds) - Double(results[start].delay.nanoseconds)
            return (results[index].saved - results[start].saved) / savings - delay / delays
        }
        let highest = indices.filter { results[$0].isEfficient && results[$0].isWorthwhile }.max {
            (height($0), $1) < (height($1), $0)
        }
        return highest.flatMap { height($0) >= 0.05 ? $0 : nil }
    }
}

extension [TrialResult] {
    /// Marks the efficient results: no other of the range saves as much with less delay, or more with as much.
    package mutating func markEfficient(_ indices: Range<Int>) {
        for index in indices {
            let one = self[index]
            self[index].isEfficient = !indices.contains { other in
                let other = self[other]
                return other.saved >= one.saved && other.delay <= one.delay
                    && (other.saved > one.saved || other.delay < one.delay)
            }
        }
    }

    /// Returns whether all waits of a range save the same, as displayed.
    package func isFlat(_ indices: Range<Int>) -> Bool {
        let savings = self[indices].map { $0.saved }
        return (savings.max() ?? 0) - (savings.min() ?? 0) < 0.001
    }
}
