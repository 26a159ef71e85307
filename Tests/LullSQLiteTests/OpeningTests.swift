import CLullSQLite
import Foundation
import LullCore
import LullDurable
import Testing

@testable import LullSQLite

/// A file that cannot be used is refused with a clear message, and not changed.
@Suite struct OpeningTests {
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    /// Returns the message with which a file is refused; nil if it is opened.
    private func refusal(_ change: (inout SQLiteFile.Options) -> Void = { _ in }, at path: String? = nil) -> String? {
        var options = SQLiteFile.Options(machine, patience: .milliseconds(20))
        change(&options)
        do {
            _ = try SQLiteFile(path ?? place.path, options)
            return nil
        } catch {
            return switch error {
            case .unusable(let why), .refused(let why): why
            default: "another error: \(error)"
            }
        }
    }

    private func make() throws {
        let file = try SQLiteFile(place.path, SQLiteFile.Options(machine))
        try file.open(try debounce(2))
        for number in 0..<200 { try file.submit(submission("key \(number)", String(repeating: "v", count: 100))) }
        file.cleanUp()
    }

    /// Expects that opening is refused and the file unchanged.
    private func expectRefusal(_ why: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: place.path))
        #expect(refusal() == "\(place.path) \(why)", sourceLocation: sourceLocation)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)) == before, sourceLocation: sourceLocation)
    }

    @Test func `a file that is not a database is refused and unchanged`() throws {
        try Data(String(repeating: "no database\n", count: 1000).utf8).write(to: URL(fileURLWithPath: place.path))
        try expectRefusal("is not a database of SQLite")
    }

    @Test(arguments: ["x", "not a database", String(repeating: "text", count: 40)])
    func `a file that is too short to be a database is refused and unchanged`(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: place.path))
        try expectRefusal("is not a database of SQLite")
    }

    @Test func `an empty file becomes a store`() throws {
        #expect(FileManager.default.createFile(atPath: place.path, contents: nil))
        #expect(refusal() == nil)
        #expect(try place.number("PRAGMA application_id") == Schema.applicationID)
    }

    @Test func `a database of another program with a log is refused and unchanged`() throws {
        let theirs = try RawConnection(place.path)
        try theirs.execute("PRAGMA journal_mode = WAL; CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        let log = { FileManager.default.contents(atPath: self.place.path + "-wal") }
        let before = log()
        #expect((before?.count ?? 0) > 0)
        try expectRefusal("is a database, but not one of Lull's")
        #expect(log() == before)
        #expect(try theirs.number("SELECT count(*) FROM theirs") == 1)
    }

    @Test(arguments: ["PRAGMA user_version = 1", "PRAGMA application_id = 7"])
    func `a database without tables that another program has marked is refused and unchanged`(_ mark: String) throws {
        try place.execute("CREATE TABLE gone (x); DROP TABLE gone; \(mark)")
        try expectRefusal("is a database, but not one of Lull's")
    }

    /// Without a log, the file is still quite empty; with one, another process has begun to create it.
    @Test(arguments: [false, true], 0..<4)
    func `a file that another process creates meanwhile is empty or a store`(_ hasLog: Bool, _ statements: Int) throws {
        if hasLog { try place.execute("PRAGMA journal_mode = WAL") }
        let options = SQLiteFile.Options(machine, patience: .milliseconds(20))
        let connection = try Connection(place.path, creates: true, options)
        let other = Intruder(after: statements) { [place] in _ = try? SQLiteFile(place.path, options) }
        try withExtendedLifetime(other) {
            other.follow(connection)
            let kind = try connection.kind()
            #expect(other.hasCome)
            #expect([.empty, .ours(version: Int64(Schema.migrations.count))].contains(kind))
        }
        connection.close()
        #expect(refusal() == nil)
    }

    /// Does something when a connection has begun some statements.
    private final class Intruder {
        private let body: () -> Void
        private var statements: Int
        private(set) var hasCome = false

        init(after statements: Int, _ body: @escaping () -> Void) {
            (self.statements, self.body) = (statements, body)
        }

        func follow(_ connection: Connection) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            sqlite3_trace_v2(
                connection.handle, UInt32(SQLITE_TRACE_STMT),
                { _, context, _, _ in
                    guard let context else { return 0 }
                    Unmanaged<Intruder>.fromOpaque(context).takeUnretainedValue().come()
                    return 0
                }, context)
        }

        private func come() {
            statements -= 1
            if statements >= 0 || hasCome { return }
            hasCome = true
            body()
        }
    }

    @Test func `a file that another program has locked is refused until it is free`() throws {
        try make()
        var other: RawConnection? = try RawConnection(place.path)
        try other?.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM tokens; COMMIT")
        try expectRefusal("is locked by another program for too long")
        other = nil
        #expect(refusal() == nil)
    }

    @Test func `a database of another program is refused and unchanged`() throws {
        try place.execute("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        try expectRefusal("is a database, but not one of Lull's")
        #expect(try place.number("SELECT count(*) FROM theirs") == 1)
        #expect(!FileManager.default.fileExists(atPath: place.path + "-want"))
    }

    @Test(arguments: [0, -3])
    func `a version that never existed is refused as damage`(_ version: Int) throws {
        try make()
        try place.execute("PRAGMA user_version = \(version)")
        try expectRefusal("is damaged: it holds the version \(version)")
    }

    @Test func `a quote of a damaged file is shortened to one line`() throws {
        try make()
        let schema = "CREATE TABLE work (\n[\(String(repeating: "0", count: 500))\n"
        try place.execute(
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = '\(schema)' WHERE name = 'work'")
        let why = try #require(refusal())
        #expect(why.hasPrefix("\(place.path) is damaged: ") && !why.contains("\n") && why.count < 400, "\(why)")
    }

    @Test func `a newer schema is refused with both versions`() throws {
        try make()
        try place.execute("PRAGMA user_version = 99")
        try expectRefusal(
            "was written by a newer version of Lull: its schema is 99, this version knows \(Schema.migrations.count)")
    }

    @Test func `a path that cannot be a file is refused and nothing is created`() throws {
        let none = place.directory + "/none/work.db"
        #expect(refusal(at: none) == "there is no directory \(place.directory)/none/")
        #expect(refusal(at: place.directory) == "\(place.directory) is a directory")
        #expect(refusal({ $0.creates = false }) == "there is no file \(place.path)")
        for name in [":memory:", "file:work.db", "file::memory:?cache=shared"] {
            #expect(refusal(at: name) == "\(name) is not a path: a store is a file, and is named by its path")
            #expect(!FileManager.default.fileExists(atPath: name))
        }
        #expect(refusal(at: "") == "the path of a store is empty, or holds a NUL")
        #expect(refusal(at: place.path + "\0.db") == "the path of a store is empty, or holds a NUL")
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test func `a damaged file is refused and unchanged`() throws {
        try make()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: place.path))
        // All pages but the first one, which identifies the file.
        try file.seek(toOffset: 4096)
        let size = try file.seekToEnd()
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size) - 4096))
        try file.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: place.path))
        let error = #expect(throws: DurableError.self) {
            let file = try SQLiteFile(place.path, SQLiteFile.Options(machine))
            try file.submit(submission("a", "one"))
        }
        #expect(error?.description.hasPrefix("\(place.path) is damaged: ") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)) == before)
    }

    @Test func `a file that another process locks for too long is refused`() throws {
        try make()
        let writerLock = try WriterLock(besides: place.path)
        try writerLock.acquire(within: .zero)
        #expect(refusal() == "\(place.path) is locked by another process for too long")
        writerLock.release()
        #expect(refusal() == nil)
    }

    @Test func `a submit is refused while another program writes to the file`() throws {
        let file = try SQLiteFile(place.path, SQLiteFile.Options(machine, patience: .milliseconds(20)))
        try file.open(try debounce(2))
        let other = try RawConnection(place.path)
        try other.execute("BEGIN IMMEDIATE")
        let error = DurableError.refused("\(place.path) is locked by another program for too long")
        #expect(throws: error) { try file.submit(submission("a", "one")) }
        #expect(try file.status()?.pending == 0)
        try other.execute("ROLLBACK")
        #expect(try file.submit(submission("a", "one")).generation == 1)
    }

    @Test func `a file is opened with the settings that durability needs`() throws {
        let file = try SQLiteFile(place.path, SQLiteFile.Options(machine))
        let connection = try #require(file.connection)
        #expect(try connection.text("PRAGMA journal_mode") == "wal")
        #expect(try connection.number("PRAGMA synchronous") == 2)
        #expect(try connection.number("PRAGMA wal_autocheckpoint") == 0)
        #expect(try connection.number("PRAGMA mmap_size") == 0)
        #expect(try connection.number("PRAGMA fullfsync") == 1)
        #expect(try connection.number("PRAGMA checkpoint_fullfsync") == 1)
    }
}
