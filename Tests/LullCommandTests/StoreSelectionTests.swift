import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// Flushing, cancelling, retrying and discarding what meets conditions.
@Suite("Selections", .ownThreads)
struct StoreSelectionTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    private func submit(_ keys: String...) throws {
        for key in keys { _ = try store.run("submit --wait 1h \(key) 1") }
    }

    /// Lets a run of each key fail, the first with status 1 and so on.
    private func fail(_ keys: String..., attempts: Int = 1) throws {
        for (index, key) in keys.enumerated() {
            _ = try store.run(
                "run --wait 0 --key-field 1 --attempts \(attempts) --at-end flush",
                ["--", "sh", "-c", "exit \(index + 1)"], input: "\(key)\n")
        }
    }

    private func keys() throws -> [String] {
        try store.run("list").lines.dropFirst().map { String($0.prefix { $0 != " " }) }
    }

    @Test
    func `keys with a prefix are flushed or cancelled, and the others stay`() throws {
        try submit("a/1", "a/2", "b/1", "b/2", "c")
        #expect(try store.run("flush --prefix a/").output == "flushed 2 keys\n")
        #expect(try store.status() == ["pending": 3, "ready": 2])
        #expect(try store.run("cancel --prefix b --json").output == "{\"cancelled\":2}\n")
        #expect(try keys() == ["a/1", "a/2", "c"])
        // Nothing of the kind is left.
        #expect(try store.run("cancel --prefix b").output == "cancelled 0 submits\n")
        #expect(try store.run("cancel --prefix c --older-than 1h").output == "cancelled 0 submits\n")
        #expect(try store.run("cancel --older-than 0 --all").output == "cancelled 3 submits\n")
        #expect(try store.status() == [:])
    }

    @Test
    func `keys that wait for another attempt are flushed by their error`() throws {
        try fail("a", "b", "c", attempts: 5)
        #expect(try store.status() == ["retrying": 3])
        #expect(try store.run("flush --error", ["with status 2"]).output == "flushed 1 key\n")
        #expect(try store.run("cancel --error status --prefix c").output == "cancelled 1 submit\n")
        #expect(try keys() == ["a", "b"])
    }

    @Test
    func `dead runs are retried and discarded by their key, age and error`() throws {
        try fail("a", "b", "c", "d")
        #expect(try store.status() == ["dead": 4])
        #expect(try store.run("dead discard --error", ["status 1"]).output == "discarded 1 dead run\n")
        #expect(try store.run("dead retry --prefix b").output == "retried 1 dead run\n")
        let none = try store.run("dead retry --older-than 1h")
        #expect(none.ending == 1 && none.errors == "lull: default has no dead runs of that kind\n")
        _ = try store.run("submit --after 1h c 2")
        let outcome = try store.run("dead retry --all")
        #expect(outcome.output == "retried 1 dead run\n" && outcome.ending == 1)
        #expect(outcome.errors == "lull: 1 dead run was not retried: its key has a newer value\n")
        #expect(try store.run("dead discard --all --yes").output == "discarded 1 dead run\n")
        #expect(try store.status() == ["pending": 1, "retrying": 2])
    }

    @Test(arguments: [
        ("flush a --all", "KEY does not go with --all, --prefix, --older-than and --error"),
        ("cancel a --prefix a", "KEY does not go with"), ("dead retry 1 --error x", "RUN does not go with"),
        ("dead list --prefix x", "--all, --prefix, --older-than and --error are only for retry and discard"),
        ("flush --prefix=", "--prefix must not be empty"), ("flush --older-than 5", "--older-than: \"5\" has no unit"),
        ("touch a --prefix a", "--prefix"),
    ])
    func `what does not go together is refused`(_ options: String, _ message: String) throws {
        let outcome = try store.run(options)
        #expect(outcome.ending == 64 && outcome.errors.contains(message), "\(outcome.errors)")
    }

    // MARK: - The question

    /// Runs a command at a terminal, which answers its question.
    ///
    /// - Returns: Also what the terminal showed.
    private func ask(_ options: [String], answer: String?) throws -> (outcome: ToolProcess.Outcome, shown: String) {
        let terminal = try PseudoTerminal()
        let process = try ToolProcess(
            options + store.option, input: .file(terminal.path, O_RDWR), errors: .file(terminal.path, O_RDWR))
        if let answer {
            try eventually("it asks") { terminal.shown().hasSuffix("[y/N] ") }
            terminal.type(answer + "\n")
        }
        return (try process.finish(), terminal.shown())
    }

    @Test
    func `a terminal is asked with the number first, and only yes goes on`() throws {
        try submit("a", "b", "c")
        for answer in ["", "n", "never", "yesterday"] {
            let (outcome, shown) = try ask(["cancel"], answer: answer)
            #expect(outcome.ending == 1 && outcome.output == "")
            #expect(shown.hasPrefix("lull: cancel 3 keys of default? [y/N] "), "\(shown)")
            #expect(shown.hasSuffix("lull: nothing was changed\n"), "\(shown)")
        }
        #expect(try store.status() == ["pending": 3])
        let flushed = try ask(["flush", "--prefix", "a"], answer: "y")
        #expect(flushed.outcome.ending == 0 && flushed.outcome.output == "flushed 1 key\n")
        #expect(flushed.shown.hasPrefix("lull: flush 1 key of default? [y/N] "), "\(flushed.shown)")
        let cancelled = try ask(["cancel", "--all"], answer: "YES")
        #expect(cancelled.outcome.output == "cancelled 3 submits\n")
    }

    @Test
    func `nothing is asked for given keys, for nothing, and with --yes`() throws {
        try submit("a", "b")
        #expect(try ask(["flush", "a"], answer: nil).shown == "")
        #expect(try ask(["flush", "--prefix", "x"], answer: nil).outcome.output == "flushed 0 keys\n")
        let (outcome, shown) = try ask(["cancel", "--yes"], answer: nil)
        #expect(outcome.output == "cancelled 2 submits\n" && shown == "")
    }

    @Test
    func `the number of dead runs is asked, too`() throws {
        try fail("a", "b")
        let (kept, shown) = try ask(["dead", "discard", "--all"], answer: "no")
        #expect(kept.ending == 1 && shown.hasPrefix("lull: discard 2 dead runs of default? [y/N] "), "\(shown)")
        #expect(
            try ask(["dead", "retry", "--error", "status 2"], answer: "y").outcome.output == "retried 1 dead run\n")
        #expect(try store.status() == ["retrying": 1, "dead": 1])
    }
}
