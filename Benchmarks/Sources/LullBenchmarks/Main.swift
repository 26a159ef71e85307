import Foundation

/// Runs the requested rows, prints the table, and writes it as JSON on request.
@main
enum Main {
    static let rows = [
        // First, while the machine is idle: the others leave threads and memory behind, which affects a bare timer as
        // well.
        Row("lateness", charted: Lateness.atRest),
        Row("lateness-busy", Lateness.poolBlocked),
        Row("hot", Hot.values),
        Row("hot-closures", Hot.closures),
        Row("hot-threads", Contention.rows),
        Row("recording", Recorded.values),
        Row("keyed", Keyed.integers),
        Row("keyed-strings", Keyed.strings),
        Row("growth", charted: Growth.rows),
        Row("memory", ManyPendingKeys.memory),
        Row("crowd", ManyPendingKeys.tenMillion),
        Row("due", Due.oneByOne),
        Row("debouncers", Debouncers.rows),
        Row("tolerance", Tolerance.rows),
        Row("stalls", Stalls.rows),
        Row("holds", LockHolds.rows),
        Row("outcomes", Outcomes.awaited),
        Row("stream", Streams.debounced),
        Row("command", Command.rows),
        Row("idle", Idle.aMinute),
        Row("durable-submit", Durable.submits),
        Row("durable-collect", Durable.collected),
        Row("durable-run", Durable.runs),
        Row("durable-two", Durable.twoProcesses),
        Row("durable-idle", Durable.idle),
        Row("merge", Filters.merging),
        Row("durable-new-keys", Filters.newKeys(in: .file)),
        Row("durable-backlog", Filters.backlog(in: .file)),
        Row("durable-all", LargeStores.changes),
        Row("durable-crowd", LargeStores.crowd),
        Row("sqlite-look", LargeStores.rows(in: .file)),
        Row("postgres-submit", Postgres.submits),
        Row("postgres-run", Postgres.runs),
        Row("postgres-inbox", Postgres.inbox),
        Row("postgres-late", Postgres.lateness),
        Row("postgres-idle", Postgres.idle),
        Row("postgres-new-keys", Filters.newKeys(in: .postgres)),
        Row("postgres-backlog", Filters.backlog(in: .postgres)),
        Row("postgres-look", LargeStores.rows(in: .postgres)),
        Row("redis-submit", Redis.submits),
        Row("redis-run", Redis.runs),
        Row("redis-hot", Redis.hotKeys),
        Row("redis-far", Redis.farClient),
        Row("redis-new-keys", Filters.newKeys(in: .redis)),
        Row("redis-backlog", Filters.backlog(in: .redis)),
        Row("redis-look", LargeStores.rows(in: .redis)),
        Row("serve", Serve.rows),
        Row("building", Building.rows),
        Row("inspection", Inspection.rows),
    ]

    static func main() {
        var wanted: [String] = []
        var path: String?
        var charts: String?
        var effort = Effort.full
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--rows": wanted += (arguments.popFirst() ?? "").split(separator: ",").map(String.init)
            case "--json": path = arguments.popFirst()
            case "--charts": charts = arguments.popFirst()
            case "--quick": effort = .quick
            case "--commit-without-pause": Durable.commitWithoutPause(arguments.popFirst() ?? "")
            case "--work-on-server": Servers.work(arguments.popFirst() ?? "")
            case "--submit-to-server":
                Servers.submit(
                    arguments.popFirst() ?? "", keys: Int(arguments.popFirst() ?? "") ?? 1,
                    seconds: Int(arguments.popFirst() ?? "") ?? 1)
            case "--lull": Command.path = arguments.popFirst()
            case "--compare":
                let now = paths(&arguments)
                let before = arguments.popFirst() == "--with" ? paths(&arguments) : []
                guard !now.isEmpty, !before.isEmpty else { usage(64) }
                return compare(now, with: before)
            default: usage(argument == "--help" ? 0 : 64)
            }
        }

        print(machine)
        var report = Report()
        for row in rows where wanted.isEmpty || wanted.contains(where: row.name.hasPrefix) {
            let (lines, chart) = row.run(effort)
            report.add(row.name, lines)
            if let charts, let chart {
                keep(in: charts) { try write(chart, named: row.name, to: charts) }
            }
        }
        if let path { keep(in: path) { try report.writeJSON(to: path) } }
    }

    private static func usage(_ status: Int32) -> Never {
        print("usage: LullBenchmarks [--rows name,…] [--json path] [--charts folder] [--quick] [--lull command]")
        print("       LullBenchmarks --compare now.json… --with before.json…")
        print("rows: " + rows.map(\.name).joined(separator: "; "))
        exit(status)
    }

    /// The arguments up to the next option.
    private static func paths(_ arguments: inout ArraySlice<String>) -> [String] {
        let paths = arguments.prefix { !$0.hasPrefix("--") }
        arguments = arguments.dropFirst(paths.count)
        return Array(paths)
    }

    private static func compare(_ now: [String], with before: [String]) {
        do {
            try Comparison.print(now, with: before)
        } catch {
            print("the results of other runs could not be read: \(error)")
            exit(66)
        }
    }

    private static func write(_ chart: LineChart, named name: String, to folder: String) throws {
        let folder = URL(fileURLWithPath: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(chart.svg().utf8).write(to: folder.appending(path: name + ".svg"))
    }

    private static func keep(in path: String, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            print("the results could not be written to \(path): \(error)")
            exit(74)
        }
    }

    private static var machine: String {
        let information = ProcessInfo.processInfo
        return "\(information.operatingSystemVersionString), \(information.activeProcessorCount) processors, "
            + "\(information.physicalMemory >> 30) GiB. Figures are medians, and processor time unless stated "
            + "otherwise.\n"
    }
}

/// A row of the targets: lines that are measured together.
struct Row: Sendable {
    var name: String
    var run: @Sendable (Effort) -> (lines: [Line], chart: LineChart?)

    init(_ name: String, _ lines: @escaping @Sendable (Effort) -> [Line]) {
        self.name = name
        run = { (lines($0), nil) }
    }

    /// Creates a row that also has a chart.
    init(_ name: String, charted: @escaping @Sendable (Effort) -> (lines: [Line], chart: LineChart)) {
        self.name = name
        run = { charted($0) }
    }
}

/// The number of repetitions, and the sizes.
struct Effort {
    var rounds: Int
    var seconds: Int
    /// The largest number of pending keys, where the number grows.
    var keys: Int
    /// The number of submits measured at once there.
    var submits: Int
    /// The number of pending keys for calls for all keys.
    var pending: Int

    static let full = Effort(rounds: 11, seconds: 60, keys: 10_000_000, submits: 1_000_000, pending: 5_000_000)
    static let quick = Effort(rounds: 3, seconds: 5, keys: 100_000, submits: 200_000, pending: 500_000)
}
