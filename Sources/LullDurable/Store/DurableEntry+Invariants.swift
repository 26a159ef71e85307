internal import LullCore

// The rules that hold, between any two steps, for everything that a store has of a key. Tests of stores check them.

extension DurableEntry {
    /// Returns the rules that do not hold; empty unless there is a bug.
    ///
    /// - Parameters:
    ///   - ends: The ended ranges of the key, dead ones among them.
    ///   - isComplete: Whether the store has deleted none of them.
    package func checkInvariants(
        ends: [ClosedRange<Int64>], isComplete: Bool, by rules: DurableRules
    ) -> [String] {
        var broken = row.checkInvariants()
        if row.isAtRest { broken.append("a row at rest is deleted") }
        if wake > row.wake(by: rules) { broken.append("it wakes at \(wake), not at \(row.wake(by: rules))") }
        let live = [row.run?.value.submits, row.ready?.submits, row.pendingSubmits].compactMap(\.self)
        // A dead run that was retried may be older than the row.
        let own = (ends + live).filter { $0.upperBound > row.born }
        var next = row.born
        for range in own.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            let isNext = range.lowerBound == next + 1
            if !isNext, !(range.lowerBound > next && !isComplete) { broken.append("\(range) follows \(next)") }
            next = range.upperBound
        }
        if isComplete ? next != row.generation : next > row.generation {
            broken.append("the newest submit is \(next), not \(row.generation)")
        }
        return broken.map { "\(String(decoding: key, as: UTF8.self)): \($0)" }
    }
}
