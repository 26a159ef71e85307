import LullReference
import TestSupport
import Testing

@testable import LullCore
@testable import LullEngine

/// Several calls for all keys at once, with limited concurrency and parts, in any order with everything else: the
/// invariants hold, and nothing is lost. (Which key starts first is not compared: live, no order between keys is
/// promised.)
@Suite("Calls for all keys at random", .ownThreads)
struct AllKeysRandomTests {
    private let operations = environment("LULL_OPERATIONS", default: 30_000)

    @Test
    func `the invariants hold, and every submit ends`() throws {
        for seed in 0..<UInt64(max(20, operations / 1000)) {
            var random = SplitMix(seed: seed)
            var trial = try Runner(&random)
            for step in 0..<500 {
                trial.step(&random)
                let broken = trial.engine.checkInvariants()
                if !broken.isEmpty || !trial.engine.counters.addUp {
                    Issue.record("seed \(seed), step \(step): \(broken) \(trial.engine.setup)")
                    return
                }
            }
            trial.end()
            let counters = trial.engine.counters
            #expect(counters.pending + counters.running == 0, "seed \(seed)")
            #expect(
                trial.engine.core.slots.count == 0 && trial.engine.core.waiters == [:] && trial.ended == trial.started,
                "seed \(seed)")
        }
    }

    @Test
    func `however many keys wait to start, the end of an execution does not recurse through them`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10), maxConcurrent: 1))
        let keys = 30_000
        for key in 0..<keys { _ = engine.submit(key, for: key, at: .origin) }
        var running: RunID?
        for case .start(let execution) in engine.advance(to: CoreInstant(10)).more { running = execution.run }
        for key in 0..<keys { _ = engine.submit(key, for: key, at: CoreInstant(11)) }
        var sweep = engine.beginSweep(.flush, at: CoreInstant(12))
        let run = try #require(running)
        let (_, actions) = engine.ended(run, .returned)
        #expect(actions.more.count < 500, "not all of them start at once")
        while !sweep.isDone { _ = engine.continueSweep(&sweep, limit: 1000) }
        #expect(engine.runningExecutions == 1)
        #expect(engine.checkInvariants() == [])
    }

    private struct Runner: ~Copyable {
        var engine: Engine<Int, Int>
        var sweeps: [Sweep] = []
        var running: [Execution<Int, Int>] = []
        var now = 0
        var (started, ended) = (0, 0)

        init(_ random: inout SplitMix) throws {
            var setup = ReferenceSetup(random: &random)
            if random.oneIn(2) { setup.maxConcurrent = random.pick([1, 1, 2, 5]) }
            engine = Engine(try Setup(setup))
        }

        mutating func step(_ random: inout SplitMix) {
            if random.oneIn(3) { now += random.pick([1, 1, 2, 5]) }
            let (at, key) = (CoreInstant(now), Int.random(in: 0..<12, using: &random))
            switch Int.random(in: 0..<30, using: &random) {
            case 0: sweeps.append(engine.beginSweep(.flush, at: at))
            case 1: sweeps.append(engine.beginSweep(.cancel(running: random.oneIn(2)), at: at))
            case 2: if random.oneIn(4) { note(engine.flush(at: at)) }
            case 3: note(engine.flush(key, at: at))
            case 4: note(engine.cancel(key, at: at))
            case 5...8: note(engine.advance(to: at, limit: 2))
            case 9...13: finish(Int.random(in: 0..<8, using: &random), random.oneIn(3))
            default: note(engine.submit(now, for: key, at: at, wait: random.oneIn(3) ? 0 : nil))
            }
            if random.oneIn(2) { carryOn(limit: random.pick([1, 2, 100])) }
        }

        mutating func carryOn(limit: Int) {
            for index in sweeps.indices { note(engine.continueSweep(&sweeps[index], limit: limit)) }
            sweeps.removeAll { $0.isDone }
        }

        mutating func finish(_ number: Int, _ throwing: Bool) {
            guard !running.isEmpty else { return }
            ended += 1
            let execution = running.remove(at: number % running.count)
            note(engine.ended(execution.run, throwing ? .threw : .returned, returning: execution.batch).1)
        }

        mutating func end() {
            note(engine.cancel(at: CoreInstant(now)))
            carryOn(limit: .max)
            while !running.isEmpty { finish(0, false) }
            note(engine.advance(to: .farFuture))
            while !running.isEmpty { finish(0, false) }
        }

        mutating func note(_ actions: Actions<Int, Int>) {
            for case .start(let execution) in actions.more {
                started += 1
                running.append(execution)
            }
        }
    }
}
