import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullRedis

/// Errors in a script come before its first change.
@Suite("Errors in scripts", .onRedis, .ownThreads, .serialized)
struct ScriptFaultTests {
    private let server: TestRedis
    private let database = 911

    init() throws {
        server = try TestRedis.shared.get()
        try server("-n", "\(database)", "FLUSHDB")
    }

    /// A store with a row in every state: pending, due, claimed, and dead; and a call of every script.
    private func prepared() async throws -> (RedisStore, [(name: String, call: @Sendable () async throws -> Void)]) {
        let store = try await RedisStore(url: server.url(database))
        let rules = try DurableRules(.debounce(for: .zero), combination: .collect)
        try await store.open("n", rules)
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(600), maxAttempts: 1)
        @Sendable func submission(_ key: String, _ wait: CoreDuration? = nil) -> DurableSubmission {
            DurableSubmission(namespace: "n", key: Array(key.utf8), value: [1], wait: wait)
        }
        _ = try await store.submit(submission("dead"))
        let dead = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 1)).runs[0]
        let failed = DurableReport(
            namespace: "n", key: dead.key, run: dead.number, fence: dead.fence, owner: 1, .failed("no", retry: nil))
        _ = try await store.report(failed)
        _ = try await store.submit(submission("claimed"))
        let claimed = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 1)).runs[0]
        _ = try await store.submit(submission("due"))
        _ = try await store.submit(submission("pending", .seconds(3600)))
        let completed = DurableReport(
            namespace: "n", key: claimed.key, run: claimed.number, fence: claimed.fence, owner: 1, .completed)
        let run = dead.number
        return (
            store,
            [
                ("submit", { _ = try await store.submit(submission("pending")) }),
                ("flush", { _ = try await store.flush(Array("pending".utf8), in: "n") }),
                ("cancel", { _ = try await store.cancel(Array("due".utf8), in: "n") }),
                ("claim", { _ = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 9)) }),
                ("report", { _ = try await store.report(completed) }),
                ("retry", { _ = try await store.retry(run, in: "n") }),
                ("discard", { _ = try await store.discard(run, in: "n") }),
            ]
        )
    }

    /// All that the database has, but for one key.
    private func content(without key: String) throws -> String {
        // One call: there are hundreds of comparisons, and each call starts a process.
        let script = """
            local content = {}
            for _, key in ipairs(redis.call('KEYS', '*')) do
                if key ~= ARGV[1] then content[#content + 1] = key .. ' ' .. redis.sha1hex(redis.call('DUMP', key)) end
            end
            table.sort(content)
            return content
            """
        return try server("-n", "\(database)", "EVAL", script, "0", key)
    }

    @Test
    func `refuse a key of more than 1,024 bytes`() async throws {
        let store = try await RedisStore(url: server.url(database))
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        let answers = try [1024, 1025].map { length in
            let keys = [Structure.meta, .due, .inbox].map { ShardPlace("n", 0).key($0) }
            let call = ["submit", String(repeating: "k", count: length), "v"]
            return try server(["-n", "\(database)", "EVAL", Script.append.text, "3"] + keys + call)
        }
        #expect(!answers[0].contains("ERR"))
        #expect(answers[1].contains("ERR a key has at most 1024 bytes"))
        await store.close()
    }

    @Test
    func `say that a namespace was made by an older version, and change nothing`() async throws {
        let (store, calls) = try await prepared()
        try server("-n", "\(database)", "HSET", Scripts.prefix("n", 0) + "meta", "version", "0")
        let before = try content(without: "")
        var all = calls
        all.append(("open", { try await store.open("n", DurableRules(.debounce(for: .zero), combination: .collect)) }))
        all.append(("status", { _ = try await store.status() }))
        for (name, call) in all {
            let error = await #expect(throws: DurableError.self, "\(name)") { try await call() }
            #expect("\(String(describing: error))".contains("made by an older version of Lull"), "\(name)")
        }
        #expect(try content(without: "") == before)
        await store.close()
    }

    @Test(arguments: Scripts.structures)
    func `are clear, and change nothing, when a structure is of another type`(_ structure: String) async throws {
        let (store, calls) = try await prepared()
        let key = Scripts.prefix("n", 0) + structure
        try server("-n", "\(database)", "RENAME", key, "{lull:n:0}kept")
        try server("-n", "\(database)", "SET", key, "something else")
        let before = try content(without: key)
        for (name, call) in calls {
            let error = await #expect(throws: DurableError.self, "\(name)") { try await call() }
            if case .unusable(let why) = error {
                #expect(why.contains("hold something else"), "\(name): \(why)")
            } else {
                Issue.record("\(name): \(String(describing: error))")
            }
            #expect(try content(without: key) == before, "\(name) has changed something")
        }
        // Mended, it goes on as if nothing had been.
        try server("-n", "\(database)", "RENAME", "{lull:n:0}kept", key)
        for (_, call) in calls.dropLast() { try await call() }
        #expect(try await store.brokenRules() == [])
        await store.close()
    }

    @Test
    func `cannot come from a read after the first write`() async throws {
        let (store, calls) = try await prepared()
        let monitor = Process()
        monitor.executableURL = URL(
            fileURLWithPath: (TestRedis.program ?? "").replacing("-server", with: "-cli"))
        monitor.arguments = ["-s", server.folder + "/socket", "MONITOR"]
        let output = Pipe()
        monitor.standardOutput = output
        try monitor.run()
        _ = try output.fileHandleForReading.read(upToCount: 3)
        for (_, call) in calls { try? await call() }
        await store.keep(now: true)
        try server("-n", "\(database)", "SET", "the", "end")
        var text = ""
        while !text.contains("\"the\" \"end\"") {
            text += String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        }
        kill(monitor.processIdentifier, SIGKILL)
        monitor.waitUntilExit()

        let writes: Set = ["HSET", "HDEL", "ZADD", "ZREM", "HINCRBY", "PUBLISH"]
        var scripts = 0
        var written: [String] = []
        for line in text.split(separator: "\n") where line.contains("[\(database) ") {
            guard line.contains(" lua] ") else {
                scripts += line.contains("\"EVALSHA\"") ? 1 : 0
                written = []
                continue
            }
            let words = line.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }.map {
                String($0.element)
            }
            let command = words.first?.uppercased() ?? ""
            if writes.contains(command) {
                written.append(command)
            } else if !written.isEmpty {
                Issue.record("\(command) comes after \(written)")
            }
        }
        #expect(scripts >= calls.count)
        await store.close()
    }
}
