import Allocations
import Foundation
internal import LullCore
import LullDurable

// Rows: `lull filter` with a store. How fast it records new keys, against known ones; and how fast it executes what
// fell due before it began.

enum Filters {
    /// Where the records are stored.
    enum Place {
        case file, postgres, redis

        /// Measures on an empty store of the benchmark's own.
        func onStore(_ body: (String) throws -> [Line]) -> [Line] {
            guard Command.path != nil else { return [Line("not measured: --lull was not given", Spread(.nan), "")] }
            switch self {
            case .file:
                return Durable.inDirectory { directory in
                    do {
                        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                        return try body("sqlite:\(directory.path)/store.db")
                    } catch {
                        return [Line("not measured: \(error)", Spread(.nan), "")]
                    }
                }
            case .postgres: return Postgres.onServer { try body($0.url()) }
            case .redis: return Redis.onServer { try body($0.url(durability: nil)) }
            }
        }
    }

    static func newKeys(in place: Place) -> @Sendable (Effort) -> [Line] {
        { effort in
            place.onStore { url in
                let records = effort.rounds > 5 ? 20_000 : 5000
                var rates: (new: [Double], known: [Double]) = ([], [])
                for round in 0..<max(3, effort.rounds / 2) {
                    let lines = (0..<records).map { "\(round)-\($0) \(Servers.value)\n" }.joined()
                    let file = FileManager.default.temporaryDirectory.appending(path: "lull-\(getpid()).txt")
                    try Data(lines.utf8).write(to: file)
                    defer { try? FileManager.default.removeItem(at: file) }
                    rates.new.append(try rate(of: records, in: file, url))
                    rates.known.append(try rate(of: records, in: file, url))
                }
                return [
                    Line(
                        "lull filter, records of new keys", Spread(rates.new), "/s", against: "of known ones",
                        Spread(rates.known), ratio: Spread(zip(rates.new, rates.known).map { $0 / $1 }),
                        target: .ratioAtLeast(0.3))
                ]
            }
        }
    }

    /// The rate at which the records of a file are submitted; they stay in the store.
    private static func rate(of records: Int, in file: URL, _ url: String) throws -> Double {
        let filter = try start(["--store", url, "--wait", "10h", "--key-field", "1"], FileHandle(forReadingFrom: file))
        return measure(records) { filter.process.waitUntilExit() }
    }

    /// Measures the folding of parts that bring a new member each: many in proportion to few.
    static func merging(_ effort: Effort) -> [Line] {
        guard Command.path != nil else { return [Line("not measured: --lull was not given", Spread(.nan), "")] }
        func rate(_ parts: Int) throws -> Double {
            let file = FileManager.default.temporaryDirectory.appending(path: "lull-\(getpid()).jsonl")
            try Data((0..<parts).map { "{\"member\($0)\":\($0)}\n" }.joined().utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let filter = try start(["--wait", "10h", "--combine", "merge-json"], FileHandle(forReadingFrom: file))
            return measure(parts) {
                _ = filter.output.readDataToEndOfFile()
                filter.process.waitUntilExit()
            }
        }
        do {
            var rates: (many: [Double], few: [Double]) = ([], [])
            for _ in 0..<max(3, effort.rounds) {
                rates.many.append(try rate(200_000))
                rates.few.append(try rate(20_000))
            }
            return [
                Line(
                    "merge-json, 200,000 parts with a new member each", Spread(rates.many), "/s",
                    against: "20,000 parts", Spread(rates.few),
                    ratio: Spread(zip(rates.many, rates.few).map { $0 / $1 }), target: .ratioAtLeast(0.5))
            ]
        } catch {
            return [Line("not measured: \(error)", Spread(.nan), "")]
        }
    }

    static func backlog(in place: Place) -> @Sendable (Effort) -> [Line] {
        { effort in
            place.onStore { url in
                let records = effort.rounds > 5 ? 100_000 : 20_000
                let store = blocking { try await Servers.open(url) }
                _ = blocking { try await store.open(Servers.namespace, DurableRules(.debounce(wait: .zero))) }
                var rates: [Double] = []
                for round in 0..<3 {
                    Servers.fill(store, (0..<records).map { "\(round)-\($0)" })
                    let input = Pipe()
                    let arguments = ["--store", url, "--namespace", Servers.namespace]
                    rates.append(
                        try measure(records) {
                            let filter = try start(arguments, input.fileHandleForReading)
                            var lines = 0
                            while lines < records {
                                let data = filter.output.availableData
                                if data.isEmpty { break }
                                lines += data.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
                            }
                            // The end of the input ends it, once everything is complete.
                            try input.fileHandleForWriting.close()
                            filter.process.waitUntilExit()
                            precondition(lines == records, "\(lines) of \(records) records came")
                        })
                }
                blocking { await store.close() }
                return [Line("lull filter, records that are due", Spread(rates), "/s", target: .figureAtLeast(10_000))]
            }
        }
    }

    private static func start(
        _ arguments: [String], _ input: FileHandle
    ) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Command.path ?? "")
        process.arguments = ["filter"] + arguments
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    private static func measure(_ records: Int, _ body: () throws -> Void) rethrows -> Double {
        let start = boot_nanoseconds()
        try body()
        return Double(records) / Double(boot_nanoseconds() - start) * 1e9
    }
}
