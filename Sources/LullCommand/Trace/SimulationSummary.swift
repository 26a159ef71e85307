internal import LullCore
internal import LullEngine
internal import LullInspection
internal import LullTuning

/// The result of a simulation.
struct SimulationSummary {
    var submits = 0
    var executions = 0
    var keys = 0
    var longestBacklog = 0
    /// The instants of the first and last line of the trace.
    var span: (first: CoreInstant, last: CoreInstant)?
    /// Whether executions take time, so that the following have a meaning.
    var hasRunTime = false
    var interrupted = 0
    var cancelled = 0
    /// The number of executions that took longer than the time limit.
    var failed = 0
    var skipped = 0
    /// The number of due values that have joined or replaced one that waited to start.
    var joined = 0
    /// From the due instants of executions to their starts.
    var delayToStart = Distribution()
    private var byEdge: [Cause: Int] = [:]
    private var delayFromLast = Distribution()
    private var delayFromFirst = Distribution()

    private static let edges: [Cause] = [.leading, .trailing, .maxWait, .maxCount, .flush]

    /// - Parameter last: The instant of the last submit behind it; nil if later ones have come before it could start.
    mutating func add<Key, Value>(_ execution: Execution<Key, Value>, last: CoreInstant?) {
        executions += 1
        if let last { delayFromLast.add(last.duration(to: execution.at).nanoseconds) }
        delayFromFirst.add(execution.first.duration(to: execution.at).nanoseconds)
        byEdge[execution.cause, default: 0] += 1
    }

    private var saved: Double { submits == 0 ? 0 : Double(submits - executions) / Double(submits) }
    private var length: Int64 { span.map { $0.first.duration(to: $0.last).nanoseconds } ?? 0 }

    private static func delays(_ distribution: Distribution) -> [(name: String, length: Int64)]? {
        distribution.percentiles([50, 90, 99]).map {
            [("p50", $0[0]), ("p90", $0[1]), ("p99", $0[2]), ("max", distribution.largest)]
        }
    }

    // MARK: - As an object

    var json: JSONValue {
        func json(_ distribution: Distribution) -> JSONValue {
            Self.delays(distribution).map { .object($0.map { ($0.name, .seconds($0.length)) }) } ?? .null
        }
        let whole: JSONValue = [
            "submits": .number(submits), "executions": .number(executions), "saved": .share(saved),
            "delayFromLast": json(delayFromLast), "delayFromFirst": json(delayFromFirst),
            "edges": .object(Self.edges.map { ("\($0.name)", .number(byEdge[$0] ?? 0)) }),
            "keys": .number(keys), "longestBacklog": .number(longestBacklog), "span": .seconds(length),
        ]
        guard hasRunTime, case .object(let members) = whole else { return whole }
        return .object(
            members + [
                ("interrupted", .number(interrupted)), ("cancelled", .number(cancelled)), ("failed", .number(failed)),
                ("skipped", .number(skipped)), ("joinedWhileWaiting", .number(joined)),
                ("delayToStart", json(delayToStart)),
            ])
    }

    // MARK: - For reading

    func appendTable(to text: inout [UInt8]) {
        let share = "\(Percent.shown(saved)) saved"
        let edges = Self.edges.compactMap { cause in byEdge[cause].map { "\($0) \(cause.name)" } }.joined(
            separator: ", ")
        var rows = [
            ("submits", "\(submits)"), ("executions", "\(executions) (\(share))"),
            ("by edge", edges.isEmpty ? "none" : edges), ("keys", "\(keys)"),
            ("longest backlog", counted(longestBacklog, "key")),
            ("span of the trace", DurationText.rounded(length)),
            ("delay from the last submit", Self.shown(delayFromLast)),
            ("delay from the first submit", Self.shown(delayFromFirst)),
        ]
        if hasRunTime {
            rows.append(("while running", whileRunning))
            rows.append(("delay from due to the start", Self.shown(delayToStart)))
        }
        let width = Terminal.width
        for (name, value) in rows {
            guard width >= 60 else {
                // On a narrow terminal, values are on lines of their own below the names.
                text.append(wrapped: name, to: width)
                for line in Terminal.wrap(value, to: width - 2) { text.append(string: "  \(line)\n") }
                continue
            }
            for (number, line) in Terminal.wrap(value, to: width - 29).enumerated() {
                text.append(string: (number == 0 ? name : "").padded(to: 29) + line + "\n")
            }
        }
    }

    private var whileRunning: String {
        let counts = [
            (interrupted, "interrupted"), (cancelled, "cancelled"), (failed, "failed"), (skipped, "skipped"),
            (joined, "joined while waiting"),
        ]
        let shown = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return shown.isEmpty ? "nothing interrupted, cancelled, failed, skipped or joined" : shown
    }

    private static func shown(_ distribution: Distribution) -> String {
        guard let delays = delays(distribution) else { return "none" }
        return delays.map { "\($0.name) \(DurationText.rounded($0.length))" }.joined(separator: ", ")
    }
}
