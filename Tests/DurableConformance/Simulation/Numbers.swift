/// The numbers of submits as the model has them: consecutive for each key, also if the store's have gaps.
struct Numbers {
    /// Whether the store's numbers have gaps, since they follow its time.
    let hasGaps: Bool
    private var known: [String: [Int]] = [:]

    init(hasGaps: Bool) { self.hasGaps = hasGaps }

    /// Returns the model's number for a store's, a new one if it is greater than all before.
    mutating func number(_ stored: Int64, of key: String) -> Int {
        guard hasGaps else { return Int(stored) }
        let all = known[key, default: []]
        if let index = all.firstIndex(of: Int(stored)) { return index + 1 }
        guard Int(stored) > all.last ?? 0 else { return -1 }
        known[key] = all + [Int(stored)]
        return all.count + 1
    }

    /// Returns the range of the model's numbers in a range of the store's.
    func range(_ stored: ClosedRange<Int64>, of key: String) -> ClosedRange<Int> {
        let (first, last) = (Int(stored.lowerBound), Int(stored.upperBound))
        guard hasGaps else { return first...last }
        let all = known[key, default: []]
        guard let from = all.firstIndex(where: { $0 >= first }), let to = all.lastIndex(where: { $0 <= last }),
            from <= to
        else {
            return -1 ... -1
        }
        return from + 1...to + 1
    }

    /// Returns the store's number for the model's.
    func stored(_ number: Int, of key: String) -> Int64 {
        hasGaps ? Int64(known[key]?[number - 1] ?? -1) : Int64(number)
    }
}
