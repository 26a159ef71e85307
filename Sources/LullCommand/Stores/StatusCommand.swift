internal import LullDurable
internal import LullInspection

extension DurableStatus {
    /// What the limits hold back, and until when; nil if nothing waits for them.
    fileprivate var limitLine: String? {
        guard limited > 0 else { return nil }
        let keys = "\(Terminal.shown(namespace)): \(counted(limited, "key")) \(limited == 1 ? "waits" : "wait")"
        guard let nextStart else { return "\(keys) for --max-running \(rules.maxRunning ?? 0)" }
        return "\(keys) for --limit; the next start is in \(DurationText.rounded(nextStart))"
    }

    /// What waits in the inbox; nil if nothing does.
    fileprivate var inboxLine: String? {
        guard entries > 0 else { return nil }
        let calls = "\(counted(entries, "call")) from other programs \(entries == 1 ? "waits" : "wait")"
        let age = oldestEntry.map { ", the oldest for \(DurationText.rounded($0))" } ?? ""
        return "\(Terminal.shown(namespace)): \(calls)\(age): a worker makes them"
    }
}

/// `lull status`: counts the work in a store.
enum StatusCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> Int32 {
        let store = try options.openStore(for: .status, isReadOnly: true)
        if options.watches {
            return try WatchLoop.run { text throws(Failure) in
                try append(self.status(of: store, options), options, to: &text)
            }
        }
        let status = try self.status(of: store, options)
        try OutputBuffer.print { append(status, options, to: &$0) }
        return OutputBuffer.end(reporting: status.namespaces.flatMap { options.limits?.exceeded(by: $0) ?? [] })
    }

    private static func status(of store: CommandStore, _ options: CommandOptions) throws(Failure) -> StoreStatus {
        let name = options.givenNamespace
        return try store.ask(for: .status) { store in
            let namespaces = if let name { [try await store.status(of: name)] } else { try await store.status() }
            return StoreStatus(namespaces: namespaces, health: try await store.health())
        }
    }

    private static func append(_ status: StoreStatus, _ options: CommandOptions, to text: inout [UInt8]) {
        let all = status.namespaces
        switch options.format {
        case .openmetrics: OpenMetrics.append(status, to: &text)
        case _ where options.printsObjects:
            for namespace in all { namespace.json(with: status.health ?? []).appendLine(to: &text) }
        default:
            let columns = ["namespace"] + DurableStatus.columns.map(\.name)
            Table.append(
                [columns] + all.map(\.cells), width: Terminal.tableWidth, style: options.style,
                paint: { cell, column in
                    switch column {
                    case "dead" where cell != "0": options.style.alarming(cell)
                    case "paused" where cell != "-": options.style.notable(cell)
                    default: cell
                    }
                }, to: &text)
            for line in all.flatMap({ [$0.pauseLine, $0.limitLine, $0.inboxLine] }).compactMap({ $0 }) {
                text.append(wrapped: line, to: Terminal.tableWidth)
            }
            if let health = status.health {
                let line = health.map { "\($0.figure.name): \($0.shown(none: "none"))" }.joined(separator: "; ")
                text.append(string: line + "\n")
            }
        }
    }
}
