import Lull
import LullDurable
import LullPostgres
import TestSupport
import Testing

/// Producers that submit without pause and a worker, and the books about what was acknowledged.
final class ServerLoad: Sendable {
    private struct Books: Sendable {
        var acknowledged: [String: [Int64]] = [:]
        var unanswered = 0
    }

    private let books = Guarded(Books())
    private let isOver = Guarded(false)
    private let tasks = Guarded<[Task<Void, Never>]>([])

    /// Opens the namespace `n`, and begins.
    init(on store: PostgresStore) async throws {
        try await store.open("n", DurableRules(.debounce(for: .milliseconds(5))))
        let books = books
        let isOver = isOver
        var tasks = (0..<8).map { producer in
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
                        books.change { $0.unanswered += 1 }
                    }
                }
            }
        }
        tasks.append(
            Task {
                while !isOver.value {
                    let terms = DurableRow.Claim(owner: 1, lease: .seconds(20), maxAttempts: 100)
                    let claim = DurableClaim(namespace: "n", terms: terms, limit: 50)
                    guard let answer = try? await store.claim(claim) else { continue }
                    let reports = answer.runs.map { run in
                        DurableReport(
                            namespace: "n", key: run.key, run: run.id, fence: run.fence, owner: 1, .completed)
                    }
                    if !reports.isEmpty { _ = await store.exchange(reports, nil) }
                }
            })
        self.tasks.change { $0 = tasks }
    }

    /// Ends the load when all calls have been answered.
    func end() async {
        isOver.change { $0 = true }
        for task in tasks.value { await task.value }
    }

    /// How many submits have been acknowledged.
    var count: Int { books.value.acknowledged.values.reduce(0) { $0 + $1.count } }
    /// How many submits have thrown an error.
    var unanswered: Int { books.value.unanswered }

    /// Checks that no number was given out twice, that ranges do not overlap, and returns how many of the acknowledged submits are in none.
    func lost(on server: TestServer, schema: String = "lull") throws -> Int {
        let sql = try SQL(server)
        try sql(#"SET search_path TO "\#(schema)""#)
        var lost = 0
        for (key, generations) in books.value.acknowledged {
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
            let missing = generations.filter { generation in !rows.contains { $0.contains(generation) } }
            lost += missing.count
            let covered = rows.reduce(0) { $0 + $1.count }
            #expect(
                covered == generations.count - missing.count || unanswered > 0,
                "\(key): \(covered) submits are recorded, \(generations.count) acknowledged")
        }
        return lost
    }
}
