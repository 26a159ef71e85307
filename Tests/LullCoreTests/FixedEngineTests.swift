import LullReference
import TestSupport
import Testing

@testable import LullCore
@testable import LullEngine
@testable import LullEmbedded

/// The engine for firmware: it executes what the other one and the model do.
@Suite("Fixed engine", .ownThreads)
struct FixedEngineTests {
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test
    func `the fixed engine yields every scenario's executions`() throws {
        for scenario in try Scenario.all() {
            let keys = Array(Set(scenario.ops.compactMap(\.key))).sorted()
            var engine = FixedEngine<8, Int>(try Policy(scenario.setup.policy))
            var values: [ScenarioValue] = []
            var found: [Scenario.Expectation] = []
            let take = { (execution: FixedExecution<Int>) in
                found.append(
                    Scenario.Expectation(
                        at: Int(execution.at.nanoseconds), key: keys[execution.key], value: values[execution.value],
                        count: execution.count, cause: ReferenceEdge(execution.cause),
                        first: Int(execution.first.nanoseconds)))
            }
            for operation in scenario.ops {
                let key = operation.key.flatMap { keys.firstIndex(of: $0) }
                let at = CoreInstant(operation.at)
                switch operation.op {
                case .submit:
                    values.append(operation.value ?? .null)
                    engine.submit(
                        values.count - 1, for: try #require(key), at: at,
                        after: operation.wait.map { CoreDuration($0) },
                        run: take)
                case .flush: engine.flush(key, at: at, run: take)
                case .cancel: engine.cancel(key, at: at, run: take)
                }
                #expect(engine.counts.addUp)
            }
            while engine.alarm < .farFuture { engine.advance(to: engine.alarm, run: take) }
            #expect(found == scenario.expected, "\(scenario.id): \(scenario.source)")
            #expect(engine.counts.pending == 0)
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test
    func `it agrees with the reference model on random calls: executions, their order, and the fate of every submit`()
        throws
    {
        var executions = 0
        for seed in 0..<UInt64(max(200, environment("LULL_OPERATIONS", default: 30_000) / 200)) {
            var random = SplitMix(seed: seed &+ 77)
            var trial = Trial(length: 200, using: &random)
            trial.setup.whileRunning = .queue
            trial.setup.capacity = nil
            trial.setup.maxConcurrent = nil
            trial.setup.maxBatch = nil
            trial.setup.maxPending = nil
            trial.setup.limit = nil
            if trial.setup.combination == .collect { trial.setup.combination = .latest }
            let difference = try compare(trial, &executions)
            if let difference {
                Issue.record("seed \(seed): \(difference)")
                return
            }
        }
        #expect(executions > 2000)
    }

    /// Returns what the two disagree about.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private func compare(_ trial: Trial, _ executions: inout Int) throws -> String? {
        var model = ReferenceModel(trial.setup)
        var engine = FixedEngine<8, Int>(
            try Policy(trial.setup.policy), keepsFirst: trial.setup.combination == .first)
        var found: [String] = []
        let take = { (one: FixedExecution<Int>) in
            found.append(
                "\(one.at.nanoseconds) \(one.key) \(one.value) \(one.count) \(one.cause.name) \(one.first.nanoseconds)")
        }
        func number(_ key: String) -> Int { Array("abcdef").firstIndex(of: Character(key)) ?? 7 }
        var submits = 0
        for operation in trial.operations {
            switch operation {
            case .submit(let key, let at, let wait):
                model.advance(to: at)
                model.endAll()
                model.submit(key, at: at, wait: wait)
                engine.submit(
                    submits, for: number(key), at: CoreInstant(at), after: wait.map { CoreDuration($0) }, run: take)
                submits += 1
            case .flush(let key, let at):
                model.advance(to: at)
                model.endAll()
                model.flush(key, at: at)
                engine.flush(key.map(number), at: CoreInstant(at), run: take)
            case .cancel(let key, _, let at):
                model.advance(to: at)
                model.endAll()
                model.cancel(key, at: at)
                engine.cancel(key.map(number), at: CoreInstant(at), run: take)
            case .advance(let at, _):
                model.advance(to: at)
                engine.advance(to: CoreInstant(at), run: take)
            default: continue
            }
            model.endAll()
            let wanted = model.executions.map { one in
                "\(one.at) \(number(one.key)) \(one.values[0]) \(one.count) \(one.cause.rawValue) \(one.first)"
            }
            if found != wanted {
                return "\(trial.setup.policy) \(operation): \(found.suffix(3)), not \(wanted.suffix(3))"
            }
            let counts = engine.counts
            let fates: [(UInt32, ReferenceFate)] = [
                (counts.executed, .executed), (counts.superseded, .superseded), (counts.absorbed, .absorbed),
                (counts.cancelled, .cancelled), (counts.pending, .pending),
            ]
            for (count, fate) in fates where Int(count) != model.fates.count(where: { $0 == fate }) {
                return "\(trial.setup.policy) \(operation): \(count) are \(fate)"
            }
            if !counts.addUp { return "\(operation): \(counts) do not add up" }
        }
        executions += found.count
        return nil
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test
    func `an alarm is when something falls due next, and before it an advance does nothing`() throws {
        var engine = FixedEngine<2, UInt8>(try Policy.debounce(wait: .milliseconds(10)))
        var found: [UInt8] = []
        #expect(engine.alarm == .farFuture)
        engine.submit(1, for: 0, at: .origin) { found.append($0.value) }
        engine.submit(2, for: 1, at: CoreInstant(4_000_000)) { found.append($0.value) }
        #expect(engine.alarm == CoreInstant(10_000_000))
        engine.advance(to: CoreInstant(9_999_999)) { found.append($0.value) }
        #expect(found == [])
        engine.advance(to: CoreInstant(60_000_000)) { found.append($0.value) }
        #expect(found == [1, 2])
        #expect(engine.alarm == .farFuture)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(arguments: [0xFFFF_FFFE, 0x7FFF_FFFE, 0xFFFE, 0x7FFE] as [UInt32])
    func `the order of bursts survives the wrap of their number`(start: UInt32) throws {
        var engine = FixedEngine<4, Int>(try Policy.debounce(wait: .milliseconds(10)))
        engine.burstCount = start
        var found: [Int] = []
        // All are due at the same instant, and began in this order.
        for key in [3, 1, 2, 0] { engine.submit(key, for: key, at: .origin) { found.append($0.key) } }
        engine.advance(to: CoreInstant(10_000_000)) { found.append($0.key) }
        for key in [2, 0, 3, 1] { engine.submit(key, for: key, at: CoreInstant(10_000_000)) { found.append($0.key) } }
        engine.flush(at: CoreInstant(10_000_001)) { found.append($0.key) }
        #expect(found == [3, 1, 2, 0, 2, 0, 3, 1])
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test
    func `a key with a value of one byte takes at most 56 bytes on a machine of 64 bits`() {
        let one = MemoryLayout<FixedEngine<1, UInt8>>.size
        let nine = MemoryLayout<FixedEngine<9, UInt8>>.size
        #expect((nine - one) / 8 <= 56)
        #expect(one <= 248)
    }
}
