import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// The commands do with a server what they do with a file.
@Suite("A store on a server", .ownThreads)
struct StoreServerTests {
    @Test(arguments: TestStore.Kind.servers) func `a submit is listed flushed and executed`(_ kind: TestStore.Kind)
        throws
    {
        let store = try TestStore(kind)
        #expect(try store.run("submit --wait 1h lamp 1").ending == 0)
        #expect(try store.run("submit lamp 2").ending == 0)
        #expect(try store.object("list --json")["pending"] as? Int == 2)
        #expect(try store.run("flush lamp").output == "flushed 1 key\n")
        let worker = try store.start("work", ["--", "sh", "-c", "echo $LULL_KEY $(cat)"])
        #expect(try worker.line() == "lamp 2")
        worker.signal(SIGINT)
        #expect(try worker.finish().ending == -SIGINT)
        #expect(try store.status() == [:])
    }

    @Test(arguments: TestStore.Kind.servers) func `a filter keeps the last record of each key`(_ kind: TestStore.Kind)
        throws
    {
        let store = try TestStore(kind)
        let outcome = try store.run(
            "filter --wait 50ms --key-field 1 --at-end wait", input: "lamp 1\nfan 1\nlamp 2\n")
        #expect(outcome.ending == 0)
        #expect(outcome.lines.sorted() == ["fan 1", "lamp 2"])
        #expect(try store.status() == [:])
    }

    @Test(arguments: ["keep", "drop", "flush"], TestStore.Kind.servers)
    func `the rule of --at-end decides about pending values`(_ end: String, _ kind: TestStore.Kind) throws {
        let store = try TestStore(kind)
        let outcome = try store.run("filter --wait 1h --at-end \(end)", input: "a\nb\n")
        #expect(outcome.ending == 0)
        #expect(outcome.lines == (end == "flush" ? ["b"] : []))
        #expect(try store.status() == (end == "keep" ? ["pending": 1] : [:]))
    }

    @Test(arguments: TestStore.Kind.servers) func `a command that always fails becomes a dead run`(
        _ kind: TestStore.Kind
    ) throws {
        let store = try TestStore(kind)
        _ = try store.run("submit --wait 0s lamp 7")
        let worker = try store.start("work --max-attempts 1", ["--", "false"])
        try blockUntil { try store.status() == ["dead": 1] }
        worker.signal(SIGINT)
        let errors = try worker.finish().errors
        #expect(errors.contains("key lamp, run "), "\(errors)")
        #expect(errors.contains(": dead after attempt 1"), "\(errors)")
        let dead = try store.object("dead list --json")
        #expect(dead["values"] as? [String] == ["7"])
        let run = try #require(dead["run"] as? Int)
        #expect(try store.run("dead retry \(run)").output == "retried 1 dead run\n")
        #expect(try store.status() == ["retrying": 1])
        #expect(try store.run("dead discard \(run)").ending == 1)
    }

    @Test(arguments: TestStore.Kind.servers) func `a worker is woken by submits of other processes`(
        _ kind: TestStore.Kind
    ) throws {
        let store = try TestStore(kind)
        _ = try store.run("submit --wait 1h other x")
        let worker = try store.start("work", ["--", "sh", "-c", "echo $LULL_KEY"])
        for key in ["a", "b", "c"] {
            _ = try store.run("submit --wait 0s --change-policy \(key) x")
            #expect(try worker.line() == key)
        }
        worker.signal(SIGTERM)
        #expect(try worker.finish().ending == -SIGTERM)
    }

    @Test(arguments: [.file] + TestStore.Kind.servers)
    func `a namespace is forgotten once it has no work`(_ kind: TestStore.Kind) throws {
        let store = try TestStore(kind)
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

    @Test(arguments: [.file] + TestStore.Kind.servers)
    func `workers are listed with their machine, process and runs`(_ kind: TestStore.Kind) throws {
        let store = try TestStore(kind)
        #expect(try store.run("workers").ending == (kind == .file ? 74 : 64))
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

    @Test(.onServer) func `the status tells of dead rows and open transactions`() throws {
        let store = try TestStore(.server)
        _ = try store.run("submit --wait 1h lamp 1")
        let status = try store.object("status --json")
        #expect(status["pending"] as? Int == 1)
        #expect(status["deadRows"] as? Int != nil)
        #expect(status.keys.contains("oldestTransaction"))
        let table = try store.run("status").lines
        #expect(table.last?.hasPrefix("dead rows: ") == true, "\(table)")
        let metrics = try store.run("status --format openmetrics").output
        _ = try OpenMetricsText(metrics)
        #expect(metrics.contains("\nlull_dead_rows "))
        #expect(metrics.contains("\nlull_oldest_transaction_seconds "))
    }

    @Test(arguments: TestStore.Kind.servers) func `the keys of a long list come once`(_ kind: TestStore.Kind) throws {
        let store = try TestStore(kind)
        let keys = (0..<1500).map { "key-\($0)" }
        let input = keys.map { "\($0) x\n" }.joined()
        #expect(try store.run("filter --wait 1h --key-field 1", input: input).ending == 0)
        let listed = try store.run("list --json").lines.compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["key"] as? String
        }
        #expect(listed == keys.sorted())
        #expect(try store.run("cancel").output == "cancelled 1500 submits\n")
    }

    @Test(arguments: TestStore.Kind.servers) func `another policy is refused or changed for all`(_ kind: TestStore.Kind)
        throws
    {
        let store = try TestStore(kind)
        _ = try store.run("submit --wait 5s k v")
        let outcome = try store.run("submit --wait 1s k v")
        #expect(outcome.ending == 64)
        #expect(outcome.errors.contains("has --wait 5s, not --wait 1s"), "\(outcome.errors)")
        #expect(try store.run("submit --wait 1s --change-policy k v").ending == 0)
        #expect(try store.object("status --json")["wait"] as? Double == 1)
        let unknown = try store.run("list --namespace other")
        #expect(
            unknown.errors == "lull: there is no namespace other; the store has default (see lull list --help)\n")
    }

    @Test(.onRedis) func `the status tells of durability and memory`() throws {
        let store = try TestStore(.redis)
        _ = try store.run("submit --wait 1h lamp 1")
        let status = try store.object("status --json")
        #expect(status["durability"] as? String == "memory")
        #expect(try #require(status["memory"] as? Int) > 500_000)
        #expect(status["memoryLimit"] is NSNull)
        let table = try store.run("status").lines
        #expect(table.last?.hasPrefix("durability: memory; memory: ") == true, "\(table)")
        #expect(
            table.last?.hasSuffix(" MB; limit: none; when full: noeviction; clock behind: none; opened again: 0")
                == true,
            "\(table)")
        #expect(status["maxmemoryPolicy"] as? String == "noeviction")
        #expect(status["clockBehind"] is NSNull)
        #expect(status["reopenings"] as? Int == 0)
        let metrics = try store.run("status --format openmetrics").output
        _ = try OpenMetricsText(metrics)
        #expect(metrics.contains("\nlull_durability_info{name=\"memory\"} 1\n"))
        #expect(metrics.contains("\nlull_memory_bytes "))
        #expect(metrics.contains("\nlull_memory_limit_bytes 0\n"))
    }

    @Test(.onRedis) func `what Redis cannot do is said`() throws {
        let server = try TestRedis.shared.get()
        let store = try TestStore(.redis)
        #expect(try store.run("compact").errors.contains("lull compact is for files"))
        #expect(try store.run("schema").errors.contains("other stores need no schema"))
        let durable = try lull("status", "--store", server.url(920, durability: nil))
        #expect(durable.ending == 74)
        #expect(durable.errors.contains("CONFIG SET appendonly yes"), "\(durable.errors)")
        let port = try lull("status", "--store", "redis://localhost:x")
        #expect(port.errors.contains("the port in the URL must be a number"), "\(port.errors)")
    }

    @Test(.onServer) func `what a database cannot do is said`() throws {
        let store = try TestStore(.server)
        let compact = try store.run("compact")
        #expect(compact.ending == 64)
        #expect(compact.errors.contains("lull compact is for files"), "\(compact.errors)")
        let missing = try lull("status", "--store", try TestServer.shared.get().url("no_schema"))
        #expect(missing.ending == 74)
        #expect(missing.errors.contains("`lull schema --store URL --apply`"), "\(missing.errors)")
    }

    @Test(.onServer, .onRedis) func `a server that cannot be reached is given up`() throws {
        // At once: each is tried for a while.
        let commands = try ["redis+unix:///nonexistent", "postgres://lull@/x?host=/nonexistent"].map { url in
            try ToolProcess(["status", "--store", url])
        }
        for command in commands {
            let nowhere = try command.finish()
            #expect(nowhere.ending == 74)
            #expect(nowhere.errors.hasPrefix("lull: the server cannot be reached: "), "\(nowhere.errors)")
        }
    }

    @Test(.onServer, .longForm) func `a worker outlives a restart of the server and ends at a signal without one`()
        throws
    {
        let server = try TestServer()
        let url = server.url()
        #expect(try lull("schema", "--store", url, "--apply").output == "applied\n")
        #expect(try lull("submit", "--store", url, "--wait", "0s", "a", "x").ending == 0)
        let worker = try ToolProcess(["work", "--store", url, "--", "sh", "-c", "echo $LULL_KEY"])
        #expect(try worker.line() == "a")
        server.crash()
        try server.start()
        #expect(try lull("submit", "--store", url, "b", "x").ending == 0)
        #expect(try worker.line() == "b")
        server.crash()
        worker.signal(SIGTERM)
        #expect(try worker.finish().ending == -SIGTERM)
    }

    @Test(.longForm, arguments: TestStore.Kind.servers)
    func `kills of producers and workers lose nothing that was recorded`(_ kind: TestStore.Kind) throws {
        let store = try TestStore(kind)
        let log = try TemporaryFile()
        _ = try store.run("submit --wait 20ms first x")
        let command = ["--", "sh", "-c", "echo $LULL_KEY $LULL_RUN $(cat) >> \(log.path)"]
        let workers = try (0..<2).map { _ in try store.start("work --lease 1s", command) }
        var submitted: [String: Int] = [:]
        var killed = workers
        for round in 0..<10 {
            let producer = try store.start("filter --key-field 1 --at-end keep", [])
            for key in 0..<5 { producer.send("key-\(key) \(round)\n") }
            // Whatever of it is in the store when it dies.
            for _ in 0..<round % 5 { _ = try store.status() }
            producer.signal(SIGKILL)
            _ = try? producer.end()
            for key in 0..<5 {
                let receipt = try store.run("submit key-\(key) \(round)-acknowledged")
                #expect(receipt.ending == 0)
                submitted["key-\(key)"] = round
            }
            killed[round % 2].signal(SIGKILL)
            _ = try? killed[round % 2].end()
            killed[round % 2] = try store.start("work --lease 1s", command)
        }
        try blockUntil { try store.status() == [:] }
        for worker in killed {
            worker.signal(SIGTERM)
            _ = try? worker.end()
        }
        let lines = log.text.split(separator: "\n")
        for (key, round) in submitted {
            let values = lines.filter { $0.hasPrefix(key + " ") }.compactMap { $0.split(separator: " ").last }
            // The newest value was executed last: the acknowledged one, or what the killed producer had sent before.
            let newest = ["\(round)-acknowledged", "\(round)"]
            #expect(values.last.map { newest.contains(String($0)) } == true, "\(key): \(values.suffix(3))")
        }
    }
}
