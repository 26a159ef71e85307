import Foundation
import Lull
import LullDurable
import LullPostgres
import LullReference
import TestSupport
import Testing

/// The server ends at once, again and again, while producers submit and a worker works.
///
/// `LULL_CRASHES` sets how often.
@Suite("Crashes of the server", .onServer, .ownThreads)
struct CrashTests {
    private struct Books: Sendable {
        var acknowledged: [String: [Int64]] = [:]
        var runs: [Int64: String] = [:]
        var unknown = 0
    }

    @Test("lose nothing that was acknowledged, and every submit is in one range")
    func crashes() async throws {
        let crashes = environment("LULL_CRASHES", default: 3)
        let server = try TestServer()
        let url = server.url()
        try PostgresSchema(url: url).apply()
        let store = try await PostgresStore(url: url)
        try await store.open("n", DurableRules(.debounce(for: .milliseconds(5))))
        let books = Guarded(Books())
        let isOver = Guarded(false)

        let producers = (0..<8).map { producer in
            Task {
                var number = 0
                while !isOver.value {
                    number += 1
                    let key = "\(producer)-\(number % 7)"
                    do {
                        let receipt = try await store.submit(
                            DurableSubmission(namespace: "n", key: Array(key.utf8), value: Array("\(number)".utf8)))
                        books.change { $0.acknowledged[key, default: []].append(receipt.generation) }
                    } catch {
                        books.change { $0.unknown += 1 }
                    }
                }
            }
        }
        let worker = Task {
            while !isOver.value {
                let terms = DurableRow.Claim(owner: 1, lease: .seconds(20), maxAttempts: 100)
                guard let answer = try? await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 50)) else {
                    continue
                }
                let reports = answer.runs.map { run in
                    DurableReport(namespace: "n", key: run.key, run: run.id, fence: run.fence, owner: 1, .completed)
                }
                if !reports.isEmpty { _ = await store.exchange(reports, nil) }
            }
        }
        for _ in 0..<crashes {
            try await Task.sleep(for: .milliseconds(300))
            server.crash()
            try await Task.sleep(for: .milliseconds(100))
            try server.start()
        }
        try await Task.sleep(for: .milliseconds(300))
        isOver.change { $0 = true }
        for producer in producers { await producer.value }
        await worker.value
        await store.close()

        let found = books.value
        let count = found.acknowledged.values.reduce(0) { $0 + $1.count }
        print("\(crashes) crashes, \(count) submits acknowledged, \(found.unknown) not")
        #expect(count > 100)
        // Nobody was away longer than the time limit.
        #expect(found.unknown == 0)
        let sql = try SQL(server)
        try sql("SET search_path TO lull")
        for (key, generations) in found.acknowledged {
            #expect(Set(generations).count == generations.count, "\(key) has a number twice")
            let rows = try sql(
                """
                SELECT first, last FROM ended WHERE key = '\(key)'
                UNION ALL SELECT run_from, run_to FROM work WHERE key = '\(key)' AND run_id IS NOT NULL
                UNION ALL SELECT ready_from, ready_to FROM work WHERE key = '\(key)' AND ready_to IS NOT NULL
                UNION ALL SELECT generation - pending_count + 1, generation FROM work WHERE key = '\(key)' AND pending_count > 0
                ORDER BY 1
                """
            ).compactMap { row in Int64(row[0] ?? "").flatMap { first in Int64(row[1] ?? "").map { first...$0 } } }
            for (left, right) in zip(rows, rows.dropFirst()) {
                #expect(left.upperBound < right.lowerBound, "\(key): \(left) and \(right) overlap")
            }
            let covered = rows.reduce(0) { $0 + $1.count }
            #expect(
                covered == generations.count,
                "\(key): \(covered) submits are recorded, \(generations.count) acknowledged")
            for generation in generations {
                #expect(rows.contains { $0.contains(generation) }, "\(key) #\(generation) is lost")
            }
        }
    }
}
