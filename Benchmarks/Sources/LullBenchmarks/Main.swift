import Foundation

/// Runs the rows that were asked for, prints the table, and writes it as JSON where that was asked for.
@main
enum Main {
    static let rows: [(name: String, run: @Sendable (Effort) -> [Line])] = [
        ("hot", Hot.values),
        ("hot-closures", Hot.closures),
        ("hot-threads", Hot.threads),
        ("keyed", Keyed.integers),
        ("keyed-strings", Keyed.strings),
        ("memory", Crowd.memory),
        ("crowd", Crowd.tenMillion),
        ("due", Due.oneByOne),
        ("outcomes", Outcomes.awaited),
        ("stream", Streams.debounced),
        ("lateness", Lateness.atRest),
        ("lateness-busy", Lateness.poolBlocked),
        ("command", Command.rows),
        ("idle", Idle.aMinute),
        ("durable-submit", Durable.submits),
        ("durable-run", Durable.runs),
        ("durable-two", Durable.twoProcesses),
        ("durable-idle", Durable.idle),
    ]

    static func main() {
        var wanted: [String] = []
        var path: String?
        var effort = Effort.full
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--rows": wanted += (arguments.popFirst() ?? "").split(separator: ",").map(String.init)
            case "--json": path = arguments.popFirst()
            case "--quick": effort = .quick
            case "--commit-without-pause": Durable.commitWithoutPause(arguments.popFirst() ?? "")
            case "--lull": Command.path = arguments.popFirst()
            default:
                print("usage: LullBenchmarks [--rows name,…] [--json path] [--quick] [--lull command]")
                print("rows: " + rows.map(\.name).joined(separator: "; "))
                exit(argument == "--help" ? 0 : 64)
            }
        }

        print(machine)
        var report = Report()
        for row in rows where wanted.isEmpty || wanted.contains(where: row.name.hasPrefix) {
            report.add(row.name, row.run(effort))
        }
        do {
            if let path { try report.writeJSON(to: path) }
        } catch {
            print("the figures could not be written to \(path ?? ""): \(error)")
            exit(74)
        }
    }

    private static var machine: String {
        let information = ProcessInfo.processInfo
        return "\(information.operatingSystemVersionString), \(information.activeProcessorCount) processors, "
            + "\(information.physicalMemory >> 30) GiB. Figures are medians; processor time where not said otherwise.\n"
    }
}

/// How often things are repeated.
struct Effort {
    var rounds: Int
    var seconds: Int

    static let full = Effort(rounds: 11, seconds: 60)
    static let quick = Effort(rounds: 3, seconds: 5)
}
