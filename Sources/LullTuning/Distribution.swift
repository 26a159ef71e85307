/// A distribution of durations and its percentiles: exact while the durations fit the limit, then within 0.02 %, or
/// whatever precision it was created with.
///
/// The memory is bounded, however long the trace. Beyond the limit it is a histogram: 8192 buckets of equal width
/// between a power of two and the next. A bucket remembers the largest duration in it and answers with that, so
/// durations that repeat, as delays after a debounce do, still come out exact.
package struct Distribution {
    private struct Bucket {
        var count = 0
        var largest: Int64 = 0
    }

    /// The number of durations that are stored exactly.
    package let limit: Int
    private let bucketBits: Int

    package private(set) var count = 0
    package private(set) var largest: Int64 = 0
    private var exact: [Int64] = []
    /// Indexed by the power of two; empty where there is no duration.
    private var buckets: [[Bucket]] = []

    /// - Parameters:
    ///   - limit: The number of durations that are stored exactly.
    ///   - bucketBits: The number of buckets between a power of two and the next is two to the power of this.
    package init(limit: Int = 1 << 18, bucketBits: Int = 13) {
        self.limit = limit
        self.bucketBits = bucketBits
    }

    /// Adds a duration, zero or more.
    package mutating func add(_ duration: Int64) {
        count += 1
        largest = max(largest, duration)
        if buckets.isEmpty {
            exact.append(duration)
            if exact.count > limit { startHistogram() }
        } else {
            addToHistogram(duration)
        }
    }

    private mutating func startHistogram() {
        buckets = Array(repeating: [], count: 65)
        for duration in exact { addToHistogram(duration) }
        exact = []
    }

    private mutating func addToHistogram(_ duration: Int64) {
        // Short durations have a bucket each.
        let bits = Int64.bitWidth - duration.leadingZeroBitCount
        let shift = max(0, bits - bucketBits - 1)
        let index = Int(duration >> Int64(shift))
        if buckets[shift].isEmpty { buckets[shift] = Array(repeating: Bucket(), count: 2 << bucketBits) }
        buckets[shift][index].count += 1
        buckets[shift][index].largest = max(buckets[shift][index].largest, duration)
    }

    /// Returns the given percentiles by nearest rank; nil if there are no durations.
    package func percentiles(_ percentages: [Int]) -> [Int64]? {
        guard count > 0 else { return nil }
        let ranks = percentages.map { max(1, ($0 * count + 99) / 100) }
        guard !buckets.isEmpty else {
            let sorted = exact.sorted()
            return ranks.map { sorted[$0 - 1] }
        }
        return ranks.map { rank in
            var seen = 0
            for group in buckets {
                for bucket in group where bucket.count > 0 {
                    seen += bucket.count
                    if seen >= rank { return bucket.largest }
                }
            }
            return largest
        }
    }
}
