import Dispatch
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

/// Keys and values are released without the lock of their debouncer, and all of them are released: a `deinit` may call
/// anything.
@Suite("Keys and values", .timeLimit(.minutes(1)))
struct ReleasedValueTests {
    /// Something whose `deinit` asks the debouncer, which would never return under its lock.
    final class Thing: Hashable, Sendable {
        let number: Int
        let log: Log

        init(_ number: Int, _ log: Log) {
            self.number = number
            self.log = log
            log.living.change { $0 += 1 }
        }

        deinit {
            log.living.change { $0 -= 1 }
            log.ask.value?()
        }

        static func == (left: Thing, right: Thing) -> Bool { left.number == right.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    final class Log: Sendable {
        let living = Guarded(0)
        let ask = Guarded<(@Sendable () -> Void)?>(nil)
    }

    typealias Keyed = KeyedDebouncer<Thing, Thing, Void>

    static let rules: [OverlapPolicy] = [
        .queue, .cancelRunning, .restart, .restart(interrupting: .whenSubmitted), .concurrent, .skip,
    ]

    @Test(arguments: rules)
    func `are released without the lock, by every rule and every call`(_ rule: OverlapPolicy) async throws {
        for way in 0..<4 {
            let (log, clock) = (Log(), ManualClock())
            var it: Keyed? = try make(way, rule, clock)
            guard let made = it else { continue }
            _ = log.ask.exchange { [weak made] in _ = made?.counters }
            await exercise(&it, log, clock)
            // A task that has just ended still holds what it has told. Ends when the time limit is over, which is a
            // failure.
            try await waitUntil { log.living.value == 0 }
            #expect(log.living.value == 0, "way \(way)")
        }
    }

    /// One of four debouncers: for one value or all, with a task or a queue. Some of its executions fail.
    private func make(_ way: Int, _ rule: OverlapPolicy, _ clock: ManualClock) throws -> Keyed? {
        let queue = DispatchQueue(label: "handler")
        let options = DebounceOptions(maxConcurrent: 2, capacity: 5)
        switch way {
        case 0:
            return Keyed(for: .seconds(1), whileRunning: rule, options: options, clock: clock, onFailure: { _, _ in }) {
                _, value in
                try await clock.sleep(for: .milliseconds(1500))
                if value.number.isMultiple(of: 3) { throw Refusal() }
            }
        case 1:
            return Keyed(
                for: .seconds(1), on: queue, combining: .first, whileRunning: rule, options: options, clock: clock,
                onFailure: { _, _ in }
            ) { _, value in if value.number.isMultiple(of: 3) { throw Refusal() } }
        case _ where rule == .cancelRunning: return nil
        case 2:
            return Keyed(
                collectingFor: .seconds(1), whileRunning: rule, options: .init(maxBatch: 2, capacity: 5), clock: clock,
                onFailure: { _, _ in }
            ) { _, values in
                try await clock.sleep(for: .milliseconds(1500))
                if values.count == 2 { throw Refusal() }
            }
        default:
            return Keyed(
                for: .seconds(1), on: queue, combining: .merge { $0 = $1 }, whileRunning: rule, clock: clock,
                onFailure: { _, _ in }
            ) { _, _ in }
        }
    }

    /// Makes every call, and releases the debouncer.
    private func exercise(_ it: inout Keyed?, _ log: Log, _ clock: ManualClock) async {
        for round in 0..<60 {
            let key = { Thing(round % 7, log) }
            it?.submit(Thing(round, log), for: key())
            it?.submit(Thing(round + 1, log), for: key()) { _ in }
            it?.submit(Thing(round + 2, log), for: key(), after: .milliseconds(100))
            if round.isMultiple(of: 3) { it?.flush(key()) }
            if round.isMultiple(of: 5) { it?.cancel(key(), includingRunning: round.isMultiple(of: 2)) }
            if round.isMultiple(of: 11) { it?.flush() }
            if round.isMultiple(of: 17) { it?.cancel(includingRunning: true) }
            await clock.advance(by: .milliseconds(300))
        }
        it?.shutDown(droppingPending: true)
        it?.submit(Thing(0, log), for: Thing(0, log)) { _ in }
        await clock.advance(by: .seconds(10))
        #expect(it?.counters.addUp == true && it?.state.isDone == true)
        it = nil
    }
}
