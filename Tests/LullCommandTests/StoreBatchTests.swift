import CLullSQLite
import Foundation
import TestSupport
import Testing

/// What is due together is claimed, written and completed together.
@Suite("Many records at once with a store", .ownThreads)
struct StoreBatchTests {
    private static let kinds = [TestStore.Kind.file] + TestStore.Kind.servers

    @Test(arguments: kinds) func `a backlog is executed in few transactions`(_ kind: TestStore.Kind) throws {
        let store = try TestStore(kind)
        let lines = (0..<1000).map { "key-\($0) \($0)" }
        let outcome = try store.run(
            "filter --wait 0 --key-field 1 --at-end wait", input: lines.joined(separator: "\n") + "\n")
        #expect(outcome.ending == 0, "\(outcome.errors)")
        #expect(outcome.lines.sorted() == lines.sorted())
        #expect(try store.status() == [:])
        // At most 256 in each; one more where a transaction comes before the rest of the input.
        #expect(try store.completions() <= 40)
    }

    @Test(arguments: kinds) func `nothing is completed before it is written`(_ kind: TestStore.Kind) throws {
        let store = try TestStore(kind)
        let process = try store.start("filter --wait 0 --key-field 1 --at-end wait")
        // Nobody reads the output yet, and a pipe has room for 64 kB.
        process.send("key \(String(repeating: "x", count: 100_000))\n")
        try eventually("it is claimed") { (try? store.status()) == ["running": 1] }
        #expect(try store.completions() == 0)
        process.closeInput()
        let outcome = try process.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.lines.count == 1)
        #expect(try store.status() == [:])
        #expect(try store.completions() == 1)
    }
}

extension TestStore {
    /// The number of transactions that have completed runs, which share an instant or, in PostgreSQL, a number.
    fileprivate func completions() throws -> Int {
        if url.hasPrefix("sqlite:") {
            var file: OpaquePointer?
            defer { sqlite3_close_v2(file) }
            var query: OpaquePointer?
            defer { sqlite3_finalize(query) }
            #expect(sqlite3_open_v2(path + "/store.db", &file, SQLITE_OPEN_READONLY, nil) == SQLITE_OK)
            let count = "SELECT count(DISTINCT recorded) FROM ended WHERE how = 'completed'"
            #expect(sqlite3_prepare_v2(file, count, -1, &query, nil) == SQLITE_OK)
            #expect(sqlite3_step(query) == SQLITE_ROW)
            return Int(sqlite3_column_int64(query, 0))
        }
        if url.hasPrefix("postgres:") {
            let schema = try #require(url.split(separator: "schema=").last)
            let count = "SELECT count(DISTINCT xmin::text) FROM \"\(schema)\".ended WHERE how = 'completed'"
            return try #require(Int(TestServer.shared.get().psql(count)))
        }
        let database = try #require(url.firstMatch(of: /db=([0-9]+)/)?.1)
        let count = """
            local count, seen = 0, { inf = true }
            for index, score in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')) do
                if index % 2 == 0 and not seen[score] then count, seen[score] = count + 1, true end
            end
            return count
            """
        let answer = try TestRedis.shared.get()("-n", "\(database)", "EVAL", count, "1", "{lull:default:0}ended")
        return try #require(Int(answer))
    }
}
