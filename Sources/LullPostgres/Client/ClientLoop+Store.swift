internal import Lull
internal import LullCore
internal import LullDurable

// Writing what steps have made of rows.

extension ClientLoop {
    func store(_ request: StoreRequest, _ done: @escaping (Result<StoredRows, DurableError>) -> Void) {
        let (slot, batch) = batches.begin()
        let namespace = request.place.namespace
        // Workers wait for what is due sooner, and for interruptions.
        let wake = request.changes.lazy.compactMap(\.earlierWake).min()
        let isSoon = wake.map { $0 < request.table.now.advanced(by: .seconds(1)) } ?? false
        let hints = request.table.hasInterruption || isSoon && !request.isWorkers
        let changes = RowChanges(request)
        let statement = changes.statement(
            schema, client: number, slot: Int32(clamping: slot), batch: batch, notifies: hints)
        var statements = Statements(statement)
        // It does no harm where there is none, since the connection was made again.
        if request.transaction != nil { statements.list.append(Statement("COMMIT")) }
        send(
            Job(statements, until: request.deadline) { [unowned self] answer in
                batches.end(slot)
                let isClaim = request.transaction.map { claims.contains($0) } ?? false
                noteEnd(of: request.transaction)
                var result = Result { () throws(DurableError) in
                    try changes.stored(in: answer.get(in: namespace))
                }
                // Others have taken what was read: all of it is read again.
                if case .error(let error) = answer, error.code == ServerError.taken {
                    var stale = StoredRows()
                    stale.isStale = true
                    result = .success(stale)
                }
                if case .success(let stored) = result, !stored.isStale {
                    if isClaim { noteClaim(in: namespace, leaving: request.table) }
                    if let wake { noteWake(wake, in: namespace) }
                    if !stored.conflicts.isEmpty { resume[namespace] = nil }
                    noticed(.written(namespace, wake: wake, isInterrupting: request.table.hasInterruption))
                }
                done(result)
            }, in: request.transaction)
    }
}

/// In which slots of its row the values of a key are, by their numbers; other values have a row of their own.
private struct Slots {
    private(set) var numbers: [Int64?] = [nil, nil, nil]

    /// Reads the last byte of a state.
    init(_ stored: StoredRow?, _ state: [UInt8]?, collects: Bool) {
        guard let stored, let byte = state?.last, !collects else { return }
        for part in 0..<3 {
            let slot = Int(byte >> UInt8(2 * part)) & 3
            if slot < 3, let number = stored.number(part) { numbers[slot] = number }
        }
    }

    func slot(of number: Int64) -> Int? { numbers.firstIndex(of: number) }

    /// Finds slots for the values that a row has now: those that had one keep it, and new ones get one.
    init(_ stored: StoredRow, from old: Slots, new: Set<Int64>, collects: Bool) {
        if collects { return }
        let has = (0..<3).compactMap { stored.number($0) }
        for number in has { if let slot = old.slot(of: number) { numbers[slot] = number } }
        for number in has where new.contains(number) && slot(of: number) == nil {
            if let free = numbers.firstIndex(of: nil) { numbers[free] = number }
        }
    }

    /// The last byte of the state of a row: a slot for each part of it, 3 for none.
    func byte(of stored: StoredRow) -> UInt8 {
        (0..<3).reduce(0) { byte, part in
            let slot = stored.number(part).flatMap { self.slot(of: $0) } ?? 3
            return byte | UInt8(slot) << UInt8(2 * part)
        }
    }
}

extension StoredRow {
    /// The number of the value of a part: of what is pending, ready or in a run.
    fileprivate func number(_ part: Int) -> Int64? {
        switch part {
        case 0: row.pending == nil ? nil : places.pending
        case 1: row.ready == nil ? nil : places.ready
        default: row.run == nil ? nil : places.run
        }
    }
}

/// Changes of rows as parameters of the function that writes them. What concerns a key names its place, from 1.
private struct RowChanges {
    private let request: StoreRequest
    private let settings: RowSettings

    private var rows = Columns()
    private var moved: (places: [Int], slots: [Int], numbers: [Int64?]) = ([], [], [])
    private var values: (places: [Int], numbers: [Int64?], bytes: [[UInt8]?]) = ([], [], [])
    private var dropped: (places: [Int], firsts: [Int64?], ends: [Int64?]) = ([], [], [])
    private var entries: (places: [Int], ids: [Int64?]) = ([], [])
    private var ends: [(place: Int, end: StoredEnd)] = []
    private var removed: [(place: Int, end: StoredEnd)] = []
    private var tokens: [(place: Int, token: String, receipt: DurableReceipt, entry: Int64?)] = []
    private var taken: [(place: Int, run: Int64)] = []
    private var dead: [(place: Int, dead: StoredDead)] = []
    private var counts: [(place: Int, period: Int64, name: String, count: Int)] = []
    /// The highest number of a key whose row has used up its own.
    private var highest: Int64?
    private var slots: [[UInt8]: Slots] = [:]

    /// The columns of rows.
    private struct Columns {
        var keys: [[UInt8]?] = []
        var expected: [[UInt8]?] = []
        var states: [[UInt8]?] = []
        var wakes: [Int64?] = []
        var runs: [Int64?] = []
        var holders: [Int64?] = []
        var submitters: [Int64?] = []
        var readies: [Int64?] = []
        var haveWork: [Bool] = []
        var keeps: [Int] = []
        var new: [[[UInt8]?]] = [[], [], []]
    }

    init(_ request: StoreRequest) {
        self.request = request
        settings = RowSettings(request.table.settings)
        // In order, so that no two transactions wait for each other's rows.
        let changes = request.changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        for (index, change) in changes.enumerated() { add(change, index + 1) }
    }

    private var collects: Bool { request.table.namespace.rules.combination == .collect }

    private mutating func add(_ change: LoadedKey, _ place: Int) {
        let (before, after) = (change.before, change.after)
        let old = Slots(before, change.expected, collects: collects)
        let new = after.map { Slots($0, from: old, new: Set(change.values.map(\.number)), collects: collects) }
        addRow(change, old, new)
        if let new, !request.values.isEmpty { slots[change.key] = new }
        for value in change.values where new?.slot(of: value.number) == nil {
            values.places.append(place)
            values.numbers.append(value.number)
            values.bytes.append(value.bytes)
        }
        for range in change.dropped where collects || old.slot(of: range.lowerBound) == nil {
            dropped.places.append(place)
            dropped.firsts.append(range.lowerBound)
            dropped.ends.append(range.upperBound)
        }
        for run in change.dead {
            dead.append((place, run))
            // Its value has no slot any more.
            guard !collects, let slot = old.slot(of: run.place) else { continue }
            moved.places.append(place)
            moved.slots.append(slot)
            moved.numbers.append(run.place)
        }
        for entry in change.folded {
            entries.places.append(place)
            entries.ids.append(Int64(bigEndian: entry))
        }
        ends += change.ends.map { (place, $0) }
        removed += change.removedEnds.map { (place, $0) }
        tokens += change.tokens.map { (place, $0.token, $0.receipt, $0.entry) }
        taken += change.takenDead.map { (place, $0) }
        addCounts(of: change, place)
        noteNumbers(of: change)
    }

    private mutating func addRow(_ change: LoadedKey, _ old: Slots, _ new: Slots?) {
        let after = change.after
        rows.keys.append(change.key)
        rows.expected.append(change.expected)
        rows.states.append(after.map { $0.bytes + [new?.byte(of: $0) ?? 0xFF] })
        rows.wakes.append(after?.wake.wake ?? 0)
        rows.runs.append(after?.row.run?.id)
        rows.holders.append(after?.holder)
        rows.submitters.append(after?.row.pending?.submitter.number)
        rows.readies.append(after?.row.ready.flatMap { $0.isHeld ? nil : $0.due.microseconds })
        rows.haveWork.append(after.map { $0.row.pending != nil || $0.row.ready != nil || $0.row.run != nil } ?? false)
        var keeps = 0
        for slot in 0..<3 {
            let number = new?.numbers[slot]
            let value = number.flatMap { number in change.values.last { $0.number == number }?.bytes }
            rows.new[slot].append(value)
            if number == old.numbers[slot], value == nil { keeps |= 1 << slot }
        }
        rows.keeps.append(keeps)
    }

    private mutating func addCounts(of change: LoadedKey, _ place: Int) {
        if change.totals != DurableTotals() {
            for (name, count) in change.totals.named where count != 0 { counts.append((place, 0, name, count)) }
        }
        let died = change.dead.count - change.takenDead.count
        if died != 0 { counts.append((place, 0, "dead", died)) }
        if change.isStillPending { return }
        let old = change.before.map { CountedRow($0.row, wake: $0.wake.wake) }
        let new = change.after.map { CountedRow($0.row, wake: $0.wake.wake) }
        if old == new { return }
        for (row, sign) in [(new, 1), (old, -1)] {
            guard let row else { continue }
            for (name, count) in zip(Tally.names, row.tally.counts) where count != 0 {
                counts.append((place, row.period, name, sign * count))
            }
        }
    }

    /// Notes what has used up its numbers: see `numbers.sql`.
    private mutating func noteNumbers(of change: LoadedKey) {
        func note(_ number: Int64) { highest = max(highest ?? number, number) }
        if let deleted = change.deletedGeneration {
            let born = change.before?.row.born ?? request.table.firstBase
            if change.after != nil || deleted - born >= 512 { note(max(deleted, change.after?.row.generation ?? 0)) }
        } else if change.before == nil, let row = change.after?.row, row.born - request.table.firstBase >= 512 {
            note(row.generation)
        }
    }

    func statement(_ schema: String, client: Int64, slot: Int32, batch: Int64, notifies: Bool) -> Statement {
        var statement = Statement(calling: "store", of: schema, 63)
        statement.add(int: settings.id)
        statement.add(settings.revision)
        statement.add(settings.started)
        statement.add(settings.overflows)
        statement.add(request.table.now.microseconds)
        statement.add(client)
        statement.add(int: slot)
        statement.add(batch)
        statement.add(rows.keys)
        statement.add(rows.expected)
        statement.add(rows.states)
        statement.add(rows.wakes)
        statement.add(rows.runs)
        statement.add(rows.holders)
        statement.add(rows.submitters)
        statement.add(rows.readies)
        statement.add(rows.haveWork)
        statement.add(ints: rows.keeps)
        for values in rows.new { statement.add(values) }
        statement.add(ints: moved.places)
        statement.add(ints: moved.slots)
        statement.add(moved.numbers)
        statement.add(ints: values.places)
        statement.add(values.numbers)
        statement.add(values.bytes)
        statement.add(ints: dropped.places)
        statement.add(dropped.firsts)
        statement.add(dropped.ends)
        statement.add(ints: entries.places)
        statement.add(entries.ids)
        statement.add(ints: ends.map(\.place))
        statement.add(ends.map { Optional($0.end.submits.lowerBound) })
        statement.add(ends.map { Optional($0.end.submits.upperBound) })
        statement.add(ends.map { "\($0.end.how.name)" })
        statement.add(ends.map(\.end.run))
        // The text of PostgreSQL has no zero characters.
        statement.add(ends.map { $0.end.errorText?.replacing("\0", with: "\u{FFFD}") })
        statement.add(ends.map { Optional($0.end.at.microseconds) })
        statement.add(ints: removed.map(\.place))
        statement.add(removed.map { Optional($0.end.submits.upperBound) })
        statement.add(removed.map(\.end.run))
        statement.add(ints: tokens.map(\.place))
        statement.add(tokens.map { Optional($0.token) })
        statement.add(tokens.map { Optional($0.receipt.generation) })
        statement.add(tokens.map { $0.receipt.due.map { CoreInstant(nanoseconds: $0).microseconds } })
        statement.add(tokens.map(\.entry))
        statement.add(ints: taken.map(\.place))
        statement.add(taken.map { Optional($0.run) })
        statement.add(ints: dead.map(\.place))
        statement.add(dead.map { Optional($0.dead.run.id) })
        statement.add(dead.map { Optional($0.dead.at.microseconds) })
        statement.add(dead.map { Optional($0.dead.bytes) })
        statement.add(ints: counts.map(\.place))
        statement.add(counts.map { Optional($0.period) })
        statement.add(counts.map { Optional($0.name) })
        statement.add(counts.map { Optional(Int64($0.count)) })
        statement.add(highest)
        statement.add(request.values.map { Optional($0.key) })
        statement.add(ints: request.values.map { slots[$0.key]?.slot(of: $0.numbers.lowerBound) ?? 3 })
        statement.add(request.values.map { Optional($0.numbers.lowerBound) })
        statement.add(request.values.map { Optional($0.numbers.upperBound) })
        statement.add(notifies)
        return statement
    }

    /// Reads the answer.
    func stored(in answer: Rows) throws(DurableError) -> StoredRows {
        guard let row = answer.first else { throw .notUnderstood }
        var reader = RowReader(row)
        let conflicts = reader.ints()
        var stored = StoredRows()
        for place in conflicts {
            guard rows.keys.indices.contains(place - 1), let key = rows.keys[place - 1] else { throw .notUnderstood }
            stored.conflicts.insert(key)
        }
        var rest = reader.byteStrings()[...]
        for value in request.values {
            let own = rest.prefix(value.numbers.count)
            rest = rest.dropFirst(own.count)
            stored.values.append(own.map { collects ? Array(($0 ?? []).dropFirst(8)) : $0 ?? [] })
        }
        return stored
    }
}
