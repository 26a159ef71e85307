import Foundation
import LullCore
import LullDurable
import Testing

@testable import LullSQLite

/// How long entries stay in the file, and by which clock.
@Suite struct RetentionTests {
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    private func file(_ limits: DurableLimits = DurableLimits()) throws -> SQLiteFile {
        try SQLiteFile(place.path, SQLiteFile.Options(machine, limits: limits))
    }

    @Test func `an idle key has no row, and its numbers are not used again`() throws {
        let file = try file()
        try file.open(try debounce(2))
        var last: Int64 = 0
        for _ in 1...3 {
            let generation = try file.submit(submission("a", "one")).generation
            #expect(generation > last)
            last = generation
            machine.pass(2)
            let run = try #require(try file.claim(claim()).first)
            try file.report(report(run))
            #expect(try place.number("SELECT count(*) FROM work") == 0)
        }
        #expect(try place.number("SELECT base FROM meta") >= last)
    }

    @Test func `ends and tokens are forgotten and do not pile up`() throws {
        let limits = DurableLimits(retention: .seconds(50), tokenLifetime: .seconds(20))
        let file = try file(limits)
        try file.open(try debounce(0))
        var receipts: [DurableReceipt] = []
        for number in 0..<500 {
            receipts.append(try file.submit(submission("key \(number % 7)", "v", token: "\(number)")))
            for run in try file.claim(claim()) { try file.report(report(run)) }
            machine.pass(1)
        }
        #expect(try place.number("SELECT count(*) FROM ended") <= 60)
        #expect(try place.number("SELECT count(*) FROM tokens") <= 25)
        #expect(try file.state(of: receipts[100]) == .forgotten)
        #expect(try file.state(of: receipts[480]) == .executed)
    }

    @Test func `absorbed submits extend one end which stays until it is old`() throws {
        let file = try file(DurableLimits(retention: .seconds(50)))
        try file.open(try debounce(10, edges: .leading))
        try file.submit(submission("a", "first"))
        let run = try #require(try file.claim(claim()).first)
        try file.report(report(run))
        var last: DurableReceipt?
        for _ in 0..<200 {
            machine.pass(1)
            last = try file.submit(submission("a", "later"))
        }
        // The completed end was deleted; the absorbed ones are one range.
        #expect(try place.number("SELECT count(*) FROM ended") == 1)
        #expect(try file.state(of: #require(last)) == .absorbed)
        machine.pass(60)
        try file.submit(submission("b", "other"))
        #expect(try place.number("SELECT count(*) FROM ended") == 0)
    }

    @Test func `the log does not grow without end`() throws {
        let file = try file()
        try file.open(try debounce(100))
        let value = String(repeating: "v", count: 2000)
        for number in 0..<3000 { try file.submit(submission("key \(number % 50)", value)) }
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: place.path + "-wal")[.size] as? Int)
        #expect(size < 6_000_000)
        file.cleanUp()
        #expect(try FileManager.default.attributesOfItem(atPath: place.path + "-wal")[.size] as? Int == 0)
    }

    @Test func `the time of the file is not written by each submit, and never runs backwards`() throws {
        let file = try file()
        try file.open(try debounce(100))
        machine.pass(5)
        try file.submit(submission("a", "one"))
        let highest = try place.number("SELECT highest FROM meta")
        machine.pass(nanoseconds: 9_999_999)
        let last = try file.submit(submission("a", "two"))
        #expect(try place.number("SELECT highest FROM meta") == highest, "only the row was written")
        machine.reboot(as: "second", wallPasses: -86_400)
        let next = try file.submit(submission("a", "three"))
        #expect(next.due == last.due)
        #expect(try place.number("SELECT highest FROM meta") == highest + 9_999_999)
        machine.pass(nanoseconds: 10_000_000)
        try file.submit(submission("a", "four"))
        #expect(try place.number("SELECT highest FROM meta") == highest + 19_999_999)
    }

    @Test(arguments: ["cancel", "maxCount", "leading", "flush", "later"])
    func `a transaction that does not end in a pending submit writes its mark and instant`(_ ending: String) throws {
        let file = try file()
        try file.open(try debounce(100, edges: [.leading, .trailing], maxCount: 3))
        for key in ["old", "b", "b"] { try file.submit(submission(key, "one")) }
        let before = try place.number("SELECT last_commit FROM meta")
        machine.pass(nanoseconds: 1_000_000)
        try file.write { transaction throws(DurableError) in
            _ = try transaction.submit(submission("b", "two"))
            switch ending {
            case "cancel":
                _ = try transaction.change(.cancel, bytes("b"), in: transaction.namespace("n"), at: transaction.now)
            case "maxCount": _ = try transaction.submit(submission("b", "three"))
            case "leading": _ = try transaction.submit(submission("new", "one"))
            case "flush":
                _ = try transaction.change(.flush, bytes("b"), in: transaction.namespace("n"), at: transaction.now)
            default: transaction.now = transaction.now.advanced(by: .nanoseconds(5))
            }
        }
        #expect(try place.number("SELECT last_commit FROM meta") != before)
        machine.reboot(as: "second", wallPasses: -100)
        let due = try #require(try file.submit(submission("b", "four")).due)
        #expect(due >= 1_000_000)
    }
}
