import Foundation
import Lull
import LullDurable
import LullPostgres
import TestSupport
import Testing

/// Transactions of users that stay open: nobody else waits for them.
@Suite("Transactions that stay open", .onServer)
struct OpenTransactionTests {
    private let place = SchemaPlace()

    @Test
    func `with a submit, delay only submits to the same key`() async throws {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        let sql = try place.session()
        try sql("SELECT submit('n', 'running', 'x')")
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let run = try #require(
            try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 10)).runs.first)
        // Of a key that exists, and of one that does not.
        try sql("BEGIN; SELECT submit('n', 'running', 'y'); SELECT submit('n', 'new', 'x')")

        let waiting = Guarded(2)
        let waiters = ["running", "new"].map { key in
            Task {
                _ = try await store.submit(DurableSubmission(namespace: "n", key: Array(key.utf8), value: [1]))
                waiting.change { $0 -= 1 }
            }
        }
        for number in 0..<100 {
            _ = try await store.submit(DurableSubmission(namespace: "n", key: Array("\(number)".utf8), value: [2]))
        }
        var done: [Int64] = []
        for _ in 0..<100 where done.count < 100 {
            let claim = DurableClaim(namespace: "n", terms: terms, holding: [run.id], limit: 50)
            let runs = try await store.claim(claim).runs
            for run in runs {
                let report = DurableReport(
                    namespace: "n", key: run.key, run: run.id, fence: run.fence, owner: 1, .completed)
                #expect(try await store.report(report) == .accepted)
            }
            done += runs.map(\.id)
        }
        #expect(done.count == 100)
        #expect(waiting.value == 2)
        try sql("COMMIT")
        for waiter in waiters { try await waiter.value }
        let heartbeat = DurableReport(
            namespace: "n", key: run.key, run: run.id, fence: run.fence, owner: 1, .heartbeat(lease: .seconds(60)))
        #expect(try await store.report(heartbeat) == .accepted)
        await store.close()
    }

    @Test(arguments: [true, false])
    func `with a submit, show a namespace again that was forgotten, and nothing is lost`(_ isSame: Bool) async throws {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        let sql = try place.session()
        try sql("BEGIN; SELECT submit('n', 'key', 'late')")
        try await store.forget("n")
        #expect(try await store.status() == [])
        let rules = try DurableRules(.debounce(for: .zero), combination: isSame ? .latest : .collect)
        try await store.open("n", rules)
        try sql("COMMIT")
        // Under other rules it would be another value, or none.
        let name = try #require(try await store.status().first { $0.pending + $0.ready == 1 }?.namespace)
        #expect((name == "n") == isSame, "\(name)")
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let runs = try await store.claim(DurableClaim(namespace: name, terms: terms, limit: 10)).runs
        #expect(runs.map(\.values) == [[Array("late".utf8)]])
        #expect(try await store.open("n", nil) == rules)
        await store.close()
    }

    @Test
    func `of a namespace that stays forgotten, bring it back with its rules`() async throws {
        let store = try await PostgresStore(url: try place.url())
        let rules = try DurableRules(.debounce(for: .zero))
        try await store.open("n", rules)
        let sql = try place.session()
        try sql("BEGIN; SELECT submit('n', 'key', 'late')")
        try await store.forget("n")
        try sql("COMMIT")
        #expect(try await store.status().map(\.namespace) == ["n"])
        #expect(try await store.open("n", nil) == rules)
        await #expect(throws: DurableError.self) { try await store.forget("n") }
        #expect(try await store.cancel(nil, in: "n") == 1)
        #expect(try await store.status() == [])
        await store.close()
    }

    @Test
    func `may submit between the steps in which a namespace is forgotten: it stays, with that work`() async throws {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: .seconds(3600))))
        let keys = (0..<25).map { DurableSubmission(namespace: "n", key: Array("\($0)".utf8), value: [0x31]) }
        for answer in await store.submit(keys) { _ = try answer.get() }
        #expect(try await store.cancel(nil, in: "n") == 25)
        let sql = try place.session()
        #expect(try sql("SELECT forget_namespace('n', 10)") == [["more"]])
        #expect(try sql("SELECT count(*) FROM ended") == [["15"]])
        try sql("SELECT submit('n', 'late', '1')")
        #expect(try sql("SELECT forget_namespace('n', 10)") == [["work"]])
        #expect(try await store.status().map(\.pending) == [1])
        #expect(try await store.cancel(nil, in: "n") == 1)
        for answer in ["more", "forgotten"] { #expect(try sql("SELECT forget_namespace('n', 10)") == [[answer]]) }
        #expect(try await store.status() == [])
        #expect(try sql("SELECT count(*) FROM ended") == [["0"]])
        await store.close()
    }

    @Test
    func `with a snapshot, stop neither submits nor claims`() async throws {
        let store = try await PostgresStore(url: try place.url())
        let sql = try place.session()
        try sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM work")
        let load = try await ServerLoad(on: store)
        try await waitUntil { load.count >= 1000 }
        let health = try await store.health()
        #expect(health.oldestTransaction.map { $0 > .zero } == true)
        await load.end()
        #expect(load.unanswered == 0)
        #expect(try load.lost(on: TestServer.shared.get(), schema: place.schema) == 0)
        try sql("COMMIT")
        await store.close()
    }
}
