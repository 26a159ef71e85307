import Lull
import Testing

/// Semantics, section 10: what stands in code stops with the rule; what comes from outside is checked by a throwing
/// form.
@Suite("A setting that breaks a rule")
struct BadInputTests {
    @Test
    func `is refused by the throwing form with the value and the rule`() {
        #expect(throws: PolicyError.negativeWait(.milliseconds(-5))) { try Policy.debounce(for: .milliseconds(-5)) }
        #expect(throws: PolicyError.maxWaitBelowWait(maxWait: .seconds(1), wait: .seconds(2))) {
            try Policy.debounce(for: .seconds(2), maxWait: .seconds(1))
        }
        #expect(throws: PolicyError.noEdges) { try Policy.debounce(for: .seconds(2), edges: []) }
        #expect(throws: PolicyError.maxCountBelowOne(0)) { try Policy.debounce(for: .seconds(2), maxCount: 0) }
        #expect(throws: PolicyError.maxCountWithoutTrailing(3)) {
            try Policy.throttle(every: .seconds(2), edges: .leading, maxCount: 3)
        }
        #expect(throws: PolicyError.negativeInterval(.seconds(-1))) { try Policy.throttle(every: .seconds(-1)) }
        #expect(throws: Never.self) { try Policy.debounce(for: .seconds(Int64.max)) }
    }

    @Test
    func `is refused if it breaks a rule by less than a nanosecond`() {
        let attosecond = Duration(secondsComponent: 0, attosecondsComponent: 1)
        let error = PolicyError.negativeWait(.nanoseconds(-1))
        #expect(throws: error) { try Policy.debounce(for: .zero - attosecond) }
        #expect("\(error)" == "the wait is -1ns, but must be zero or more")
        #expect(throws: PolicyError.negativeInterval(.nanoseconds(-1))) {
            try Policy.throttle(every: .zero - attosecond)
        }
        #expect(throws: PolicyError.negativeSpacing(.nanoseconds(-1))) {
            try Policy.debounce(for: .seconds(2), spacing: .zero - attosecond)
        }
        // Two durations that are rounded to the same nanosecond; the error names different ones. Parts of nanoseconds
        // as such, and not of microseconds, would need macOS 26.
        let wait = Duration.seconds(2) + .microseconds(0.00095)
        #expect(throws: PolicyError.maxWaitBelowWait(maxWait: .seconds(2), wait: .nanoseconds(2_000_000_001))) {
            try Policy.debounce(for: wait, maxWait: wait - .microseconds(0.0009))
        }
        #expect(throws: Never.self) { try Policy.debounce(for: wait, maxWait: wait) }
        #expect(throws: Never.self) { try Policy.debounce(for: wait, maxWait: wait + attosecond) }
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test
        func `stops the program with the value and the rule where it stands in code`() async {
            let wait = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Debouncer(for: .seconds(-1)) { (_: Int) in }
            }
            #expect(message(wait).contains("Lull: the wait is -1s, but must be zero or more"))
            let maxWait = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = KeyedDebouncer(for: .seconds(2), maxWait: .milliseconds(1500)) { (_: Int, _: Int) in }
            }
            #expect(message(maxWait).contains("Lull: the maxWait is 1500ms, but must be at least the wait of 2s"))
            let attosecond = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Throttler(every: Duration(secondsComponent: 0, attosecondsComponent: -1)) { (_: Int) in }
            }
            #expect(message(attosecond).contains("Lull: the interval is -1ns, but must be zero or more"))
            let capacity = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = KeyedThrottler(every: .seconds(2), options: .init(capacity: 0)) { (_: Int, _: Int) in }
            }
            #expect(message(capacity).contains("Lull: the capacity is 0, but must be 1 or more"))
            let maxBatch = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Debouncer(collectingFor: .seconds(2), options: .init(maxBatch: 0)) { (_: [Int]) in }
            }
            #expect(message(maxBatch).contains("Lull: the maxBatch is 0, but must be 1 or more"))
            let maxBatchOfOne = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Throttler(every: .seconds(2), options: .init(maxBatch: 5)) { (_: Int) in }
            }
            #expect(message(maxBatchOfOne).contains("Lull: the maxBatch is 5, but only collecting and merging"))
            let lost = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Debouncer(for: .seconds(2), combining: .merge(+=), whileRunning: .cancelRunning) { (_: Int) in }
            }
            #expect(message(lost).contains("use restart, or keep the latest value"))
            let timeLimit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Throttler(every: .seconds(2), options: .init(timeLimit: .zero)) { (_: Int) in }
            }
            #expect(message(timeLimit).contains("Lull: the timeLimit is 0s, but must be more than zero"))
            let tolerance = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Debouncer(for: .seconds(2), options: .init(tolerance: .seconds(-1))) { (_: Int) in }
            }
            #expect(message(tolerance).contains("Lull: the tolerance is -1.0 seconds, but must be zero or more"))
        }

        @Test
        func `a spacing needs the trailing edge`() async {
            #expect(throws: PolicyError.spacingWithoutTrailing(.seconds(3))) {
                try Policy.debounce(for: .seconds(2), edges: .leading, spacing: .seconds(3))
            }
            let edges = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Debouncer(for: .seconds(2), edges: .leading, options: .init(spacing: .seconds(3))) { (_: Int) in }
            }
            #expect(message(edges).contains("Lull: the spacing is 3s, but needs the trailing edge"))
        }

        @Test
        func `stops the program where a value would never settle`() async {
            let edges = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = await DebouncedValue("", for: .seconds(2), edges: .leading)
            }
            #expect(message(edges).contains("Lull: a value settles at the end of a burst"))
        }

        @Test
        func `is found by the message: it names the file and the line of the caller`() async {
            let debouncer = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Debouncer(for: .seconds(-1), line: 4711) { (_: Int) in }
            }
            #expect(message(debouncer).contains("\(Self.file):4711: Fatal error: Lull: the wait is -1s"))
            let keyed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = KeyedThrottler(every: .seconds(2), maxCount: 0, line: 4712) { (_: Int, _: Int) in }
            }
            #expect(message(keyed).contains("\(Self.file):4712: Fatal error: Lull: the maxCount is 0"))
            let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = await DebouncedValue("", for: .seconds(2), tolerance: .seconds(-1), line: 4713)
            }
            #expect(message(value).contains("\(Self.file):4713: Fatal error: Lull: the tolerance is"))
            let sequence = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let numbers = AsyncStream<Int> { $0.finish() }
                for await _ in numbers.throttled(collectingEvery: .seconds(2), maxCount: 0, line: 4714) {}
            }
            #expect(message(sequence).contains("\(Self.file):4714: Fatal error: Lull: the maxCount is 0"))
        }

        private static let file = "LullTests/BadInputTests.swift"

        private func message(_ result: ExitTest.Result?) -> String {
            String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        }
    #endif

    @Test
    func `of a duration that cannot be counted is the far future, not an overflow`() {
        #expect(CoreDuration(Duration.seconds(Int64.max)) == .infinite)
        #expect(CoreDuration(Duration.seconds(Int64.min)).nanoseconds == .min)
        #expect(CoreDuration(Duration.nanoseconds(-7)).nanoseconds == -7)
        #expect(CoreDuration(Duration.microseconds(-0.0075)).nanoseconds == -8)
        #expect(CoreDuration(Duration.seconds(-7) - .microseconds(0.0005)).nanoseconds == -7_000_000_001)
        #expect(CoreDuration(Duration.microseconds(0.0075)).nanoseconds == 7)
        #expect(
            CoreDuration(Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 900_000_000_000_000_000))
                == .infinite)
        #expect(Duration(CoreDuration.milliseconds(5)) == .milliseconds(5))
    }
}
