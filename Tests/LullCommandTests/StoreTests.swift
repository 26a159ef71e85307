import CLullCommand
import Foundation
import TestSupport
import Testing

/// `lull filter` and `lull run` with a store, whose pending values outlive the process.
@Suite("lull with a store", .ownThreads)
struct StoreTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    @Test func `the last record of each key is written and the store is empty`() throws {
        let outcome = try store.run("filter --wait 1h --key-field 1 --at-end flush", input: "lamp 1\nlamp 2\nfan 1\n")
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        #expect(outcome.lines == ["lamp 2", "fan 1"])
        #expect(try store.status() == [:])
    }

    @Test func `the delay of a record is that of its submit`() throws {
        let outcome = try store.run(
            "filter --wait 1h --key-field 1 --after-field 2 --at-end wait", input: "lamp 300ms\nfan 0\n")
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["fan 0", "lamp 300ms"])
    }

    @Test func `collected records come together`() throws {
        let outcome = try store.run(
            "filter --wait 1h --combine collect --format jsonl --at-end flush", input: "a\n\nb\n")
        #expect(outcome.lines.count == 1)
        #expect(outcome.output.contains(#""value":["a","","b"],"count":3,"edge":"flush""#), "\(outcome.output)")
    }

    @Test func `a batch is split without waiting for the lease to expire`() throws {
        let filtered = try store.run(
            "filter --wait 1h --combine collect --max-batch 2 --lease 1h --format jsonl --at-end flush",
            input: "a\nb\nc\nd\ne\n")
        #expect(filtered.ending == 0)
        #expect(filtered.lines.count == 3, "\(filtered.output)")
        for (line, value) in zip(
            filtered.lines, [#"["a","b"],"count":2"#, #"["c","d"],"count":2"#, #"["e"],"count":1"#])
        {
            #expect(line.contains(#""value":\#(value),"edge":"flush""#), "\(line)")
        }
        // The limit is stored with the namespace.
        let ran = try store.run(
            "run --lease 1h --at-end flush", ["--", "sh", "-c", "echo $LULL_COUNT $(cat)"], input: "a\nb\nc\n")
        #expect(ran.ending == 0)
        #expect(ran.lines == ["2 a b", "1 c"])
        #expect(try store.status() == [:])
    }

    /// The namespace's rule for combining holds, whether or not the options repeat it.
    @Test func `collected records are an array if only the store says collect`() throws {
        _ = try store.run("submit --wait 1h --combine collect k a")
        _ = try store.run("flush")
        #expect(try store.run("filter --format jsonl").output.contains(#""value":["a"],"count":1"#))
    }

    @Test func `unread output stays in the store`() throws {
        let process = try store.start("filter --wait 1h")
        process.closeOutput()
        process.send("a\n")
        let outcome = try process.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        // The record may have been in the store already, or not have been read; nothing that was read is lost.
        let left = try store.status()
        #expect(left == [:] || left == ["pending": 1])
    }

    @Test func `a failed command is retried in the next process`() throws {
        let first = try store.run("run --wait 0 --key-field 1", ["--", "false"], input: "lamp 1\n")
        #expect(first.ending == 1)
        #expect(first.errorLines.contains("lull: 1 run waits in the store for another attempt"), "\(first.errors)")
        #expect(try store.status() == ["retrying": 1])
        // A run that waits for another attempt does not keep a process alive; a flush makes it ready.
        #expect(try store.run("run --at-end wait", ["--", "false"]).ending == 0)
        _ = try store.run("flush")
        let second = try store.run("run", ["--", "sh", "-c", "echo $LULL_KEY $LULL_ATTEMPT $(cat)"])
        #expect(second.lines == ["lamp 2 lamp 1"] || second.lines == ["lamp 3 lamp 1"], "\(second.lines)")
        #expect(try store.status() == [:])
    }

    // MARK: - Large records

    @Test func `the longest record can be stored`() throws {
        let record = String(repeating: "x", count: 3 << 20)
        let outcome = try store.run("filter --wait 1h --at-end flush", input: record + "\n")
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        #expect(outcome.output.utf8.count == record.utf8.count + 1)
    }

    @Test func `a record that is too long is skipped and counted and sets the status`() throws {
        let long = String(repeating: "x", count: 16 << 20 + 1)
        let options = "filter --wait 1h --key-field 2 --at-end flush --stats"
        let outcome = try store.run(options, input: "a 1\n\(long)\nb\nc 3\n")
        #expect(outcome.ending == 65)
        #expect(outcome.lines == ["a 1", "c 3"])
        #expect(outcome.errorLines.first == "lull: line 2 skipped: it is longer than 16 MiB")
        #expect(outcome.errorLines.last?.hasSuffix(", skipped 2") == true, "\(outcome.errors)")
        // The same without a store.
        let memory = try lull(options.split(separator: " ").map(String.init), input: Array("b\n\(long)\nc 3\n".utf8))
        #expect(memory.ending == 65)
        #expect(memory.errorLines.last?.hasSuffix(", skipped 2") == true, "\(memory.errors)")
    }
}
