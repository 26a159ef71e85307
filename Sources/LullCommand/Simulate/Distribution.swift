/// Lengths of time, and the percentiles of them: exact for as many as are kept, and after that within 0.02 %, or what
/// else it was set up for.
///
/// The memory is bounded, however long the trace. Beyond the limit the lengths are counted in classes: 8192 of equal width
/// between a power of two and the next. A class remembers the largest length in it and answers with that, so that lengths
/// which repeat themselves, as those behind a debounce do, still come out exact.
struct Distribution {
    private struct Class {
        var count = 0
        var largest: Int64 = 0
    }

    /// The number of lengths that are kept themselves.
    let limit: Int
    private let classBits: Int

    private(set) var count = 0
    private(set) var largest: Int64 = 0
    private var exact: [Int64] = []
    /// By the power of two, empty where there is no length.
    private var classes: [[Class]] = []

    /// - Parameters:
    ///   - limit: The number of lengths that are kept themselves.
    ///   - classBits: Between a power of two and the next there are two to the power of this many classes.
    init(limit: Int = 1 << 18, classBits: Int = 13) {
        self.limit = limit
        self.classBits = classBits
    }

    /// Adds a length, zero or more.
    mutating func add(_ length: Int64) {
        count += 1
        largest = max(largest, length)
        if classes.isEmpty {
            exact.append(length)
            if exact.count > limit { classify() }
        } else {
            classify(length)
        }
    }

    private mutating func classify() {
        classes = Array(repeating: [], count: 65)
        for length in exact { classify(length) }
        exact = []
    }

    private mutating func classify(_ length: Int64) {
        // Short lengths have a class each.
        let bits = Int64.bitWidth - length.leadingZeroBitCount
        let shift = max(0, bits - classBits - 1)
        let index = Int(length >> Int64(shift))
        if classes[shift].isEmpty { classes[shift] = Array(repeating: Class(), count: 2 << classBits) }
        classes[shift][index].count += 1
        classes[shift][index].largest = max(classes[shift][index].largest, length)
    }

    /// The lengths at which the given percentages have been reached (the nearest rank); nil if there are none.
    func percentiles(_ percentages: [Int]) -> [Int64]? {
        guard count > 0 else { return nil }
        let ranks = percentages.map { max(1, ($0 * count + 99) / 100) }
        guard !classes.isEmpty else {
            let sorted = exact.sorted()
            return ranks.map { sorted[$0 - 1] }
        }
        return ranks.map { rank in
            var seen = 0
            for group in classes {
                for member in group where member.count > 0 {
                    seen += member.count
                    if seen >= rank { return member.largest }
                }
            }
            return largest
        }
    }
}
