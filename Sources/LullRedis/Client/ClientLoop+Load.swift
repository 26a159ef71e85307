internal import Lull
internal import LullCore
internal import LullDurable

// Loading rows.

extension ClientLoop {
    /// For how long keys are taken, and due ones hidden from other workers.
    static let moment: Int64 = 100_000

    func load(
        _ request: LoadRequest, into table: LoadedTable?, _ done: @escaping (Result<LoadedRows, DurableError>) -> Void
    ) {
        let load = Load(request)
        send(
            Job(
                Commands(
                    contents: load.contents(
                        at: options.microseconds, taker: request.takes ? number : nil, loaded: table?.count ?? 0),
                    role: .steps),
                until: request.deadline
            ) { [unowned self] answer in
                let result = Result { () throws(DurableError) in
                    try load.rows(in: answer.get(in: request.place.namespace).replies, into: table, &rules)
                }
                if case .success(let rows) = result, let latest = rows.latest {
                    let behind = rows.loaded.table.now.duration(to: latest)
                    if behind > .seconds(1) { noticed(.isBehind(request.place, behind)) }
                }
                done(result.map(\.loaded))
            })
    }
}

/// The commands that load what a request names, and what their replies say.
private struct Load {
    private let request: LoadRequest
    private let keys: [[UInt8]]
    private let past: [[UInt8]]
    private let ends: [[UInt8]]
    private let submits: [LoadedTable.SubmitID]
    private let values: [LoadedTable.SubmitID]

    init(_ request: LoadRequest) {
        self.request = request
        let wanted = request.wanted
        keys = request.keys + wanted.keys
        past =
            wanted.tokens.map { Array("t".utf8) + Array($0.utf8) } + wanted.dead.map { Array("d\($0)".utf8) }
        ends = Array(wanted.ends)
        submits = Array(wanted.endsOfSubmits)
        values = Array(wanted.values)
    }

    func contents(at instant: Int64?, taker: Int64?, loaded: Int) -> [Commands.Content] {
        let wanted = request.wanted
        var script = Command([])
        script.add(instant)
        script.add(taker)
        script.add(ClientLoop.moment)
        script.add(Int64(wanted.fences))
        let owner = wanted.holders.first.map { "\($0)" } ?? (wanted.due > 0 || wanted.next ? "-" : "")
        script.add(wanted.needsLeases ? "*" : owner)
        script.add(Int64(wanted.due))
        script.add(Int64(loaded))
        script.add(Int64(keys.count))
        for key in keys { script.add(key) }
        var contents: [Commands.Content] = [.script(.load, request.place, script)]
        if !past.isEmpty {
            var command = Command("HMGET", request.place.key(.past))
            for field in past { command.add(field) }
            contents.append(.command(command))
        }
        for key in ends { contents.append(.command(EndMember.newest(200, of: key, in: request.place))) }
        for submit in submits {
            var command = Command("ZRANGEBYLEX", request.place.key(.ends))
            command.add([UInt8(ascii: "[")] + EndMember.prefix(submit.key) + EndMember.bytes(submit.number))
            command.add([UInt8(ascii: "(")] + EndMember.prefix(submit.key) + [0xFF])
            for part in ["LIMIT", "0", "1"] { command.add(part) }
            contents.append(.command(command))
        }
        if !values.isEmpty {
            var command = Command("HMGET", request.place.key(.values))
            for value in values { command.add(value.number, ":", value.key) }
            contents.append(.command(command))
        }
        return contents
    }

    func rows(
        in replies: [Reply], into table: LoadedTable?, _ cache: inout RulesCache
    ) throws(DurableError) -> (loaded: LoadedRows, latest: CoreInstant?) {
        let reply = replies[0]
        guard let now = reply[0].number, let settings = reply[1][0].bytes, let rules = reply[1][1].bytes,
            let count = reply[5].number
        else { throw .notUnderstood }
        let shards = reply[1][2].text?.split(separator: " ").last.flatMap { Int64($0) } ?? 1
        // Births differ, so that their order is known.
        let base = max(reply[1][4].number ?? 0, (reply[1][6].number ?? 0) + 1, now)
        let namespace = DurableNamespace(
            id: 0, name: request.place.namespace, rules: try cache.rules(rules, of: request.place.namespace),
            latestPause: DurablePause(stored: reply[1][3].bytes))
        let instant = CoreInstant(microseconds: now)
        var new =
            table
            ?? LoadedTable(
                now: instant, namespace: namespace, settings: settings, base: base, leastGeneration: now,
                fenceStep: shards)
        // What was loaded under other settings is not written: the server says so then.
        if table != nil { new.advance(to: instant, base: base) }
        var hidden: Set<[UInt8]> = []
        let (keys, rows, inbox) = (reply[2].list ?? [], reply[3].list ?? [], reply[4].list)
        new.reserveCapacity(new.count + keys.count)
        for index in keys.indices where rows.indices.contains(index) {
            guard let key = keys[index].bytes, key != Scripts.sentinel else { continue }
            if index < count { hidden.insert(key) }
            guard let entries = inbox?[index].list, !entries.isEmpty else {
                try new.load(key, rows[index].bytes)
                continue
            }
            try new.load(
                key, rows[index].bytes, entries: entries.prefix(1000).compactMap { InboxEntry($0.bytes, of: key) },
                hasMoreEntries: entries.count > 1000)
        }
        if !request.wanted.holders.isEmpty || request.wanted.due > 0 || request.wanted.next {
            new.note(nextUnloaded: next(reply[6], besides: new))
        }
        if request.wanted.fences > 0, let first = reply[7].number {
            new.reserveFences(from: first, count: request.wanted.fences)
        }
        if let count = reply[9].number { new.note(leases: Int(count)) }
        for owner in request.wanted.holders { new.note(holder: owner) }
        try addOthers(replies, to: &new)
        var loaded = LoadedRows(new)
        loaded.hidden = hidden
        loaded.refused = Set((reply[8].list ?? []).compactMap(\.bytes))
        return (loaded, reply[1][5].number.map { CoreInstant(microseconds: $0) })
    }

    /// Returns when the first of the rows wakes that were not loaded.
    private func next(_ reply: Reply, besides table: LoadedTable) -> CoreInstant {
        for index in stride(from: 0, to: (reply.list ?? []).count - 1, by: 2) {
            guard let key = reply[index].bytes, !table.hasLoaded(key) else { continue }
            return reply[index + 1].number.map { CoreInstant(stored: $0) } ?? .farFuture
        }
        return .farFuture
    }

    private func addOthers(_ replies: [Reply], to table: inout LoadedTable) throws(DurableError) {
        var rest = replies.dropFirst()
        if !past.isEmpty, let found = rest.popFirst() {
            for (index, token) in request.wanted.tokens.enumerated() {
                table.load(token: token, DurableReceipt(stored: found[index].bytes, request.place.namespace))
            }
            for (index, run) in request.wanted.dead.enumerated() {
                let bytes = found[request.wanted.tokens.count + index].bytes
                table.load(dead: run, try bytes.map { bytes throws(DurableError) in try StoredDead(bytes) })
            }
        }
        for key in ends {
            guard let found = rest.popFirst()?.list else { throw .notUnderstood }
            var ends: [StoredEnd] = []
            for member in found { ends.append(try EndMember.end(member.bytes, of: key)) }
            table.load(endsOf: key, ends)
        }
        for submit in submits {
            guard let found = rest.popFirst() else { throw .notUnderstood }
            let end = try found[0].bytes.map { member throws(DurableError) in try EndMember.end(member, of: submit.key)
            }
            table.load(endOf: submit, end.flatMap { $0.submits.contains(submit.number) ? $0 : nil })
        }
        if !values.isEmpty, let found = rest.popFirst() {
            for (index, value) in values.enumerated() {
                let number = found[index].bytes?.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
                guard let number else { throw .unusable("a value is missing in the store") }
                table.load(originOf: value, number)
            }
        }
    }
}
