internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable

/// `lull status`: counts the work in a store.
enum StatusCommand {
    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        try operands.checkEmpty(for: .status)
        if options.watches, options.format == .openmetrics {
            throw .usage("--watch shows a table, or objects with --json; not --format openmetrics", .status)
        }
        if options.watches, options.limits != nil {
            throw .usage("--watch and --fail-if exclude each other", .status)
        }
        let store = try options.openStoreReadOnly(for: .status)
        var output = OutputBuffer(STDOUT_FILENO)
        guard options.watches else {
            let status = try status(of: store, options)
            append(status, options, to: &output.bytes)
            _ = try output.drain()
            let exceeded = status.namespaces.flatMap { options.limits?.exceeded(by: $0) ?? [] }
            OutputBuffer.report(exceeded)
            return exceeded.isEmpty ? ExitStatus.success : ExitStatus.commandFailed
        }
        return try Watch.run(&output) { text throws(Failure) in
            append(try status(of: store, options), options, to: &text)
        }
    }

    private static func status(of store: CommandStore, _ options: CommandOptions) throws(Failure) -> Status {
        try store.ask(for: .status) { () throws(DurableError) in
            let namespaces =
                if let name = options.givenNamespace { [try store.status(of: name)] } else { try store.status() }
            return Status(namespaces: namespaces, health: try store.health())
        }
    }

    private static func append(_ status: Status, _ options: CommandOptions, to text: inout [UInt8]) {
        let all = status.namespaces
        switch options.format {
        case .openmetrics: OpenMetrics.append(status, to: &text)
        case .json:
            for namespace in all { namespace.appendJSON(with: status.health, to: &text) }
        default:
            Table.append([DurableStatus.columns] + all.map(\.cells), width: Terminal.tableWidth, to: &text)
            if let health = status.health { text.append(string: health.line + "\n") }
        }
    }
}

/// The status of a store.
struct Status {
    var namespaces: [DurableStatus]
    /// Of a server.
    var health: ServerHealth?
}

extension DurableStatus {
    /// The counts with their names, in the order of the columns.
    static let counts: [(name: String, count: @Sendable (DurableStatus) -> Int)] = [
        ("pending", { $0.pending }), ("ready", { $0.ready }), ("running", { $0.running }),
        ("retrying", { $0.retrying }), ("dead", { $0.dead }),
    ]
    /// The name of the column with the age of the oldest work that could run.
    static let oldest = "oldest"

    fileprivate static let columns = ["namespace"] + counts.map(\.name) + [oldest]

    fileprivate var cells: [String] {
        let oldest = oldestDue.map { DurationText.rounded(CoreDuration($0).nanoseconds) } ?? "-"
        return [Terminal.shown(namespace, upTo: 40)] + Self.counts.map { "\($0.count(self))" } + [oldest]
    }

    /// Appends one line with a JSON object.
    fileprivate func appendJSON(with health: ServerHealth?, to text: inout [UInt8]) {
        text.append("{\"namespace\":")
        JSONText.append(Array(namespace.utf8), to: &text)
        let kind = rules.policy.kind == .debounce ? "wait" : "interval"
        text.append(string: ",\"\(kind)\":")
        DecimalSeconds.append(rules.policy.wait.nanoseconds, to: &text)
        for (name, count) in Self.counts { text.append(string: ",\"\(name)\":\(count(self))") }
        text.append(",\"oldestDue\":")
        DecimalSeconds.append(oldestDue, to: &text)
        text.append(string: ",\"attempts\":\(attempts),\"lostLeases\":\(lostLeases)")
        health?.appendJSON(to: &text)
        text.append("}\n")
    }

    /// The counts in one line, for a session's statistics.
    var line: String { Self.counts.map { "\($0.name) \($0.count(self))" }.joined(separator: ", ") }
}
