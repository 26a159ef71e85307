import Foundation
import LullCore
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullSQLite

/// The counts that a file keeps: those of all rows, whatever time it is.
@Suite(.ownThreads) struct KeptCountsTests {
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    /// Counts by reading every row.
    private func counted(_ file: SQLiteFile) throws -> DurableStatus? {
        try file.read { transaction throws(DurableError) in
            guard let namespace = try transaction.connection.namespaces().first else { return nil }
            var status = DurableStatus(namespace: namespace.name, rules: namespace.rules)
            let rows = try transaction.connection[.rows]
            rows.bind(1, namespace.id)
            for entry in try transaction.entries(rows) { status.add(entry.row, at: transaction.now) }
            status.dead = Int(try transaction.connection.number("SELECT count(*) FROM dead"))
            try transaction.readCounters(of: namespace, to: &status)
            return status
        }
    }

    @Test(arguments: [CombinationRule.latest, .first, .collect])
    func `status is that of all rows`(_ combination: CombinationRule) throws {
        let file = try SQLiteFile(place.path, SQLiteFile.Options(machine))
        try file.open(try debounce(20, maxWait: 60, combination))
        var random = SplitMix(seed: environment("LULL_SEED", default: 7))
        var runs: [DurableRun] = []
        for _ in 0..<700 {
            let key = "key \(Int.random(in: 0..<60, using: &random))"
            switch Int.random(in: 0..<12, using: &random) {
            case 0: machine.pass(Int64.random(in: 1..<15, using: &random))
            case 1: runs += try file.claim(claim(4, maxAttempts: 2))
            case 2, 3:
                guard let run = runs.popLast() else { continue }
                let kinds: [DurableReport.Kind] = [
                    .completed, .failed("no", retry: .seconds(9)), .failed("no", retry: nil),
                ]
                try file.report(report(run, random.pick(kinds)))
            case 4:
                let change: DurableChange = random.oneIn(2) ? .flush : .cancel
                _ = try file.write { transaction throws(DurableError) in
                    try transaction.change(change, bytes(key), in: transaction.namespace("n"), at: transaction.now)
                }
            case 5 where random.oneIn(20): _ = try file.change(random.oneIn(2) ? .flush : .cancel, allIn: "n")
            case 6:
                guard
                    let dead = try file.read({ transaction throws(DurableError) in
                        try transaction.dead(in: "n")
                    }).first
                else { continue }
                let discards = random.oneIn(2)
                _ = try file.write { transaction throws(DurableError) in
                    if discards {
                        _ = try transaction.discard(dead.number, in: transaction.namespace("n"))
                    } else {
                        _ = try transaction.retry(dead.number, in: transaction.namespace("n"), at: transaction.now)
                    }
                }
            default: try file.submit(submission(key, "value"))
            }
            #expect(try file.status() == (try counted(file)))
        }
        // What was discarded has left no end.
        #expect(try file.audit(isComplete: false) == [])
    }

    @Test func `a long backlog is counted by its periods`() throws {
        let file = try SQLiteFile(place.path, SQLiteFile.Options(machine))
        try file.open(try debounce(20))
        for number in 0..<1200 {
            try file.submit(submission("key \(number)", "value"))
            if number % 100 == 0 { machine.pass(1) }
        }
        machine.pass(15)
        #expect(try file.status() == (try counted(file)))
        machine.pass(60)
        let status = try #require(try file.status())
        #expect(status == (try counted(file)))
        #expect(status.pending == 0 && status.ready == 1200)
        // What has fallen due in the present period is looked at.
        for number in 0..<300 {
            _ = try file.write { transaction throws(DurableError) in
                try transaction.submit(
                    DurableSubmission(
                        namespace: "n", key: bytes("late \(number)"), value: [], wait: .milliseconds(Int64(number))))
            }
        }
        machine.pass(nanoseconds: 150_000_000)
        #expect(try file.status() == (try counted(file)))
        #expect(try file.audit(isComplete: true) == [])
    }
}
