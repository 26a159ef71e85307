internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable

/// `lull dead`: lists, retries or discards the runs of a store that have failed for good.
enum DeadCommand {
    /// The first operand.
    private enum Verb: String {
        case list
        case retry
        case discard
    }

    /// The greatest number of runs in a list.
    private static let most = 1000

    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        guard let first = operands.first else { throw .usage("the action is missing: list, retry or discard", .dead) }
        guard let verb = Verb(rawValue: String(cString: first)) else {
            throw .usage("the action must be list, retry or discard, not \"\(String(cString: first))\"", .dead)
        }
        guard verb != .list else {
            if options.takesAll { throw .usage("--all is only for retry and discard", .dead) }
            return try list(Array(operands.dropFirst()), options)
        }
        let store = try options.openStore(for: .dead)
        var runs: [Int64] = []
        for operand in operands.dropFirst() {
            guard let run = Int64(String(cString: operand)) else {
                throw .usage("RUN must be a number, not \"\(String(cString: operand))\"", .dead)
            }
            runs.append(run)
        }
        if options.takesAll {
            guard runs.isEmpty else { throw .usage("RUN and --all exclude each other", .dead) }
            runs = try all(of: store, options.namespace)
        } else if runs.isEmpty {
            throw .usage("RUN is missing: give the numbers that lull dead list shows, or --all", .dead)
        }
        return try change(runs, verb == .retry, store, options.namespace)
    }

    private static func list(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        try operands.checkEmpty(for: .dead)
        let namespace = options.namespace
        let store = try options.openStoreReadOnly(for: .dead)
        let dead = try store.ask(for: .dead) { () throws(DurableError) in
            try store.dead(in: namespace, limit: most)
        }
        try DurableDeadRun.print(dead, options)
        return ExitStatus.success
    }

    private static func all(of store: CommandStore, _ namespace: String) throws(Failure) -> [Int64] {
        let runs = try store.ask(for: .dead) { () throws(DurableError) in
            try store.dead(in: namespace, limit: .max).map(\.id)
        }
        if runs.isEmpty {
            throw Failure(
                status: ExitStatus.commandFailed, message: "\(Terminal.shown(namespace)) has no dead runs")
        }
        return runs
    }

    /// Retries or discards runs, each in a transaction of its own: one that fails does not stop the others.
    private static func change(
        _ runs: [Int64], _ retries: Bool, _ store: CommandStore, _ namespace: String
    ) throws(Failure) -> Int32 {
        var messages: [String] = []
        var count = 0
        for run in runs {
            let answer = try store.ask(for: .dead) { () throws(DurableError) -> DurableRetry in
                if retries { return try store.retry(run, in: namespace) }
                return try store.discard(run, in: namespace) ? .accepted : .notFound
            }
            switch answer {
            case .accepted: count += 1
            case .notFound: messages.append("run \(run) is not a dead run of \(Terminal.shown(namespace))")
            case .outdated: messages.append("run \(run) was not retried: its key has a newer value")
            case .busy: messages.append("run \(run) was not retried: its key has another run")
            }
        }
        try OutputBuffer.print("\(retries ? "retried" : "discarded") \(count) dead run\(count == 1 ? "" : "s")\n")
        OutputBuffer.report(messages)
        return count == runs.count ? ExitStatus.success : ExitStatus.commandFailed
    }
}

extension DurableDeadRun<[UInt8]>: Listed {
    static var columns: [String] { ["run", "key", "submits", "attempts", "age", "error"] }
    static var texts: Set<String> { ["key", "error"] }

    var cells: [String] {
        [
            "\(id)", Table.cell(ofKey: key), "\(count)", "\(attempts)",
            DurationText.rounded(CoreDuration(age).nanoseconds),
            error.map { Terminal.lastLine(of: $0) } ?? "-",
        ]
    }

    /// Includes the values.
    var json: JSONValue {
        [
            "run": .number(id), "key": .bytes(key), "values": .array(values.map { .bytes($0) }),
            "submits": .number(count), "attempts": .number(attempts), "age": .seconds(age), "error": .text(error),
        ]
    }
}
