import LullReference
import TestSupport
import Testing

@testable import LullCore
@testable import LullEngine

/// Random calls on the engine and on the reference model: every result must be the same.
///
/// Set `LULL_OPERATIONS` for more calls, and `LULL_SEED` for other ones or for those of a failure.
@Suite("Random calls", .ownThreads)
struct RandomTests {
    static let length = 200

    private let seed = environment("LULL_SEED", default: UInt64(20_260_101))
    private let operations = environment("LULL_OPERATIONS", default: 30_000)

    @Test
    func `the engine agrees with the reference model`() throws {
        var executions = 0
        for trial in 0..<UInt64(max(1, operations / Self.length)) {
            var random = SplitMix(seed: seed &+ trial)
            let trialled = Trial(length: Self.length, using: &random)
            let outcome = try trialled.run()
            executions += outcome.executions
            if outcome.finding != nil {
                let finding = try #require(try trialled.shrunk())
                Issue.record("LULL_SEED=\(seed &+ trial) LULL_OPERATIONS=\(Self.length)\n\(finding)")
                return
            }
        }
        print("\(operations) random calls, \(executions) executions, no difference")
        #expect(executions > operations / 20)
    }

    @Test
    func `it agrees with many keys, when its data structures grow, shrink and are swept`() throws {
        let length = 1600
        for trial in 0..<UInt64(max(1, operations / 64 / length)) {
            var random = SplitMix(seed: seed &+ trial)
            let trialled = Trial(length: length, keys: 60...300, using: &random)
            if let finding = try trialled.run(patience: 100).finding {
                Issue.record("LULL_SEED=\(seed &+ trial) LULL_OPERATIONS=\(length)\n\(finding)")
                return
            }
        }
    }
}
