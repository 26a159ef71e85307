import CLullCommand
import Foundation
import TestSupport
import Testing

/// The file of a store: read by others, deleted, too large, or no store at all.
@Suite("lull and the file of a store", .ownThreads)
struct StoreFileTests {
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("lull-\(UUID().uuidString)").path

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit {
            chmod(path, 0o755)
            try? FileManager.default.removeItem(atPath: path)
        }

        var file: String { path + "/store.db" }
        var store: [String] { ["--store", "sqlite:" + file] }
    }

    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    private func run(_ arguments: String..., input: String = "") throws -> ToolProcess.Outcome {
        try lull([arguments[0]] + folder.store + arguments.dropFirst(), input: Array(input.utf8))
    }

    private func submit(_ key: String, wait: String = "1h", _ value: String = "value") throws {
        let outcome = try run("submit", "--wait", wait, "--change-policy", key, value)
        #expect(outcome.ending == 0, "\(outcome.errors)")
    }

    // MARK: - Reading

    @Test func `read permission suffices for reading`() throws {
        try submit("a")
        let setpriv = "/usr/bin/setpriv"
        guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: setpriv) else { return }
        for suffix in ["", "-wal", "-shm"] { chmod(folder.file + suffix, 0o444) }
        chmod(folder.path, 0o555)
        for command in [["status"], ["dead", "list"]] {
            let process = try ToolProcess(
                ["--reuid=65534", "--regid=65534", "--clear-groups", ToolProcess.path] + command + folder.store,
                program: setpriv)
            let outcome = try process.finish()
            #expect(outcome.ending == 0)
            #expect(outcome.errors == "")
            #expect(outcome.lines.count == (command == ["status"] ? 2 : 1))
        }
    }

    @Test func `an unreadable file is named`() throws {
        try submit("a")
        let setpriv = "/usr/bin/setpriv"
        guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: setpriv) else { return }
        for suffix in ["", "-wal"] { chmod(folder.file + suffix, 0o644) }
        let process = try ToolProcess(
            ["--reuid=65534", "--regid=65534", "--clear-groups", ToolProcess.path, "status"] + folder.store,
            program: setpriv)
        let outcome = try process.finish()
        #expect(outcome.ending == 74)
        #expect(outcome.errors == "lull: \(folder.file)-shm cannot be read: Permission denied\n")
    }

    @Test func `reading creates no file`() throws {
        for arguments in [["status"], ["dead", "list"], ["compact"], ["flush"]] {
            let outcome = try lull(arguments + folder.store, input: [])
            #expect(outcome.ending == 74)
            #expect(
                outcome.errors == "lull: there is no file \(folder.file): lull submit, run, filter or work creates it, "
                    + "with a policy such as --wait 5s\n")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test(arguments: ["sqlite::memory:", "sqlite:file:store.db?mode=memory", "sqlite:file:store.db"])
    func `names with another meaning to SQLite are refused`(_ url: String) throws {
        for arguments in [
            ["submit", "--wait", "1s", "key", "value"], ["status"], ["filter", "--wait", "1s"], ["compact"],
        ] {
            let outcome = try lull(arguments + ["--store", url], input: [])
            #expect(outcome.ending == 64)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.errors.contains("sqlite:PATH"), "\(outcome.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: ":memory:"))
    }

    // MARK: - A file that is deleted

    @Test(arguments: [true, false])
    func `a worker reports the deletion of its file and ends`(_ isBusy: Bool) throws {
        try submit("a", wait: isBusy ? "0" : "1h")
        let process = try ToolProcess(
            ["work"] + folder.store + ["--jobs", "1", "--", "sh", "-c", "echo started; exec sleep 600"])
        if isBusy {
            #expect(try process.line() == "started")
        } else {
            // When its locks exist, it has opened the file and waits for work.
            try submit("b", wait: "0")
            #expect(try process.line() == "started")
        }
        let start = ContinuousClock.now
        try FileManager.default.removeItem(atPath: folder.file)
        let outcome = try process.finish()
        #expect(outcome.ending == 74)
        #expect(
            outcome.errors.contains("lull: \(folder.file) is gone (moved or deleted): put it back, "),
            "\(outcome.errors)")
        // One second, and the time that the command takes to end; a busy machine gets much more.
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func `records read after the file was replaced are not acknowledged`() throws {
        let process = try ToolProcess(["run", "--wait", "1h"] + folder.store + ["--", "cat"])
        process.send("one\n")
        try eventually("the record is in the store") { (try? run("status").output.contains("default")) == true }
        try eventually("it is pending") { (try? run("status", "--json").output.contains("\"pending\":1")) == true }
        let copy = folder.path + "/copy"
        try FileManager.default.copyItem(atPath: folder.file, toPath: copy)
        #expect(rename(copy, folder.file) == 0)
        process.send("two\n")
        let outcome = try process.finish()
        #expect(outcome.ending == 74)
        #expect(outcome.errors.contains("\(folder.file) was replaced by another file while it was in use"))
    }

    // MARK: - Compacting

    @Test func `compacting reports the reclaimed space`() throws {
        let lines = (0..<2000).map { "key\($0) \(String(repeating: "v", count: 1000))" }.joined(separator: "\n")
        // The store is empty now.
        let filled = try run("filter", "--wait", "1h", "--key-field", "1", "--at-end", "drop", input: lines)
        #expect(filled.ending == 0, "\(filled.errors)")
        let outcome = try run("compact")
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        #expect(outcome.output.hasPrefix("reclaimed "), "\(outcome.output)")
        #expect(try run("compact").output.hasPrefix("nothing to reclaim: "))
        #expect(try run("compact", "--namespace", "x").ending == 64)
        #expect(try run("compact", "x").ending == 64)
    }

    @Test func `killing a compaction does no harm`() throws {
        try submit("first", wait: "10ms")
        let worker = try ToolProcess(["work"] + folder.store + ["--jobs", "2", "--", "sh", "-c", "echo $LULL_KEY"])
        #expect(try worker.line() == "first")
        let lines = (0..<3000).map { "key\($0) \(String(repeating: "v", count: 2000))" }.joined(separator: "\n")
        var submitted: Set<String> = []
        for number in [0, 2, 5] {
            let filled = try lull(
                ["filter"] + folder.store
                    + ["--namespace", "big", "--wait", "1h", "--key-field", "1", "--at-end", "drop"],
                input: Array(lines.utf8))
            #expect(filled.ending == 0, "\(filled.errors)")
            let compacting = try ToolProcess(["compact"] + folder.store)
            try submit("key\(number)", wait: "10ms")
            submitted.insert("key\(number)")
            // A while later.
            for _ in 0..<number { _ = try run("status") }
            compacting.signal(SIGKILL)
            _ = try compacting.end()
        }
        var executed: Set<String> = []
        while executed != submitted { executed.insert(try worker.line()) }
        #expect(try run("compact").ending == 0)
        worker.signal(SIGTERM)
        let outcome = try worker.finish()
        #expect(outcome.errors == "")
        #expect(try run("status", "--namespace", "default").output.contains("default"))
    }
}
