internal import LullCore
internal import LullDurable
internal import LullInspection

struct StoreStatus {
    var namespaces: [DurableStatus]
    /// What an operator of a server should watch; nil of a file.
    var health: [MeasuredFigure]?
}

extension DurableStatus {
    /// A figure, and its value in a status.
    typealias Entry = (figure: StatusFigure, value: @Sendable (DurableStatus) -> StatusFigure.Value)

    /// The figures of a namespace, in the order of the columns. A new figure is an entry here.
    static let figures: [Entry] = [
        (keys("pending"), { .count($0.pending) }),
        (keys("ready"), { .count($0.ready) }),
        (keys("running"), { .count($0.running) }),
        (keys("retrying"), { .count($0.retrying) }),
        (StatusFigure("dead", "lull_dead_runs", "Runs that have failed for good and are kept."), { .count($0.dead) }),
        (
            StatusFigure(
                "oldest", as: "oldestDue", "lull_oldest_due",
                "How long the oldest work that waits for a worker has waited; 0 if none waits.", .duration),
            { .duration($0.oldestDue) }
        ),
        (
            StatusFigure(
                "paused", "lull_paused", "For how long the namespace has been paused; 0 if it is not.", .duration),
            { .duration($0.pause?.age) }
        ),
        (
            StatusFigure(
                "limited", "lull_limited_keys",
                "Keys with a value that is ready, and that --limit or --max-running holds back.", isInLine: true),
            { .count($0.limited) }
        ),
        (
            StatusFigure(
                "next start", as: "nextStart", "lull_next_start",
                "How long until --limit allows a start; 0 if it allows one now.", .duration, isInLine: true),
            { .duration($0.nextStart) }
        ),
        (
            StatusFigure(
                "entries", "lull_entries",
                "Calls of programs in other languages that wait in the inbox to be made.", isInLine: true),
            { .count($0.entries) }
        ),
        (
            StatusFigure(
                "oldest entry", as: "oldestEntry", "lull_oldest_entry",
                "How long the oldest of them has waited; 0 if there is none.", .duration, isInLine: true),
            { .duration($0.oldestEntry) }
        ),
        counter("attempts", "lull_attempts", "Attempts at runs that have started.") { $0.attempts },
        counter(
            "lost leases", as: "lostLeases", "lull_lost_leases",
            "Runs that were taken from a worker whose lease had expired."
        ) { $0.lostLeases },
        counter("runs", "lull_runs", "Runs that have begun.") { $0.runs },
        counter("executed", "lull_executed", "Submits behind the runs that have begun.") { $0.executed },
        counter("failures", "lull_failures", "Attempts that ended with an error.") { $0.failures },
        counter("restarted", "lull_restarts", "Runs that a newer value has interrupted, and whose values went back.") {
            $0.restarted
        },
    ]

    private static func keys(_ state: String) -> StatusFigure {
        StatusFigure(
            state, "lull_keys", "Keys with a value or a run in a state; a key can be in several.",
            labels: [("state", state)])
    }

    private static func counter<Count: BinaryInteger & SendableMetatype>(
        _ name: String, as property: String? = nil, _ metric: String, _ help: String,
        _ count: @escaping @Sendable (DurableStatus) -> Count
    ) -> Entry {
        (StatusFigure(name, as: property, metric, help, isCounter: true), { .count(count($0)) })
    }

    static let columns = figures.map(\.figure).filter(\.hasColumn)

    var measures: [MeasuredFigure] { Self.figures.map { MeasuredFigure($0.figure, $0.value(self)) } }

    var cells: [String] {
        [Table.cell(ofName: namespace)]
            + measures.filter(\.figure.hasColumn).map { $0.shown(none: "-") }
    }

    /// Returns an object with the figures of the namespace, and those of the server.
    func json(with health: [MeasuredFigure]) -> JSONValue {
        let kind = rules.policy.kind == .debounce ? "wait" : "interval"
        let policy = [("namespace", JSONValue.text(namespace)), (kind, .seconds(rules.policy.wait.nanoseconds))]
        return .object(
            policy + measures.map { ($0.figure.property, $0.json) } + pauseMembers
                + health.map { ($0.figure.property, $0.json) })
    }

    /// The counts in one line, for a session's statistics.
    var line: String {
        measures.compactMap { measure in
            guard measure.figure.unit == .none, measure.figure.hasColumn else { return nil }
            return "\(measure.figure.name) \(measure.shown(none: "-"))"
        }.joined(separator: ", ")
    }
}

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

// MARK: - lull status

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
