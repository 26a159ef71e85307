internal import Lull
internal import LullCore
internal import LullDurable

// Writing what steps have made of rows.

extension ClientLoop {
    func store(_ request: StoreRequest, _ done: @escaping (Result<StoredRows, DurableError>) -> Void) {
        let (slot, batch) = batches.begin()
        // Workers wait for what is due sooner, and for interruptions.
        let wake = request.changes.lazy.compactMap(\.earlierWake).min()
        let isSoon = wake.map { $0 < request.table.now.advanced(by: .seconds(1)) } ?? false
        let hints = request.table.hasInterruption || isSoon && !request.isWorkers
        var guards: [[String]] = []
        if let most = request.mostLeases { guards.append(["ZCARD", Structure.held.number, "", "\(most + 1)"]) }
        var script = StoreCommand(
            client: "\(number).\(slot)", batch: batch, settings: request.table.settings, now: request.table.now,
            taker: request.takes ? number : nil, hints: hints, guards: guards)
        script.reserveCapacity(600 * request.changes.count)
        for change in request.changes { script.add(change, request.table) }
        let collects = request.table.namespace.rules.combination == .collect
        var contents: [Commands.Content] = [.script(request.isWorkers ? .work : .store, request.place, script.command)]
        // What workers report may be lost: they do it again.
        let replicas = request.isWorkers ? nil : wantedReplicas
        let reads = request.values.map { ValueReads($0.key, $0.numbers, collects: collects, in: request.place) }
        contents += reads.flatMap(\.commands).map { .command($0) }
        send(
            Job(Commands(contents: contents, role: .steps, replicas: replicas), until: request.deadline) {
                [unowned self] answer in
                batches.end(slot)
                let result = Result { () throws(DurableError) in
                    let replies = try answer.get(in: request.place.namespace).replies(for: replicas)
                    return try Self.stored(replies, request.changes, reads)
                }
                if case .success(let stored) = result, !stored.isStale {
                    noticed(
                        .written(
                            request.place.namespace, wake: wake, isInterrupting: request.table.hasInterruption))
                }
                done(result)
            })
    }

    func send(_ write: KeyWrite, _ terms: WriteTerms, _ answer: @escaping (Job.Answer) -> Void) {
        let (slot, batch) = batches.begin()
        var script = StoreCommand(
            client: "\(number).\(slot)", batch: batch, settings: terms.settings, now: terms.now, guards: terms.guards)
        script.add(write)
        send(
            Job(
                Commands(
                    contents: [.script(.work, terms.place, script.command)],
                    replicas: terms.waits ? wantedReplicas : nil),
                until: terms.deadline
            ) { [unowned self] result in
                batches.end(slot)
                answer(result)
            })
    }

    private static func stored(
        _ replies: [Reply], _ changes: [LoadedKey], _ reads: [ValueReads]
    ) throws(DurableError) -> StoredRows {
        var stored = StoredRows()
        guard let conflicts = replies[0].list else {
            guard replies[0].text == "CHANGED" else { throw .notUnderstood }
            stored.isStale = true
            return stored
        }
        for place in conflicts {
            guard let place = place.number, changes.indices.contains(Int(place)) else { throw .notUnderstood }
            stored.conflicts.insert(changes[Int(place)].key)
        }
        var rest = replies.dropFirst()
        for read in reads {
            let own = rest.prefix(read.commands.count)
            rest = rest.dropFirst(own.count)
            stored.values.append(read.values(own.flatMap { $0.list ?? [] }))
        }
        return stored
    }
}

/// The reads of the values of a run.
struct ValueReads {
    let commands: [Command]
    private let collects: Bool

    init(_ key: [UInt8], _ numbers: Range<Int64>, collects: Bool, in place: ShardPlace) {
        self.collects = collects
        commands = stride(from: numbers.lowerBound, to: numbers.upperBound, by: 1000).map { start in
            var command = Command("HMGET", place.key(.values))
            for number in start..<min(start + 1000, numbers.upperBound) { command.add(number, ":", key) }
            return command
        }
    }

    init(_ dead: StoredDead, collects: Bool, in place: ShardPlace) {
        let count = collects ? Int64(dead.run.value.count) : 1
        self.init(dead.key, dead.place..<dead.place + count, collects: collects, in: place)
    }

    func values(_ replies: [Reply]) -> [[UInt8]] {
        replies.map { collects ? Array(($0.bytes ?? []).dropFirst(8)) : $0.bytes ?? [] }
    }
}

/// The arguments of `store.lua`.
struct StoreCommand {
    private(set) var command = Command([])
    /// A buffer for the commands of a key.
    private var scratch = Command([])

    init(
        client: String, batch: Int64, settings: [UInt8], now: CoreInstant, taker: Int64? = nil, hints: Bool = false,
        guards: [[String]] = []
    ) {
        command.add(client)
        command.add(batch)
        command.add(settings)
        command.add(now.microseconds)
        command.add(taker)
        command.add(hints ? "1" : "")
        command.add(Int64(guards.count))
        for part in guards.joined() { command.add(part) }
    }

    mutating func reserveCapacity(_ count: Int) { command.reserveCapacity(count) }

    mutating func add(_ change: LoadedKey, _ table: LoadedTable) {
        let write = KeyWrite(change, table, in: &scratch)
        add(write)
        scratch = write.commands
    }

    mutating func add(_ write: KeyWrite) {
        command.add(write.key)
        command.add(write.expected ?? [])
        command.add(write.born)
        command.add(Int64(write.checks))
        command.add(write.checkParts)
        command.add(Int64(write.count))
        command.add(write.commands)
    }
}

/// What is written of a key, as the script gets it.
struct KeyWrite {
    let key: [UInt8]
    let expected: [UInt8]?
    /// The number with which a new row begins.
    private(set) var born: Int64?
    private(set) var checks = 0
    private(set) var checkParts = Command([])
    private(set) var count = 0
    private(set) var commands = Command([])

    init(key: [UInt8], expected: [UInt8]?) {
        self.key = key
        self.expected = expected
    }

    /// What a script does to a structure.
    enum Verb: Int, CaseIterable {
        case hset, zadd, hdel, zrem, hincrby, max, reset, unlink
    }

    /// What scripts call each of them, of each structure.
    private static let names = Verb.allCases.map { verb in
        Structure.allCases.map { Array("\("\(verb)".uppercased()) \($0.number)".utf8) }
    }

    /// Adds a command with two arguments.
    mutating func add(_ verb: Verb, _ structure: Structure, _ first: [UInt8], _ second: [UInt8]) {
        begin(verb, structure)
        commands.add(first)
        commands.add(second)
    }

    /// Gives a member a score.
    mutating func zadd(_ structure: Structure, _ score: Int64, _ member: [UInt8]) {
        begin(.zadd, structure)
        commands.add(score)
        commands.add(member)
    }

    /// Adds a removal.
    mutating func remove(_ member: [UInt8], from structure: Structure) {
        begin(structure.isHash ? .hdel : .zrem, structure)
        commands.add(member)
    }

    private mutating func begin(_ verb: Verb, _ structure: Structure) {
        count += 1
        commands.add(Self.names[verb.rawValue][structure.rawValue])
    }

    /// Requires that a member is there, or not.
    mutating func require(_ member: [UInt8], in structure: Structure, isThere: Bool) {
        checks += 1
        checkParts.add(structure.isHash ? "HEXISTS" : "ZSCORE")
        checkParts.add(structure.number)
        checkParts.add(member)
        checkParts.add(isThere ? "1" : "0")
    }

    private mutating func increment(_ field: String, by difference: Int) {
        if difference == 0 { return }
        begin(.hincrby, .meta)
        commands.add(field)
        commands.add(Int64(difference))
    }

    /// Raises a number of the shard.
    private mutating func raise(_ field: String, to number: Int64) {
        begin(.max, .meta)
        commands.add(field)
        commands.add(number)
    }

    static func digits(_ number: Int64) -> [UInt8] { Array(String(number).utf8) }

    // MARK: - A change

    init(_ change: LoadedKey, _ table: LoadedTable, in buffer: inout Command) {
        self.init(key: change.key, expected: change.expected)
        swap(&commands, &buffer)
        commands.removeAll()
        if change.expected == nil { born = min(table.firstBase, change.after?.row.born ?? .max) }
        addRow(change, table)
        for value in change.values {
            begin(.hset, .values)
            commands.add(value.number, ":", key)
            commands.add(value.bytes)
        }
        for number in change.dropped.joined() {
            begin(.hdel, .values)
            commands.add(number, ":", key)
        }
        for end in change.removedEnds {
            remove(EndMember.bytes(end, of: key), from: .ends)
            remove(EndMember.bytes(end, of: key), from: .ended)
        }
        for end in change.ends {
            let member = EndMember.bytes(end, of: key)
            zadd(.ends, 0, member)
            zadd(.ended, end.at.microseconds, member)
        }
        for (token, receipt, _) in change.tokens {
            let field = Array("t".utf8) + Array(token.utf8)
            require(field, in: .past, isThere: false)
            add(.hset, .past, field, receipt.bytes)
            zadd(.aged, table.now.microseconds, field)
        }
        for run in change.takenDead {
            require(Array("d\(run)".utf8), in: .past, isThere: true)
            remove(Array("d\(run)".utf8), from: .past)
            remove(Self.digits(run), from: .dead)
        }
        for dead in change.dead {
            add(.hset, .past, Array("d\(dead.run.id)".utf8), dead.bytes)
            zadd(.dead, dead.at.microseconds, Self.digits(dead.run.id))
        }
        // A row that is as it was read has not folded them, unless it has come and gone.
        if let first = change.folded.first { require(first, in: .inbox, isThere: true) }
        for entry in change.folded { remove(entry, from: .inbox) }
        if change.totals != DurableTotals() {
            for (name, count) in change.totals.named { increment(name, by: count) }
        }
    }

    /// Adds the row, and what it is found by.
    private mutating func addRow(_ change: LoadedKey, _ table: LoadedTable) {
        if let after = change.after {
            add(.hset, .rows, key, after.bytes)
            if expected == nil {
                zadd(.keys, 0, key)
                raise("born", to: after.row.born)
            }
            // What is due may have been hidden.
            let wake = change.before?.wake
            let mayBeHidden = wake.map { $0 <= table.now.advanced(by: .seconds(1)) } ?? true
            if change.hasMoreEntries {
                zadd(.due, table.now.microseconds, key)
            } else if wake != after.wake || mayBeHidden || !change.folded.isEmpty {
                zadd(.due, after.wake.stored, key)
            }
        } else {
            if expected != nil {
                remove(key, from: .rows)
                remove(key, from: .keys)
            }
            if change.hasMoreEntries { zadd(.due, table.now.microseconds, key) } else { remove(key, from: .due) }
        }
        if let generation = change.deletedGeneration { raise("base", to: generation) }
        // Most steps change what is pending, and nothing that is counted.
        if change.isStillPending { return }
        let (before, after) = (change.before, change.after)
        let (had, has) = (before?.holder, after?.holder)
        if had != has {
            if let had { remove(Array("\(had):".utf8) + key, from: .held) }
            if let has { zadd(.held, 0, Array("\(has):".utf8) + key) }
        }
        let (was, isReady) = (before?.row.ready?.due, after?.row.ready?.due)
        if was != isReady {
            if let isReady { zadd(.ready, isReady.stored, key) } else { remove(key, from: .ready) }
        }
        let (old, new) = (before.map(CountedRow.init), after.map(CountedRow.init))
        if old == new { return }
        for (row, sign) in [(new, 1), (old, -1)] {
            guard let row else { continue }
            for (name, count) in zip(Tally.names, row.tally.counts) where count != 0 {
                begin(.hincrby, .meta)
                commands.add(row.period, ":", Array(name.utf8))
                commands.add(Int64(sign * count))
            }
        }
    }
}

extension CountedRow {
    init(_ stored: StoredRow) { self.init(stored.row, wake: stored.wake.stored) }
}
