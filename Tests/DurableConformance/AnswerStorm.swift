internal import Foundation
internal import Lull
package import LullDurable
internal import Testing
internal import TestSupport

/// Workers whose handlers hang, snooze, fail and give up at random, and that are killed meanwhile: what became of every
/// submit, by what the workers and the store say.
package struct AnswerStorm: CustomStringConvertible {
    private var submits = 0
    private var givenUp = 0
    private var starts = 0
    private var hung = 0

    /// How long a lease of the workers is; `DurableChild` says so, too. In microseconds.
    private static let lease: Int64 = 1_000_000

    /// Submits while workers work at a store, kills as many of them as wanted, lets the last ones finish, and records
    /// an issue for what is lost or overlaps.
    ///
    /// - Parameters:
    ///   - url: The path of a file or the URL of a server, as `DurableChild` takes it.
    ///   - directory: A folder for the lines of the workers.
    package init(on store: any DurableStore, at url: String, in directory: String, kills: Int) async throws {
        let debouncer = try await DurableDebouncer<String, String>(
            collectingFor: .milliseconds(2), maxWait: .milliseconds(9), namespace: "kill", in: store)
        let log = directory + "/answers"
        var lines = Lines(log)
        var receipts: [String: DurableReceipt] = [:]
        var workers = [try Child("answer", url, log, "0"), try Child("answer", url, log, "1")]
        for kill in 0..<kills {
            for serial in 0..<60 {
                let value = "\(kill).\(serial)"
                receipts[value] = try await debouncer.submit(value, for: "key \(serial % 20)")
            }
            try await lines.wait(for: lines.all.count + .random(in: 1...15))
            workers.removeFirst().kill()
            workers.append(try Child("answer", url, log, "\(kill + 2)"))
        }
        try await waitUntil(atMost: .seconds(60)) {
            let status = try await debouncer.status()
            return status.pending + status.ready + status.running + status.retrying == 0
        }
        for worker in workers { worker.kill() }
        try lines.read()

        // Nothing that was acknowledged is lost: it has been executed, or given up, with its value.
        submits = receipts.count
        let dead = Set(try await debouncer.dead(limit: .max).flatMap { try $0.values(as: String.self) })
        let returned = Set(lines.all.filter { $0.hasPrefix("end ") }.flatMap { Interval($0)?.values ?? [] })
        for (value, receipt) in receipts {
            switch try await debouncer.state(of: receipt) {
            case .executed:
                #expect(returned.contains(value), "\(value) is executed, and no handler has returned with it")
            case .dead(let error): #expect(error == "given up" && dead.contains(value), "\(value): \(error ?? "-")")
            case let state: Issue.record("\(value) is \(state)")
            }
        }
        givenUp = dead.count
        checkOverlaps(lines.all)
    }

    /// Under valid fences no two handlers of a key run at once: one that ended long before its lease could have was
    /// alone.
    private mutating func checkOverlaps(_ lines: [String]) {
        var open: [String: Interval] = [:]
        var closed: [String: [(from: Interval, to: Int64)]] = [:]
        hung = lines.count { $0.hasPrefix("hang ") }
        for interval in lines.compactMap(Interval.init) {
            let run = "\(interval.run)/\(interval.fence)"
            if interval.isStart {
                starts += 1
                open[run] = interval
            } else if let start = open.removeValue(forKey: run) {
                closed[interval.key, default: []].append((start, interval.at))
            }
        }
        for (key, intervals) in closed {
            let sound = intervals.filter { $0.to - $0.from.at < Self.lease / 2 }.sorted { $0.from.at < $1.from.at }
            for (one, next) in zip(sound, sound.dropFirst()) where next.from.at < one.to {
                Issue.record("\(key): \(one.from) ends at \(one.to), after the start of \(next.from)")
            }
        }
    }

    /// A line of a worker.
    private struct Interval: CustomStringConvertible {
        let isStart: Bool
        let at: Int64
        let run: Int64
        let fence: Int64
        let key: String
        let values: [String]

        init?(_ line: String) {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 7, words[0] != "hang", let at = Int64(words[1]), let run = Int64(words[2]),
                let fence = Int64(words[3])
            else { return nil }
            (isStart, self.at, self.run, self.fence) = (words[0] == "start", at, run, fence)
            key = words[4] + " " + words[5]
            values = words[6].split(separator: ",").map(String.init)
        }

        var description: String { "run \(run)/\(fence) at \(at)" }
    }

    package var description: String {
        "\(submits) submits, \(starts) starts, \(givenUp) values given up, \(hung) handlers hung"
    }
}
