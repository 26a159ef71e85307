import Allocations
import Foundation
internal import LullCore
import LullDurable

// Rows: looking at a store that holds many keys, and changing all of them while others submit.

enum LargeStores {
    private static func keys(_ effort: Effort) -> Int { effort.rounds > 5 ? 1_000_000 : 100_000 }

    /// Measures what `status` and `lull list` cost.
    static func rows(in place: Filters.Place) -> @Sendable (Effort) -> [Line] {
        { effort in
            place.onStore { url in
                let count = keys(effort)
                let store = blocking { try await Servers.open(url) }
                _ = blocking { try await store.open(Servers.namespace, DurableRules(.debounce(wait: .seconds(36000)))) }
                Servers.fill(store, (0..<count).map { "key-\($0)" })
                var lines = [Line("status of \(count) pending keys", status(store), "ms", target: .figureAtMost(50))]
                let all = try list(count, url), some = try list(count / 10, url)
                lines.append(
                    Line(
                        "lull list --json, a key", Spread(all), "µs", against: "the first tenth", Spread(some),
                        ratio: Spread(all / some), target: .ratioAtMost(1.5)))
                _ = blocking { try await store.flush(nil, in: Servers.namespace) }
                lines.append(Line("status of as many ready keys", status(store), "ms", target: .figureAtMost(50)))
                blocking { await store.close() }
                return lines
            }
        }
    }

    private static func status(_ store: any StoreCalls) -> Spread {
        Spread((0..<11).map { _ in milliseconds { _ = blocking { try await store.status() } } })
    }

    /// Returns the microseconds that a key takes in a list.
    private static func list(_ count: Int, _ url: String) throws -> Double {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Command.path ?? "")
        process.arguments = [
            "list", "--store", url, "--namespace", Servers.namespace, "--json", "--limit", "\(count)",
        ]
        process.standardOutput = FileHandle.nullDevice
        let time = try milliseconds {
            try process.run()
            process.waitUntilExit()
        }
        precondition(process.terminationStatus == 0, "lull list ended with \(process.terminationStatus)")
        return time * 1000 / Double(count)
    }

    /// Measures flushing and cancelling all keys of a file, and the submits of another process meanwhile.
    static func changes(_ effort: Effort) -> [Line] {
        Filters.Place.file.onStore { url in
            let count = keys(effort)
            let store = blocking { try await Servers.open(url) }
            let other = blocking { try await Servers.open(url) }
            _ = blocking { try await store.open(Servers.namespace, DurableRules(.debounce(wait: .seconds(36000)))) }
            Servers.fill(store, (0..<count).map { "key-\($0)" })
            var lines: [Line] = []
            for (name, flushes) in [("flush", true), ("cancel", false)] {
                let submits = Submits(to: other)
                let time = milliseconds {
                    let changed = blocking {
                        flushes
                            ? try await store.flush(nil, in: Servers.namespace)
                            : try await store.cancel(nil, in: Servers.namespace)
                    }
                    precondition(changed >= count, "\(changed) of \(count) keys were changed")
                }
                lines.append(Line("\(name) of \(count) keys", Spread(time / 1000), "s"))
                lines.append(
                    Line("the longest submit meanwhile", Spread(submits.end()), "ms", target: .figureAtMost(500)))
            }
            blocking { await store.close() }
            blocking { await other.close() }
            return lines
        }
    }

    /// Submits one after another, in a thread, until it is told to end.
    private final class Submits: @unchecked Sendable {
        // Proof of @unchecked Sendable: the lock guards `hasEnded`; `longest` is read after the thread has signalled
        // its end.
        private let lock = NSLock()
        private var hasEnded = false
        private var longest = 0.0
        private let done = DispatchSemaphore(value: 0)

        init(to store: any StoreCalls) {
            Thread.detachNewThread { [self] in
                var number = 0
                while !lock.withLock({ hasEnded }) {
                    let key = Array("other-\(number)".utf8)
                    number += 1
                    let time = LargeStores.milliseconds {
                        _ = blocking {
                            try await store.submit(
                                DurableSubmission(namespace: Servers.namespace, key: key, value: key))
                        }
                    }
                    longest = max(longest, time)
                    usleep(1000)
                }
                done.signal()
            }
        }

        /// Returns how long the longest one took, in milliseconds.
        func end() -> Double {
            lock.withLock { hasEnded = true }
            done.wait()
            return longest
        }
    }

    /// Measures many `lull submit` that start at once on one file.
    static func crowd(_ effort: Effort) -> [Line] {
        Filters.Place.file.onStore { url in
            let count = 200
            func submit(_ number: Int) throws -> Process {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: Command.path ?? "")
                process.arguments = ["submit", "--store", url, "--wait", "10h", "key-\(number)", Servers.value]
                process.standardError = FileHandle.nullDevice
                try process.run()
                return process
            }
            try submit(0).waitUntilExit()
            var times: [Double] = []
            var refused = 0
            for _ in 0..<3 {
                times.append(
                    try milliseconds {
                        let processes = try (1...count).map { try submit($0) }
                        for process in processes {
                            process.waitUntilExit()
                            if process.terminationStatus != 0 { refused += 1 }
                        }
                    } / 1000)
            }
            return [
                Line("\(count) lull submit at once", Spread(times), "s"),
                Line("refused of them", Spread(Double(refused)), "", target: .figureAtMost(0)),
            ]
        }
    }

    fileprivate static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = boot_nanoseconds()
        try body()
        return Double(boot_nanoseconds() - start) / 1e6
    }
}
