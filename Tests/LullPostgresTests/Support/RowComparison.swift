import LullCore
import LullDurable

/// The same calls to the functions of the server and to a ``/LullDurable/DurableRow`` for each key, at instants that
/// the test gives. Instants are whole microseconds.
struct RowComparison {
    let sql: SQL
    let namespace: String
    private(set) var rules: DurableRules
    private var rows: [String: DurableRow] = [:]
    private var latestEnds: [String: Int64] = [:]
    /// The first difference.
    private(set) var difference: String?
    /// The number of times that each kind of end was compared.
    private(set) var ends: [DurableOutcome: Int] = [:]

    init(_ sql: SQL, _ namespace: String, _ rules: DurableRules) throws {
        self.sql = sql
        self.namespace = namespace
        self.rules = rules
        try open(rules)
    }

    /// The namespace is opened, with other durations and counts than before.
    mutating func open(_ rules: DurableRules) throws {
        self.rules = rules
        let policy = rules.policy
        try sql(
            """
            SELECT open('\(namespace)', '\(policy.kind == .debounce ? "debounce" : "throttle")',
                \(Self.text(policy.wait)),
                \(Self.text(policy.maxWait)), \(policy.edges.contains(.leading)), \(policy.edges.contains(.trailing)),
                \(policy.delayRule == .extend), \(Self.text(policy.maxCount)), \(Self.text(policy.spacing)),
                '\(rules.combination.name)', \(Self.text(rules.maxBatch)),
                \(rules.whileRunning.name.map { "'\($0)'" } ?? "NULL"), NULL, NULL, NULL, NULL, false)
            """)
    }

    private static func text(_ number: (some BinaryInteger)?) -> String { number.map { "\($0)" } ?? "NULL" }
    private static func text(_ duration: CoreDuration?) -> String { text(duration.map { $0.nanoseconds / 1000 }) }
    private static func text(_ instant: CoreInstant) -> Int64 { instant.nanoseconds / 1000 }

    private mutating func fail(_ what: String) { difference = difference ?? "\(latestCall)\n\(what)" }

    /// The call that is compared.
    private var latestCall = ""

    /// What a key has at the moment.
    func row(of key: String) -> DurableRow? { rows[key] }

    // MARK: - Calls

    struct Submit {
        var key: String
        var value: UInt8
        var wait: CoreDuration?
        var submitter: Int64?
    }

    /// Submits that are one call of the function.
    mutating func submit(_ submits: [Submit], at now: CoreInstant, waitsForLocks: Bool) throws {
        latestCall = "submit \(submits) at \(now), \(waitsForLocks ? "waiting" : "not waiting")"
        let submits = submits.enumerated().sorted { ($0.element.key, $0.offset) < ($1.element.key, $1.offset) }.map(
            \.element)
        func array(_ type: String, _ element: (Submit) -> String) -> String {
            "ARRAY[\(submits.map(element).joined(separator: ","))]::\(type)[]"
        }
        let answer = try sql(
            """
            SELECT unnest(answers), unnest(generations), unnest(dues), unnest(dues_in) FROM submit_many(
                '\(namespace)', \(array("bytea") { "'\($0.key)'" }), \(array("bytea") { "'\($0.value)'" }),
                \(array("bigint") { Self.text($0.wait) }), \(array("text") { _ in "NULL" }),
                \(array("bigint") { Self.text($0.submitter) }), \(waitsForLocks ? "NULL" : "0"), NULL, NULL, NULL,
                false,
                \(Self.text(now)))
            """)
        var endings: [String: [DurableEnding]] = [:]
        for (submit, answer) in zip(submits, answer) {
            guard answer[0] == "0", let generation = Int64(answer[1] ?? "") else { return fail("the answer \(answer)") }
            var row = rows[submit.key] ?? DurableRow(base: generation - 1)
            let due = row.submit(
                Array("\(submit.value)".utf8), at: now, wait: submit.wait, submitter: .init(submit.submitter),
                by: rules,
                &endings[submit.key, default: []])
            if row.generation != generation { fail("generation \(generation), not \(row.generation)") }
            if answer[2] != due.map({ "\(Self.text($0))" }) {
                fail("due at \(answer[2] ?? "no instant"), not \(due as Any)")
            }
            if answer[3] != due.map({ "\(max(0, Self.text($0) - Self.text(now)))" }) {
                fail("due in \(answer[3] ?? "no time")")
            }
            rows[submit.key] = row
        }
        for key in Set(submits.map(\.key)) { try compare(key, endings[key] ?? []) }
    }

    /// Flushes or cancels a key, or only what comes from one submitter.
    mutating func change(_ key: String, _ change: String, of submitter: Int64?, at now: CoreInstant) throws {
        latestCall = "\(change) \(key) of \(submitter ?? 0) at \(now)"
        let answer = try sql(
            """
            SELECT count, mixed FROM change_keys(
                '\(namespace)', ARRAY['\(key)']::bytea[], '\(change)', \(Self.text(submitter)), NULL, \(Self.text(now)),
                NULL, NULL)
            """)
        var endings: [DurableEnding] = []
        var (count, mixed) = (0, 0)
        if var row = rows[key] {
            let old = row
            switch change {
            case "flush": count = row.flush(at: now, by: rules, &endings) ? 1 : 0
            case "cancel": count = row.cancel(at: now, by: rules, &endings)
            default:
                row.settle(at: now, by: rules, &endings)
                switch row.pending?.submitter {
                case .several: mixed = 1
                case .one(submitter):
                    if change == "flushOwn" {
                        row.flushPending(at: now, by: rules, &endings)
                    } else {
                        count = row.cancelPending(at: now, by: rules, &endings)
                    }
                    rows[key] = row
                default: break
                }
                if rows[key] == old { endings = [] }
            }
            if change == "flush" || change == "cancel" { rows[key] = row }
        }
        if answer.first?[0] != "\(count)" || answer.first?[1] != "\(mixed)" {
            fail("\(change) says \(answer), not \(count), \(mixed)")
        }
        try compare(key, endings)
    }

    /// Claims all that may start, with two attempts, in the order of the instants since which it may.
    mutating func claim(at now: CoreInstant, lease: CoreDuration) throws -> Int {
        latestCall = "claim at \(now)"
        let answers = try sql(
            """
            SELECT what, convert_from(key, 'UTF8'), fence, vals::text FROM claim(
                '\(namespace)', 7, \(Self.text(lease)), 2, NULL, 1000, NULL, \(Self.text(now)))
            """)
        let terms = DurableClaim.Terms(owner: 7, lease: lease, maxAttempts: 2)
        var fences: [String: Int64] = [:]
        for answer in answers where answer[0] == "run" { fences[answer[1] ?? ""] = Int64(answer[2] ?? "") }
        var starts: [String: CoreInstant] = [:]
        for key in rows.keys.sorted() {
            guard var row = rows[key] else { continue }
            var endings: [DurableEnding] = []
            var settled = row
            var settling: [DurableEnding] = []
            settled.settle(at: now, by: rules, &settling)
            starts[key] = settled.startable
            if let run = settled.run, !run.isInBackoff, run.state.end <= now {
                settled.interrupted(at: now, by: rules, &settling)
            }
            var rest: Int64?
            if let ready = settled.ready, let limit = rules.maxBatch, rules.splits(ready),
                case .bytes(_, let generation) = ready.batch.values[limit]
            {
                rest = generation
            }
            // A claim that the server did not make ends in another state: see the comparison.
            var sequence = (fences[key] ?? 0) - 1
            let isClaimed = row.claim(terms, at: now, by: rules, sequence: &sequence, rest: rest, &endings)
            if isClaimed != (fences[key] != nil) { fail("\(key) is \(isClaimed ? "not " : "")claimed at \(now)") }
            rows[key] = row
            // A row that changes by itself later is written when it is found.
            try compare(key, endings, workedAt: now)
        }
        let order = answers.filter { $0[0] == "run" }.compactMap { $0[1] }
        if order.compactMap({ starts[$0] }) != order.compactMap({ starts[$0] }).sorted() { fail("claimed as \(order)") }
        if order != order.sorted(by: { fences[$0, default: 0] < fences[$1, default: 0] }) { fail("fences of \(order)") }
        return fences.count
    }

    /// A worker's report on the run of a key.
    mutating func report(_ key: String, _ kind: String, span: CoreDuration?, at now: CoreInstant) throws {
        guard var row = rows[key], let run = row.run, !run.isInBackoff else { return }
        latestCall = "report \(kind) on \(key) at \(now)"
        let answer = try sql.value(
            """
            SELECT answers[1] FROM report_many(
                '\(namespace)', 7, ARRAY['\(key)']::bytea[], ARRAY[\(run.id)]::bigint[], ARRAY[\(run.fence)]::bigint[],
                ARRAY['\(kind)'], ARRAY[\(Self.text(span))]::bigint[], ARRAY['no']::text[], NULL, false,
                \(Self.text(now)))
            """)
        var settled = row
        var settling: [DurableEnding] = []
        settled.settle(at: now, by: rules, &settling)
        let expected = kind == "heartbeat" && settled.run?.isInterrupted == true ? "4" : "0"
        if answer != expected { fail("the report \(kind) on \(key) is answered with \(answer ?? "nothing")") }
        var endings: [DurableEnding] = []
        switch kind {
        case "heartbeat":
            if rules.whileRunning != .queue { row = settled }
            row.heartbeat(lease: span ?? .zero, at: now)
        case "completed": row.complete(at: now, by: rules, &endings)
        case "failed": row.fail(Array("no".utf8), retry: span, at: now, by: rules, &endings)
        default: row.release(at: now, by: rules, &endings)
        }
        rows[key] = row
        try compare(key, endings, workedAt: now)
    }

    /// A touch of a key.
    mutating func touch(_ key: String, wait: CoreDuration?, at now: CoreInstant) throws {
        latestCall = "touch \(key) for \(wait as Any) at \(now)"
        let answer = try sql.value(
            "SELECT touch_key('\(namespace)', '\(key)', \(Self.text(wait)), NULL, false, \(Self.text(now)))")
        var endings: [DurableEnding] = []
        let isOpen = rows[key]?.touch(at: now, wait: wait, by: rules, &endings) ?? false
        if answer != (isOpen ? "t" : "f") { fail("touch says \(answer ?? "nothing"), not \(isOpen)") }
        try compare(key, endings)
    }

    // MARK: - Comparing

    private mutating func compare(_ key: String, _ endings: [DurableEnding], workedAt now: CoreInstant? = nil) throws {
        if let row = rows[key], row.isIdle { rows[key] = nil }
        let columns = """
            born, generation, taken, phase, quiet, latest, span, spacing, pending_count, pending_first, pending_last,
            pending_by, ready_from, ready_to, ready_count, ready_first, ready_due, ready_since, ready_edge, run_id,
            run_from, run_to, run_count,
            run_first, run_due, run_edge, run_until, fence, owner, claimed_by, attempt, error, run_mark,
            run_began
            """
        let slots = ["pending", "ready", "run"].map { slot in
            "encode(CASE \(slot)_slot WHEN 0 THEN v0 WHEN 1 THEN v1 WHEN 2 THEN v2 END, 'escape')"
        }
        let values = [
            ("w.generation - w.pending_count + 1", "w.generation"), ("w.ready_from", "w.ready_to"),
            ("w.run_from", "w.run_to"),
        ].map { first, last in
            """
            (SELECT string_agg(encode(c.value, 'escape'), '+' ORDER BY c.generation) FROM collected c
            WHERE c.namespace = w.namespace AND c.key = w.key AND c.generation BETWEEN \(first) AND \(last))
            """
        }
        let held = rules.combination == .collect ? values : slots
        let extra = "num_nonnulls(v0, v1, v2) - num_nonnulls(pending_slot, ready_slot, run_slot)"
        let found = try sql(
            """
            SELECT \(columns), \(held.joined(separator: ", ")), \(extra), wake FROM work w
            WHERE key = '\(key)' AND namespace = (SELECT id FROM namespaces WHERE name = '\(namespace)')
            """
        ).first
        let names =
            columns.split { ", \n".contains($0) }.map(String.init) + ["pending", "ready", "run", "unused slots"]
        let expected = rows[key].map { columnsOf($0) }
        if found == nil || expected == nil {
            if (found == nil) != (expected == nil) {
                fail("\(key): \(found as Any) on the server, \(rows[key] as Any)")
            }
        } else if let found, let expected, let row = rows[key] {
            // `quiet` means nothing unless the gate is open.
            for (index, name) in names.enumerated()
            where found[index] != expected[index] && !(name == "quiet" && !row.gate.isOpen) {
                fail(
                    "\(key).\(name) is \(found[index] ?? "null") on the server, not "
                        + "\(expected[index] ?? "null")\n\(row)"
                )
            }
            let exact = min(row.wake(by: rules).nanoseconds / 1000, .max)
            let wake = Int64(found.last.flatMap { $0 } ?? "") ?? 0
            if wake > exact, row.wake(by: rules) < .farFuture { fail("\(key) wakes at \(wake), not at \(exact)") }
            // A worker moves `wake` of the rows that it finds, and those are all that wake by now.
            if let now, wake != exact, wake <= Self.text(now) { fail("\(key) wakes at \(wake), not at \(exact)") }
        }
        try compareEnds(of: key, endings)
    }

    private mutating func compareEnds(of key: String, _ endings: [DurableEnding]) throws {
        let recorded = try sql(
            """
            SELECT id, first, last, how, run, error FROM ended WHERE id > \(latestEnds[key] ?? 0) AND key = '\(key)'
                AND namespace = (SELECT id FROM namespaces WHERE name = '\(namespace)') ORDER BY id
            """)
        let expected = endings.filter { $0.how != .dead }
        for ending in endings { ends[ending.how, default: 0] += 1 }
        // An absorbed submit may extend a range that was recorded before.
        let mayExtend = expected.first?.how == .absorbed
        if recorded.count != expected.count, !(mayExtend && recorded.count < expected.count) {
            fail("\(key): \(recorded) ended on the server, not \(expected)")
        }
        for (found, ending) in zip(recorded, expected) where !mayExtend {
            let text = [
                "\(ending.submits.lowerBound)", "\(ending.submits.upperBound)", "\(ending.how.name)",
                ending.run.map { "\($0.id)" }, ending.run?.error.map { String(decoding: $0, as: UTF8.self) },
            ]
            if Array(found.dropFirst()) != text { fail("\(key): \(found) ended on the server, not \(text)") }
        }
        for ending in expected where mayExtend {
            let number = ending.submits.upperBound
            let how = try sql.value(
                """
                SELECT how FROM ended WHERE key = '\(key)' AND \(number) BETWEEN first AND last
                    AND namespace = (SELECT id FROM namespaces WHERE name = '\(namespace)')
                """)
            if how != "\(ending.how.name)" { fail("\(key) #\(number) is \(how ?? "nothing") on the server") }
        }
        latestEnds[key] = recorded.compactMap { Int64($0[0] ?? "") }.max() ?? latestEnds[key]
        for ending in endings where ending.how == .dead {
            guard let run = ending.run else { continue }
            let dead = try sql(
                "SELECT first_submit, last_submit, count, attempts, error FROM dead WHERE run = \(run.id)"
            ).first
            let text = [
                "\(run.value.submits.lowerBound)", "\(run.value.submits.upperBound)", "\(run.value.count)",
                "\(run.attempt)",
                run.error.map { String(decoding: $0, as: UTF8.self) },
            ]
            if dead != text { fail("\(key): the dead run \(dead as Any) on the server, not \(text)") }
        }
    }

    /// A row as the server's columns.
    private func columnsOf(_ row: DurableRow) -> [String?] {
        func instant(_ instant: CoreInstant?) -> String? { instant.map { "\(Self.text($0))" } }
        func duration(_ duration: CoreDuration) -> String {
            duration == .infinite ? "\(Int64.max)" : "\(duration.nanoseconds / 1000)"
        }
        func number(_ number: (some BinaryInteger)?) -> String? { number.map { "\($0)" } }
        func values(_ batch: Batch<DurablePayload>?) -> String? {
            batch?.values.map { payload in
                if case .bytes(let bytes, _) = payload { String(decoding: bytes, as: UTF8.self) } else { "?" }
            }.joined(separator: "+")
        }
        let (gate, ready, run) = (row.gate, row.ready, row.run)
        let isPending = gate.count > 0
        var columns = [
            number(row.born), number(row.generation), number(row.taken), gate.phase.serverName, instant(gate.quiet),
        ]
        columns += [gate.latest == .farPast ? nil : instant(gate.latest), duration(row.span), duration(row.spacing)]
        columns += [number(gate.count), isPending ? instant(gate.first) : nil, instant(row.pending?.last)]
        columns += [number(row.pending?.submitter.number)]
        columns += [number(ready?.submits.lowerBound), number(ready?.submits.upperBound), number(ready?.count)]
        columns += [
            instant(ready?.first), ready?.isHeld == true ? nil : instant(ready?.due), instant(ready?.since),
            ready.map { "\($0.edge.name)" },
        ]
        columns += [number(run?.id), number(run?.value.submits.lowerBound), number(run?.value.submits.upperBound)]
        columns += [number(run?.value.count), instant(run?.value.first), instant(run?.value.due)]
        columns += [
            run.map { "\($0.value.edge.name)" }, instant(run?.state.end), number(run?.fence), number(run?.owner),
        ]
        columns += [run?.isInBackoff == false ? number(run?.owner) : nil, number(run?.attempt)]
        columns += [run?.error.map { String(decoding: $0, as: UTF8.self) }]
        columns += [run?.mark == .farFuture ? "\(Int64.max)" : instant(run?.mark), instant(run?.began)]
        columns += [values(row.pending?.batch), values(ready?.batch), values(run?.value.batch), "0"]
        return columns
    }
}

extension Gate.Phase {
    fileprivate var serverName: String {
        switch self {
        case .idle: "idle"
        case .resting: "resting"
        case .open: "open"
        case .full: "full"
        }
    }
}
