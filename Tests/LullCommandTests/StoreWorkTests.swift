import CLullCommand
import Foundation
import TestSupport
import Testing

/// One process submits, another one works.
@Suite("lull submit and lull work", .ownThreads)
struct StoreWorkTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    @Test func `a worker executes submitted values`() throws {
        #expect(try store.run("submit --wait 50ms lamp 1").output == "")
        let worker = try store.start("work", ["--", "sh", "-c", "echo $0 $LULL_COUNT $LULL_EDGE $(cat)", "{key}"])
        #expect(try worker.line() == "lamp 1 trailing 1")
        // The policy is known by now; another process's submit wakes the worker.
        #expect(try store.run("submit fan on").ending == 0)
        #expect(try worker.line() == "fan 1 trailing on")
        worker.signal(SIGTERM)
        let outcome = try worker.finish()
        #expect(outcome.ending == -SIGTERM)
        #expect(outcome.errors == "")
        #expect(try store.status() == [:])
    }

    /// The worker itself needs some 24 descriptors, so not so many commands run at once.
    @Test func `what the machine cannot start waits, and is neither failed nor lost`() throws {
        let keys = (1...20).map { "\($0)\n" }.joined()
        _ = try store.run("filter --wait 1h --key-field 1", input: keys)
        _ = try store.run("flush")
        let gate = try Gate()
        let arguments =
            ["work"] + store.option + ["--jobs", "16", "--attempts", "1", "--", "sh", "-c", gate.wait]
        let limited = ["-c", "ulimit -n 32; exec \"$0\" \"$@\"", ToolProcess.path] + arguments
        let worker = try ToolProcess(limited, program: "/bin/sh")
        #expect(try worker.errorLine().hasPrefix("lull: sh has to wait: "))
        try gate.open()
        try eventually("all is done") { (try? store.status()) == [:] }
        #expect(try store.object("status --json")["runs"] as? Int == 20)
        worker.signal(SIGTERM)
        _ = try worker.finish()
    }

    @Test func `a receipt describes the submit`() throws {
        func receipt(_ arguments: String) throws -> (generation: Int, dueIn: Double) {
            let line = try store.run("submit --json \(arguments)").output
            let receipt = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(receipt.count == 3 && receipt["key"] as? String == "lamp", "\(line)")
            return try (#require(receipt["generation"] as? Int), #require(receipt["dueIn"] as? Double))
        }
        let first = try receipt("--wait 2s --token t lamp 1")
        #expect(first.dueIn == 2)
        #expect(try receipt("lamp v").generation == first.generation + 1)
        // Repeated with its token, a submit counts once.
        #expect(try receipt("--token t lamp 1").generation == first.generation)
        let other = try store.run("submit --token t fan 1")
        #expect(other.ending == 65)
        #expect(other.errors == "lull: the token t was used for a submit of another key\n")
        #expect(try store.status() == ["pending": 1])
    }

    @Test func `workers are listed with their machine, process and runs`() throws {
        for key in ["a", "b", "c"] { _ = try store.run("submit --wait 0s \(key) 1") }
        #expect(try store.run("workers --json").output == "")
        // When the worker is stopped, it waits for its commands for half of the lease.
        let worker = try store.start("work --jobs 2 --lease 2s", ["--", "sh", "-c", "echo $LULL_KEY; sleep 600"])
        for _ in 0..<2 { _ = try worker.line() }
        let listed = try store.object("workers --json")
        #expect(listed["host"] as? String == ProcessInfo.processInfo.hostName)
        #expect(listed["process"] as? Int == Int(worker.group))
        #expect(listed["running"] as? Int == 2)
        let seen = try #require(listed["seen"] as? Double)
        #expect(seen >= 0 && seen < 60)
        let lines = try store.run("workers").output.split(separator: "\n")
        #expect(lines.first?.split(separator: " ") == ["host", "process", "running", "seen"])
        #expect(lines.last?.split(separator: " ").dropFirst().prefix(2) == ["\(worker.group)", "2"])
        worker.signal(SIGINT)
        #expect(try worker.finish().ending == -SIGINT)
        #expect(try store.object("workers --json")["running"] as? Int == 0)
    }

    @Test func `a worker may come first and give the policy`() throws {
        let worker = try store.start("work --wait 50ms --combine collect", ["--", "cat"])
        try eventually("the namespace is there") { (try? store.run("submit lamp on").ending) == 0 }
        #expect(try worker.line() == "on")
        worker.signal(SIGTERM)
        #expect(try worker.finish().ending == -SIGTERM)
        #expect(try store.object("status --json")["wait"] as? Double == 0.05)
    }

    @Test func `a worker waits for a store that cannot be opened yet`() throws {
        _ = try store.run("submit --wait 0 lamp on")
        // SQLite needs the file of this name, also after a disk was full.
        let memory = store.path + "/store.db-shm"
        try FileManager.default.removeItem(atPath: memory)
        try FileManager.default.createDirectory(atPath: memory, withIntermediateDirectories: false)
        let worker = try store.start("work", ["--", "cat"])
        let impatient = try store.start("work", ["--", "cat"])
        for worker in [worker, impatient] {
            #expect(try worker.errorLine().hasPrefix("lull: the store cannot be used yet and is asked again: "))
        }
        impatient.signal(SIGTERM)
        #expect(try impatient.finish().ending == -SIGTERM)
        try FileManager.default.removeItem(atPath: memory)
        #expect(try worker.line() == "on")
        worker.signal(SIGTERM)
        #expect(try worker.finish().ending == -SIGTERM)
    }

    // MARK: - Values from standard input

    @Test func `a value from standard input is taken unchanged`() throws {
        let value = "a\0b\n\nc\n"
        #expect(try store.run("submit --wait 0 k -", input: value).ending == 0)
        let worker = try store.start("work", ["--", "sh", "-c", "cat | od -An -tx1 | tr -d ' \n'; echo"])
        // The newline ends the record.
        #expect(try worker.line() == "6100620a0a630a0a")
        worker.signal(SIGTERM)
        _ = try worker.finish()
    }

    /// An empty value in place of what is pending would be a loss.
    @Test(arguments: [("v\n", "has something"), (nil, "is a pipe that stays open")])
    func `a submit without a value does not leave unread what is piped in`(_ input: String?, _ what: String) throws {
        _ = try store.run("submit --wait 1h k v")
        let process = try store.start("submit --wait 1h k")
        if let input { process.send(input) }
        let outcome = try process.end()
        #expect(outcome.ending == 64)
        let message = "VALUE is missing, but standard input \(what): give - to submit it, or '' for no value"
        #expect(try process.errorLine() == "lull: \(message) (see lull submit --help)")
        let again = try lull(["submit"] + store.option + ["k"], input: Array("v".utf8))
        #expect(again.ending == 64)
        #expect(try store.object("list --json")["pending"] as? Int == 1)
    }

    @Test func `without a value the value is empty where nothing is piped in`() throws {
        _ = try store.run("submit --wait 1h --combine collect k ''")
        let ended = try store.start("submit k")
        #expect(try ended.finish().ending == 0)
        for device in ["/dev/null", "/dev/zero"] {
            let process = try ToolProcess(store.arguments("submit k", []), input: .file(device, O_RDONLY))
            #expect(try process.finish().ending == 0)
        }
        #expect(try store.object("list --json")["pending"] as? Int == 4)
    }

    @Test func `a value from standard input has at most 16 MiB`() throws {
        let value = String(repeating: "x", count: 16 << 20)
        #expect(try store.run("submit --wait 1h k -", input: value).ending == 0)
        let refused = try store.run("submit k -", input: value + "y")
        #expect(refused.ending == 65)
        #expect(refused.errors == "lull: the value is longer than 16 MiB, and was not submitted\n")
        #expect(try store.object("list --json")["pending"] as? Int == 1)
    }

    @Test func `a value that is a dash comes from standard input`() throws {
        _ = try store.run("submit --wait 0 k -", input: "-")
        #expect(try store.run("filter").output == "-\n")
    }
}
