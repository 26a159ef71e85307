import Dispatch
import Lull
import LullDispatch
import TestSupport
import Testing

/// Many threads on real clocks: what must hold whatever the order of things.
@Suite("Under stress", .ownThreads)
struct StressTests {
    /// A small generator whose seed is printed with what fails.
    struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// Counts things by name, without what stands in brackets.
    final class Tally: Sendable {
        private let counts = Guarded<[String: Int]>([:])

        func add(_ name: String) {
            counts.change { $0[String(name.prefix { $0 != "(" }), default: 0] += 1 }
        }

        var all: [String: Int] { counts.value }
    }

    @Test(arguments: [OverlapPolicy.queue, .cancelRunning, .concurrent, .skip])
    func `every submit has exactly one outcome and the counts add up, whatever is called from wherever`(
        rule: OverlapPolicy
    ) async throws {
        let outcomes = Tally()
        let it = KeyedDebouncer(
            for: .microseconds(300), maxWait: .milliseconds(2), edges: [.leading, .trailing], maxCount: 50,
            whileRunning: rule,
            options: .init(maxConcurrent: 3, capacity: 20),
            onFailure: { _, _ in }
        ) { (key: Int, value: Int) in
            if value % 5 == 0 { throw Refusal() }
            if value % 3 == 0 { for _ in 0..<value % 40 { await Task.yield() } }
            return value
        }
        let workers = 6
        let operations = 1500
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var random = Random(state: UInt64(worker) + 42)
                    for value in 0..<operations {
                        let key = Int.random(in: 0..<30, using: &random)
                        switch Int.random(in: 0..<40, using: &random) {
                        case 0: it.flush(key)
                        case 1: it.cancel(key, includingRunning: Bool.random(using: &random))
                        case 2: it.flush()
                        case 3: it.cancel(includingRunning: Bool.random(using: &random))
                        case 4: await it.flushAndWait(key)
                        case 5: _ = it.state(of: key)
                        case 6: #expect(it.counters.addUp)
                        case 7 where value > operations - 5: it.shutDown(droppingPending: Bool.random(using: &random))
                        default: break
                        }
                        it.submit(value, for: key) { outcome in
                            outcomes.add("\(Ended(outcome))")
                        }
                        if value % 100 == 0 { await letOthersRun() }
                    }
                }
            }
        }
        await it.shutDownAndWait()
        let counters = it.counters
        #expect(counters.addUp)
        #expect(counters.pending + counters.running == 0)
        #expect(counters.submitted == workers * operations)
        // The callbacks run in tasks of their own: wait for the last of them.
        try await waitUntil { outcomes.all.values.reduce(0, +) >= counters.submitted }
        let counted = outcomes.all
        #expect(counted["executed", default: 0] == counters.executed)
        #expect(counted["failed", default: 0] == counters.failed)
        #expect(counted["superseded", default: 0] == counters.superseded)
        #expect(counted["absorbed", default: 0] == counters.absorbed)
        #expect(counted["cancelled", default: 0] == counters.cancelled)
        #expect(counted["rejected", default: 0] == counters.rejected)
        #expect(it.keyCount == 0)
    }

    @Test
    func `owners that go away at any moment leave nothing undone`() async throws {
        let seen = Tally()
        let rounds = 300
        for round in 0..<rounds {
            let it = Debouncer(
                for: .microseconds(round % 50), on: DispatchQueue.global(),
                options: .init(atEnd: round % 2 == 0 ? .flush : .executeWhenDue)
            ) { (_: Int) in seen.add("run") }
            it(round)
            if round % 3 == 0 { await Task.yield() }
        }
        try await waitUntil { seen.all["run", default: 0] >= rounds }
        #expect(seen.all["run"] == rounds)
    }

    @Test
    func `values and closures are released, and outside the lock: their deinitialisers may call the debouncer`() async {
        final class Value: Sendable {
            let debouncer: KeyedDebouncer<Int, Value?, Void>
            init(_ debouncer: KeyedDebouncer<Int, Value?, Void>) { self.debouncer = debouncer }
            deinit { debouncer.submit(nil, for: 99) }
        }
        let it = KeyedDebouncer(for: .seconds(100)) { (_: Int, _: Value?) in }
        for round in 0..<10 { it.submit(Value(it), for: round % 2) }
        it.cancel(0)
        it.flush(1)
        it.submit(Value(it), for: 3)
        await it.shutDownAndWait(droppingPending: true)
        #expect(it.counters.addUp)
        #expect(it.counters.submitted >= 21)
    }
}
