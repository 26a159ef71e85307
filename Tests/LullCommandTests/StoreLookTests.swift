import CLullCommand
import Foundation
import TestSupport
import Testing

/// The commands that read a store, and those that act on all of it.
@Suite("lull status, list, flush and cancel", .ownThreads)
struct StoreLookTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    @Test func `watching continues until a signal`() throws {
        _ = try store.run("submit --wait 1h k v")
        let watch = try store.start("status --watch")
        #expect(try watch.line().hasPrefix("namespace  pending"))
        #expect(try watch.line().hasPrefix("default          1"))
        _ = try store.run("submit other v")
        #expect(try watch.line().hasPrefix("namespace  pending"))
        #expect(try watch.line().hasPrefix("default          2"))
        watch.signal(SIGINT)
        #expect(try watch.finish().ending == -SIGINT)
    }

    @Test func `namespaces are separate`() throws {
        _ = try store.run("submit --namespace a --wait 1h k 1")
        _ = try store.run("submit --namespace b --throttle 1h --edges trailing k 1")
        let table = try store.run("status").lines
        #expect(table.count == 3)
        #expect(table[0].hasPrefix("namespace  pending  ready  running  retrying  dead  oldest"))
        #expect(table[1].hasPrefix("a  "))
        #expect(
            try store.run("status --namespace b --json").output.hasPrefix(
                #"{"namespace":"b","interval":3600,"pending":1,"#))
    }

    @Test func `a namespace that exceeds a limit fails the command`() throws {
        _ = try store.run("submit --namespace a --wait 1h k 1")
        _ = try store.run("submit --namespace b --wait 0 k 1")
        let quiet = try store.run("status --fail-if oldest>1h,dead>0,pending>1")
        #expect(quiet.ending == 0 && quiet.errors.isEmpty && quiet.lines.count == 3)
        let loud = try store.run("status", ["--fail-if", "oldest > 0, pending>0"])
        #expect(loud.ending == 1)
        #expect(loud.lines.count == 3)
        let messages = loud.errors.split(separator: "\n")
        #expect(messages.count == 2)
        #expect(messages.first == "lull: the namespace a: pending is 1, more than 0")
        #expect(messages.last?.hasPrefix("lull: the namespace b: oldest is ") == true)
        #expect(try store.run("status --namespace b --fail-if ready>0").ending == 1)
        #expect(try store.run("status --namespace b --fail-if ready>1").ending == 0)
    }

    @Test(arguments: [
        ("oldest", "\"oldest\" has no >: write a limit such as oldest>60s or dead>0"),
        ("age>1", "there is no figure \"age\": it can be pending, ready, running, retrying, dead, oldest or paused"),
        ("dead>1s", "dead is compared with a whole number, not with \"1s\""),
        ("oldest>60", "\"60\" has no unit"),
    ])
    func `an invalid limit is refused`(_ limit: String, _ message: String) throws {
        let outcome = try store.run("status --fail-if", [limit])
        #expect(outcome.ending == 64)
        #expect(outcome.errors.contains("--fail-if: " + message), "\(outcome.errors)")
    }

    // MARK: - list

    @Test func `keys are listed with their states`() throws {
        let gate = try Gate()
        _ = try store.run("submit --wait 3d waiting 1")
        _ = try store.run("submit waiting 2")
        let worker = try store.start(
            "work --jobs 2", ["--", "sh", "-c", "[ $0 = failing ] && exit 1; cat; \(gate.wait)", "{key}"])
        _ = try store.run("submit --after 0 running 1")
        #expect(try worker.line() == "1")
        _ = try store.run("submit running 2")
        _ = try store.run("submit --after 0 failing 1")
        try eventually("the command has failed") { (try? store.status()["retrying"]) == 1 }
        let lines = try store.run("list").lines
        #expect(lines[0] == "key      state            due in  submits  attempt", "\(lines)")
        #expect(
            lines[1].hasPrefix("failing  retrying         ") && lines[1].hasSuffix("        1        1"), "\(lines)")
        #expect(lines[2] == "running  running,pending      3d        2        1", "\(lines)")
        #expect(lines[3] == "waiting  pending              3d        2        -", "\(lines)")
        let objects = try store.run("list --json").lines
        #expect(
            objects[0].hasPrefix(
                #"{"key":"failing","pending":0,"pendingFor":null,"dueIn":null,"ready":0,"readyFor":null,"run":{"id":"#))
        #expect(
            objects[0].contains(
                #""state":"retrying","attempt":1,"snoozes":0,"submits":1,"runningFor":null,"retryIn":0."#),
            "\(objects)")
        #expect(objects[0].hasSuffix(#","worker":null,"leaseFor":null}}"#), "\(objects)")
        let number = try #require(try store.run("workers --json").lines.first?.firstMatch(of: /"worker":(-?[0-9]+)/)?.1)
        #expect(
            objects[1].contains(
                #""state":"running","attempt":1,"snoozes":0,"submits":1,"runningFor":"#), "\(objects)")
        #expect(objects[1].contains(#","retryIn":null,"error":null,"worker":\#(number),"leaseFor":"#), "\(objects)")
        let waiting =
            #/^{"key":"waiting","pending":2,"pendingFor":[0-9.]+,"dueIn":2591[0-9.]+,"ready":0,.*,"run":null}$/#
        #expect(objects[2].contains(waiting), "\(objects)")
        try gate.open()
        worker.signal(SIGTERM)
        _ = try worker.finish()
    }

    @Test func `a list can be limited`() throws {
        let keys = (0..<1500).map { "k\($0)" }
        _ = try store.run("filter --wait 1h --key-field 1", input: keys.map { $0 + "\n" }.joined())
        for limit in [1, 1000, 1200, 2000] {
            let listed = try store.run("list --limit \(limit)").lines.dropFirst().map {
                String($0.prefix { $0 != " " })
            }
            #expect(listed == Array(keys.sorted().prefix(limit)))
        }
        #expect(try store.run("list --limit 0").ending == 64)
    }

    @Test func `only the given keys are listed`() throws {
        for key in ["a", "b", "c"] { _ = try store.run("submit --wait 1h \(key) v") }
        let listed = try store.run("list c d a")
        #expect(listed.lines.dropFirst().map { $0.prefix(1) } == ["c", "a"])
        #expect(listed.ending == 1 && listed.errors == "lull: the key d has no work\n")
    }

    @Test func `what has ended is listed`() throws {
        _ = try store.run("submit --wait 1h replaced 1")
        let receipt = try store.run("submit --json --after 0 replaced 2").output
        let worker = try store.start("work", ["--", "sh", "-c", "test \"$(cat)\" = 3"])
        try blockUntil { (try store.run("list").output.contains("retrying")) }
        _ = try store.run("submit --after 0 replaced 3")
        try blockUntil { try store.run("list --ended").lines.count >= 3 }
        worker.signal(SIGTERM)
        _ = try worker.finish()
        _ = try store.run("submit dropped 1")
        _ = try store.run("cancel dropped")
        let lines = try store.run("list --ended").lines
        #expect(lines[0].hasPrefix("key       end   "))
        let ends = lines.dropFirst().map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(ends == ["dropped cancelled", "replaced completed", "replaced failed"])
        #expect(lines[3].contains("status 1"), "\(lines[3])")
        // The generation of a receipt is in its end.
        let generation = receipt.split(separator: "\"generation\":").last?.prefix { $0.isNumber } ?? ""
        let failed = try store.run("list --ended --json --limit 2 replaced").lines[1]
        #expect(failed.hasPrefix(#"{"key":"replaced","end":"failed","age":"#))
        #expect(failed.contains(",\(generation)],\"run\":"), "\(receipt) \(failed)")
        let coloured = try store.run("list --ended --color always").output
        #expect(coloured.contains("\u{1B}[1;33mfailed\u{1B}[0m"), "\(coloured)")
        let none = try store.run("list --ended nowhere")
        #expect(none.ending == 1 && none.errors == "lull: the key nowhere has no end that the store still has\n")
    }

    @Test func `what has completed has no error, whatever earlier attempts had`() throws {
        _ = try store.run("submit --wait 0 k v")
        let worker = try store.start("work", ["--", "sh", "-c", "test $LULL_ATTEMPT = 2"])
        try eventually("completed") { (try? store.status()) == [:] }
        worker.signal(SIGTERM)
        #expect(try worker.finish().errors.contains("attempt 1 failed"))
        #expect(try store.run("list --ended --json").output.contains(#""end":"completed""#))
        #expect(try store.run("list --ended --json").output.contains(#""error":null"#))
        #expect(try store.run("list --ended").lines.last?.hasSuffix("  -") == true)
    }

    @Test func `a status stands out where something is dead or paused`() throws {
        _ = try store.run("run --wait 0 --attempts 1 --at-end flush", ["--", "false"], input: "a\n")
        let dead = try store.run("status --color always").lines
        #expect(dead.last?.contains("  \u{1B}[1;31m1\u{1B}[0m  ") == true, "\(dead)")
        _ = try store.run("dead discard --all")
        #expect(try store.run("status --color always").lines.last?.contains("\u{1B}") == false)
        _ = try store.run("pause")
        #expect(try store.run("status --color always").output.contains("\u{1B}[1;33m"))
        #expect(try !store.run("status").output.contains("\u{1B}"))
    }

    #if os(Linux)
        @Test(arguments: [
            ("submit --json --wait 1h b v", "the value was recorded"), ("touch a", "touched 1 key"),
            ("flush a --json", "flushed 1 key"), ("cancel a", "cancelled 1 submit"), ("pause", "paused default"),
        ])
        func `what was done is no failure although it cannot be printed`(_ arguments: String, _ done: String) throws {
            _ = try store.run("submit --wait 1h a v")
            let process = try ToolProcess(
                store.arguments(arguments, []), input: .file("/dev/null", O_RDONLY),
                output: .file("/dev/full", O_WRONLY))
            let outcome = try process.finish()
            #expect(outcome.ending == 0)
            let why = "but that cannot be printed (cannot write: No space left on device)"
            #expect(outcome.errors == "lull: \(done), \(why)\n")
        }
    #endif

    @Test func `the first keys are watched until a signal`() throws {
        let keys = (10..<40).map { "k\($0)" }
        _ = try store.run("filter --wait 1h --key-field 1", input: keys.map { $0 + "\n" }.joined())
        let watch = try store.start("list --watch --limit 3")
        for _ in 0..<2 {
            #expect(try watch.line().hasPrefix("key  state"))
            for key in keys.prefix(3) { #expect(try watch.line().hasPrefix("\(key)  pending")) }
        }
        _ = try store.run("cancel k11")
        while try !watch.line().hasPrefix("k13  ") {}
        watch.signal(SIGINT)
        #expect(try watch.finish().ending == -SIGINT)
    }

    @Test(arguments: [40, 80])
    func `a list of many keys is one table on a terminal`(_ width: Int) throws {
        let keys = (0..<1500).map { $0 < 1000 ? "k\($0 + 1000)" : "long-key-that-comes-late-\($0)" }
        _ = try store.run("filter --wait 1h --key-field 1", input: keys.map { $0 + "\n" }.joined())
        let lines = try lull(["list"] + store.option, input: [], environment: ["COLUMNS": "\(width)"]).lines
        if width == 80 {
            #expect(lines.count == 1501)
            #expect(Set(lines.map { $0.count }).count == 1, "\(Set(lines.map { $0.count }))")
        } else {
            #expect(lines.filter { $0.hasPrefix("key      ") }.count == 1500)
            #expect(lines.allSatisfy { $0.count <= width })
        }
    }

    @Test func `no table is cut in a pipe`() throws {
        let namespace = String(repeating: "n", count: 38)
        _ = try store.run("submit --wait 1h --namespace \(namespace) k v")
        #expect(try store.run("status").output.contains("\(namespace)  "))
        let error = "the head, " + String(repeating: "x", count: 70)
        let key = String(repeating: "k", count: 60)
        _ = try store.run(
            "run --wait 0 --attempts 1 --key-field 1 --at-end flush",
            ["--", "sh", "-c", "echo \(error) >&2; exit 1"], input: "\(key)\n")
        let dead = try store.run("dead list").lines
        #expect(dead.count == 2)
        let whole = "sh failed with status 1: \(error)"
        #expect(dead.last?.contains(key) == true && dead.last?.hasSuffix(whole) == true, "\(dead)")
    }

    @Test func `keys are shown without control characters`() throws {
        let long = String(repeating: "é", count: 500)
        _ = try store.run("submit --wait 1h", ["\u{1B}[31mred\nline\u{9B}2J", ""])
        _ = try store.run("submit", [long, ""])
        let text = try store.run("list").output
        #expect(text.contains("?[31mred?line?2J  "), "\(text)")
        #expect(text.contains(long + "  "), "\(text)")
        let shown = try lull(["list"] + store.option, input: [], environment: ["COLUMNS": "100"]).output
        #expect(shown.contains(String(repeating: "é", count: 39) + "…  "), "\(shown)")
        #expect(try store.run("cancel", ["\u{1B}[1m"]).errors == "lull: the key ?[1m has nothing to cancel\n")
    }

    // MARK: - flush, cancel and forget

    @Test func `keys are flushed one by one or all`() throws {
        for key in ["a", "b", "c"] { _ = try store.run("submit --wait 1h \(key) \(key)") }
        let one = try store.run("flush b")
        #expect(one.output == "flushed 1 key\n")
        #expect(one.ending == 0)
        #expect(try store.status() == ["pending": 2, "ready": 1])
        // A key that has nothing is reported; the others are flushed nevertheless.
        let missing = try store.run("flush b nothing a")
        #expect(missing.ending == 1)
        #expect(missing.output == "flushed 1 key\n")
        #expect(
            missing.errorLines == [
                "lull: the key b has nothing to flush", "lull: the key nothing has nothing to flush",
            ])
        #expect(try store.run("flush --json").output == "{\"flushed\":1}\n")
        #expect(try store.status() == ["ready": 3])
        let none = try store.run("flush")
        #expect(none.ending == 0)
        #expect(none.output == "flushed 0 keys\n")
    }

    @Test func `keys are cancelled one by one or all`() throws {
        for key in ["a", "b", "c", "a", "-k"] { _ = try store.run("submit --wait 1h", ["--", key, "1"]) }
        #expect(try store.run("cancel a").output == "cancelled 2 submits\n")
        #expect(try store.run("cancel", ["--", "-k"]).output == "cancelled 1 submit\n")
        #expect(try store.run("cancel a").ending == 1)
        #expect(try store.run("cancel --json").output == "{\"cancelled\":2}\n")
        #expect(try store.status() == [:])
    }

    @Test func `a namespace is forgotten once it has no work`() throws {
        _ = try store.run("submit --wait 1h --namespace mails lamp 1")
        let kept = try store.run("forget --namespace mails")
        #expect(kept.ending == 1)
        #expect(kept.errors == "lull: the namespace mails stays, as it has 1 key pending: lull cancel drops that\n")
        _ = try store.run("cancel --namespace mails")
        let unnamed = try store.run("forget")
        #expect(unnamed.ending == 64)
        #expect(unnamed.errors.hasPrefix("lull: --namespace is missing: give the one to forget"))
        #expect(try store.run("forget --namespace mails").output == "forgot mails\n")
        let unknown = try store.run("forget --namespace mails")
        #expect(unknown.ending == 64)
        #expect(unknown.errors.hasPrefix("lull: there is no namespace mails; the store has none yet"))
        #expect(try store.run("submit --throttle 1h --namespace mails lamp 1").ending == 0)
    }

    @Test(arguments: [
        "status", "list", "flush", "cancel", "dead list", "dead retry 1", "submit k v", "pause", "resume",
    ])
    func `an unknown namespace is an error for each command`(_ command: String) throws {
        _ = try store.run("submit --namespace hooks --wait 1h k 1")
        _ = try store.run("submit --namespace mail --wait 1h k 1")
        let outcome = try store.run(command + " --namespace nope")
        #expect(outcome.ending == 64)
        #expect(outcome.output == "")
        let what = command == "submit k v" ? "the namespace nope does not exist yet: " : "there is no namespace nope; "
        #expect(outcome.errors.hasPrefix("lull: \(what)"), "\(outcome.errors)")
        #expect(outcome.errors.contains("the store has hooks, mail"), "\(outcome.errors)")
    }
}
