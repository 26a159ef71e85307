import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// The values of `collect` in a file.
@Suite(.ownThreads) struct CollectedTests {
    private let place: Place
    private let machine = Machine()
    private let file: SQLiteFile
    private static let text = String(repeating: "v", count: 1000)

    init() throws {
        place = try Place()
        var options = SQLiteFile.Options(machine)
        // The log shows how much was written.
        options.longLog = 1_000_000
        file = try SQLiteFile(place.path, options)
        try file.open(try debounce(2, .collect))
    }

    /// Makes `count` submits in one transaction.
    @discardableResult
    private func submit(_ count: Int, _ key: String = "k") throws -> [DurableReceipt] {
        try file.write { transaction throws(DurableError) in
            var receipts: [DurableReceipt] = []
            for _ in 0..<count { receipts.append(try transaction.submit(submission(key, Self.text))) }
            return receipts
        }
    }

    /// Returns the number of pages that a step adds to the log.
    private func pages(_ body: () throws -> Void) rethrows -> Int {
        let before = file.connection?.pagesInLog ?? 0
        try body()
        return (file.connection?.pagesInLog ?? 0) - before
    }

    private var values: Int64 { get throws { try place.number("SELECT count(*) FROM collected") } }

    @Test func `a submit writes no more when much is pending`() throws {
        try submit(10)
        let few = try pages { try submit(1) }
        try submit(3000)
        let many = try pages { try submit(1) }
        #expect(many <= few + 4, "\(few) pages, then \(many)")
    }

    @Test func `claiming, retrying and dying rewrite no values`() throws {
        try submit(3000)
        machine.pass(2)
        var run: DurableRun?
        let claimed = try pages { run = try file.claim(claim()).first }
        #expect(run?.values.count == 3000 && claimed < 10)
        let failed = try pages { try file.report(report(#require(run), .failed("no", retry: .zero))) }
        run = try file.claim(claim()).first
        let died = try pages { try file.report(report(#require(run), .failed("no", retry: nil))) }
        // One more page for the order in which runs die.
        #expect(failed < 10 && died < 11)
        #expect(try values == 3000)
        let id = try #require(run).number
        let retried = try pages {
            let answer = try file.write { transaction throws(DurableError) in
                try transaction.retry(id, in: transaction.namespace("n"), at: transaction.now)
            }
            #expect(answer == .accepted)
        }
        #expect(retried < 10)
        #expect(try file.claim(claim()).first?.values.count == 3000)
        #expect(try file.audit(isComplete: true) == [])
    }

    @Test func `dividing a batch moves no values`() throws {
        let rules = try file.open(nil)
        try file.open(try DurableRules(rules.policy, combination: .collect, maxBatch: 100), changingPolicy: true)
        try submit(3000)
        machine.pass(2)
        var run: DurableRun?
        let claimed = try pages { run = try file.claim(claim()).first }
        #expect(run?.values.count == 100 && claimed < 10)
        try file.report(report(#require(run)))
        #expect(try values == 2900)
        #expect(try file.claim(claim()).first?.submits == 101...200)
    }

    @Test func `many released values are deleted in steps`() throws {
        let many = Int64(20 * SQLiteTransaction.mostDeleted)
        try submit(Int(many))
        machine.pass(2)
        let run = try #require(try file.claim(claim()).first)
        try file.report(report(run))
        #expect(try many / 2..<many ~= values)
        #expect(try file.audit(isComplete: true) == [])
        // The key may be used at once; its remaining old values belong to no run.
        let before = try values
        try submit(2)
        #expect(try values < before)
        machine.pass(2)
        #expect(try file.claim(claim()).first?.values.count == 2)
        while try place.number("SELECT count(*) FROM spent") > 0 { try submit(1, "other") }
        #expect(try file.audit(isComplete: true) == [])
    }

    @Test func `released values never pile up however busy the store is`() throws {
        let many = 8 * SQLiteTransaction.mostDeleted
        for _ in 0..<20 {
            try submit(many)
            machine.pass(2)
            try file.report(report(#require(try file.claim(claim()).first)))
            #expect(try values <= 2 * many)
        }
        file.cleanUp()
        #expect(try values == 0)
        #expect(try place.number("SELECT count(*) FROM spent") == 0)
        #expect(try file.audit(isComplete: true) == [])
    }

    @Test func `remaining released values are deleted while the store is idle`() throws {
        try submit(20 * SQLiteTransaction.mostDeleted)
        machine.pass(2)
        try file.report(report(#require(try file.claim(claim()).first)))
        #expect(try values > 0)
        try blockUntil {
            file.maintain()
            return try values == 0
        }
        #expect(try file.audit(isComplete: true) == [])
    }

    @Test func `cancelled and discarded values are deleted`() throws {
        try submit(20, "dead")
        machine.pass(2)
        let run = try #require(try file.claim(claim()).first)
        try file.report(report(run, .failed("no", retry: nil)))
        try submit(20, "ready")
        machine.pass(2)
        try submit(20, "pending")
        #expect(try values == 60)
        _ = try file.change(.cancel, allIn: "n")
        #expect(try values == 20)
        #expect(
            try file.write { transaction throws(DurableError) in
                try transaction.discard(run.number, in: transaction.namespace("n"))
            })
        #expect(try values == 0)
    }

    @Test func `values that a submitter cancels behind ready ones are deleted at once`() throws {
        try submit(2)
        machine.pass(2)
        let count = SQLiteTransaction.mostDeleted + 10
        _ = try file.write { transaction throws(DurableError) in
            for _ in 0..<count {
                var own = submission("k", Self.text)
                own.submitter = 7
                _ = try transaction.submit(own)
            }
        }
        let cancelled = try file.write { transaction throws(DurableError) in
            try transaction.change(.cancel, submittedBy: 7, in: transaction.namespace("n"), at: transaction.now).count
        }
        #expect(cancelled == count)
        #expect(try values == 2)
        let run = try #require(try file.claim(claim()).first)
        #expect(run.values.count == 2 && run.submits == 1...Int64(count) + 2)
        #expect(try file.audit(isComplete: true) == [])
    }

    @Test func `a missing value is reported as damage`() throws {
        try submit(3)
        machine.pass(2)
        try place.execute("DELETE FROM collected WHERE generation = 2")
        let error = #expect(throws: DurableError.self) { try file.claim(claim()) }
        #expect(error?.reason.contains("2 values of 3 submits") == true)
    }
}
