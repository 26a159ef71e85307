import Dispatch
import DurableConformance
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
        let claim = DurableClaim(namespace: "n", terms: terms, holding: runs.map(\.number), limit: 1000)
        return try await store.claimed(claim)
    }

    private func end(_ run: DurableRun, _ how: DurableReport.Kind, in store: PostgresStore) async throws {
        let report = DurableReport(namespace: "n", key: run.key, run: run.number, fence: run.fence, owner: 1, how)
        #expect(try await store.report(report) == .accepted)
    }

    /// Submits from several sessions at once, each value its own number, and returns the number of each call.
    private func submitAtOnce(sessions: Int, each count: Int, to key: String) throws -> [Int: Int64] {
        let numbers = Guarded<[Int: Int64]>([:])
        let failures = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: sessions) { session in
            do {
                let sql = try place.session()
                for number in 0..<count {
                    let value = session * 1000 + number
                    let text = try sql.value("SELECT submit('n', '\(key)', '\(value)', token => '\(value)')")
                    numbers.change { $0[value] = Int64(text ?? "") }
                }
            } catch {
                failures.change { $0.append("\(error)") }
            }
        }
        #expect(failures.value == [])
        return numbers.value
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
            let left = try await store.status().reduce(0) { $0 + $1.pending + $1.ready + $1.running + $1.entries }
            if isLast, runs.isEmpty, left == 0 { return values }
        }
    }

    /// Of concurrent requests under one key, one was dropped while the job of the key completed (graphile/worker#580);
    /// of several jobs to be debounced, the one that should have survived was (windmill#9780).
    @Test
    func `racing submits: each is in one completed range, and the value of the last one runs last`() async throws {
        let store = try await open(.milliseconds(1))
        let hasEnded = Guarded(false)
        let worker = Task.detached { try await work(store, until: hasEnded) }
        let numbers = try submitAtOnce(sessions: 8, each: 40, to: "k")
        hasEnded.change { $0 = true }
        let values = try await worker.value
        #expect(Set(numbers.values).count == 320)
        let sql = try place.session()
        #expect(try sql.value("SELECT sum(last - first + 1) FROM ended WHERE how = 'completed'") == "320")
        // Numbers follow the order in which the calls were folded.
        let newest = try sql.value("SELECT entry FROM tokens ORDER BY generation DESC LIMIT 1").flatMap { Int64($0) }
        #expect(values.last == numbers.first { $0.value == newest }.map { "\($0.key)" })
        for number in numbers.values { #expect(try sql.value("SELECT state('n', \(number))") == "completed") }
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
        #expect(try submitAtOnce(sessions: 16, each: 20, to: "hot").count == 320)
        let receipts = try await folded.value.map { try $0.get().generation }
        #expect(Set(receipts).count == 200)
        #expect(try await !store.touch(Array("other".utf8), in: "n", wait: nil))
        #expect(try await store.touch(Array("hot".utf8), in: "n", wait: nil))
        #expect(try place.session().pending() == 520)
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
        #expect(try await store.retry(dead.number, in: "n") == .outdated)
        #expect(try await claim(store).isEmpty)
        await store.close()
    }
}
