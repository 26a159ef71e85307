import LullReference
import TestSupport
import Testing

/// Submits and work on a disk that loses power, fails, or is full, at any call.
///
/// `LULL_DISK` sets the number of trials, `LULL_SEED` chooses other ones or the one that failed.
@Suite("Failing disk", .ownThreads) struct DiskTests {
    private let seed = environment("LULL_SEED", default: UInt64(20_260_301))
    private let trials = environment("LULL_DISK", default: UInt64(30))

    @Test
    func `nothing acknowledged is lost, nothing else is done twice, and the file stays whole`() throws {
        var sum = FaultFigures()
        for trial in 0..<trials {
            let run = try FaultTrial(seed: seed &+ trial, syncs: true)
            let finding = try run.run()
            sum = sum + run.figures
            if let finding {
                Issue.record(
                    "LULL_SEED=\(seed &+ trial) LULL_DISK=1 swift test --filter LullSQLiteTests.DiskTests\n\(finding)")
                return
            }
        }
        print("\(trials) seeds from \(seed), \(sum)")
        #expect(sum.lostWrites > Int(trials), "power cuts that lose no writes prove nothing")
    }

    @Test
    func `the same without syncing loses what was acknowledged`() throws {
        var lost = 0
        for trial in 0..<60 {
            let run = try FaultTrial(seed: seed &+ UInt64(trial), syncs: false)
            if try run.run()?.hasPrefix("lost: ") == true { lost += 1 }
        }
        #expect(lost > 5, "a test that finds nothing without syncs finds nothing at all")
    }
}
