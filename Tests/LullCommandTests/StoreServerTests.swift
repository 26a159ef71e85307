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
