import Foundation
internal import Lull
package import LullCore
package import LullDurable
import Testing

/// Worker processes that are killed and started again while they work off the backlog of a namespace with limits, and
/// the books about what has started when.
///
/// What counts as the instant of a start is the store's `now` of the claim. With a limit in Redis it is the instant at
/// which the first shard has allowed the starts of the claim, which other shards have used a moment later.
package struct LimitStorm {
    /// What a storm was like.
    package struct Outcome: CustomStringConvertible {
        package var kills = 0
        package var submits = 0
        /// How many starts the store has counted, and how many of them were written down before a kill.
        package var attempts = 0
        package var starts: [Start] = []
        /// The most starts in a window of the period, and at one instant.
        package var mostInWindow = 0
        package var mostAtOnce = 0
        /// The most leases that were certainly held at once, and that the store has counted at once.
        package var mostRunning = 0
        package var mostCounted = 0
        /// How many starts there would have been at the rate of the long run, in the time that they took.
        package var expected = 0.0

        package var description: String {
            """
            \(kills) kills, \(submits) submits, \(attempts) starts, \(starts.count) written down, \(starts.count) \
            windows with at most \(mostInWindow), at most \(mostAtOnce) at once, at most \
            \(max(mostRunning, mostCounted)) running, \(String(format: "%.3f", Double(attempts) / expected)) of the rate
            """
        }
    }

    /// The start of an attempt; what is not the store's time is the machine's.
    package struct Start {
        var run: Int64
        var attempt: Int
        var fence: Int64
        var at: Int64
        var before: Int64
        var after: Int64
    }

    private let store: any StoreCalls
    private let url: String
    private let log: String
    private let workers: Int

    /// - Parameters:
    ///   - store: The store, opened by the test.
    ///   - url: The path or URL by which the workers open it.
    ///   - folder: Where the workers write down what they know.
    package init(on store: any StoreCalls, at url: String, in folder: String, workers: Int) {
        self.store = store
        self.url = url
        log = folder + "/storm-\(UUID().uuidString.prefix(8))"
        self.workers = workers
    }

    /// Lets the storm rage until all that was submitted has been completed.
    package func rage(
        _ limit: RateLimit?, maxRunning: Int? = nil, kills: Int, submits: Int
    ) async throws -> Outcome {
        let rules = try DurableRules(
            .debounce(for: .zero), combination: .latest, maxBatch: nil, limit: limit, maxRunning: maxRunning)
        try await store.open("kill", rules)
        var outcome = Outcome(kills: kills, submits: submits)
        var receipts: [DurableReceipt] = []
        for key in 0..<submits {
            let value = Array("\(key)".utf8)
            receipts.append(
                try await store.submit(
                    DurableSubmission(namespace: "kill", key: Array("key \(key)".utf8), value: value)))
        }
        var children = try (0..<workers).map { try Child("limited", url, log, "\($0)") }
        var lines = Lines(log)
        for number in 0..<kills {
            let wanted = lines.all.count + .random(in: 0...20)
            try await waitUntil {
                try lines.read()
                // On a busy machine the workers may be faster than this test.
                if lines.all.count >= wanted { return true }
                return try await store.status().first?.hasWork != true
            }
            outcome.mostCounted = max(outcome.mostCounted, try await store.status().first?.running ?? 0)
            children[number % workers].kill()
            children[number % workers] = try Child("limited", url, log, "\(workers + number)")
        }
        try await waitUntil(atMost: .seconds(60 + submits / 20)) {
            guard let status = try await store.status().first else { return true }
            outcome.mostCounted = max(outcome.mostCounted, status.running)
            #expect(status.dead == 0)
            return !status.hasWork
        }
        for child in children { child.kill() }
        for receipt in receipts { #expect(try await store.state(of: receipt) == .executed) }
        outcome.attempts = try await store.status().first?.attempts ?? 0
        try lines.read()
        evaluate(lines.all, limit, &outcome)
        if let limit {
            #expect(outcome.mostInWindow <= limit.starts)
            #expect(outcome.mostAtOnce <= limit.burst)
        }
        if let maxRunning { #expect(max(outcome.mostRunning, outcome.mostCounted) <= maxRunning) }
        #expect(outcome.starts.count >= submits)
        return outcome
    }

    private func evaluate(_ lines: [String], _ limit: RateLimit?, _ outcome: inout Outcome) {
        var ends: [Int64: Int64] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            let numbers = words.compactMap { Int64($0) }
            switch words.first {
            case "start":
                outcome.starts.append(
                    Start(
                        run: numbers[0], attempt: Int(numbers[1]), fence: numbers[2], at: numbers[3],
                        before: numbers[4],
                        after: numbers[5]))
            case "end": ends[numbers[2]] = numbers[3]
            default: Issue.record("\(line)")
            }
        }
        outcome.starts.sort { ($0.at, $0.fence) < ($1.at, $1.fence) }
        // An attempt that was handed out again, since its answer was lost, has started once.
        var seen: Set<[Int64]> = []
        let once = outcome.starts.filter { seen.insert([$0.run, Int64($0.attempt)]).inserted }
        if let limit, let first = once.first, let last = once.last {
            let period = limit.period.nanoseconds / 1000
            for (index, start) in once.enumerated() {
                let rest = once[index...]
                outcome.mostInWindow = max(outcome.mostInWindow, rest.prefix { $0.at - start.at < period }.count)
                outcome.mostAtOnce = max(outcome.mostAtOnce, rest.prefix { $0.at == start.at }.count)
            }
            outcome.expected =
                Double(limit.burst)
                + Double(last.at - first.at) * 1000 / Double(limit.interval(inUnitsOf: 1000).nanoseconds)
        }
        // A lease is certainly held from the answer until the report, or until another worker has asked for the run.
        var changes: [(at: Int64, by: Int)] = []
        let next = Dictionary(grouping: outcome.starts, by: \.run)
        for start in outcome.starts {
            let takeover = next[start.run]?.filter { $0.fence > start.fence }.map(\.before).min()
            guard let end = [ends[start.fence], takeover].compactMap(\.self).min(), end > start.after else { continue }
            changes += [(start.after, 1), (end, -1)]
        }
        var running = 0
        for change in changes.sorted(by: { ($0.at, $0.by) < ($1.at, $1.by) }) {
            running += change.by
            outcome.mostRunning = max(outcome.mostRunning, running)
        }
        outcome.starts = once
    }
}
