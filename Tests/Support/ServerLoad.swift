import Foundation
import Lull
package import LullDurable
import Testing

/// Producers that submit without pause and a worker, and the books about what was acknowledged and what was executed.
package final class ServerLoad: Sendable {
    /// A submit that was acknowledged.
    package struct Submit: Sendable {
        package var key: String
        /// The value, which no other submit of the key has.
        package var value: Int
        package var generation: Int64
        /// When the acknowledgement arrived, in seconds since 1970.
        package var at: Double
    }

    private struct Books: Sendable {
        var acknowledged: [String: [Submit]] = [:]
        var unanswered = 0
        var executed: [String: Set<Int>] = [:]
    }

    private let books = Guarded(Books())
    private let isOver = Guarded(false)
    private let tasks = Guarded<[Task<Void, Never>]>([])

    /// Opens the namespace `n`, and begins.
    ///
    /// - Parameters:
    ///   - collects: Whether each value is executed, and not only the latest ones.
    ///   - wait: How long what is submitted waits, at least.
    package init(
        on store: any StoreCalls, collects: Bool = false, wait: Duration = .milliseconds(5)
    ) async throws {
        try await store.open("n", DurableRules(.debounce(for: wait), combination: collects ? .collect : .latest))
        var tasks = (0..<8).map { producer in
            Task { [books, isOver] in
                var number = 0
                while !isOver.value {
                    number += 1
                    let (key, value) = ("\(producer)-\(number % 7)", number)
                    do {
                        let receipt = try await store.submit(
                            DurableSubmission(namespace: "n", key: Array(key.utf8), value: Array("\(value)".utf8)))
                        let submit = Submit(
                            key: key, value: value, generation: receipt.generation, at: Date().timeIntervalSince1970)
                        books.change { $0.acknowledged[key, default: []].append(submit) }
                    } catch {
                        books.change { $0.unanswered += 1 }
                        await Task.yield()
                    }
                }
            }
        }
        tasks.append(
            Task { [self, isOver] in
                while !isOver.value {
                    if await work(on: store) == nil { await Task.yield() }
                }
            })
        self.tasks.change { $0 = tasks }
    }

    /// Executes what is due, and returns how many runs that were; nil if the store did not answer.
    private func work(on store: any StoreCalls) async -> Int? {
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(2), maxAttempts: 1000)
        let claim = DurableClaim(namespace: "n", terms: terms, limit: 50)
        guard let runs = try? await store.claim(claim).runs else { return nil }
        let reports = runs.map { run in
            DurableReport(namespace: "n", key: run.key, run: run.number, fence: run.fence, owner: 1, .completed)
        }
        if reports.isEmpty { return 0 }
        let answers = await store.exchange(reports, nil).reports
        for (run, answer) in zip(runs, answers) {
            // A report that was sent again may have been recorded the first time.
            guard [.accepted, .alreadyDone].contains(try? answer.get()) else { continue }
            let values = run.values.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
            books.change { $0.executed[String(decoding: run.key, as: UTF8.self), default: []].formUnion(values) }
        }
        return runs.count
    }

    /// Ends the load when all calls have been answered.
    package func end() async {
        isOver.change { $0 = true }
        for task in tasks.value { await task.value }
    }

    /// Executes all that is left.
    package func drain(_ store: any StoreCalls) async throws {
        try await waitUntil {
            _ = try? await store.flush(nil, in: "n")
            guard await work(on: store) == 0 else { return false }
            return try await store.list(in: "n", prefix: [], from: [], limit: 1).isEmpty
        }
    }

    /// How many submits have been acknowledged.
    package var count: Int { books.value.acknowledged.values.reduce(0) { $0 + $1.count } }
    /// How many submits of a key have been acknowledged.
    package func acknowledged(for key: String) -> Int { books.value.acknowledged[key]?.count ?? 0 }
    /// How many submits have thrown an error.
    package var unanswered: Int { books.value.unanswered }

    /// What was acknowledged and never executed. The load collects, and was drained.
    package var unexecuted: [Submit] {
        let books = books.value
        return books.acknowledged.flatMap { key, submits in
            submits.filter { !books.executed[key, default: []].contains($0.value) }
        }
    }

    /// Checks that no number was given out twice, that ranges do not overlap, and returns how many of the acknowledged
    /// submits are in none.
    ///
    /// - Parameter ranges: Returns the ranges of a key's submits that the store has, in any form.
    package func lost(_ ranges: (_ key: String) throws -> [ClosedRange<Int64>]) throws -> Int {
        var lost = 0
        for (key, submits) in books.value.acknowledged {
            let generations = submits.map(\.generation)
            #expect(Set(generations).count == generations.count, "\(key) has a number twice")
            let ranges = try ranges(key).sorted { $0.lowerBound < $1.lowerBound }
            for (left, right) in zip(ranges, ranges.dropFirst()) {
                #expect(left.upperBound < right.lowerBound, "\(key): \(left) and \(right) overlap")
            }
            lost += generations.filter { generation in !ranges.contains { $0.contains(generation) } }.count
        }
        return lost
    }
}
