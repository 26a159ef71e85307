internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// `lull dead`: the runs of a store that have failed for good.
enum DeadCommand {
    /// What can be done with them.
    private enum Verb: String {
        case list
        case retry
        case discard
    }

    /// As many as are listed at once.
    private static let most = 1000

    static func run(_ operands: [Argument], _ settings: Settings) throws(Failure) -> Int32 {
        guard let first = operands.first else { throw .usage("say what to do: list, retry or discard", .dead) }
        guard let verb = Verb(rawValue: String(cString: first)) else {
            throw .usage("what to do must be list, retry or discard, not \"\(String(cString: first))\"", .dead)
        }
        guard verb != .list else {
            if settings.takesAll { throw .usage("--all is for retry and discard", .dead) }
            return try list(Array(operands.dropFirst()), settings)
        }
        let file = try settings.store(creates: false, for: .dead)
        var runs: [Int64] = []
        for operand in operands.dropFirst() {
            guard let run = Int64(String(cString: operand)) else {
                throw .usage("a run has a number, not \"\(String(cString: operand))\"", .dead)
            }
            runs.append(run)
        }
        if settings.takesAll {
            guard runs.isEmpty else { throw .usage("RUN and --all exclude each other", .dead) }
            runs = try all(of: file, settings.namespace)
        } else if runs.isEmpty {
            throw .usage("say which runs: their numbers, which lull dead list shows, or --all", .dead)
        }
        return try change(runs, verb == .retry, file, settings.namespace)
    }

    private static func list(_ operands: [Argument], _ settings: Settings) throws(Failure) -> Int32 {
        try operands.checkEmpty(for: .dead)
        let namespace = settings.namespace
        let file = try settings.storeToLookAt(for: .dead)
        let dead = try file.look(for: .dead) { transaction throws(DurableError) in
            try transaction.dead(in: namespace, limit: most)
        }
        var output = Outlet(STDOUT_FILENO)
        if settings.format == .json {
            for run in dead { run.appendJSON(to: &output.text) }
        } else {
            Table.append(
                [DurableDeadRun<[UInt8]>.columns] + dead.map(\.cells), left: ["key", "error"],
                width: Terminal.tableWidth,
                to: &output.text)
        }
        _ = try output.drain()
        return ExitStatus.success
    }

    private static func all(of file: SQLiteFile, _ namespace: String) throws(Failure) -> [Int64] {
        let runs = try file.write(for: .dead) { transaction throws(DurableError) in
            try transaction.dead(in: namespace, limit: .max).map(\.id)
        }
        if runs.isEmpty {
            throw Failure(
                status: ExitStatus.commandFailed, message: "\(Terminal.shown(namespace)) has no dead runs")
        }
        return runs
    }

    /// Retries or discards runs, each by itself: one that cannot be does not keep the others.
    private static func change(
        _ runs: [Int64], _ retries: Bool, _ file: SQLiteFile, _ namespace: String
    ) throws(Failure) -> Int32 {
        var log = Outlet(STDERR_FILENO)
        var count = 0
        for run in runs {
            let answer = try file.write(for: .dead) { transaction throws(DurableError) -> DurableRetry in
                if retries { return try transaction.retry(run, in: namespace) }
                return try transaction.discard(run, in: namespace) ? .accepted : .notFound
            }
            switch answer {
            case .accepted: count += 1
            case .notFound: log.report("run \(run) is not among the dead of \(Terminal.shown(namespace))")
            case .outdated: log.report("run \(run) is not tried again: its key has a newer value")
            case .busy: log.report("run \(run) is not tried again now: its key has another run")
            }
        }
        var output = Outlet(STDOUT_FILENO)
        output.text.append(
            string: "\(retries ? "retried" : "discarded") \(count) dead run\(count == 1 ? "" : "s")\n")
        _ = try output.drain()
        // If messages cannot be written, there is no place to say so.
        _ = try? log.drain()
        return count == runs.count ? ExitStatus.success : ExitStatus.commandFailed
    }
}

extension DurableDeadRun<[UInt8]> {
    fileprivate static let columns = ["run", "key", "submits", "attempts", "age", "error"]

    fileprivate var cells: [String] {
        [
            "\(id)", Table.cell(ofKey: key), "\(submits.count)", "\(attempts)",
            DurationText.rounded(CoreDuration(age).nanoseconds),
            error.map { Terminal.lastLine(of: $0) } ?? "-",
        ]
    }

    /// One JSON object in a line, with the values.
    fileprivate func appendJSON(to text: inout [UInt8]) {
        text.append(string: "{\"run\":\(id),\"key\":")
        JSONText.append(key, to: &text)
        text.append(",\"values\":[")
        for (index, value) in values.enumerated() {
            if index > 0 { text.append(",") }
            JSONText.append(value, to: &text)
        }
        text.append(string: "],\"submits\":\(submits.count),\"attempts\":\(attempts),\"age\":")
        DecimalSeconds.append(CoreDuration(age).nanoseconds, to: &text)
        text.append(",\"error\":")
        JSONText.append(error, to: &text)
        text.append("}\n")
    }
}
