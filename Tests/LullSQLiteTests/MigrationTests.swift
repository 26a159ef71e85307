import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// Files of older versions, and of a future one.
@Suite(.ownThreads) struct MigrationTests {
    private let place: Place
    private let machine = Machine()
    private static let next = [
        """
        ALTER TABLE work ADD COLUMN shade TEXT;
        CREATE TABLE shades (name TEXT NOT NULL);
        INSERT INTO shades VALUES ('dark');
        UPDATE work SET shade = 'dark';
        """,
        "CREATE INDEX work_by_shade ON work (shade);",
    ]

    init() throws {
        place = try Place()
    }

    private func options(_ more: [String] = [], vfs: String? = nil) -> SQLiteFile.Options {
        var options = SQLiteFile.Options(machine, patience: .milliseconds(20))
        options.migrations += more
        options.vfs = vfs
        return options
    }

    private func make(vfs: String? = nil) throws {
        let file = try SQLiteFile(place.path, options(vfs: vfs))
        try file.open(try debounce(2))
        for number in 0..<30 { try file.submit(submission("key \(number)", "value")) }
    }

    @Test func anOlderFileIsBroughtUpToDateWithEverythingInIt() throws {
        try make()
        let file = try SQLiteFile(place.path, options(Self.next))
        #expect(try place.number("PRAGMA user_version") == 6)
        #expect(try place.number("SELECT count(*) FROM work WHERE shade = 'dark'") == 30)
        #expect(try file.status()?.pending == 30)
        #expect(try file.submit(submission("key 1", "value")).generation == 2)
        #expect(try file.audit(isComplete: true) == [])
    }

    @Test func aNewFileGoesThroughAllVersions() throws {
        let file = try SQLiteFile(place.path, options(Self.next))
        try file.open(try debounce(2))
        #expect(try place.number("PRAGMA user_version") == 6)
        #expect(try file.submit(submission("a", "value")).generation == 1)
    }

    @Test func anOlderProgramRefusesANewerFileAndLeavesItUnchanged() throws {
        try make()
        _ = try SQLiteFile(place.path, options(Self.next))
        let before = FileManager.default.contents(atPath: place.path)
        let error = #expect(throws: DurableError.self) { try SQLiteFile(place.path, options()) }
        #expect(
            error
                == .unusable(
                    "\(place.path) was written by a newer version of Lull: its schema is 6, this version knows 4"))
        #expect(FileManager.default.contents(atPath: place.path) == before)
    }

    @Test func aStepThatFailsLeavesTheOlderFile() throws {
        try make()
        let error = #expect(throws: DurableError.self) {
            try SQLiteFile(place.path, options(Self.next + ["INSERT INTO nowhere VALUES (1)"]))
        }
        #expect(error?.reason.contains("no such table: nowhere") == true)
        #expect(try place.number("PRAGMA user_version") == 4)
        #expect(try place.number("SELECT count(*) FROM sqlite_master WHERE name = 'shades'") == 0)
        #expect(try SQLiteFile(place.path, options()).status()?.pending == 30)
    }

    @Test func aMigrationCutShortIsCompleteOrRepeated() throws {
        let versions = try (0..<60).map { cut in
            let disk = FaultyDisk(seed: UInt64(cut))
            defer { withExtendedLifetime(disk) {} }
            let bench = try MigrationTests()
            try bench.make()
            disk.arm(.cut, at: [.write, .sync, .truncate], after: cut)
            _ = try? SQLiteFile(bench.place.path, options(Self.next, vfs: disk.name))
            disk.cut()
            disk.start()
            let version = try bench.place.number("PRAGMA user_version")
            let file = try SQLiteFile(bench.place.path, options(Self.next, vfs: disk.name))
            #expect(try file.status()?.pending == 30)
            #expect(try file.audit(isComplete: true) == [])
            return version
        }
        #expect(Set(versions) == [4, 6])
    }

    // MARK: - From version 1

    private func status(_ file: SQLiteFile) throws -> [String: [Int]] {
        let all = try file.read { transaction throws(DurableError) in try transaction.status() }
        return Dictionary(
            uniqueKeysWithValues: all.map {
                ($0.namespace, [$0.pending, $0.ready, $0.running, $0.retrying, $0.dead])
            })
    }

    /// Claims and completes what there is to do in a namespace.
    private func work(_ namespace: String, _ file: SQLiteFile) throws -> [String] {
        var done: [String] = []
        var terms = claim(1)
        terms.namespace = namespace
        while let run = try file.claim(terms).first {
            done.append("\(run.values.map(text).joined(separator: "+")) \(run.submits)")
            var end = report(run)
            end.namespace = namespace
            try file.report(end)
        }
        return done
    }

    @Test func aFileOfVersion1IsBroughtUpToDateWithEverythingInIt() throws {
        try place.execute(Version1.dump)
        let file = try SQLiteFile(place.path, options())
        #expect(try place.number("PRAGMA user_version") == 4)
        #expect(try place.number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1)
        let indexes = "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'work' AND sql NOT NULL"
        #expect(try place.number(indexes) == 3)
        #expect(try place.number("SELECT count(*) FROM sqlite_master WHERE name = 'old_work'") == 0)
        #expect(
            try status(file) == [
                "all": [1, 1, 0, 0, 0], "edges": [0, 1, 0, 0, 0], "run": [0, 1, 1, 0, 0],
                "again": [0, 0, 0, 1, 0], "dead": [0, 0, 0, 0, 1],
            ])
        #expect(try file.audit(isComplete: true) == [])
        let rules = try file.write { transaction throws(DurableError) in try transaction.open("all", nil) }
        #expect(rules.maxBatch == nil && rules.combination == .collect && rules.policy.maxCount == 3)
        // Tokens are still known.
        let again = try file.write { transaction throws(DurableError) in
            try transaction.submit(
                DurableSubmission(namespace: "all", key: bytes("k"), value: bytes("a"), token: "ta"))
        }
        #expect(again.generation == 2)
        let retried = try file.write { transaction throws(DurableError) in try transaction.retry(1, in: "dead") }
        #expect(retried == .accepted)
        #expect(try work("dead", file) == ["x 1 1...1"])
        machine.pass(60)
        // The worker was killed, and a newer value is due.
        #expect(try work("run", file) == ["2 3...3"])
        #expect(try work("again", file) == ["x 1 2...2"])
        #expect(try file.audit(isComplete: true) == [])
    }

    @Test func aGateOfVersion1KeepsItsStateUnderItsNewColumns() throws {
        try place.execute(Version1.dump)
        _ = try SQLiteFile(place.path, options())
        let gates = "SELECT count(*) FROM work WHERE (namespace, phase, latest, pending_first, spacing) IS "
        // Something pending; the latest execution on the leading edge; the window of a throttle.
        #expect(try place.number(gates + "(2, 'open', NULL, 240443935, 0)") == 1)
        #expect(try place.number(gates + "(3, 'open', 548317478, NULL, 0)") == 1)
        #expect(try place.number(gates + "(5, 'open', NULL, NULL, 0)") == 1)
        #expect(try place.number("SELECT count(*) FROM namespaces WHERE spacing IS NULL") == 5)
    }

    @Test func eachCollectedValueOfVersion1GetsARowOfItsOwn() throws {
        try place.execute(Version1.dump)
        _ = try SQLiteFile(place.path, options())
        let rows = "SELECT count(*) FROM collected WHERE (namespace, generation, CAST(value AS TEXT)) IN (VALUES "
        #expect(try place.number(rows + "(2, 2, 'a'), (2, 3, 'b'), (2, 4, 'c'), (2, 5, 'd'))") == 4)
        #expect(try place.number(rows + "(3, 2, 'a'), (3, 3, 'd'), (1, 1, 'x 1'))") == 3)
        #expect(try place.number("SELECT count(*) FROM collected") == 7)
        let left = "(pending IS NOT NULL) + (ready IS NOT NULL) + (run IS NOT NULL)"
        #expect(try place.number("SELECT sum(\(left)) FROM work WHERE namespace IN (2, 3)") == 0)
        #expect(try place.number("SELECT sum(\(left)) FROM work WHERE namespace IN (4, 5)") == 3)
        #expect(try place.number("SELECT count(*) FROM dead WHERE value IS NOT NULL") == 0)
    }

    @Test func aFileOfVersion1WhoseValuesCannotBeReadIsLeftAsItIs() throws {
        try place.execute(Version1.dump)
        try place.execute("UPDATE work SET ready = X'313a61' WHERE id = 1")
        let error = #expect(throws: DurableError.self) { try SQLiteFile(place.path, options()) }
        #expect(error?.reason.contains("a list of values that cannot be read") == true)
        #expect(try place.number("PRAGMA user_version") == 1)
    }

    @Test func batchesThatWereReadyInVersion1CanBeDivided() throws {
        try place.execute(Version1.dump)
        let file = try SQLiteFile(place.path, options())
        for (namespace, limit) in [("all", 2), ("edges", 1)] {
            let old = try file.write { transaction throws(DurableError) in try transaction.open(namespace, nil) }
            let rules = try DurableRules(old.policy, combination: old.combination, maxBatch: limit)
            let opened = try file.write { transaction throws(DurableError) in try transaction.open(namespace, rules) }
            #expect(opened == rules)
        }
        #expect(try work("all", file) == ["a+b 2...3", "c 4...4"])
        // That version did not store which submits the values belong to: absorbed submits go with the last part.
        #expect(try work("edges", file) == ["a 2...2", "d 3...6"])
        #expect(try file.audit(isComplete: true) == [])
    }
}
