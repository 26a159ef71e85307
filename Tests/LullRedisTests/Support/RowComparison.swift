import LullCore
import LullDurable
@testable import LullRedis

/// The same calls to the scripts and to a ``/LullDurable/DurableRow`` for each key, at instants that the test gives.
/// Instants are whole microseconds.
struct RowComparison {
    let session: Session
    let namespace: String
    private(set) var rules: DurableRules
    private var rows: [String: DurableRow] = [:]
    /// The number of values of dead runs.
    private var deadValues = 0
    /// The first difference.
    private(set) var difference: String?
    /// The number of times that each kind of end was compared.
    private(set) var ends: [DurableOutcome: Int] = [:]

    init(_ session: Session, _ namespace: String, _ rules: DurableRules) throws {
        self.session = session
        self.namespace = namespace
        self.rules = rules
        try open(rules)
    }

    /// The namespace is opened, with other durations and counts than before.
    mutating func open(_ rules: DurableRules) throws {
        self.rules = rules
        _ = try session.run(.open, in: namespace, Command(["0", "1"] + rules.arguments))
    }

    private static func text(_ instant: CoreInstant) -> Int64 { instant.nanoseconds / 1000 }
    private static func text(_ duration: CoreDuration?) -> String { duration.map { "\($0.nanoseconds / 1000)" } ?? "" }

    private mutating func fail(_ what: String) { difference = difference ?? "\(latestCall)\n\(what)" }

    /// The call that is compared.
    private var latestCall = ""

    // MARK: - Calls

    struct Submit {
        var key: String
        var value: UInt8
        var wait: CoreDuration?
        var submitter: Int64?
    }

    /// Submits that are one call of the script.
    mutating func submit(_ submits: [Submit], at now: CoreInstant) throws {
        latestCall = "submit \(submits) at \(now)"
        var arguments = Command(["\(Self.text(now))", "", ""])
        for submit in submits {
            for part in [submit.key, "\(submit.value)", Self.text(submit.wait), ""] { arguments.add(part) }
            arguments.add(submit.submitter)
        }
        let answer = try session.run(.submit, in: namespace, arguments)
        var endings: [String: [DurableEnding]] = [:]
        for (index, submit) in submits.enumerated() {
            guard answer[4 * index].number == 0, let number = answer[4 * index + 1].number else {
                return fail("the answer \(answer)")
            }
            let born = try StoredRow(session.row(submit.key, in: namespace))?.row.born
            var row = rows[submit.key] ?? DurableRow(base: born ?? number - 1)
            let due = row.submit(
                Array("\(submit.value)".utf8), at: now, wait: submit.wait, submitter: .init(submit.submitter),
                atLeast: Self.text(now), by: rules, &endings[submit.key, default: []])
            if row.generation != number { fail("number \(number), not \(row.generation)") }
            if answer[4 * index + 2].number != due.map({ Self.text($0) }) {
                fail("due at \(answer[4 * index + 2]), not \(due as Any)")
            }
            if answer[4 * index + 3].number != due.map({ max(0, Self.text($0) - Self.text(now)) }) {
                fail("due in \(answer[4 * index + 3])")
            }
            rows[submit.key] = row
        }
        for key in Set(submits.map(\.key)) { try compare(key, endings[key] ?? []) }
    }

    /// Flushes or cancels a key, or only what comes from one submitter.
    mutating func change(_ key: String, _ change: String, of submitter: Int64?, at now: CoreInstant) throws {
        latestCall = "\(change) \(key) of \(submitter ?? 0) at \(now)"
        let answer = try session.run(
            .change, in: namespace, Command(["\(Self.text(now))", change, submitter.map { "\($0)" } ?? "", key]))
        var endings: [DurableEnding] = []
        var (count, mixed) = (0, 0)
        if var row = rows[key] {
            row.settle(at: now, by: rules, &endings)
            switch (change, row.pending?.submitter) {
            case ("flush", _): count = row.flush(at: now, by: rules, &endings) ? 1 : 0
            case ("cancel", _): count = row.cancel(at: now, by: rules, &endings)
            case (_, .several): mixed = 1
            case ("flushOwn", .one(submitter)): row.flushPending(at: now, by: rules, &endings)
            case ("cancelOwn", .one(submitter)): count = row.cancelPending(at: now, by: rules, &endings)
            default: break
            }
            rows[key] = row
        }
        if answer[0].number != Int64(count) || answer[1].number != Int64(mixed) {
            fail("\(change) says \(answer), not \(count), \(mixed)")
        }
        try compare(key, endings)
    }

    /// Claims all that may start, with two attempts.
    mutating func claim(at now: CoreInstant, lease: CoreDuration) throws -> Int {
        latestCall = "claim at \(now)"
        let held = rows.values.compactMap(\.run).filter { !$0.isInBackoff }.map { "\($0.id)" }
        let answer = try session.run(
            .work, in: namespace,
            Command(["\(Self.text(now))", "7", "1000", Self.text(lease), "2", "", "\(held.count)"] + held))
        let terms = DurableClaim.Terms(owner: 7, lease: lease, maxAttempts: 2)
        var fences: [String: Int64] = [:]
        for run in answer[1].list ?? [] { fences[run[0].text ?? ""] = run[2].number }
        for key in rows.keys.sorted() {
            guard var row = rows[key] else { continue }
            var endings: [DurableEnding] = []
            var settled = row
            var settling: [DurableEnding] = []
            settled.settle(at: now, by: rules, &settling)
            if let run = settled.run, !run.isInBackoff, run.state.end <= now {
                settled.interrupted(at: now, by: rules, &settling)
            }
            var rest: Int64?
            if let ready = settled.ready, let limit = rules.maxBatch, rules.splits(ready),
                case .bytes(_, let generation) = ready.batch.values[limit]
            {
                rest = generation
            }
            var sequence = (fences[key] ?? 0) - 1
            let isClaimed = row.claim(terms, at: now, by: rules, sequence: &sequence, rest: rest, &endings)
            if isClaimed != (fences[key] != nil) { fail("\(key) is \(isClaimed ? "not " : "")claimed at \(now)") }
            rows[key] = row
            // A row that changes by itself later is written when it is found.
            try compare(key, endings, workedAt: now)
        }
        return fences.count
    }

    /// A worker's report on the run of a key.
    mutating func report(_ key: String, _ kind: String, span: CoreDuration?, at now: CoreInstant) throws {
        guard var row = rows[key], let run = row.run, !run.isInBackoff else { return }
        latestCall = "report \(kind) on \(key) at \(now)"
        let answer = try session.run(
            .work, in: namespace,
            Command([
                "\(Self.text(now))", "7", "", "", "", "", "0", key, "\(run.id)", "\(run.fence)", kind, Self.text(span),
                "no",
            ]))
        var settled = row
        var settling: [DurableEnding] = []
        settled.settle(at: now, by: rules, &settling)
        let expected: Int64 = kind == "heartbeat" && settled.run?.isInterrupted == true ? 4 : 0
        if answer[0][0].number != expected { fail("the report \(kind) on \(key) is answered with \(answer)") }
        var endings: [DurableEnding] = []
        row.settle(at: now, by: rules, &endings)
        switch kind {
        case "heartbeat": row.heartbeat(lease: span ?? .zero, at: now)
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
        let answer = try session.run(
            .change, in: namespace, Command(["\(Self.text(now))", "touch", Self.text(wait), key]))
        var endings: [DurableEnding] = []
        let isOpen = rows[key]?.touch(at: now, wait: wait, by: rules, &endings) ?? false
        if answer[0].number != (isOpen ? 1 : 0) { fail("touch says \(answer), not \(isOpen)") }
        try compare(key, endings)
    }

    // MARK: - Comparing

    /// Checks that the values are those of rows and of dead runs, and no others.
    mutating func compareValues() throws {
        let batches = rows.values.flatMap { row in
            [DurablePayload.Slot.pending, .ready, .run].compactMap { row.batch(in: $0)?.texts.count }
        }
        let expected = batches.reduce(deadValues, +)
        let stored = try session.count(of: "values", in: namespace)
        if stored != expected { fail("\(stored) values are stored, not \(expected)") }
    }

    private mutating func compare(_ key: String, _ endings: [DurableEnding], workedAt now: CoreInstant? = nil) throws {
        if let row = rows[key], row.isIdle { rows[key] = nil }
        let stored = try StoredRow(session.row(key, in: namespace))
        if let row = rows[key], var found = stored?.row {
            // `quiet` and `first` mean nothing unless the gate is open, or something is pending.
            if !row.gate.isOpen { found.gate.quiet = row.gate.quiet }
            if row.gate.count == 0 { found.gate.first = row.gate.first }
            for slot in [DurablePayload.Slot.pending, .ready, .run] {
                let expected = row.batch(in: slot)?.texts
                let values = try stored.map { try session.values(of: $0, in: slot, key, rules, namespace) }
                if expected != values { fail("\(key): \(slot) has \(values as Any), not \(expected as Any)") }
            }
            var expected = row
            expected.pending?.batch = Batch(.stored(.pending))
            expected.ready?.batch = Batch(.stored(.ready))
            expected.run?.value.batch = Batch(.stored(.run))
            if found != expected { fail("\(key) is on the server\n\(found)\nnot\n\(expected)") }
            let exact = min(Self.text(row.wake(by: rules)), .never)
            let wake = try session.wake(key, in: namespace) ?? -1
            if wake > exact { fail("\(key) wakes at \(wake), not at \(exact)") }
            // A worker moves `wake` of the rows that it finds, and those are all that wake by now.
            if let now, wake != exact, wake <= Self.text(now) { fail("\(key) wakes at \(wake), not at \(exact)") }
        } else if (stored == nil) != (rows[key] == nil) {
            fail("\(key): \(stored as Any) on the server, \(rows[key] as Any)")
        }
        try compareEnds(of: key, endings)
    }

    private mutating func compareEnds(of key: String, _ endings: [DurableEnding]) throws {
        for ending in endings { ends[ending.how, default: 0] += 1 }
        guard !endings.isEmpty else { return }
        let recorded = try session.ends(of: key, in: namespace)
        for ending in endings {
            guard let found = recorded.last(where: { $0.submits.contains(ending.submits.upperBound) }) else {
                fail("\(key): \(ending) is not recorded among \(recorded)")
                continue
            }
            let error = ending.run?.error.map { String(decoding: $0, as: UTF8.self) }
            let isMerged = found.submits.lowerBound < ending.submits.lowerBound
            if found.how != ending.how || isMerged && ending.how != .completed && ending.how != .absorbed
                || found.submits.lowerBound > ending.submits.lowerBound || !isMerged && found.error != error
            {
                fail("\(key): \(ending) is recorded as \(found)")
            }
            if ending.how == .dead, let run = ending.run {
                deadValues += rules.combination == .collect ? run.value.count : 1
                guard let stored = try session.dead(run.id, in: namespace) else {
                    fail("the dead run \(run.id) is not there")
                    continue
                }
                if stored.value.submits != run.value.submits || stored.value.count != run.value.count
                    || stored.attempt != run.attempt || stored.error != run.error
                {
                    fail("\(key): the dead run \(stored) on the server, not \(run)")
                }
            }
        }
        // No two ranges overlap.
        let ranges = recorded.map(\.submits).sorted { $0.lowerBound < $1.lowerBound }
        for (one, next) in zip(ranges, ranges.dropFirst()) where one.upperBound >= next.lowerBound {
            fail("\(key): \(one) and \(next) overlap")
        }
    }
}

extension DurableRow {
    fileprivate func batch(in slot: DurablePayload.Slot) -> Batch<DurablePayload>? {
        switch slot {
        case .pending: pending?.batch
        case .ready: ready?.batch
        case .run: run?.value.batch
        }
    }
}

extension Batch<DurablePayload> {
    fileprivate var texts: [String] {
        values.map { payload in
            if case .bytes(let bytes, _) = payload { String(decoding: bytes, as: UTF8.self) } else { "?" }
        }
    }
}
