internal import Lull
internal import LullCore
internal import LullDurable

/// The status of a store.
struct Status {
    var namespaces: [DurableStatus]
    /// What an operator of a server should watch; nil of a file.
    var health: [Measure]?
}

extension DurableStatus {
    /// The figures of a namespace, in the order of the columns. A new figure is an entry here.
    static let figures: [(figure: Figure, value: @Sendable (DurableStatus) -> Figure.Value)] = [
        (keys("pending"), { .count($0.pending) }),
        (keys("ready"), { .count($0.ready) }),
        (keys("running"), { .count($0.running) }),
        (keys("retrying"), { .count($0.retrying) }),
        (
            Figure(
                name: "dead", property: "dead", metric: "lull_dead_runs",
                help: "Runs that have failed for good and are kept."), { .count($0.dead) }
        ),
        (
            Figure(
                name: "oldest", property: "oldestDue", metric: "lull_oldest_due",
                help: "How long the oldest work that waits for a worker has waited; 0 if none waits.",
                unit: .duration), { .duration($0.oldestDue) }
        ),
        (
            Figure(
                name: "attempts", property: "attempts", metric: "lull_attempts",
                help: "Attempts at runs that have started.", isCounter: true), { .count($0.attempts) }
        ),
        (
            Figure(
                name: "lost leases", property: "lostLeases", metric: "lull_lost_leases",
                help: "Runs that were taken from a worker whose lease had expired.", isCounter: true),
            { .count($0.lostLeases) }
        ),
        (
            Figure(
                name: "restarted", property: "restarted", metric: "lull_restarts",
                help: "Runs that a newer value has interrupted, and whose values went back.", isCounter: true),
            { .count($0.restarted) }
        ),
    ]

    /// The figure of the keys in a state.
    private static func keys(_ state: String) -> Figure {
        Figure(
            name: state, property: state, metric: "lull_keys",
            help: "Keys with a value or a run in a state; a key can be in several.", labels: [("state", state)])
    }

    /// The figures that have a column.
    static let columns = figures.map(\.figure).filter { !$0.isCounter }

    var measures: [Measure] { Self.figures.map { Measure($0.figure, $0.value(self)) } }

    var cells: [String] {
        [Terminal.shown(namespace, upTo: 40)]
            + measures.filter { !$0.figure.isCounter }.map { $0.shown(none: "-") }
    }

    /// Returns an object with the figures of the namespace, and those of the server.
    func json(with health: [Measure]) -> JSONValue {
        let kind = rules.policy.kind == .debounce ? "wait" : "interval"
        let policy = [("namespace", JSONValue.text(namespace)), (kind, .seconds(rules.policy.wait.nanoseconds))]
        return .object(policy + (measures + health).map { ($0.figure.property, $0.json) })
    }

    /// The counts in one line, for a session's statistics.
    var line: String {
        measures.compactMap { measure in
            guard measure.figure.unit == .none, !measure.figure.isCounter else { return nil }
            return "\(measure.figure.name) \(measure.shown(none: "-"))"
        }.joined(separator: ", ")
    }
}
