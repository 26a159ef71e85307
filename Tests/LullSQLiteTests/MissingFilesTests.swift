import Foundation
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

    @Test(arguments: ["", "-wal", "-shm", "-want", "-write"])
    func `a deleted file is noticed within a second`(_ suffix: String) throws {
        let file = try make()
        try remove(suffix)
        let start = ContinuousClock.now
        var noticed: DurableError?
        while noticed == nil, ContinuousClock.now - start < .seconds(20) {
            do throws(DurableError) {
                _ = try file.hasForeignCommits()
                usleep(20_000)
            } catch {
                noticed = error
            }
        }
        #expect(
            noticed
                == .unusable(
                    "\(place.path)\(suffix) is gone (moved or deleted): put it back, or begin a new store, and start again"
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
        try await Task.sleep(for: .milliseconds(100))
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
