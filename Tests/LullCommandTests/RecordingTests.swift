import Foundation
import TestSupport
import Testing

@Suite("Recording the input", .ownThreads)
struct RecordingTests {
    private func record(_ options: [String], _ input: String) throws -> (outcome: ToolProcess.Outcome, lines: [String])
    {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).jsonl")
        defer { try? FileManager.default.removeItem(at: path) }
        let outcome = try lull(options + ["--record", path.path], input: Array(input.utf8))
        let text = try String(contentsOf: path, encoding: .utf8)
        return (outcome, text.split(separator: "\n").map(String.init))
    }

    private func members(_ line: String) throws -> [String: String] {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return (object ?? [:]).mapValues { "\($0)" }
    }

    @Test func `every record is recorded without its value`() throws {
        let (outcome, lines) = try record(["filter", "--wait", "1s", "--key-field", "1"], "lamp 1\nlamp 2\nfan 3\n")
        #expect(outcome.output == "lamp 2\nfan 3\n")
        #expect(try lines.map { try members($0)["key"] } == ["lamp", "lamp", "fan"])
        #expect(!lines.contains { $0.contains("value") })
    }

    @Test func `values are recorded on request`() throws {
        let (_, lines) = try record(["filter", "--wait", "1s", "--record-values"], "a \"b\"\n")
        #expect(try lines.map { try members($0)["value"] } == ["a \"b\""])
    }

    @Test func `hashed keys only show which keys are equal`() throws {
        let options = ["filter", "--wait", "1s", "--key-field", "1", "--hash-keys"]
        let keys = try record(options, "lamp 1\nlamp 2\nfan 3\n").lines.map { try members($0)["key"] ?? "" }
        #expect(keys.count == 3)
        #expect(keys[0] == keys[1])
        #expect(keys[0] != keys[2])
        #expect(keys.allSatisfy { $0.count == 16 })
        // The hashes of two recordings differ.
        let others = try record(options, "lamp 1\n").lines.map { try members($0)["key"] ?? "" }
        #expect(others[0] != keys[0])
    }

    @Test func `a recording is a trace`() throws {
        let (_, lines) = try record(["filter", "--throttle", "1s", "--record-values"], "a\nb\n\n")
        #expect(lines.count == 3)
        let outcome = try lull(["tune", "--format", "json", "-"], input: Array(lines.joined(separator: "\n").utf8))
        #expect(outcome.output.hasPrefix("{\"submits\":3,\"keys\":1,"))
    }

    @Test(arguments: [
        "--after-field 2", "--after-field 2 --delay-rule extend --spacing 100ms",
        "--after-field 2 --edges both --combine collect --max-wait 50ms",
    ])
    func `a recording with delays is replayed exactly`(_ options: String) throws {
        let policy = "--wait 20ms \(options)".split(separator: " ").map(String.init)
        let input = "a 70ms\nb 1ms\na 5ms\nc 0\nb 0.03s\nc 1500us\na 40ms\nd soon\nd 1ms\n"
        let live = try record(
            ["filter", "--key-field", "1", "--format", "jsonl", "--at-end", "wait", "--record-values"] + policy, input)
        #expect(live.outcome.errorLines.count == 1)
        let waits = try live.lines.map { try members($0)["wait"] }
        #expect(waits == ["70ms", "1ms", "5ms", "0s", "30ms", "1500us", "40ms", "1ms"])
        let rest = policy.filter { !$0.hasPrefix("--after-field") && $0 != "2" }
        let replayed = try lull(
            ["simulate", "--format", "jsonl"] + rest + ["-"], input: Array(live.lines.joined(separator: "\n").utf8))
        #expect(replayed.ending == 0)
        #expect(replayed.lines == live.outcome.lines)
        #expect(replayed.lines.count >= 4)
    }

    @Test func `a delay that never ends is recorded`() throws {
        let (_, lines) = try record(["filter", "--wait", "0", "--after-field", "1"], "9999999h\n")
        let replayed = try lull(
            ["simulate", "--wait", "0", "--at-end", "flush", "--format", "jsonl", "-"], input: Array(lines[0].utf8))
        #expect(replayed.output.contains(#""edge":"flush""#), "\(lines) \(replayed.errors)")
    }

    #if os(Linux)
        @Test func `a failed recording does not stop the rest`() throws {
            let outcome = try lull(["filter", "--wait", "1s", "--record", "/dev/full"], input: Array("a\n".utf8))
            #expect(outcome.output == "a\n")
            #expect(outcome.errors == "lull: /dev/full: cannot write: No space left on device\n")
            #expect(outcome.ending == 74)
        }
    #endif

    @Test func `an existing file is not overwritten`() throws {
        let file = try TemporaryFile("a day of work\n")
        let outcome = try lull(["filter", "--wait", "1s", "--record", file.path], input: Array("a\n".utf8))
        #expect(outcome.ending == 74)
        #expect(outcome.output == "")
        #expect(
            outcome.errors == "lull: \(file.path) exists already: --record overwrites no file, so give another name\n"
        )
        #expect(file.text == "a day of work\n")
    }

    @Test func `only the user can read a recording`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try lull(["filter", "--wait", "1s", "--record", path], input: Array("a\n".utf8)).ending == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a recording may go into a pipe`() throws {
        let script = "echo a | \(ToolProcess.path) filter --wait 1ms --record >(cat >&2) >/dev/null; wait"
        let outcome = try ToolProcess(["-c", script], program: "/bin/bash").finish()
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("{\"at\":"))
    }
}
