import CLullSystem
import Foundation
import TestSupport
import Testing

/// What the tool does with a store: pending work that outlives the process.
@Suite("lull with a store", .ownThreads)
struct StoreTests {
    /// A folder for a store, which goes away with the test.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("lull-\(UUID().uuidString)").path

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(atPath: path)
        }

        var store: [String] { ["--store", "sqlite:\(path)/store.db"] }
    }

    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    private func words(_ text: String) -> [String] {
        text.split(separator: " ").map(String.init)
    }

    private func run(_ options: String, _ rest: [String] = [], input: String = "") throws -> ToolProcess.Outcome {
        var arguments = words(options)
        arguments.insert(contentsOf: folder.store, at: 1)
        return try lull(arguments + rest, input: Array(input.utf8))
    }

    private func status() throws -> [String: Int] {
        let line = try run("status --json").output
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        return object.compactMapValues { $0 as? Int }.filter { $0.key != "wait" && $0.value != 0 }
    }

    // MARK: - filter and run

    @Test func theLastRecordOfEachKeyGetsThroughAndNothingIsLeft() throws {
        let outcome = try run("filter --wait 1h --key-field 1", input: "lamp 1\nlamp 2\nfan 1\n")
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        #expect(outcome.lines == ["lamp 2", "fan 1"])
        #expect(try status() == [:])
    }

    @Test func collectedRecordsComeTogether() throws {
        let outcome = try run(
            "filter --wait 1h --combine collect --format jsonl", input: "a\n\nb\n")
        #expect(outcome.lines.count == 1)
        #expect(outcome.output.contains(#""value":["a","","b"],"count":3,"edge":"flush""#), "\(outcome.output)")
    }

    @Test func aBatchIsCutWithoutWaitingForTheEndOfALease() throws {
        let filtered = try run(
            "filter --wait 1h --combine collect --max-batch 2 --lease 1h --format jsonl", input: "a\nb\nc\nd\ne\n")
        #expect(filtered.ending == 0)
        #expect(filtered.lines.count == 3, "\(filtered.output)")
        for (line, value) in zip(
            filtered.lines, [#"["a","b"],"count":2"#, #"["c","d"],"count":2"#, #"["e"],"count":1"#])
        {
            #expect(line.contains(#""value":\#(value),"edge":"flush""#), "\(line)")
        }
        // The limit is kept with the namespace.
        let ran = try run("run --lease 1h", ["--", "sh", "-c", "echo $LULL_COUNT $(cat)"], input: "a\nb\nc\n")
        #expect(ran.ending == 0)
        #expect(ran.lines == ["2 a b", "1 c"])
        #expect(try status() == [:])
    }

    @Test func theLimitOfABatchIsKeptFromASubmitAndMayChange() throws {
        for value in ["a", "b", "c"] {
            #expect(try run("submit --wait 1h --combine collect --max-batch 2 k \(value)").ending == 0)
        }
        #expect(try run("submit k d").ending == 0)
        #expect(try run("run", ["--", "sh", "-c", "echo $LULL_COUNT $(cat)"]).lines == ["2 a b", "2 c d"])
        for value in ["a", "b", "c"] { _ = try run("submit k \(value)") }
        #expect(try run("submit --wait 1h --combine collect k d").ending == 0)
        #expect(try run("run", ["--", "sh", "-c", "echo $LULL_COUNT $(cat)"]).lines == ["4 a b c d"])
    }

    @Test func theNextValueOfAKeyStartsWhenItsCommandHasEnded() throws {
        let gate = try TemporaryFile()
        let process = try ToolProcess(
            ["run", "--wait", "0", "--lease", "1h"] + folder.store
                + ["--", "sh", "-c", "cat; while ! [ -s \(gate.path) ]; do sleep 0.01; done"])
        process.send("a\n")
        #expect(try process.line() == "a")
        process.send("b\n")
        try eventually("the value is in the store") { (try? status()) == ["ready": 1, "running": 1] }
        try Data("x".utf8).write(to: URL(fileURLWithPath: gate.path))
        #expect(try process.line() == "b")
        #expect(try process.finish().ending == 0)
    }

    @Test func aShortLeaseIsASettingLikeOthers() throws {
        let outcome = try run("run --wait 0 --lease 2s", ["--", "cat"], input: "a\n")
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        #expect(outcome.output == "a\n")
    }

    @Test func whatWasPendingAtAKillIsDoneAfterTheNextStart() throws {
        let process = try ToolProcess(["filter", "--wait", "1h", "--key-field", "1"] + folder.store)
        process.send("lamp 1\nlamp 2\n")
        try eventually("the records are in the store") { (try? status()) == ["pending": 1] }
        process.signal(SIGKILL)
        _ = try process.end()
        // With the next start comes another record of the key, and the same wait.
        let outcome = try run("filter --wait 1h --key-field 1", input: "fan 1\n")
        #expect(outcome.lines == ["lamp 2", "fan 1"])
    }

    @Test func whatNobodyReadsStaysInTheStore() throws {
        let process = try ToolProcess(["filter", "--wait", "1h"] + folder.store)
        process.closeOutput()
        process.send("a\n")
        let outcome = try process.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        // It may have been in the store already, or never come in; what came in is not lost.
        let left = try run("filter --wait 1h").lines
        #expect(left == [] || left == ["a"])
    }

    @Test func aCommandThatFailsIsTriedAgainInTheNextProcess() throws {
        let first = try run("run --wait 0 --key-field 1", ["--", "false"], input: "lamp 1\n")
        #expect(first.ending == 1)
        #expect(first.errorLines.contains("lull: 1 run waits in the store for another attempt"), "\(first.errors)")
        #expect(try status() == ["retrying": 1])
        let second = try run(
            "run --wait 0 --key-field 1 --at-end wait", ["--", "sh", "-c", "echo $LULL_KEY $LULL_ATTEMPT $(cat)"],
            input: "")
        // What waits for another attempt does not keep the process; a flush makes it ready.
        #expect(second.ending == 0)
        let third = try run(
            "run --wait 0 --key-field 1", ["--", "sh", "-c", "echo $LULL_KEY $LULL_ATTEMPT $(cat)"], input: "")
        // At its end the first process may have tried it once more: a flush makes ready what waits for another attempt.
        let done = second.lines + third.lines
        #expect(done == ["lamp 2 lamp 1"] || done == ["lamp 3 lamp 1"], "\(done)")
        #expect(try status() == [:])
    }

    @Test func aCommandThatFailsForGoodIsDead() throws {
        let outcome = try run("run --wait 0 --max-attempts 1", ["--", "false"], input: "a\n")
        #expect(outcome.ending == 1)
        #expect(outcome.errorLines.last == "lull: run 1: dead after attempt 1")
        #expect(try status() == ["dead": 1])
    }

    @Test func atTheEndPendingRecordsAreDroppedIfAskedFor() throws {
        #expect(try run("filter --wait 1h --at-end drop", input: "a\n").output == "")
        #expect(try status() == [:])
    }

    // MARK: - submit and work

    @Test func whatIsSubmittedIsDoneByAWorker() throws {
        #expect(try run("submit --wait 50ms lamp 1").output == "")
        let worker = try ToolProcess(
            ["work"] + folder.store + ["--", "sh", "-c", "echo $0 $LULL_COUNT $LULL_EDGE $(cat)", "{key}"])
        #expect(try worker.line() == "lamp 1 trailing 1")
        // The policy is known by now; another process' submit wakes the worker.
        #expect(try run("submit fan on").ending == 0)
        #expect(try worker.line() == "fan 1 trailing on")
        worker.signal(SIGTERM)
        let outcome = try worker.finish()
        #expect(outcome.ending == -SIGTERM)
        #expect(outcome.errors == "")
        #expect(try status() == [:])
    }

    @Test func aReceiptSaysWhatWasRecorded() throws {
        #expect(
            try run("submit --wait 2s --json --token t lamp 1").lines == [
                #"{"key":"lamp","generation":1,"dueIn":2}"#
            ])
        #expect(try run("submit --json lamp").output.hasPrefix(#"{"key":"lamp","generation":2,"#))
        // Repeated with its token it counts once.
        #expect(try run("submit --json --token t lamp 1").output.hasPrefix(#"{"key":"lamp","generation":1,"#))
        let other = try run("submit --token t fan 1")
        #expect(other.ending == 65)
        #expect(other.errors == "lull: the token t was used for a submit of another key\n")
        #expect(try status() == ["pending": 1])
    }

    @Test func aWorkerThatIsToldToStopLetsItsCommandEnd() throws {
        let gate = try TemporaryFile()
        _ = try run("submit --wait 0 lamp 1")
        let worker = try ToolProcess(
            ["work"] + folder.store
                + ["--", "sh", "-c", "echo begun; while ! [ -s \(gate.path) ]; do sleep 0.01; done; echo ended"])
        #expect(try worker.line() == "begun")
        _ = try run("submit lamp 2")
        worker.signal(SIGTERM)
        try Data("x".utf8).write(to: URL(fileURLWithPath: gate.path))
        let outcome = try worker.finish()
        #expect(outcome.lines == ["ended"])
        #expect(outcome.ending == -SIGTERM)
        // Nothing more was claimed.
        #expect(try status() == ["ready": 1])
    }

    @Test func namespacesAreApart() throws {
        _ = try run("submit --namespace a --wait 1h k 1")
        _ = try run("submit --namespace b --throttle 1h --edges trailing k 1")
        let table = try run("status").lines
        #expect(table.count == 3)
        #expect(table[0].hasPrefix("namespace  pending  ready  running  retrying  dead  oldest"))
        #expect(table[1].hasPrefix("a  "))
        #expect(
            try run("status --namespace b --json").output.hasPrefix(#"{"namespace":"b","interval":3600,"pending":1,"#))
    }

    // MARK: - dead and status

    @Test func deadRunsAreListedRetriedAndDiscarded() throws {
        _ = try run("run --wait 0 --key-field 1 --max-attempts 1", ["--", "false"], input: "a 1\nb 2\nc 3\n")
        let list = try run("dead list").lines
        #expect(list.count == 4)
        #expect(list[0].hasPrefix("run  key  submits  attempts"))
        #expect(list[1].hasPrefix("1      a        1         1") && list[1].hasSuffix("false failed with status 1"))
        let first = try run("dead list --json").lines[0]
        #expect(first.hasPrefix(#"{"run":1,"key":"a","values":["a 1"],"submits":1,"attempts":1,"#), "\(first)")
        #expect(try run("dead discard 1").ending == 0)
        #expect(try run("dead retry 2").ending == 0)
        // A newer value of the key: the old one must not overwrite it.
        _ = try run("submit --after 1h c 4")
        let refused = try run("dead retry 3 99")
        #expect(refused.ending == 1)
        #expect(
            refused.errorLines == [
                "lull: run 3 is not tried again: its key has a newer value",
                "lull: run 99 is not among the dead of default",
            ])
        #expect(try status() == ["pending": 1, "retrying": 1, "dead": 1])
    }

    @Test func whereEveryValueCountsADeadRunIsRetriedThoughNewerOnesCame() throws {
        _ = try run(
            "run --wait 0 --combine collect --key-field 1 --max-attempts 1", ["--", "false"], input: "a 1\nb 1\n")
        _ = try run("submit --after 1h a 2")
        #expect(try run("dead retry 1").ending == 0)
        #expect(try status() == ["pending": 1, "retrying": 1, "dead": 1])
        let worker = try ToolProcess(["work"] + folder.store + ["--", "cat"])
        #expect(try worker.line() == "a 1")
        worker.signal(SIGTERM)
        #expect(try worker.finish().ending == -SIGTERM)
        #expect(try status() == ["pending": 1, "dead": 1])
    }

    @Test func aDeadRunIsNotRetriedBesideAnotherRunOfItsKey() throws {
        _ = try run("run --wait 0 --combine collect --max-attempts 1", ["--", "false"], input: "1\n")
        _ = try run("run --wait 0 --combine collect --at-end wait", ["--", "false"], input: "2\n")
        #expect(try status() == ["retrying": 1, "dead": 1])
        let refused = try run("dead retry 1")
        #expect(refused.ending == 1)
        #expect(refused.errors == "lull: run 1 is not tried again now: its key has another run\n")
        #expect(try status() == ["retrying": 1, "dead": 1])
    }

    @Test func aWatchGoesOnUntilASignalComes() throws {
        _ = try run("submit --wait 1h k v")
        let watch = try ToolProcess(["status", "--watch"] + folder.store)
        #expect(try watch.line().hasPrefix("namespace  pending"))
        #expect(try watch.line().hasPrefix("default          1"))
        _ = try run("submit other v")
        #expect(try watch.line().hasPrefix("namespace  pending"))
        #expect(try watch.line().hasPrefix("default          2"))
        watch.signal(SIGINT)
        #expect(try watch.finish().ending == -SIGINT)
    }

    // MARK: - Errors

    @Test(arguments: [
        ("submit k v", 64, "the namespace default is not there yet: its first use has to say the policy"),
        ("filter --key-field 1", 64, "the namespace default is not there yet: its first use has to say the policy"),
        ("filter --wait 1s --delimiter ,", 64, "--delimiter needs --key-field"),
        ("submit --edges leading k v", 64, "a policy begins with --wait or --throttle"),
        ("submit --max-batch 2 k v", 64, "a policy begins with --wait or --throttle"),
        ("submit --wait 1s --max-batch 2 k v", 64, "--max-batch needs --combine collect"),
        ("filter --wait 1s --combine first --max-batch 2", 64, "--max-batch needs --combine collect"),
        ("submit --wait 1s", 64, "KEY is missing"),
        ("work --jobs 1", 64, "COMMAND is missing"),
        ("dead", 64, "say what to do: list, retry or discard"),
        ("dead retry", 64, "say which runs, by their numbers"),
        ("dead retry x", 64, "a run has a number, not \"x\""),
        ("filter --wait 1s --max-keys 3", 64, "--max-keys has no meaning with --store"),
        ("run --wait 1s --while-running skip -- true", 64, "--while-running must be queue with --store"),
        ("run --wait 1s --lease 1ms -- true", 64, "--lease must be at least 1s, not 1ms"),
    ])
    func wrongUsageIsExplained(arguments: String, status: Int32, message: String) throws {
        // A store that is there, without the namespace.
        _ = try run("submit --namespace other --wait 1s k v")
        let outcome = try run(arguments)
        #expect(outcome.ending == status)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test func anotherPolicyIsRefusedWithBothNamed() throws {
        _ = try run("submit --wait 1h k v")
        let outcome = try run("submit --throttle 1s k v")
        #expect(outcome.ending == 64)
        #expect(
            outcome.errors.hasPrefix(
                "lull: the namespace default has the policy debounce trailing latest, and cannot be opened with "
                    + "throttle leading,trailing latest"))
        // Durations may change.
        #expect(try run("submit --wait 2h k v").ending == 0)
    }

    @Test func aStoreThatIsNoneIsLeftAlone() throws {
        let file = try TemporaryFile("not a database, but long enough to be looked at as one\n")
        for (store, message) in [
            ("sqlite:\(file.path)", "is not a database of SQLite"),
            ("sqlite:/nowhere/store.db", "there is no directory"),
        ] {
            let outcome = try lull(["submit", "--store", store, "--wait", "1s", "k", "v"], input: [])
            #expect(outcome.ending == 74)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.errors.contains(message), "\(outcome.errors)")
        }
        #expect(file.text.hasPrefix("not a database"))
        for store in ["store.db", "sqlite:", "postgres:x"] {
            #expect(try lull(["status", "--store", store], input: []).ending == 64)
        }
        #expect(try lull(["status", "--store", "sqlite:\(file.path)-not-there"], input: []).ending == 74)
    }
}
