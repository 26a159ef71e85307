import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// Files of this version, and of two made-up later ones.
@Suite(.ownThreads) struct MigrationTests {
    private let place: Place
    private let machine = Machine()
    /// The version of a file of this program.
    private static let version = Int64(Schema.migrations.count)
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

    @Test func `an older file is brought up to date with everything in it`() throws {
        try make()
        let file = try SQLiteFile(place.path, options(Self.next))
        #expect(try place.number("PRAGMA user_version") == Self.version + 2)
        #expect(try place.number("SELECT count(*) FROM work WHERE shade = 'dark'") == 30)
        #expect(try file.status()?.pending == 30)
        #expect(try file.submit(submission("key 1", "value")).generation == 2)
        #expect(try file.audit(isComplete: true) == [])
    }

    @Test func `a new file goes through all versions`() throws {
        let file = try SQLiteFile(place.path, options(Self.next))
        try file.open(try debounce(2))
        #expect(try place.number("PRAGMA user_version") == Self.version + 2)
        #expect(try file.submit(submission("a", "value")).generation == 1)
    }

    @Test func `an older program refuses a newer file and leaves it unchanged`() throws {
        try make()
        _ = try SQLiteFile(place.path, options(Self.next))
        let before = FileManager.default.contents(atPath: place.path)
        let error = #expect(throws: DurableError.self) { try SQLiteFile(place.path, options()) }
        #expect(
            error
                == .unusable(
                    "\(place.path) was written by a newer version of Lull: its schema is \(Self.version + 2), this "
                        + "version knows \(Self.version)"
                ))
        #expect(FileManager.default.contents(atPath: place.path) == before)
    }

    @Test func `a step that fails leaves the older file`() throws {
        try make()
        let error = #expect(throws: DurableError.self) {
            try SQLiteFile(place.path, options(Self.next + ["INSERT INTO nowhere VALUES (1)"]))
        }
        #expect(error?.reason.contains("no such table: nowhere") == true)
        #expect(try place.number("PRAGMA user_version") == Self.version)
        #expect(try place.number("SELECT count(*) FROM sqlite_master WHERE name = 'shades'") == 0)
        #expect(try SQLiteFile(place.path, options()).status()?.pending == 30)
    }

    @Test func `a migration cut short is complete or repeated`() throws {
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
        #expect(Set(versions) == [Self.version, Self.version + 2])
    }
}
