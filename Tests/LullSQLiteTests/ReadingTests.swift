import FaultVFS
import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// A reader changes nothing, needs no permission but to read, and waits for no other process.
@Suite(.ownThreads) struct ReadingTests {
    private let disk = FaultyDisk()
    private let place: Place
    private let machine = Machine()
    private let options: SQLiteFile.Options

    init() throws {
        place = try Place()
        options = SQLiteFile.Options(machine, patience: .milliseconds(20))
    }

    private func make(vfs: String? = nil) throws -> SQLiteFile {
        var options = options
        options.vfs = vfs
        let file = try SQLiteFile(place.path, options)
        try file.open(try debounce(2))
        try file.submit(submission("a", "one"))
        return file
    }

    private func status(vfs: String? = nil) throws -> DurableStatus {
        var options = options
        options.vfs = vfs
        return try SQLiteReader(place.path, options).read { transaction throws(DurableError) in
            try transaction.status(of: "n")
        }
    }

    /// Returns the contents of all files in the directory.
    ///
    /// - Parameter index: Whether to include the index of the log, which connections of one process share.
    private func contents(index: Bool = true) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: place.directory)
            .filter { index || !$0.hasSuffix("-shm") }
        return Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, FileManager.default.contents(atPath: place.directory + "/" + name) ?? Data())
            })
    }

    /// Reads the file as a user who owns nothing, in a directory that cannot be written.
    private func statusAsNobody() throws -> DurableStatus? {
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: place.directory) where !name.hasSuffix("-want") {
            try files.setAttributes([.posixPermissions: 0o444], ofItemAtPath: place.directory + "/" + name)
        }
        try files.setAttributes([.posixPermissions: 0o555], ofItemAtPath: place.directory)
        defer { try? files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.directory) }
        guard fault_act_as_nobody(true) else { return nil }
        defer { _ = fault_act_as_nobody(false) }
        return try status()
    }

    @Test func `reading changes nothing and creates no file`() throws {
        let file = try make()
        let before = try contents(index: false)
        #expect(try status().pending == 1)
        #expect(try contents(index: false) == before)
        machine.reboot(as: "second", wallPasses: 10)
        #expect(try status().ready == 1)
        #expect(try contents(index: false) == before)
        #expect(try file.status()?.ready == 1)
    }

    @Test func `the time advances without being written`() throws {
        let file = try make()
        machine.pass(1)
        #expect(try status().pending == 1)
        machine.pass(4)
        #expect(try status().ready == 1)
        #expect(try status().oldestDue == .seconds(3))
        let highest = try place.number("SELECT highest FROM meta")
        #expect(highest == 0)
        withExtendedLifetime(file) {}
    }

    @Test func `reading makes no writing calls and works on a full or failing disk`() throws {
        let file = try make(vfs: disk.name)
        let writing: FaultyDisk.Calls = [.write, .sync, .truncate, .delete]
        let before = disk.calls(writing)
        for effect in [FaultyDisk.Effect.full, .error] {
            disk.arm(effect, at: writing, lasts: true)
            #expect(try status(vfs: disk.name).pending == 1)
            #expect(throws: DurableError.self) { try file.submit(submission("a", "two")) }
            let afterSubmit = disk.calls(writing)
            #expect(try status(vfs: disk.name).pending == 1)
            #expect(disk.calls(writing) == afterSubmit)
            disk.mend()
        }
        #expect(disk.calls(writing) > before)
    }

    @Test func `a stuck writer does not block reading`() throws {
        let file = try make()
        let writerLock = try WriterLock(besides: place.path)
        try writerLock.acquire(within: .zero)
        defer { writerLock.release() }
        let other = try RawConnection(place.path)
        try other.execute("BEGIN IMMEDIATE; DELETE FROM work")
        #expect(try status().pending == 1)
        try other.execute("ROLLBACK")
        withExtendedLifetime(file) {}
    }

    @Test func `a user without permission to write reads a file in use`() throws {
        let file = try make()
        let status = try statusAsNobody()
        #expect(status == nil || status?.pending == 1)
        withExtendedLifetime(file) {}
    }

    @Test(arguments: [true, false])
    func `a user without permission to write reads a file not in use`(_ isClosed: Bool) throws {
        var file: SQLiteFile? = try make()
        if isClosed { file?.cleanUp() }
        file = nil
        let before = try contents()
        let status = try statusAsNobody()
        #expect(status == nil || status?.pending == 1)
        #expect(try contents() == before)
    }

    @Test(arguments: [true, false])
    func `a copy without the index of the log can be read`(_ hasLog: Bool) throws {
        var file: SQLiteFile? = try make()
        if !hasLog { file?.cleanUp() }
        file = nil
        try FileManager.default.removeItem(atPath: place.path + "-shm")
        if !hasLog { try FileManager.default.removeItem(atPath: place.path + "-wal") }
        let before = try contents()
        #expect(try status().pending == 1)
        #expect(try contents() == before)
        let unprivileged = try statusAsNobody()
        #expect(unprivileged == nil || unprivileged?.pending == 1)
        #expect(try contents() == before)
    }

    @Test func `an index without a log creates no log`() throws {
        try make().cleanUp()
        try FileManager.default.removeItem(atPath: place.path + "-wal")
        let before = try contents()
        #expect(try status().pending == 1)
        #expect(try contents() == before)
    }

    @Test func `a half-written index is rebuilt`() async throws {
        let store = try await SQLiteStore(path: place.path)
        let debouncer = try await DurableDebouncer<String, String>(for: .zero, namespace: "kill", in: store)
        try await debouncer.submit("value", for: "key")
        await store.close()
        let log = place.directory + "/log"
        let child = try Child("work", place.path, log, "1")
        var lines = Lines(log)
        try await lines.wait(for: 1)
        // The child has the file open, and does not rebuild the index itself. In the middle of a commit or a checkpoint
        // it would hold a lock that is needed to rebuild it.
        let others = try RawConnection(place.path)
        try await waitUntil {
            child.stop()
            if try (try? others.execute("BEGIN IMMEDIATE; ROLLBACK")) != nil
                && others.number("PRAGMA wal_checkpoint") == 0
            {
                return true
            }
            child.signal(SIGCONT)
            return false
        }
        let index = try FileHandle(forUpdating: URL(fileURLWithPath: place.path + "-shm"))
        try index.write(contentsOf: Data(repeating: 0x5A, count: 96))
        try index.close()
        let names = try SQLiteReader(place.path).read { transaction throws(DurableError) in try transaction.names() }
        #expect(names == ["kill"])
    }

    @Test func `a query is repeated if another process opens the file`() throws {
        try make().cleanUp()
        for suffix in ["-shm", "-wal"] { try FileManager.default.removeItem(atPath: place.path + suffix) }
        var answers: [Int] = []
        let patient = SQLiteFile.Options(machine, patience: .seconds(30))
        let pending = try SQLiteReader(place.path, patient).read { transaction throws(DurableError) in
            let pending = try transaction.status(of: "n").pending
            answers.append(pending)
            if answers.count == 1 {
                let file = try SQLiteFile(place.path, options)
                try file.submit(submission("b", "two"))
                file.cleanUp()
            }
            return pending
        }
        #expect(pending == 2)
        #expect(answers == [1, 2])
    }

    @Test func `an older file is not changed but refused`() throws {
        try make().cleanUp()
        let before = try contents()
        var later = options
        later.migrations.append("CREATE TABLE later (x)")
        let error = #expect(throws: DurableError.self) {
            try SQLiteReader(place.path, later).read { transaction throws(DurableError) in
                try transaction.status(of: "n")
            }
        }
        let reason = "was written by an older version of Lull: its schema is \(Schema.migrations.count)"
        #expect(error?.description.contains(reason) == true)
        #expect(try contents() == before)
    }

    @Test func `a file that is no store is refused`() throws {
        #expect(throws: DurableError.unusable("there is no file \(place.path)")) { try status() }
        #expect(FileManager.default.createFile(atPath: place.path, contents: nil))
        #expect(throws: DurableError.unusable("\(place.path) is empty: nothing has been stored in it yet")) {
            try status()
        }
        try place.execute("CREATE TABLE theirs (x)")
        #expect(throws: DurableError.unusable("\(place.path) is a database, but not one of Lull's")) { try status() }
    }

    @Test func `an unknown namespace is an error`() throws {
        _ = try make()
        let reader = try SQLiteReader(place.path, options)
        #expect(throws: DurableError.noPolicy(namespace: "m")) {
            try reader.read { transaction throws(DurableError) in try transaction.status(of: "m") }
        }
        #expect(try reader.read { transaction throws(DurableError) in try transaction.names() } == ["n"])
    }

    @Test func `a path with characters that URIs reserve is a path`() throws {
        let path = place.directory + "/a?b#c%20 ü.db"
        let file = try SQLiteFile(path, options)
        try file.open(try debounce(2))
        let names = try SQLiteReader(path, options).read { transaction throws(DurableError) in try transaction.names() }
        #expect(names == ["n"])
    }
}
