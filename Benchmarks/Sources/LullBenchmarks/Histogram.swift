/// A histogram of durations, exact to a sixteenth. Recording one never allocates.
final class Histogram: @unchecked Sendable {
    // Proof of @unchecked Sendable: its users ensure that one thread at a time accesses it.
    private let buckets: UnsafeMutableBufferPointer<UInt32>
    private(set) var count = 0
    private(set) var longest: Int64 = 0

    init() {
        buckets = .allocate(capacity: 61 * 16)
        buckets.initialize(repeating: 0)
    }

    deinit { buckets.deallocate() }

    func removeAll() {
        buckets.update(repeating: 0)
        count = 0
        longest = 0
    }

    @inline(__always)
    func add(_ nanoseconds: Int64) {
        buckets[Self.bucket(of: nanoseconds)] &+= 1
        count += 1
        if nanoseconds > longest { longest = nanoseconds }
    }

    /// Returns the duration that a share of all did not exceed, rounded up to the end of a bucket.
    func quantile(_ share: Double) -> Double {
        let wanted = Int((share * Double(count)).rounded(.up))
        var sum = 0
        for (number, many) in buckets.enumerated() where many > 0 {
            sum += Int(many)
            if sum >= wanted { return Double(min(longest, Self.end(of: number))) }
        }
        return .nan
    }

    /// Returns the bucket of a duration: one for each number below 16, and above, 16 for each power of two.
    @inline(__always)
    private static func bucket(of nanoseconds: Int64) -> Int {
        let value = UInt64(max(0, nanoseconds))
        guard value >= 16 else { return Int(value) }
        let power = 63 - value.leadingZeroBitCount
        return (power - 3) << 4 | Int(value >> UInt64(power - 4)) & 15
    }

    private static func end(of bucket: Int) -> Int64 {
        guard bucket >= 16 else { return Int64(bucket) }
        let power = bucket >> 4 + 3
        return (Int64(bucket & 15 + 17) << Int64(power - 4)) - 1
    }
}
