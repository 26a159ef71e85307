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
                "pause ends", as: "pauseEndsIn", "lull_pause_ends",
                "How long until the pause ends by itself; 0 if it does not, or if there is none.", .duration,
                isInLine: true),
            { .duration($0.pauseEndsIn) }
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
        counter("snoozed", "lull_snoozes", "Times that a command or a handler asked for its run again later.") {
            $0.snoozed
        },
        counter("given up", as: "givenUp", "lull_given_up", "Runs that their commands or handlers gave up.") {
            $0.givenUp
        },
        counter(
            "overdue", "lull_overdue", "Commands and handlers that went on for as long again as their time limit."
        ) { $0.overdue },
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
