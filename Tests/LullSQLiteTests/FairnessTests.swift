import Foundation
import LullCore
import LullDurable
import LullReference
import LullSQLite
import TestSupport
import Testing

/// A process that submits now and then while others commit without pause.
@Suite(.ownThreads, .serialized) struct FairnessTests {
    /// Measures the submits of others that are acknowledged between a submit and its answer, and the time between.
    private func measure(others: Int, in directory: String) throws -> (submits: [Int], times: [Duration]) {
        let path = directory + "/work.db"
        let file = try SQLiteFile(path)
        let rules = try debounce(3600)
        _ = try file.write { transaction throws(DurableError) in
            try transaction.open("kill", rules, changingPolicy: false)
        }
        let children = try (0..<others).map { try Child("submit", path, directory + "/log", "\($0)") }
        defer { for child in children { child.kill() } }
        var lines = Lines(directory + "/log")
        for child in 0..<others {
            try blockUntil {
                try lines.read()
                return lines.all.contains { $0.hasPrefix("+ \(child).") }
            }
        }
        var submits: [Int] = []
        var times: [Duration] = []
        for number in 0..<environment("LULL_TURNS", default: 100) {
            // After none to six of their transactions.
            let next = lines.all.count + number % 7 * 16
            try blockUntil {
                try lines.read()
                return lines.all.count >= next
            }
            let before = lines.all.count
            let start = ContinuousClock.now
            _ = try file.write { transaction throws(DurableError) in
                try transaction.submit(DurableSubmission(namespace: "kill", key: [1], value: [2]))
            }
            times.append(ContinuousClock.now - start)
            try lines.read()
            submits.append(lines.all[before...].count { $0.hasPrefix("+") })
        }
        return (submits.sorted(), times.sorted())
    }

    @Test(arguments: [1, 2])
    func `processes that commit without pause let a submit through after a few of their turns`(others: Int) throws {
        let place = try Place()
        let (submits, times) = try measure(others: others, in: place.directory)
        let last = submits.count * 99 / 100
        print(
            "beside \(others): p50 \(times[times.count / 2]), p99 \(times[last]); meanwhile p50 "
                + "\(submits[submits.count / 2]), p99 \(submits[last]) submits of others")
        // Each of their transactions has at most eight. On a busy machine, the system may delay any process now and
        // then.
        #expect(submits[submits.count * 9 / 10] <= 8 * 30)
    }
}
