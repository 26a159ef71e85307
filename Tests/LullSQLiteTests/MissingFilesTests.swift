import Foundation
import Lull
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// A store whose files are deleted or replaced while it is in use: no submit is acknowledged that would be lost with
/// them.
@Suite(.ownThreads, .timeLimit(.minutes(2))) struct MissingFilesTests {
    private let disk = FaultyDisk()
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    private func make(vfs: String? = nil) throws -> SQLiteFile {
        var options = SQLiteFile.Options(machine)
        options.vfs = vfs
        let file = try SQLiteFile(place.path, options)
        try file.open(try debounce(0))
        try file.submit(submission("a", "one"))
        return file
    }

    private func remove(_ suffix: String = "") throws {
        try FileManager.default.removeItem(atPath: place.path + suffix)
    }

    @Test func `no submit to a deleted file is acknowledged`() throws {
        let file = try make()
        try remove()
        for _ in 0..<20 {
            let error = #expect(throws: DurableError.self) { try file.submit(submission("b", "two")) }
            switch error {
            case .unknown?, .unusable?: break
            default: Issue.record("\(error as Any)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test func `no submit to a replaced file is acknowledged`() throws {
        let file = try make()
        let copy = place.directory + "/copy"
        try FileManager.default.copyItem(atPath: place.path, toPath: copy)
        #expect(rename(copy, place.path) == 0)
        #expect(throws: DurableError.self) { try file.submit(submission("b", "two")) }
    }

    /// Right after a look, the next one of which comes later.
    @Test(arguments: ["-wal", "-shm"], [false, true])
    func `no submit to a file whose log was deleted or replaced is acknowledged`(
        _ suffix: String, _ isReplaced: Bool
    ) throws {
        let file = try make()
        try remove(suffix)
        if isReplaced { #expect(FileManager.default.createFile(atPath: place.path + suffix, contents: Data())) }
        for _ in 0..<20 {
            let error = #expect(throws: DurableError.self) { try file.submit(submission("b", "two")) }
            switch error {
            case .unknown?, .unusable?: break
            default: Issue.record("\(error as Any)")
            }
        }
    }

    /// Something that a user does to the files of a store.
    enum Overwriting: CaseIterable {
        case truncating, copying, cuttingLog
    }

    private func overwrite(_ way: Overwriting) throws {
        let other = place.directory + "/other.db"
        let suffix = way == .cuttingLog ? "-wal" : ""
        if way == .copying {
            let file = try SQLiteFile(other, SQLiteFile.Options(machine))
            try file.open(try debounce(0))
            file.cleanUp()
        }
        let contents = way == .copying ? FileManager.default.contents(atPath: other) : Data()
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: place.path + suffix))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: try #require(contents))
        try handle.close()
    }

    @Test(arguments: Overwriting.allCases)
    func `no submit to a file that was overwritten is acknowledged`(_ way: Overwriting) throws {
        let file = try make()
        try overwrite(way)
        for _ in 0..<20 {
            let error = #expect(throws: DurableError.self) { try file.submit(submission("b", "two")) }
            switch error {
            case .unknown?, .unusable?: break
            default: Issue.record("\(error as Any)")
            }
        }
    }

    @Test func `the log of one file is not taken for that of another`() throws {
        var file: SQLiteFile? = try make()
        try overwrite(.copying)
        // As if its process were killed.
        let log = FileManager.default.contents(atPath: place.path + "-wal")
        #expect((log?.count ?? 0) > 0)
        file = nil
        let path = place.path
        let why = DurableError.unusable(
            "\(path) is not the file for which \(path)-wal was written: put that back, or remove \(path)-wal and "
                + "\(path)-shm (or \(path)-write, if both were restored)")
        #expect(throws: why) { _ = try SQLiteFile(path, SQLiteFile.Options(machine)) }
        #expect(FileManager.default.contents(atPath: path + "-wal") == log)
        try remove("-wal")
        try remove("-shm")
        file = try SQLiteFile(path, SQLiteFile.Options(machine))
        #expect(try file?.keys() == [])
    }

    @Test func `a file that was only touched goes on`() throws {
        let file = try make()
        let time = Date(timeIntervalSince1970: 1)
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: place.path)
        try file.submit(submission("b", "two"))
        #expect(try file.keys() == ["a", "b"])
        #expect(throws: Never.self) { _ = try SQLiteFile(place.path, SQLiteFile.Options(machine)) }
    }

    @Test func `a new process refuses a file whose log was deleted under another one`() throws {
        let file = try make()
        try withExtendedLifetime(file) {
            try remove("-wal")
            let path = place.path
            let why = DurableError.unusable(
                "\(path)-wal was deleted or cut while it is in use: end what uses the store, and start again")
            #expect(throws: why) { _ = try SQLiteFile(path, SQLiteFile.Options(machine)) }
        }
    }

    /// A way in which a file is replaced under a store that opens it again.
    enum Replacing: CaseIterable {
        case moving, making, deletingLog, deletingIndex, movingFolder, changingLink
    }

    @Test(arguments: Replacing.allCases)
    func `a store that opens its file again records in the file at its path`(_ way: Replacing) async throws {
        let (folder, files) = (place.directory + "/folder", FileManager.default)
        try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
        func make(_ path: String) throws {
            let file = try SQLiteFile(path, SQLiteFile.Options())
            try file.open(try debounce(3600))
            file.cleanUp()
        }
        let (real, path) = (place.directory + "/real.db", folder + "/work.db")
        try make(way == .changingLink ? real : path)
        if way == .changingLink { try files.createSymbolicLink(atPath: path, withDestinationPath: real) }
        let other = place.directory + "/other.db"
        try make(other)
        var options = SQLiteFile.Options()
        options.creates = false
        let reports = Guarded<[DurableError?]>([])
        options.reopens = { report in reports.change { $0.append(report) } }
        let store = try await SQLiteStore(path, options)
        _ = try await store.submit(submission("before", "one"))
        switch way {
        case .moving: #expect(rename(other, path) == 0)
        case .making:
            for suffix in ["", "-wal", "-shm", "-want", "-write"] { try files.removeItem(atPath: path + suffix) }
            try make(path)
        case .deletingLog: try files.removeItem(atPath: path + "-wal")
        case .deletingIndex: try files.removeItem(atPath: path + "-shm")
        case .movingFolder:
            #expect(rename(folder, folder + "-old") == 0)
            try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try make(path)
        case .changingLink:
            try files.removeItem(atPath: path)
            try files.createSymbolicLink(atPath: path, withDestinationPath: other)
        }
        _ = try await store.submit(submission("after", "two"))
        #expect(reports.value.count == 2 && reports.value.first != nil && reports.value.last == .some(nil))
        await store.close()
        let keys = try SQLiteFile(path, SQLiteFile.Options()).keys()
        // What was in a log without a name is copied first.
        let keepsOld = [.deletingLog, .deletingIndex].contains(way)
        #expect(keys == (keepsOld ? ["after", "before"] : ["after"]))
    }

    @Test(arguments: ["", "-wal", "-shm", "-want", "-write"])
    func `a deleted file is noticed within a second`(_ suffix: String) throws {
        let file = try make()
        try remove(suffix)
        var noticed: DurableError?
        try blockUntil(atMost: .seconds(20)) {
            do throws(DurableError) { _ = try file.hasForeignCommits() } catch { noticed = error }
            return noticed != nil
        }
        #expect(
            noticed
                == .unusable(
                    "\(place.path)\(suffix) is gone (moved or deleted): put it back, or begin a new store, and "
                        + "start again"
                ))
        #expect(throws: DurableError.self) { try file.submit(submission("b", "two")) }
    }

    @Test func `a file that is put back is the store again`() throws {
        let file = try make()
        let away = place.directory + "/away"
        #expect(rename(place.path, away) == 0)
        #expect(throws: DurableError.self) { try file.submit(submission("b", "two")) }
        #expect(rename(away, place.path) == 0)
        #expect(throws: Never.self) { try file.submit(submission("b", "two")) }
    }

    @Test func `after a commit that failed no new file is made`() throws {
        let file = try make(vfs: disk.name)
        try remove()
        disk.arm(.error, at: .sync, lasts: true)
        let error = #expect(throws: DurableError.self) { try file.submit(submission("b", "two")) }
        disk.mend()
        #expect(error?.description.contains("\(place.path) is gone (moved or deleted)") == true, "\(error as Any)")
        #expect(throws: DurableError.self) { try file.submit(submission("b", "two")) }
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test(arguments: [true, false])
    func `an idle worker ends with an error`(_ isReplaced: Bool) async throws {
        let store = try await SQLiteStore(path: place.path)
        let debouncer = try await DurableDebouncer<String, String>(for: .seconds(1), namespace: "n", in: store)
        let working = Task { try await debouncer.run { _ in } }
        // The worker has found nothing, and waits.
        await letOthersRun()
        if isReplaced {
            let copy = place.directory + "/copy"
            try FileManager.default.copyItem(atPath: place.path, toPath: copy)
            #expect(rename(copy, place.path) == 0)
        } else {
            try remove()
        }
        let what =
            isReplaced
            ? "was replaced by another file while it was in use"
            : "is gone (moved or deleted): put it back, or begin a new store, and start again"
        await #expect(throws: DurableError.unusable("\(place.path) \(what)")) {
            try await working.value
        }
        await store.close()
    }

    @Test(arguments: ["work", "submit"])
    func `another process stops with an error`(_ role: String) async throws {
        let store = try await SQLiteStore(path: place.path)
        let debouncer = try await DurableDebouncer<String, String>(for: .zero, namespace: "kill", in: store)
        try await debouncer.submit("value", for: "key")
        let log = place.directory + "/log"
        let child = try Child(role, place.path, log, "1")
        var lines = Lines(log)
        try await lines.wait(for: 1)
        await store.close()
        try remove()
        child.wait()
        #expect(child.status == 74 << 8)
        try lines.read()
        let path = place.path
        #expect(
            lines.all.contains { $0.hasPrefix("error: ") && $0.contains("\(path) is gone") },
            "\(lines.all.suffix(3))")
    }
}
