import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// Runs that have failed for good.
@Suite("lull dead", .ownThreads)
struct StoreDeadTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    @Test func `dead runs are listed, retried and discarded`() throws {
        _ = try store.run(
            "run --wait 0 --key-field 1 --attempts 1 --jobs 1 --at-end flush", ["--", "false"],
            input: "a 1\nb 2\nc 3\n")
        let list = try store.run("dead list").lines
        #expect(list.count == 4)
        #expect(list[0].split(separator: " ").prefix(4) == ["run", "key", "submits", "attempts"])
        // A store on a server has given numbers before, and starts what fell due together in any order.
        let runs = Dictionary(
            uniqueKeysWithValues: list.dropFirst().map { line in
                let columns = line.split(separator: " ")
                #expect(columns.prefix(4).suffix(2) == ["1", "1"], "\(line)")
                #expect(line.hasSuffix("false failed with status 1"))
                return (columns[1], columns[0])
            })
        let (a, b, c) = try (#require(runs["a"]), #require(runs["b"]), #require(runs["c"]))
        let first = try #require(try store.run("dead list --json").lines.first { $0.contains(#""key":"a""#) })
        #expect(first.hasPrefix(#"{"run":\#(a),"key":"a","values":["a 1"],"submits":1,"attempts":1,"#), "\(first)")
        #expect(try store.run("dead discard \(a)").output == "discarded 1 dead run\n")
        #expect(try store.run("dead retry \(b)").output == "retried 1 dead run\n")
        // The key has a newer value: the old one must not overwrite it.
        _ = try store.run("submit --after 1h c 4")
        let refused = try store.run("dead retry \(c) 99999999")
        #expect(refused.ending == 1)
        #expect(
            refused.errorLines == [
                "lull: run \(c) was not retried: its key has a newer value",
                "lull: run 99999999 is not a dead run of default",
            ])
        #expect(try store.status() == ["pending": 1, "retrying": 1, "dead": 1])
    }

    /// An attempt whose worker was killed counts, and only the next worker can report it.
    @Test func `a run whose last worker was killed is reported dead`() throws {
        let first = try store.start(
            "run --wait 0 --key-field 1 --lease 1s", ["--", "sh", "-c", "echo begun; sleep 600"])
        first.send("a\n")
        #expect(try first.line() == "begun")
        first.signal(SIGKILL)
        _ = try first.end()
        let second = try store.start("work --attempts 1", ["--", "true"])
        try eventually("the run is dead") { (try? store.status()) == ["dead": 1] }
        second.signal(SIGTERM)
        let errors = try second.finish().errorLines
        let listed = try #require(try store.run("dead list").lines.last)
        #expect(listed.hasSuffix("the worker's lease expired"))
        let run = listed.prefix { $0 != " " }
        #expect(errors == ["lull: key a, run \(run): dead after attempt 1: the worker's lease expired"])
    }

    @Test func `all dead runs are retried or discarded together`() throws {
        func fail() throws {
            _ = try store.run(
                "run --wait 0 --key-field 1 --attempts 1 --at-end flush", ["--", "false"], input: "a\nb\nc\n")
        }
        try fail()
        #expect(try store.run("dead retry --all").output == "retried 3 dead runs\n")
        #expect(try store.status() == ["retrying": 3])
        let worker = try store.start("work --attempts 1", ["--", "false"])
        try eventually("they are dead again") { (try? store.status()) == ["dead": 3] }
        worker.signal(SIGTERM)
        _ = try worker.finish()
        #expect(try store.run("dead discard --all").output == "discarded 3 dead runs\n")
        #expect(try store.status() == [:])
        let none = try store.run("dead retry --all")
        #expect(none.ending == 1)
        #expect(none.errors == "lull: default has no dead runs\n")
    }

    @Test func `a person sees the end of the last error line, and a program all of the error`() {
        func shown(_ error: String) -> String { Table.cell(ofError: error, isCut: true) }
        #expect(shown("make failed with status 2: one\ntwo") == "two")
        #expect(shown("make failed with status 2") == "make failed with status 2")
        #expect(shown("a\u{1B}[2Jb") == "a?[2Jb")
        #expect(shown(String(repeating: "x", count: 60)) == String(repeating: "x", count: 60))
        let long = "make failed: " + String(repeating: "x", count: 70) + "end"
        #expect(shown(long).count == 60 && shown(long).hasSuffix("xend"))
        #expect(shown("") == "")
        #expect(Table.cell(ofError: long + "\ntwo", isCut: false) == long + " / two")
    }

    @Test func `a dead run is not retried while its key has another run`() throws {
        _ = try store.run("run --wait 0 --combine collect --attempts 1", ["--", "false"], input: "1\n")
        _ = try store.run("run --wait 0 --combine collect --at-end wait", ["--", "false"], input: "2\n")
        #expect(try store.status() == ["retrying": 1, "dead": 1])
        let run = try #require(try store.run("dead list").lines.last?.prefix { $0 != " " })
        let refused = try store.run("dead retry \(run)")
        #expect(refused.ending == 1)
        #expect(refused.errors == "lull: run \(run) was not retried: its key has another run\n")
        #expect(try store.status() == ["retrying": 1, "dead": 1])
    }
}
