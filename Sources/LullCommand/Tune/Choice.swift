internal import LullCore

/// What a wait has to achieve.
struct Targets {
    /// At least this share of the submits needs no execution, from 0 to 1.
    var saving: Double?
    /// Nine of ten executions come within this time after the last submit behind them.
    var delay: CoreDuration?

    var areGiven: Bool { saving != nil || delay != nil }

    func areMet(by outcome: Outcome) -> Bool {
        outcome.saved >= saving ?? 0 && outcome.delay <= delay ?? .infinite
    }

    /// By how much an outcome misses, as a sum of shares of the targets.
    fileprivate func distance(to outcome: Outcome) -> Double {
        var distance = 0.0
        if let saving, outcome.saved < saving { distance += (saving - outcome.saved) / max(saving, 1e-9) }
        if let delay, outcome.delay > delay {
            distance += Double(outcome.delay.nanoseconds - delay.nanoseconds) / Double(max(delay.nanoseconds, 1))
        }
        return distance
    }
}

/// The wait of one kind that is suggested, and why.
struct Choice {
    /// Why a wait is suggested.
    enum Reason {
        /// It is where more waiting begins to save little.
        case knee
        /// It saves most; there is no such place.
        case most
        /// It meets the targets.
        case target
        /// None meets the targets; this comes nearest.
        case nearest
    }

    /// Its place among the outcomes.
    let index: Int
    let reason: Reason

    /// Chooses among outcomes of one kind, in order of their waits; nil if there are none.
    ///
    /// - Parameter indices: Where they lie among all.
    static func make(_ outcomes: [Outcome], _ indices: Range<Int>, _ targets: Targets) -> Choice? {
        guard let first = indices.first else { return nil }
        guard targets.areGiven else {
            if let knee = knee(outcomes, indices) { return Choice(index: knee, reason: .knee) }
            return Choice(index: most(outcomes, Array(indices)) ?? first, reason: .most)
        }
        let met = indices.filter { targets.areMet(by: outcomes[$0]) }
        if let shortest = met.first {
            // A limit of the delay alone is met best by the shortest wait of all, which saves nothing. What is asked for is
            // the most that can be saved within it.
            let best = targets.saving == nil ? most(outcomes, met) ?? shortest : shortest
            return Choice(index: best, reason: .target)
        }
        let nearest = indices.min { targets.distance(to: outcomes[$0]) < targets.distance(to: outcomes[$1]) }
        return Choice(index: nearest ?? first, reason: .nearest)
    }

    /// The one that saves most; of equal ones the shortest wait.
    private static func most(_ outcomes: [Outcome], _ indices: [Int]) -> Int? {
        indices.max { (outcomes[$0].saved, $1) < (outcomes[$1].saved, $0) }
    }

    /// The efficient outcome that lies furthest above the line from the first outcome to the last, in a picture of saving
    /// over delay: before it a little more delay saves much, behind it much more delay saves little. Nil if the curve has
    /// no such bend.
    private static func knee(_ outcomes: [Outcome], _ indices: Range<Int>) -> Int? {
        guard let start = indices.first, let end = indices.last else { return nil }
        let delays = Double(outcomes[end].delay.nanoseconds) - Double(outcomes[start].delay.nanoseconds)
        let savings = outcomes[end].saved - outcomes[start].saved
        guard delays > 0, savings > 0 else { return nil }
        func height(_ index: Int) -> Double {
            let delay = Double(outcomes[index].delay.nanoseconds) - Double(outcomes[start].delay.nanoseconds)
            return (outcomes[index].saved - outcomes[start].saved) / savings - delay / delays
        }
        let highest = indices.filter { outcomes[$0].isEfficient }.max { (height($0), $1) < (height($1), $0) }
        return highest.flatMap { height($0) >= 0.05 ? $0 : nil }
    }
}

extension [Outcome] {
    /// Marks the outcomes that no other of the same range betters: one that saves as much with less delay, or more with as
    /// much.
    mutating func markEfficient(_ indices: Range<Int>) {
        for index in indices {
            let one = self[index]
            self[index].isEfficient = !indices.contains { other in
                let other = self[other]
                return other.saved >= one.saved && other.delay <= one.delay
                    && (other.saved > one.saved || other.delay < one.delay)
            }
        }
    }
}
