import Allocations
import Foundation

// Rows: the lull command on a million records over ten thousand keys, from a file.

enum Command {
    /// The path of the command; without one it is not measured.
    nonisolated(unsafe) static var path: String?

    static func rows(_ effort: Effort) -> [Line] {
        guard let path else { return [Line("not measured: --lull was not given", Spread(.nan), "")] }
        let records = 1_000_000
        let folder = FileManager.default.temporaryDirectory.appending(path: "lull-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = folder.appending(path: "lines"), trace = folder.appending(path: "trace")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try write(records, lines, trace)
        } catch {
            return [Line("not measured: \(error)", Spread(.nan), "")]
        }

        let taken = Interleaved(
            rounds: max(3, effort.rounds / 2),
            [
                {
                    run(
                        "/usr/bin/env", ["awk", "{ last[$1] = $0 } END { for (key in last) print last[key] }"], lines,
                        records)
                },
                { run(path, ["filter", "--wait", "1h", "--key-field", "1"], lines, records) },
                { run(path, ["simulate", "--wait", "300ms", "--format", "jsonl", trace.path], nil, records) },
                { run(path, ["simulate", "--wait", "300ms", trace.path], nil, records) },
            ])
        // The time of awk shows whether the machine is slow or the tool.
        func simulate(_ how: String, _ side: Int) -> Line {
            Line(
                "lull simulate \(how), a record", taken.spread(side, \.cpu), "ns",
                against: "awk", taken.spread(0, \.cpu), target: .figureAtMost(1000))
        }
        return [
            taken.line("lull filter, a line", 1, against: "awk", 0, by: \.cpu, .ratioAtMost(2)),
            simulate("as JSONL", 2), simulate("in summary", 3),
        ]
    }

    /// Writes the records as lines for the filter, and as a trace.
    private static func write(_ records: Int, _ lines: URL, _ trace: URL) throws {
        var text = "", json = ""
        var state: UInt64 = 42
        for number in 0..<records {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let key = (state >> 33) % 10_000
            text += "device-\(key) reading \(number)\n"
            let milliseconds = String(number % 1000)
            let at = "\(number / 1000)." + String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
            json += #"{"at":\#(at),"key":"device-\#(key)","value":{"reading":\#(number),"unit":"lx"}}"# + "\n"
        }
        try Data(text.utf8).write(to: lines)
        try Data(json.utf8).write(to: trace)
    }

    /// Measures the processor time of a command that reads a file and whose output is discarded.
    private static func run(_ path: String, _ arguments: [String], _ input: URL?, _ records: Int) -> Sample {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = input.flatMap { try? FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let cpu = children_cpu_nanoseconds()
        let wall = boot_nanoseconds()
        do { try process.run() } catch { fatalError("\(path) could not be run: \(error)") }
        process.waitUntilExit()
        precondition(process.terminationStatus == 0, "\(path) \(arguments) ended with \(process.terminationStatus)")
        let used = Double(children_cpu_nanoseconds() - cpu) / Double(records)
        return Sample(
            wall: Double(boot_nanoseconds() - wall) / Double(records), thread: used, cpu: used, allocations: .nan)
    }
}
