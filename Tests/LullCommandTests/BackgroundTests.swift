import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// What takes as long as a value is large (folding, encoding, writing) delays neither leases nor other keys.
@Suite("Work of a value's size", .ownThreads)
struct BackgroundTests {
    /// The input for a large value of the key "big" and, after it, a small one.
    private static func input(parts: Int) -> String {
        (0..<parts).map { "{\"id\":\"big\",\"m\($0)\":\($0)}\n" }.joined() + "{\"id\":\"small\"}\n"
    }

    /// What takes long to write as a string of JSON.
    private static let escaped = String(repeating: "\\", count: 14 << 20)

    @Test func `a key whose values take long to fold delays no other key`() throws {
        let arguments = ["--wait", "1h", "--key-json", "/id", "--combine", "merge-json"]
        let input = Array(Self.input(parts: 40_000).utf8)
        let filter = try lull(["filter"] + arguments, input: input)
        #expect(filter.lines.map { $0.prefix(12) } == [#"{"id":"small"#, #"{"id":"big","#])
        let run = try lull(
            ["run"] + arguments + ["--jobs", "2", "--", "sh", "-c", "echo $LULL_KEY $(wc -c)"], input: input)
        #expect(run.lines == ["small 15", "big \(filter.lines[1].utf8.count + 1)"])
    }

    @Test func `a value that takes long to encode delays no other key`() throws {
        let process = try ToolProcess(["filter", "--wait", "0", "--key-field", "1", "--format", "jsonl"])
        process.send("big \(Self.escaped)\nsmall 1\n")
        #expect(try process.line().contains(#""value":"small 1""#))
        // A signal ends the program at once if it comes twice, whatever is under way.
        process.signal(SIGTERM)
        process.signal(SIGINT)
        _ = try process.end()
    }

    @Test(.timeLimit(.minutes(2))) func `a worker keeps the lease of a value that takes long to encode`() throws {
        let store = try TestStore(.file)
        let filter = try ToolProcess(
            store.arguments("filter --wait 0 --lease 2s --key-field 1 --format jsonl --at-end wait", []),
            output: .file("/dev/null", O_WRONLY))
        filter.send("big \(Self.escaped)\n")
        try eventually("the run is claimed") { (try? store.status()) == ["running": 1] }
        let other = try store.start("work --lease 1s", ["--", "sh", "-c", "echo taken over"])
        #expect(try filter.finish().ending == 0)
        other.signal(SIGTERM)
        #expect(try other.finish().output == "")
    }

    @Test(.timeLimit(.minutes(1))) func `output that nobody reads delays no heartbeat`() throws {
        // Where what is written is not read, and so blocks who writes it. Both wait at the same time.
        let (pipe, terminal) = (try FullPipe(), try PseudoTerminal())
        let trials = try [pipe.path, terminal.path].map { path in
            let store = try TestStore(.file)
            let filter = try ToolProcess(
                store.arguments("filter --wait 0 --lease 2s --key-field 1", []),
                output: .file(path, O_WRONLY | O_NOCTTY))
            // More than a terminal takes.
            filter.send("a \(String(repeating: ".", count: 50_000))\n")
            try eventually("the run is claimed") { (try? store.status()) == ["running": 1] }
            let worker = try store.start("work --lease 1s", ["--", "sh", "-c", "echo $LULL_KEY $LULL_ATTEMPT"])
            return (path, store, filter, worker)
        }
        for (path, store, filter, worker) in trials {
            // Without a heartbeat the run would be another worker's by then.
            try store.waitUntilRunning("a", for: 3)
            filter.signal(SIGTERM)
            #expect(try filter.end().ending == -SIGTERM, "\(path)")
            // It has gone back without an attempt being spent.
            #expect(try worker.line() == "a 1", "\(path)")
            worker.signal(SIGTERM)
            _ = try worker.finish()
        }
    }

    #if os(Linux)
        @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")))
        func `folding parts with a new member each costs in proportion to their number`() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "lull-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appending(path: "../CountedBytes/CountedBytes.c").standardizedFileURL.path
            let library = folder + "/counted.so"
            let compiler = try ToolProcess(
                ["-shared", "-fPIC", "-O1", "-o", library, source], program: "/usr/bin/cc")
            #expect(try compiler.finish().ending == 0)

            func allocated(by parts: Int) throws -> Double {
                let outcome = try lull(
                    ["filter", "--wait", "1h", "--combine", "merge-json"], input: Array(Self.input(parts: parts).utf8),
                    environment: ["LD_PRELOAD": library, "LULL_COUNTED": folder + "/sum"])
                #expect(outcome.lines.count == 1)
                return try #require(Double(String(contentsOfFile: folder + "/sum", encoding: .utf8)))
            }
            let start = try allocated(by: 1)
            let (few, many) = (try allocated(by: 1000) - start, try allocated(by: 8000) - start)
            #expect(many < 10 * few, "\(few) bytes for 1,000 parts, \(many) for 8,000")
        }
    #endif
}

/// A pipe that is full, and that nobody reads.
final class FullPipe {
    private let ends: (reading: Int32, writing: Int32)
    /// What the process opens.
    var path: String { "/dev/fd/\(ends.writing)" }

    init() throws {
        ends = try LullCommand.Pipe.make(isBlocking: false)
        let page = [UInt8](repeating: 0x2E, count: 4096)
        while write(ends.writing, page, page.count) > 0 {}
        _ = fcntl(ends.writing, F_SETFD, 0)
        _ = fcntl(ends.writing, F_SETFL, fcntl(ends.writing, F_GETFL) & ~O_NONBLOCK)
    }

    deinit {
        close(ends.reading)
        close(ends.writing)
    }
}
