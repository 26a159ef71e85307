import Testing

@testable import LullCore
@testable import LullEngine

/// Section 10 of the semantics: bad input is refused where it enters.
@Suite("Policies and setups")
struct PolicyTests {
    @Test
    func `a debounce keeps its settings`() throws {
        let policy = try Policy.debounce(
            wait: .seconds(2), maxWait: .seconds(10), edges: [.leading, .trailing], delayRule: .extend, maxCount: 7)
        #expect(policy.kind == .debounce)
        #expect(policy.wait == .seconds(2))
        #expect(policy.maxWait == .seconds(10))
        #expect(policy.edges == [.leading, .trailing])
        #expect(policy.delayRule == .extend)
        #expect(policy.maxCount == 7)
    }

    @Test
    func `a debounce executes on the trailing edge, restarts its delay, and has no limits by default`() throws {
        let policy = try Policy.debounce(wait: .seconds(2))
        #expect(policy.edges == .trailing)
        #expect(policy.delayRule == .restart)
        #expect(policy.maxWait == nil)
        #expect(policy.maxCount == nil)
    }

    @Test
    func `a throttle executes on both edges by default`() throws {
        let policy = try Policy.throttle(interval: .milliseconds(100))
        #expect(policy.kind == .throttle)
        #expect(policy.wait == .milliseconds(100))
        #expect(policy.edges == [.leading, .trailing])
        #expect(policy.maxCount == nil)
    }

    @Test
    func `the least allowed settings are accepted`() throws {
        _ = try Policy.debounce(wait: .zero, maxWait: .zero, maxCount: 1)
        _ = try Policy.debounce(wait: .infinite, maxWait: .infinite)
        let throttle = try Policy.throttle(interval: .zero, maxCount: 1)
        _ = try Setup(throttle, maxConcurrent: 1, capacity: 1)
    }

    @Test
    func `a negative wait is refused`() {
        #expect(throws: PolicyError.negativeWait(-1)) { try Policy.debounce(wait: -1) }
        #expect(throws: PolicyError.negativeInterval(-1)) { try Policy.throttle(interval: -1) }
    }

    @Test
    func `a maxWait below the wait is refused`() {
        #expect(throws: PolicyError.maxWaitBelowWait(maxWait: 9, wait: 10)) {
            try Policy.debounce(wait: 10, maxWait: 9)
        }
        #expect(throws: PolicyError.maxWaitBelowWait(maxWait: -1, wait: 0)) {
            try Policy.debounce(wait: 0, maxWait: -1)
        }
    }

    @Test(arguments: [0, 4, 252] as [UInt8])
    func `edges that are empty, or name no edge, are refused`(bits: UInt8) {
        #expect(throws: PolicyError.noEdges) { try Policy.debounce(wait: 1, edges: Edges(rawValue: bits)) }
        #expect(throws: PolicyError.noEdges) { try Policy.throttle(interval: 1, edges: Edges(rawValue: bits)) }
    }

    @Test
    func `bits that name no edge are dropped beside one that does`() throws {
        #expect(try Policy.debounce(wait: 1, edges: Edges(rawValue: 255)).edges == [.leading, .trailing])
    }

    @Test(arguments: [0, -1, .min])
    func `a maxCount below one is refused`(count: Int) {
        #expect(throws: PolicyError.maxCountBelowOne(count)) { try Policy.debounce(wait: 1, maxCount: count) }
        #expect(throws: PolicyError.maxCountBelowOne(count)) { try Policy.throttle(interval: 1, maxCount: count) }
    }

    @Test
    func `a maxCount without the trailing edge is refused`() {
        #expect(throws: PolicyError.maxCountWithoutTrailing(3)) {
            try Policy.debounce(wait: 1, edges: .leading, maxCount: 3)
        }
        #expect(throws: PolicyError.maxCountWithoutTrailing(3)) {
            try Policy.throttle(interval: 1, edges: .leading, maxCount: 3)
        }
    }

    @Test
    func `a spacing that is negative, or without the trailing edge, is refused`() throws {
        #expect(throws: PolicyError.negativeSpacing(-1)) { try Policy.debounce(wait: 1, spacing: -1) }
        #expect(throws: PolicyError.spacingWithoutTrailing(3)) {
            try Policy.debounce(wait: 1, edges: .leading, spacing: 3)
        }
        #expect(try Policy.debounce(wait: 1, spacing: 0) == Policy.debounce(wait: 1))
    }

    @Test
    func `limits that would allow nothing are refused`() throws {
        let policy = try Policy.debounce(wait: 1)
        #expect(throws: PolicyError.maxConcurrentBelowOne(0)) { try Setup(policy, maxConcurrent: 0) }
        #expect(throws: PolicyError.capacityBelowOne(-2)) { try Setup(policy, capacity: -2) }
        #expect(throws: PolicyError.maxBatchBelowOne(0)) { try Setup(policy, combination: .collect, maxBatch: 0) }
        #expect(throws: PolicyError.maxBatchOfOneValue(3)) { try Setup(policy, combination: .first, maxBatch: 3) }
        #expect(throws: PolicyError.maxBatchOfOneValue(3)) { try Setup(policy, maxBatch: 3) }
        #expect(throws: PolicyError.overlapLosesValues(.cancelRunning)) {
            try Setup(policy, combination: .collect, whileRunning: .cancelRunning)
        }
        #expect(throws: PolicyError.timeLimitNotPositive(0)) { try Setup(policy, timeLimit: 0) }
        let unbounded = try Setup(policy)
        #expect(unbounded.maxConcurrent == .max && unbounded.capacity == .max)
    }

    @Test(arguments: [
        (PolicyError.negativeWait(.seconds(-2)), "the wait is -2s, but must be zero or more"),
        (.negativeInterval(.milliseconds(-5)), "the interval is -5ms, but must be zero or more"),
        (
            .maxWaitBelowWait(maxWait: .seconds(1), wait: .milliseconds(1500)),
            "the maxWait is 1s, but must be at least the wait of 1500ms"
        ),
        (.noEdges, "the edges are empty, but must contain leading, trailing, or both"),
        (.maxCountBelowOne(0), "the maxCount is 0, but must be 1 or more"),
        (
            .maxCountWithoutTrailing(4),
            "the maxCount is 4, but needs the trailing edge: without it nothing is ever pending"
        ),
        (.negativeSpacing(.seconds(-1)), "the spacing is -1s, but must be zero or more"),
        (
            .spacingWithoutTrailing(.seconds(2)),
            "the spacing is 2s, but needs the trailing edge: without it nothing can wait"
        ),
        (.maxConcurrentBelowOne(-1), "the maxConcurrent is -1, but must be 1 or more"),
        (.capacityBelowOne(0), "the capacity is 0, but must be 1 or more"),
        (.limitBelowOne(0), "the limit is 0, but must be 1 or more"),
        (.limitWithoutPeriod(0), "the limit is over 0s, but must be over more than no time"),
        (.timeLimitNotPositive(.milliseconds(-5)), "the timeLimit is -5ms, but must be more than zero"),
        (.burstOutOfRange(5, starts: 4), "the burst is 5, but must be from 1 to the limit of 4"),
        (.bucketRateBelowOne(0), "the rate of the bucket is 0, but must be 1 or more"),
        (.bucketBurstBelowOne(-1), "the burst of the bucket is -1, but must be 1 or more"),
    ])
    func `an error names the value and the rule`(error: PolicyError, message: String) {
        #expect("\(error)" == message)
    }

    @Test
    func `an error has the code of its rule`() {
        let errors: [PolicyError] = [
            .negativeWait(0), .negativeInterval(0), .maxWaitBelowWait(maxWait: 0, wait: 0), .noEdges,
            .maxCountBelowOne(0), .maxCountWithoutTrailing(0), .negativeSpacing(0), .spacingWithoutTrailing(0),
            .maxConcurrentBelowOne(0), .timeLimitNotPositive(0), .maxPendingBelowOne(0), .capacityBelowOne(0),
            .maxBatchBelowOne(0),
            .maxBatchOfOneValue(0), .maxRunningBelowOne(0), .limitBelowOne(0), .limitWithoutPeriod(0),
            .burstOutOfRange(0, starts: 0), .bucketRateBelowOne(0), .bucketBurstBelowOne(0),
            .overlapLosesValues(.share),
        ]
        let codes: [PolicyError.Code] = [
            .negativeWait, .negativeInterval, .maxWaitBelowWait, .noEdges, .maxCountBelowOne, .maxCountWithoutTrailing,
            .negativeSpacing, .spacingWithoutTrailing, .maxConcurrentBelowOne, .timeLimitNotPositive,
            .maxPendingBelowOne, .capacityBelowOne,
            .maxBatchBelowOne, .maxBatchOfOneValue, .maxRunningBelowOne, .limitBelowOne, .limitWithoutPeriod,
            .burstOutOfRange, .bucketRateBelowOne, .bucketBurstBelowOne, .overlapLosesValues,
        ]
        #expect(errors.map { $0.code } == codes)
    }

    @Test
    func `edges have the names that records use`() {
        let edges: [Cause] = [.leading, .trailing, .maxWait, .maxCount, .flush]
        #expect(edges.map { "\($0.name)" } == ["leading", "trailing", "maxWait", "maxCount", "flush"])
    }
}
