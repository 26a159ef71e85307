internal import CLullCommand
internal import Lull
internal import LullCore
internal import LullDurable

/// `lull status`: counts the work in a store.
enum StatusCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> Int32 {
        if options.watches, options.format == .openmetrics {
            throw .usage("--watch shows a table, or objects with --json; not --format openmetrics", .status)
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
        case _ where options.printsObjects:
            for namespace in all { namespace.json(with: status.health ?? []).appendLine(to: &text) }
        default:
            let columns = ["namespace"] + DurableStatus.columns.map(\.name)
            Table.append([columns] + all.map(\.cells), width: Terminal.tableWidth, style: options.style, to: &text)
            if let health = status.health {
                let line = health.map { "\($0.figure.name): \($0.shown(none: "none"))" }.joined(separator: "; ")
                text.append(string: line + "\n")
            }
        }
    }
}
