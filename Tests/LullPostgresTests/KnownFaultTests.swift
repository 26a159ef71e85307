import Dispatch
import Foundation
import Lull
import LullDurable
import LullPostgres
import TestSupport
import Testing

/// Faults that users of other queues on databases have reported. Each test shows what happens here instead.
@Suite("Faults known from other queues", .onServer, .ownThreads)
struct KnownFaultTests {
    private let place = SchemaPlace()

    private func open(_ wait: Duration) async throws -> PostgresStore {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: wait)))
        return store
    }

    private func claim(_ store: PostgresStore, holding runs: [DurableRun] = []) async throws -> [DurableRun] {
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let claim = DurableClaim(namespace: "n", terms: terms, holding: runs.map(\.id), limit: 1000)
        return try await store.claim(claim).runs
    }

    private func end(_ run: DurableRun, _ how: DurableReport.Kind, in store: PostgresStore) async throws {
        let report = DurableReport(namespace: "n", key: run.key, run: run.id, fence: run.fence, owner: 1, how)
        #expect(try await store.report(report) == .accepted)
    }

    /// Submits from several sessions at once, each value its own number, and returns the generation of each.
    private func submitAtOnce(sessions: Int, each count: Int, to key: String) throws -> [Int: Int64] {
        let generations = Guarded<[Int: Int64]>([:])
        let failures = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: sessions) { session in
            do {
                let sql = try place.session()
                for number in 0..<count {
                    let value = session * 1000 + number
                    let text = try sql.value("SELECT generation FROM submit('n', '\(key)', '\(value)')")
                    generations.change { $0[value] = Int64(text ?? "") }
                }
            } catch {
                failures.change { $0.append("\(error)") }
            }
        }
        #expect(failures.value == [])
        return generations.value
    }

    /// Runs what falls due until nothing is left and the submits have ended, and returns the values in their order.
    private func work(_ store: PostgresStore, until hasEnded: Guarded<Bool>) async throws -> [String] {
        var values: [String] = []
        while true {
            let isLast = hasEnded.value
            let runs = try await claim(store)
            for run in runs {
                values.append(String(decoding: run.values.last ?? [], as: UTF8.self))
                try await end(run, .completed, in: store)
            }
            let left = try await store.status().reduce(0) { $0 + $1.pending + $1.ready + $1.running }
            if isLast, runs.isEmpty, left == 0 { return values }
        }
    }

    /// Of concurrent requests under one key, one was dropped while the job of the key completed (graphile/worker#580);
    /// of several jobs to be debounced, the one that should have survived was (windmill#9780).
    @Test
    func `racing submits: each is in one completed range, and the newest value runs last`() async throws {
        let store = try await open(.milliseconds(1))
        let hasEnded = Guarded(false)
        let worker = Task.detached { try await work(store, until: hasEnded) }
        let generations = try submitAtOnce(sessions: 8, each: 40, to: "k")
        hasEnded.change { $0 = true }
        let values = try await worker.value
        #expect(generations.count == 320)
        #expect(Set(generations.values).count == 320)
        let newest = generations.max { $0.value < $1.value }
        #expect(values.last == newest.map { "\($0.key)" })
        let sql = try place.session()
        for generation in generations.values {
            let count = try sql.value(
                "SELECT count(*) FROM ended WHERE how = 'completed' AND \(generation) BETWEEN first AND last")
            #expect(count == "1", "\(generation)")
        }
        await store.close()
    }

    /// A job that was replaced while it ran lost its arguments, or the replacement (oban#635).
    @Test
    func `a submit while the key runs changes nothing of the run, and runs afterwards`() async throws {
        let store = try await open(.zero)
        let sql = try place.session()
        try sql("SELECT submit('n', 'k', 'old')")
        let first = try #require(try await claim(store).first)
        try sql("SELECT submit('n', 'k', 'new')")
        #expect(try await claim(store, holding: [first]).isEmpty)
        #expect(first.values == [Array("old".utf8)])
        try await end(first, .completed, in: store)
        #expect(try await claim(store).map(\.values) == [[Array("new".utf8)]])
        await store.close()
    }

    /// A job that was to be repeated and a new one of its key kept all others from being fetched (pg-boss#535).
    @Test
    func `a key that runs, fails or is locked keeps no other key from running`() async throws {
        let store = try await open(.zero)
        let sql = try place.session()
        for key in ["running", "failing", "locked"] { try sql("SELECT submit('n', '\(key)', 'x')") }
        for run in try await claim(store) where run.key == Array("failing".utf8) {
            try await end(run, .failed("no", retry: .zero), in: store)
        }
        for key in ["running", "failing", "locked"] { try sql("SELECT submit('n', '\(key)', 'y')") }
        try sql("BEGIN; SELECT FROM work WHERE key = 'locked' FOR UPDATE")
        let others = try place.session()
        try others("SELECT count(submit('n', 'other ' || i, 'x')) FROM generate_series(1, 200) i")
        let runs = try await claim(store)
        #expect(runs.filter { $0.key.starts(with: "other ".utf8) }.count == 200)
        try sql("COMMIT")
        await store.close()
    }

    /// One key to which everybody submitted led to deadlocks and serialization failures (trigger.dev#3453).
    @Test
    func `16 sessions that submit to one key all succeed, beside a store that folds its own`() async throws {
        let store = try await open(.seconds(60))
        let batch = (0..<200).map { _ in DurableSubmission(namespace: "n", key: Array("hot".utf8), value: [0]) }
        let folded = Task.detached { await store.submit(batch) }
        let generations = try submitAtOnce(sessions: 16, each: 20, to: "hot")
        let receipts = try await folded.value.map { try $0.get().generation }
        #expect(Set(generations.values).union(receipts).count == 520)
        #expect(try place.session().value("SELECT pending_count FROM work") == "520")
        await store.close()
    }

    @Test
    func `an old value never runs after a newer one has, not in a retry and not as a dead run`() async throws {
        let store = try await open(.zero)
        let sql = try place.session()
        try sql("SELECT submit('n', 'k', 'old')")
        try await end(try #require(try await claim(store).first), .failed("no", retry: .zero), in: store)
        try sql("SELECT submit('n', 'k', 'new')")
        let newer = try #require(try await claim(store).first)
        #expect(newer.values == [Array("new".utf8)])
        try await end(newer, .completed, in: store)

        try sql("SELECT submit('n', 'dies', 'old')")
        try await end(try #require(try await claim(store).first), .failed("no", retry: nil), in: store)
        try sql("SELECT submit('n', 'dies', 'new')")
        try await end(try #require(try await claim(store).first), .completed, in: store)
        let dead = try #require(try await store.dead(in: "n", limit: 1).first)
        #expect(try await store.retry(dead.id, in: "n") == .outdated)
        #expect(try await claim(store).isEmpty)
        await store.close()
    }

    /// Two transactions that submit to two keys in opposite orders: the server ends one of them. A store's own submits
    /// to the same keys are repeated.
    @Test
    func `a deadlock of users' transactions ends one of these, and no call of a store`() async throws {
        let store = try await open(.seconds(60))
        let (one, other) = (try place.session(), try place.session())
        for key in ["a", "b"] { try one("SELECT submit('n', '\(key)', 'x')") }
        try one("BEGIN; SELECT submit('n', 'a', 'one')")
        try other("BEGIN; SELECT submit('n', 'b', 'other')")
        let batch = ["a", "b"].map { DurableSubmission(namespace: "n", key: Array($0.utf8), value: [0]) }
        let answers = Task.detached { await store.submit(batch) }
        let codes = Guarded<[String]>([])
        let sessions = Sessions(one, other)
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            do {
                try sessions[index]("SELECT submit('n', '\(index == 0 ? "b" : "a")', 'x')")
                try sessions[index]("COMMIT")
            } catch {
                codes.change { $0.append((error as? SQL.Failure)?.code ?? "\(error)") }
                _ = try? sessions[index]("ROLLBACK")
            }
        }
        #expect(codes.value == ["40P01"])
        for answer in await answers.value { _ = try answer.get() }
        await store.close()
    }
}

/// Two sessions, each used by one thread.
private struct Sessions: @unchecked Sendable {
    // Proof: each is used by one thread at a time, which the test's own thread waits for.
    private let sessions: [SQL]

    init(_ sessions: SQL...) { self.sessions = sessions }

    subscript(index: Int) -> SQL { sessions[index] }
}
