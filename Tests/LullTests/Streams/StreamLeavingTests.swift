import Foundation
import Lull
import LullTesting
import TestSupport
import Testing

/// What becomes of an upstream that does not react to cancellation when the consumer has gone.
@Suite("The upstream of a sequence whose consumer has gone", .timeLimit(.minutes(1)))
struct StreamLeavingTests {
    /// Every kind of sequence; each delivers about as fast as elements come.
    enum Form: String, CaseIterable {
        case debounced, debouncedByKey, merged, collected, collectedByKey
        case throttled, throttledByKey, throttledMerged, throttledCollected, throttledCollectedByKey

        /// Consumes until the body says to leave the loop.
        func consume(_ numbers: Numbers, _ body: () async -> Bool) async throws {
            let quick = Duration.microseconds(1)
            switch self {
            case .debounced: try await loop(numbers.debounced(for: quick), body)
            case .debouncedByKey: try await loop(numbers.debounced(for: quick, by: { $0 % 3 }), body)
            case .merged: try await loop(numbers.debounced(for: quick, combining: .merge(+=)), body)
            case .collected: try await loop(numbers.debounced(collectingFor: quick, maxCount: 3), body)
            case .collectedByKey:
                try await loop(numbers.debounced(collectingFor: quick, by: { $0 % 3 }, maxCount: 3), body)
            case .throttled: try await loop(numbers.throttled(every: quick), body)
            case .throttledByKey: try await loop(numbers.throttled(every: quick, by: { $0 % 3 }), body)
            case .throttledMerged: try await loop(numbers.throttled(every: quick, combining: .merge(+=)), body)
            case .throttledCollected: try await loop(numbers.throttled(collectingEvery: quick, maxCount: 3), body)
            case .throttledCollectedByKey:
                try await loop(numbers.throttled(collectingEvery: quick, by: { $0 % 3 }, maxCount: 3), body)
            }
        }

        private func loop<S: AsyncSequence>(_ sequence: S, _ body: () async -> Bool) async throws {
            for try await _ in sequence { if await body() { break } }
        }
    }

    /// One number, and many more after the door.
    private let numbers: Numbers
    private let door = Door()

    init() {
        numbers = Numbers(count: 100_000, door: door, first: 1)
    }

    @Test(arguments: Form.allCases)
    func `is not read on once the loop has been left`(_ form: Form) async throws {
        try await form.consume(numbers) { true }
        let asked = numbers.asked.all.count
        door.open()
        await numbers.end.pass()
        // The reader may just have been about to ask, and once more it tells an upstream that reacts to it that it is
        // cancelled.
        #expect(numbers.asked.all.count <= asked + 2)
    }

    @Test(arguments: Form.allCases)
    func `is not read on once the consumer has been cancelled`(_ form: Form) async throws {
        let started = Door()
        let consumer = Task {
            try await form.consume(numbers) {
                started.open()
                return false
            }
        }
        await started.pass()
        consumer.cancel()
        try await consumer.value
        let asked = numbers.asked.all.count
        door.open()
        await numbers.end.pass()
        #expect(numbers.asked.all.count <= asked + 2)
    }

    // A task that is not waiting in `next()` cannot tell the sequence that it has been cancelled.
    @Test(arguments: Form.allCases)
    func `is not read on from the next request, if the consumer was cancelled in its body`(_ form: Form) async throws {
        let (entered, left) = (Door(), Door())
        let bodies = Record<Bool>()
        let consumer = Task {
            try await form.consume(numbers) {
                bodies.add(Task.isCancelled)
                entered.open()
                await left.pass()
                return false
            }
        }
        await entered.pass()
        consumer.cancel()
        left.open()
        try await consumer.value
        let asked = numbers.asked.all.count
        door.open()
        await numbers.end.pass()
        #expect(numbers.asked.all.count <= asked + 2)
        #expect(bodies.all == [false])
    }

    @Test
    func `has nothing submitted of what it still returns`() async throws {
        let clock = ManualClock()
        let keys = Record<Int>()
        let numbers = Numbers(door: door)
        let sequence = numbers.debounced(
            for: .seconds(1),
            by: { number in
                keys.add(number)
                return number
            }, clock: clock)
        let consumer = clock.task { for try await _ in sequence {} }
        await clock.advance(by: .zero, until: .started)
        #expect(numbers.asked.all == [1])
        consumer.cancel()
        try await consumer.value
        door.open()
        await numbers.end.pass()
        #expect(keys.all.isEmpty)
        #expect(numbers.asked.all.count <= 2)
    }

    @Test(arguments: Form.allCases)
    func `ends once, wherever its reader is when the loop is left`(_ form: Form) async throws {
        for count in 0..<200 {
            let numbers = Numbers(count: 3 + count % 7)
            try await form.consume(numbers) { true }
            await numbers.end.pass()
        }
    }

    /// An element whose `deinit` takes long, and tells how often the upstream was asked meanwhile.
    private final class Slow: Sendable {
        private let numbers: Numbers
        private let meanwhile: Record<Int>

        init(_ numbers: Numbers, _ meanwhile: Record<Int>) {
            self.numbers = numbers
            self.meanwhile = meanwhile
        }

        deinit {
            let asked = numbers.asked.all.count
            let others = DispatchSemaphore(value: 0)
            Task {
                await letOthersRun()
                others.signal()
            }
            // Not for ever: this may be the only thread of the pool.
            _ = others.wait(timeout: .now() + .milliseconds(100))
            meanwhile.add(numbers.asked.all.count - asked)
        }
    }

    @Test
    func `is not read on while what was held is dropped`() async throws {
        let clock = ManualClock()
        let meanwhile = Record<Int>()
        let numbers = Numbers(count: 1_000_000)
        let slow = numbers.map { number in
            await Task.yield()
            return number == 1 ? Slow(numbers, meanwhile) : nil
        }
        let sequence =
            slow
            .debounced(for: .seconds(1), combining: .merge { _, _ in }, clock: clock)
        let consumer = Task { for try await _ in sequence {} }
        try await waitUntil { numbers.asked.all.count >= 10 }
        consumer.cancel()
        try await consumer.value
        await numbers.end.pass()
        // One that is being asked for, and the last one.
        #expect(meanwhile.all.count == 1 && meanwhile.all.allSatisfy { $0 <= 2 }, "\(meanwhile.all)")
    }

    @Test
    func `is not read on if it was held up`() async throws {
        let clock = ManualClock()
        let numbers = Numbers(count: 5000)
        let sequence = numbers.debounced(for: .seconds(1), combining: .merge(+=), clock: clock)
        let consumer = clock.task { for try await _ in sequence {} }
        await clock.advance(by: .zero, until: .started)
        consumer.cancel()
        try await consumer.value
        await numbers.end.pass()
        #expect(numbers.asked.all.count <= 1026)
    }
}
