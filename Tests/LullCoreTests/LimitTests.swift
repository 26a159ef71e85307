import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Section 7 of the semantics, a limit: how often executions start, of all keys together.
@Suite("A limit")
struct LimitTests {
    private func rig(
        _ starts: Int, in period: Int, burst: Int = 1, wait: Int = 0, _ combination: CombinationRule = .latest,
        _ whileRunning: OverlapPolicy = .queue, maxConcurrent: Int? = nil
    ) throws -> Rig {
        try Rig(
            .debounce(wait), combination: combination, whileRunning: whileRunning, maxConcurrent: maxConcurrent,
            limit: RateLimit(starts: starts, period: CoreDuration(period), burst: burst))
    }

    @Test
    func `no window has more starts than the limit, however calls and ends fall`() throws {
        var (checked, broken) = (0, [UInt64]())
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            let starts = Int.random(in: 1...6, using: &random)
            let burst = Int.random(in: 1...starts, using: &random)
            let period = Int.random(in: 1...40, using: &random)
            let rig = try rig(
                starts, in: period, burst: burst, wait: Int.random(in: 0...5, using: &random),
                random.oneIn(2) ? .collect : .latest, random.oneIn(2) ? .queue : .restart,
                maxConcurrent: random.oneIn(3) ? 2 : nil)
            var (now, instants) = (0, [Int]())
            for number in 0..<200 {
                now += random.oneIn(3) ? Int.random(in: 0...9, using: &random) : 0
                switch Int.random(in: 0..<12, using: &random) {
                case 0: rig.flush(at: now)
                case 1...4: rig.advance(to: now)
                default: rig.submit("\(number)", random.pick(["a", "b", "c", "d", "e"]), at: now)
                }
                while instants.count < rig.executions.count { instants.append(now) }
            }
            for (position, first) in instants.enumerated() where position + starts < instants.count {
                checked += 1
                if instants[position + starts] - first < period { broken.append(seed) }
            }
            for (position, instant) in instants.enumerated() where position + burst < instants.count {
                if instants[position + burst] == instant { broken.append(seed) }
            }
        }
        #expect(broken == [])
        #expect(checked > 5000)
    }

    @Test
    func `instants at the ends of the range do not trap`() throws {
        for period in [1, .max - 5, .max] {
            for instant in [Int.min + 1, 0, .max - 40] {
                let rig = try rig(5, in: period, burst: 5)
                for key in 0..<12 { rig.submit("\(key)", "\(key)", at: instant) }
                rig.advance(to: instant)
                rig.advance(to: .max - 1)
                #expect(!rig.executions.isEmpty)
                #expect(rig.broken == [])
            }
        }
    }

    @Test
    func `a store counts in microseconds, rounded up, however large the numbers are`() {
        let third = RateLimiter(RateLimit(starts: 3, period: .milliseconds(1), burst: 1), after: .origin, at: .origin)
        #expect(third.allowed(9, at: .origin) == 1)
        #expect(third.next == .origin)
        var limiter = third
        limiter.start(at: .origin)
        #expect(limiter.next == CoreInstant(334_000))
        let most = RateLimiter(RateLimit(starts: .max, period: 1, burst: 1), after: .origin, at: .origin)
        #expect(most.allowed(2, at: .origin) == 1)
        #expect(RateLimiter(nil, after: .origin, at: .origin).allowed(7, at: .origin) == 7)
    }

    @Test
    func `settings that break a rule are refused`() throws {
        let policy = try Policy.debounce(wait: 1)
        func setup(_ starts: Int, _ period: CoreDuration, _ burst: Int) throws(PolicyError) -> Setup {
            try Setup(policy, limit: RateLimit(starts: starts, period: period, burst: burst))
        }
        #expect(throws: PolicyError.limitBelowOne(0)) { try setup(0, 1, 1) }
        #expect(throws: PolicyError.limitWithoutPeriod(0)) { try setup(1, 0, 1) }
        #expect(throws: PolicyError.burstOutOfRange(0, starts: 2)) { try setup(2, 1, 0) }
        #expect(throws: PolicyError.burstOutOfRange(3, starts: 2)) { try setup(2, 1, 3) }
        #expect(try setup(2, 1, 2).limit?.burst == 2)
    }

    // MARK: - In the words of a token bucket

    @Test
    func `a bucket is the limit whose window has room for its rate and the rest of a burst`() {
        let bucket = RateLimit.bucket(40, per: .seconds(60), burst: 10)
        #expect(bucket == RateLimit(49, per: .seconds(60), burst: 10))
        #expect(bucket.interval() == .milliseconds(1500))
        #expect(RateLimit.bucket(40, per: .seconds(60), burst: 1) == RateLimit(40, per: .seconds(60)))
        #expect(RateLimit.bucket(.max, per: .seconds(60), burst: 2) == RateLimit(.max, per: .seconds(60), burst: 2))
    }

    @Test
    func `a bucket that breaks a rule is refused with its own numbers`() throws {
        let policy = try Policy.debounce(wait: 1)
        func setup(_ rate: Int, _ period: Duration, _ burst: Int) throws(PolicyError) -> Setup {
            try Setup(policy, limit: .bucket(rate, per: period, burst: burst))
        }
        for rate in [0, -7, .min] {
            #expect(throws: PolicyError.bucketRateBelowOne(rate)) { try setup(rate, .seconds(1), 10) }
        }
        for burst in [0, -7, .min] {
            #expect(throws: PolicyError.bucketBurstBelowOne(burst)) { try setup(40, .seconds(1), burst) }
        }
        #expect(throws: PolicyError.limitWithoutPeriod(.zero)) { try setup(40, .zero, 10) }
    }

    @Test
    func `a bucket lets start what a token bucket does, at the same instants`() throws {
        var (starts, differing) = (0, [UInt64]())
        for seed in 0..<400 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            let rate = Int.random(in: 1...6, using: &random)
            // Whole instants for a token, since a limit counts in whole ones.
            let period = rate * Int.random(in: 1...9, using: &random)
            let burst = Int.random(in: 1...7, using: &random)
            let arrivals = arrivals(in: 0..<300, using: &random)
            let bucket = TokenBucket(rate: rate, period: period, capacity: burst).starts(of: arrivals)
            let limit = RateLimit.bucket(rate, per: .nanoseconds(period), burst: burst)
            if try self.starts(of: arrivals, limit) != bucket { differing.append(seed) }
            starts += bucket.count
        }
        #expect(differing == [])
        #expect(starts > 10_000)
    }

    @Test
    func `where a token takes no whole number of instants, a bucket is never ahead of a token bucket`() throws {
        var ahead: [UInt64] = []
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            let (rate, period) = (Int.random(in: 2...6, using: &random), Int.random(in: 1...40, using: &random))
            let burst = Int.random(in: 1...7, using: &random)
            let arrivals = arrivals(in: 0..<200, using: &random)
            let bucket = TokenBucket(rate: rate, period: period, capacity: burst).starts(of: arrivals)
            let limited = try starts(of: arrivals, .bucket(rate, per: .nanoseconds(period), burst: burst))
            if zip(limited, bucket).contains(where: { $0 < $1 }) { ahead.append(seed) }
        }
        #expect(ahead == [])
    }

    /// How many values come at each instant: bursts and pauses.
    private func arrivals(in instants: Range<Int>, using random: inout SplitMix) -> [Int] {
        let pause = Int.random(in: 1...30, using: &random)
        return instants.map { _ in random.oneIn(pause) ? Int.random(in: 1...9, using: &random) : 0 }
    }

    /// The instants at which values start that come under keys of their own, up to some time after the last one.
    private func starts(of arrivals: [Int], _ limit: RateLimit) throws -> [Int] {
        let rig = try Rig(.debounce(0), limit: limit)
        var (starts, number) = ([Int](), 0)
        for instant in 0..<arrivals.count + TokenBucket.rest {
            for _ in 0..<(instant < arrivals.count ? arrivals[instant] : 0) {
                number += 1
                rig.submit("\(number)", "\(number)", at: instant)
            }
            rig.advance(to: instant)
            while starts.count < rig.executions.count { starts.append(instant) }
        }
        return starts
    }
}

/// A token bucket as textbooks have it, looked at in each instant: it fills by `rate` tokens in each `period`, up to
/// its capacity, and whatever waits takes one to start.
private struct TokenBucket {
    /// How many instants are looked at after the last arrival.
    static let rest = 500

    let rate: Int
    let period: Int
    let capacity: Int

    /// Returns the instants of the starts of what comes at each instant.
    func starts(of arrivals: [Int]) -> [Int] {
        // In parts of a token, of which `period` are one.
        var (level, waiting, starts) = (capacity * period, 0, [Int]())
        for instant in 0..<arrivals.count + Self.rest {
            if instant > 0 { level = min(level + rate, capacity * period) }
            if instant < arrivals.count { waiting += arrivals[instant] }
            while waiting > 0, level >= period {
                level -= period
                waiting -= 1
                starts.append(instant)
            }
        }
        return starts
    }
}
