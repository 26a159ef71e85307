internal import Lull
internal import LullCore
internal import LullDurable

// Loading rows.

extension ClientLoop {
    /// How often a claim looks at all rows that could be due: at others, not at those that have long been dealt with.
    private static let fullClaimInterval = Duration.seconds(1)
    /// What was committed late may be this far behind, in microseconds.
    private static let claimMargin: Int64 = 100_000

    func load(
        _ request: LoadRequest, into table: LoadedTable?, _ done: @escaping (Result<LoadedRows, DurableError>) -> Void
    ) {
        let load = Load(request)
        let since = request.wanted.due > 0 ? firstWake(of: request.place.namespace) : Int64.min
        let locks = request.takes || request.isWorkers
        let statement = load.statement(
            schema, at: options.microseconds, patience: locks ? options.timeLimit / 2 : nil, since: since,
            loaded: table?.count ?? 0)
        var transaction = request.transaction
        var statements = Statements(statement)
        let begins = locks && transaction == nil
        // Whatever the isolation is by default: a row that others have changed is found as it is now.
        if begins { statements.list.insert(Statement("BEGIN ISOLATION LEVEL READ COMMITTED"), at: 0) }
        let job = Job(statements, until: request.deadline) { [unowned self] answer in
            var result = Result { () throws(DurableError) in
                try load.rows(in: answer.get(in: request.place.namespace), into: table, &known)
            }
            switch result {
            case .success(var loaded):
                loaded.rows.transaction = transaction
                result = .success(loaded)
                // What others have locked is looked for again.
                if loaded.isBusy {
                    resume[request.place.namespace] = nil
                } else if let transaction, request.wanted.due > 0 {
                    claims.insert(transaction)
                }
            case .failure:
                guard let transaction else { break }
                return end(transaction) { done(result.map(\.rows)) }
            }
            done(result.map(\.rows))
        }
        send(job, in: transaction, begun: begins ? { transaction = $0 } : nil)
    }

    /// Returns from where a claim looks.
    private func firstWake(of namespace: String) -> Int64 {
        guard let known = resume[namespace], .now - known.fullAt < Self.fullClaimInterval else {
            resume[namespace] = (.min, .now)
            return .min
        }
        return known.from
    }

    /// Notes what a claim has left: later ones go on from there.
    func noteClaim(in namespace: String, leaving table: LoadedTable) {
        var table = table
        let from =
            min(table.nextWake(in: table.namespace, besides: nil) ?? table.now, table.now).microseconds
            - Self.claimMargin
        if let known = resume[namespace], known.from < from { resume[namespace]?.from = from }
    }

    /// Notes that a row wakes sooner than before.
    func noteWake(_ wake: CoreInstant, in namespace: String) {
        if let known = resume[namespace], wake.microseconds < known.from { resume[namespace]?.from = wake.microseconds }
    }
}

/// The statement that loads what a request names, and what its answer says.
private struct Load {
    private let request: LoadRequest
    private let keys: [[UInt8]]
    private let ends: [[UInt8]]
    private let submits: [LoadedTable.SubmitID]
    private let values: [LoadedTable.SubmitID]
    private let dead: [Int64]

    init(_ request: LoadRequest) {
        self.request = request
        let wanted = request.wanted
        // In order, so that no two transactions wait for each other's rows.
        keys = Set(request.keys).union(wanted.keys).sorted { $0.lexicographicallyPrecedes($1) }
        ends = Array(wanted.ends)
        submits = Array(wanted.endsOfSubmits)
        values = Array(wanted.values)
        dead = Array(wanted.dead)
    }

    func statement(
        _ schema: String, at instant: Int64?, patience: Duration?, since: Int64, loaded: Int
    ) -> Statement {
        let wanted = request.wanted
        var statement = Statement(calling: "load", of: schema, 17)
        statement.add(request.place.namespace)
        statement.add(instant)
        statement.add(int: patience.map { Int32(clamping: CoreDuration($0).microseconds / 1000) })
        statement.add(request.takes)
        statement.add(keys.map { Optional($0) })
        statement.add(wanted.tokens.map { Optional($0) })
        statement.add(dead.map { Optional($0) })
        statement.add(ends.map { Optional($0) })
        statement.add(submits.map { Optional($0.key) })
        statement.add(submits.map { Optional($0.number) })
        statement.add(values.map { Optional($0.key) })
        statement.add(values.map { Optional($0.number) })
        statement.add(int: looksAtDue ? Int32(clamping: wanted.due > 0 ? wanted.due + loaded : 0) : nil)
        statement.add(since)
        statement.add(wanted.holders.first)
        statement.add(wanted.needsLeases)
        statement.add(int: wanted.fences > 0 ? Int32(clamping: wanted.fences) : nil)
        return statement
    }

    private var looksAtDue: Bool { request.wanted.due > 0 || request.wanted.next }

    func rows(
        in rows: Rows, into table: LoadedTable?, _ cache: inout [String: (parts: [Int64?], rules: DurableRules)]
    ) throws(DurableError) -> (rows: LoadedRows, isBusy: Bool) {
        guard let row = rows.first else { throw .notUnderstood }
        var answer = RowReader(row)
        let id = answer.int() ?? 0
        guard let now = answer.bigint(), let revision = answer.bigint(), let started = answer.bigint(),
            let overflows = answer.bigint(), let floor = answer.bigint()
        else { throw .notUnderstood }
        let parts = answer.bigints()
        let pause = DurablePause(at: answer.bigint(), reason: answer.text(), until: answer.bigint())
        let number = answer.bigint()
        let name = request.place.namespace
        let settings = RowSettings(id: id, revision: revision, started: started, overflows: overflows)
        let instant = CoreInstant(microseconds: now)
        var new: LoadedTable
        if var table {
            // What was loaded under other settings is not written: the server says so then.
            table.advance(to: instant, base: number ?? 0)
            new = table
        } else {
            if cache[name]?.parts != parts { cache[name] = (parts, try DurableRules(parts: parts)) }
            guard let rules = cache[name]?.rules else { throw .notUnderstood }
            let namespace = DurableNamespace(id: Int64(id), name: name, rules: rules, latestPause: pause)
            new = LoadedTable(
                now: instant, namespace: namespace, settings: settings.bytes, base: number ?? 0,
                leastGeneration: floor)
        }
        let found = (0..<4).map { _ in (keys: answer.byteStrings(), states: answer.byteStrings()) }
        let next = answer.bigint()
        var isBusy = answer.bool()
        let busy = Set(answer.byteStrings().compactMap(\.self))
        let entries = try InboxRows(&answer)
        // Others have made its calls since it was found, and its new row may be due.
        if zip(found[3].keys, found[3].states).contains(where: { key, state in
            state == nil && key.map { entries.byKey[$0] == nil } == true
        }) {
            isBusy = true
        }
        var loadedKeys: [(key: [UInt8], state: [UInt8]?)] = []
        for (keys, states) in found {
            for (key, state) in zip(keys, states) { if let key { loadedKeys.append((key, state)) } }
        }
        // Others have no row.
        let known = Set(loadedKeys.map(\.key))
        for key in keys where !known.contains(key) { loadedKeys.append((key, nil)) }
        new.reserveCapacity(new.count + loadedKeys.count)
        for (key, state) in loadedKeys { try new.load(key, state, entries: entries.byKey[key] ?? []) }
        if looksAtDue {
            // What others have locked, they deal with.
            var wake = next.map { CoreInstant(wake: $0) } ?? .farFuture
            if isBusy { wake = min(wake, instant.advanced(by: .milliseconds(50))) }
            new.note(nextUnloaded: entries.count >= 500 ? min(wake, instant.advanced(by: .nanoseconds(1000))) : wake)
        }
        if request.wanted.fences > 0, let number {
            new.reserveFences(from: number, count: max(request.wanted.fences, 1024))
        }
        if request.wanted.needsLeases { new.note(leases: found[2].keys.count) }
        for owner in request.wanted.holders { new.note(holder: owner) }
        try addOthers(&answer, to: &new)
        var loaded = LoadedRows(new)
        loaded.refused = busy
        return (loaded, isBusy)
    }

    private func addOthers(_ answer: inout RowReader, to table: inout LoadedTable) throws(DurableError) {
        for token in request.wanted.tokens { table.load(token: token, nil) }
        let (names, keys, generations, dues) = (
            answer.texts(), answer.byteStrings(), answer.bigints(), answer.bigints()
        )
        for (index, name) in names.enumerated() {
            guard let name, let key = keys[index], let generation = generations[index] else { continue }
            table.load(
                token: name,
                DurableReceipt(
                    namespace: request.place.namespace, key: key, generation: generation, dueIn: nil,
                    due: dues[index].map { CoreInstant(microseconds: $0).nanoseconds }))
        }
        for run in dead { table.load(dead: run, nil) }
        for bytes in answer.byteStrings() {
            guard let bytes else { continue }
            let dead = try StoredDead(bytes)
            table.load(dead: dead.run.id, dead)
        }
        for key in ends { table.load(endsOf: key, []) }
        for submit in submits { table.load(endOf: submit, nil) }
        let places = answer.ints()
        let found = answer.ends()
        var ofKeys: [Int: [StoredEnd]] = [:]
        for (place, end) in zip(places, found) {
            if place > 0 {
                ofKeys[place, default: []].append(end)
            } else if end.submits.contains(submits[-place - 1].number) {
                table.load(endOf: submits[-place - 1], end)
            }
        }
        for (place, ends) in ofKeys { table.load(endsOf: self.ends[place - 1], ends) }
        for (value, bytes) in zip(values, answer.byteStrings()) {
            table.load(originOf: value, (bytes ?? []).prefix(8).reduce(0) { $0 << 8 | Int64($1) })
        }
    }
}

/// The entries of the inbox in an answer.
private struct InboxRows {
    private(set) var byKey: [[UInt8]: [InboxEntry]] = [:]
    let count: Int

    init(_ answer: inout RowReader) throws(DurableError) {
        let (keys, ids, kinds, ats) = (answer.byteStrings(), answer.bigints(), answer.texts(), answer.bigints())
        let (waits, values, tokens, contexts) = (
            answer.bigints(), answer.byteStrings(), answer.texts(), answer.texts()
        )
        count = ids.count
        for (index, id) in ids.enumerated() {
            guard let key = keys[index], let id, let at = ats[index] else { continue }
            let wait = waits[index].map { CoreDuration(microseconds: $0) }
            let call: InboxEntry.Call =
                switch kinds[index] {
                case "touch": .touch(wait: wait)
                case "flush": .flush
                case "cancel": .cancel
                case "submit":
                    .submit(value: values[index] ?? [], wait: wait, token: tokens[index], context: contexts[index])
                default: throw .notUnderstood
                }
            byKey[key, default: []].append(
                InboxEntry(call, number: id, at: CoreInstant(microseconds: at), stored: id.bigEndianBytes))
        }
    }
}

/// What a step has read of its namespace, and must not have changed when it is written.
struct RowSettings {
    var id: Int32
    var revision: Int64
    var started: Int64
    /// How many rows had been deleted that had used up their numbers: it matters for new rows.
    var overflows: Int64

    init(id: Int32, revision: Int64, started: Int64, overflows: Int64) {
        (self.id, self.revision, self.started, self.overflows) = (id, revision, started, overflows)
    }

    init(_ bytes: [UInt8]) {
        func number(_ place: Int) -> Int64 { Int64(bigEndian: bytes.dropFirst(8 * place).prefix(8)) ?? 0 }
        self.init(id: Int32(clamping: number(0)), revision: number(1), started: number(2), overflows: number(3))
    }

    var bytes: [UInt8] {
        Int64(id).bigEndianBytes + revision.bigEndianBytes + started.bigEndianBytes + overflows.bigEndianBytes
    }
}

extension CoreInstant {
    /// Creates the instant at which a row wakes.
    init(wake microseconds: Int64) {
        self = microseconds == .max ? .farFuture : CoreInstant(microseconds: microseconds)
    }

    /// The instant at which a row wakes, rounded down to microseconds.
    var wake: Int64 { self == .farFuture ? .max : microseconds }
}

extension DurablePause {
    init?(at instant: Int64?, reason: String?, until end: Int64?) {
        guard let instant else { return nil }
        self.init(reason: reason, time: .microseconds(instant), end: end.map(CoreInstant.init(microseconds:)))
    }
}
