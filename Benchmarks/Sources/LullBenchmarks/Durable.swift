import Allocations
import Foundation
internal import LullCore
import LullDurable
import LullSQLite

// Rows: the SQLite store against the bare upsert of one row, both on the disk of the temporary directory.

enum Durable {
    static func inDirectory(_ body: (URL) -> [Line]) -> [Line] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "lull-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        return body(directory)
    }

    static func submits(_ effort: Effort) -> [Line] {
        inDirectory { directory in
            let sides = DurableSides(keys: 10_000, wait: .seconds(36000), in: directory)
            let (many, few) = (64 * 100, 500)
            let all = sides.draw(many, seed: 1)
            let some = Array(all.prefix(few))
            let taken = Interleaved(
                rounds: effort.rounds,
                [
                    { sides.upsert(all, perTransaction: 64) },
                    { sides.upsert(some, perTransaction: 1) },
                    { sides.submit(all, tasks: 64) },
                    { sides.submit(some, tasks: 1) },
                    { sides.upsertAwaited(some) },
                ])
            return [
                rate("64 tasks at once", taken, 2, against: "64 rows a commit", 0, .ratioAtLeast(0.8)),
                rate("the same", taken, 2, against: "a row a commit", 1, .ratioAtLeast(5)),
                rate("one after another", taken, 3, against: "a row a commit", 1, .ratioAtLeast(0.8)),
                rate("the same", taken, 3, against: "a row a commit, awaited", 4, .none),
                taken.line("64 at once, processor time", 2, against: "64 rows a commit", 0, by: \.cpu),
            ] + [16, 1000].flatMap { bytes in submits(of: bytes, effort, in: directory) }
        }
    }

    private static func submits(of bytes: Int, _ effort: Effort, in directory: URL) -> [Line] {
        let sides = DurableSides(keys: 10_000, wait: .seconds(36000), bytes: bytes, in: directory)
        let all = sides.draw(64 * 100, seed: 1)
        let taken = Interleaved(
            rounds: effort.rounds, [{ sides.upsert(all, perTransaction: 64) }, { sides.submit(all, tasks: 64) }])
        return [
            rate("64 at once, \(bytes) bytes each", taken, 1, against: "64 rows a commit", 0, .none),
            taken.line("the same, processor time", 1, against: "64 rows a commit", 0, by: \.cpu),
        ]
    }

    /// Checks that a collected value costs the same however many there are under its key.
    static func collected(_ effort: Effort) -> [Line] {
        inDirectory { directory in
            let (few, many) = (3000, effort.rounds > 5 ? 300_000 : 30_000)
            let taken = Interleaved(
                rounds: 3,
                [
                    { DurableSides.collect(few, in: directory) },
                    { DurableSides.collect(many, in: directory) },
                ])
            return [
                taken.line(
                    "a value of 1 kB, \(many) to one key", 1, against: "\(few) to one key", 0, by: \.wall,
                    .ratioAtMost(1.5))
            ]
        }
    }

    static func runs(_ effort: Effort) -> [Line] {
        inDirectory { directory in
            let count = effort.rounds > 5 ? 100_000 : 20_000
            let taken = Interleaved(
                rounds: 1,
                [
                    {
                        let sides = DurableSides(keys: count, wait: .zero, in: directory)
                        return sides.upsert(sides.draw(count, seed: 1), perTransaction: 64)
                    },
                    {
                        let sides = DurableSides(keys: count, wait: .zero, in: directory)
                        return sides.work(count)
                    },
                ])
            return [
                rate("claim and complete, 64 at once", taken, 1, against: "64 rows a commit", 0, .ratioAtLeast(0.4)),
                taken.line("the same, processor time", 1, against: "64 rows a commit", 0, by: \.cpu),
            ]
        }
    }

    /// Measures one submit after another while one process, and then two, commit without pause.
    static func twoProcesses(_ effort: Effort) -> [Line] {
        inDirectory { directory in
            let sides = DurableSides(keys: 1000, wait: .seconds(36000), in: directory)
            let keys = sides.draw(effort.rounds * 50, seed: 2)
            let alone = keys.map { sides.submit([$0], tasks: 1).wall / 1e6 }
            var others: [Process] = []
            defer {
                for other in others { other.terminate() }
                for other in others { other.waitUntilExit() }
            }
            var lines: [Line] = []
            for (name, target) in [("another", Line.Target.figureAtMost(20)), ("two others", .none)] {
                let other = Process()
                other.executableURL = Bundle.main.executableURL
                other.arguments = ["--commit-without-pause", sides.path]
                do { try other.run() } catch { return [Line("not measured: \(error)", Spread(.nan), "")] }
                others.append(other)
                sleep(1)
                let times = keys.map { sides.submit([$0], tasks: 1).wall / 1e6 }
                for (percent, target) in [(99, target), (50, .none)] {
                    lines.append(
                        Line(
                            "p\(percent) of a submit beside \(name)", Spread(percentile(percent, times)), "ms",
                            against: "alone", Spread(percentile(percent, alone)), target: target))
                }
            }
            return lines
        }
    }

    /// The work of the other process.
    static func commitWithoutPause(_ path: String) -> Never {
        blocking {
            let store = try await SQLiteStore(path: path)
            try await withThrowingTaskGroup { group in
                for task in 0..<8 {
                    group.addTask {
                        while true {
                            _ = try await store.submit(
                                DurableSubmission(namespace: DurableSides.namespace, key: [UInt8(task)], value: [1]))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        exit(0)
    }

    /// Measures an idle worker, which would notice another process's submit.
    static func idle(_ effort: Effort) -> [Line] {
        inDirectory { directory in
            let store = blocking { try await SQLiteStore(path: directory.path + ".db") }
            let waiting = Task {
                _ = try await store.open("n", DurableRules(.debounce(wait: .seconds(1))))
                let claim = DurableClaim(
                    namespace: "n", terms: .init(owner: 1, lease: .seconds(30), maxAttempts: 3), limit: 1)
                let mark = try await store.claim(claim).mark
                try await store.wait(in: "n", after: mark, atMost: .seconds(3600))
            }
            sleep(3)
            let cpu = process_cpu_nanoseconds()
            let wall = boot_nanoseconds()
            sleep(UInt32(effort.seconds))
            let share = Double(process_cpu_nanoseconds() - cpu) / Double(boot_nanoseconds() - wall)
            waiting.cancel()
            return [Line("an idle worker, of a core", Spread(100 * share), "%", target: .figureAtMost(0.2))]
        }
    }

    /// A line in operations per second, where more is better.
    private static func rate(
        _ subject: String, _ taken: Interleaved, _ side: Int, against reference: String, _ other: Int,
        _ target: Line.Target
    ) -> Line {
        func rates(_ side: Int) -> Spread { Spread(taken.sides[side].map { 1e9 / $0.wall }) }
        return Line(
            subject, rates(side), "/s", against: reference, rates(other), ratio: taken.ratio(other, to: side, \.wall),
            target: target)
    }

    private static func percentile(_ percent: Int, _ values: [Double]) -> Double {
        values.sorted()[min(values.count - 1, values.count * percent / 100)]
    }
}
