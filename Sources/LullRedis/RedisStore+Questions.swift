internal import Lull
package import LullCore
package import LullDurable

// Looking.

extension RedisStore {
    /// What a shard has, at an instant.
    struct Look: Sendable {
        var now: CoreInstant
        var rules: DurableRules
        var shards: Int
        var totals: DurableTotals
        var dead: Int
        var row: StoredRow?
        var ends: [StoredEnd]
        var pause: DurablePause?
        /// What the limit has counted: in the first shard.
        var arrival: CoreInstant?
    }

    /// Looks at a shard, and at one of its keys.
    func look(at namespace: String, _ shard: Int, _ key: [UInt8]? = nil) async throws(DurableError) -> Look {
        var arguments = Command([])
        if let key { arguments.add(key) }
        let reply = try await run(.look, in: namespace, shard, arguments)
        if let version = reply[1].number, version != Scripts.version {
            throw .unusable(ServerError.otherVersion(version, of: namespace))
        }
        let packed = Packed(reply[4].bytes) ?? .none
        let numbers = (0...8).map { Int(packed[$0].number ?? 0) }
        return Look(
            now: CoreInstant(stored: reply[0].number ?? 0), rules: try DurableRules(stored: reply[2].bytes),
            shards: Packed(reply[3].bytes)?[1].number.map { Int($0) } ?? 1,
            totals: DurableTotals(
                attempts: numbers[3], lostLeases: numbers[4], runs: numbers[6], executed: numbers[7],
                failures: numbers[8], restarted: numbers[5]),
            dead: max(0, Int(reply[5].number ?? 0) - 1),
            row: StoredRow(reply[6].bytes), ends: StoredEnd.list(reply[7].bytes),
            pause: DurablePause(stored: reply[8].bytes), arrival: reply[9].number.map { CoreInstant(stored: $0) })
    }

    /// Calls a function for each row of a namespace. Those that change meanwhile may be seen before or after.
    func scan(
        _ namespace: String, _ body: (_ key: [UInt8], _ row: StoredRow, _ shard: Int) -> Void
    ) async throws(DurableError) {
        for shard in 0..<(try await shards(of: namespace)) {
            var seen: Set<[UInt8]> = []
            try await scan(Scripts.prefix(namespace, shard) + "rows", in: namespace) { key, value in
                guard let row = StoredRow(value), seen.insert(key).inserted else { return }
                body(key, row, shard)
            }
        }
    }

    /// Calls a function for each field of a hash; for some of those that change meanwhile twice.
    private func scan(
        _ hash: String, in namespace: String, _ options: String..., body: (_ field: [UInt8], _ value: [UInt8]?) -> Void
    ) async throws(DurableError) {
        var cursor = "0"
        repeat {
            var command = Command("HSCAN", hash, cursor, "COUNT", "1000")
            for option in options { command.add(option) }
            let reply = try await ask(command, in: namespace)
            let found = reply[1].list ?? []
            for index in stride(from: 0, to: found.count - 1, by: 2) {
                if let field = found[index].bytes { body(field, found[index + 1].bytes) }
            }
            cursor = reply[0].text ?? "0"
        } while cursor != "0"
    }

    /// Returns the state of a submit: see ``StoreCalls/state(of:)``.
    package func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        let shard = try await shard(of: receipt.key, in: receipt.namespace)
        let found = try await look(at: receipt.namespace, shard, receipt.key)
        if var row = found.row?.row {
            var endings: [DurableEnding] = []
            row.settle(at: found.now, by: found.rules, &endings)
            if let state = row.state(of: receipt.generation, endings) { return state }
        }
        guard let end = found.ends.last(where: { $0.submits.contains(receipt.generation) }) else { return .forgotten }
        return DurableState(end.how, error: end.error)
    }

    /// Returns all namespaces with their counts: see ``StoreCalls/status()``.
    package func status() async throws(DurableError) -> [DurableStatus] {
        let names = (try await ask(Command("SMEMBERS", Self.names)).list ?? []).compactMap(\.text)
        var statuses: [DurableStatus] = []
        for name in names.sorted() {
            let shards: Int
            do throws(DurableError) { shards = try await self.shards(of: name) } catch .noPolicy { continue }
            var status: DurableStatus?
            for shard in 0..<shards {
                let look = try await look(at: name, shard)
                var sum = status ?? DurableStatus(namespace: name, rules: look.rules)
                sum.dead += look.dead
                sum.add(look.totals)
                // All shards have it, but while it begins or ends.
                sum.pause = sum.pause ?? look.pause
                if let arrival = look.arrival { sum.noteStarts(after: arrival, at: look.now) }
                try await count(name, shard, &sum)
                status = sum
            }
            if let status { statuses.append(status) }
        }
        return statuses
    }

    /// Adds the counts of a shard.
    private func count(
        _ namespace: String, _ shard: Int, _ status: inout DurableStatus
    ) async throws(DurableError) {
        let reply = try await run(.count, in: namespace, shard, Command("\(WokenRows.most)"))
        func rows(_ reply: Reply) -> [DurableRow] { (reply.list ?? []).compactMap { StoredRow($0.bytes)?.row } }
        var tallies: [Int64: Tally] = [:]
        let counts = reply[1].list ?? []
        for index in stride(from: 0, to: counts.count - 1, by: 2) {
            // Other fields have no such names.
            let place = (counts[index].text ?? "").split(separator: ":")
            guard place.count == 2, let period = Int64(place[0]) else { continue }
            tallies[period, default: Tally()][String(place[1])] = Int(counts[index + 1].number ?? 0)
        }
        let woken = try WokenRows(rows(reply[2])) { () throws(DurableError) in rows(reply[4]) }
        status.add(
            tallies.map { ($0.key, $0.value) }, present: reply[5].number ?? 0, woken,
            oldestReady: reply[3].number.map { CoreInstant(stored: $0) },
            at: CoreInstant(stored: reply[0].number ?? 0))
    }

    /// Returns how submits have ended: see ``StoreCalls/ended(of:in:limit:)``.
    ///
    /// Without a key it reads all outcomes that the server remembers, about a thousand at a time.
    package func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableEnd<[UInt8]>] {
        let limit = max(0, limit)
        let shard = if let key { try await shard(of: key, in: namespace) } else { 0 }
        let look = try await look(at: namespace, shard, key)
        var found: [(key: [UInt8], end: StoredEnd)] = []
        func keepNewest() {
            found.sort { ($0.end.at, $0.end.submits.upperBound) > ($1.end.at, $1.end.submits.upperBound) }
            found.removeLast(max(0, found.count - limit))
        }
        if let key {
            found = look.ends.map { (key, $0) }
        } else {
            for shard in 0..<look.shards {
                let fields = Scripts.prefix(namespace, shard) + "past"
                try await scan(fields, in: namespace, "MATCH", "e*") { field, value in
                    let key = Array(field.dropFirst())
                    found += StoredEnd.list(value).map { (key, $0) }
                    if found.count > 2 * limit + 10_000 { keepNewest() }
                }
            }
        }
        keepNewest()
        return found.map { key, end in
            DurableEnd(
                key: key, submits: end.submits, how: end.how, run: end.run, error: end.error,
                age: DurableNamespace.time(from: end.at, to: look.now))
        }
    }

    package func presentInstant(in namespace: String) async throws(DurableError) -> CoreInstant {
        try await look(at: namespace, 0).now
    }

    /// Returns the bytes that the data of the server takes, and those at which it refuses submits; nil if it has no
    /// limit.
    package func memory() async throws(DurableError) -> (used: Int64, limit: Int64?) {
        let info = Server.fields(try await ask(Command("INFO", "memory")).text ?? "")
        let limit = info["maxmemory"].flatMap { Int64($0) } ?? 0
        return (info["used_memory"].flatMap { Int64($0) } ?? 0, limit > 0 ? limit : nil)
    }

    /// Records that a worker is there: see ``StoreCalls/announce(_:in:)``.
    package func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError) {
        var arguments = Command("\(worker.id)", worker.host, "\(worker.process)")
        arguments.add("\(DurableWorker.memory.nanoseconds / 1000)")
        _ = try await run(.announce, in: namespace, 0, arguments)
    }

    /// Returns the workers: see ``StoreCalls/workers(in:)``. Reads a name for each run that a worker
    /// holds.
    package func workers(in namespace: String) async throws(DurableError) -> [DurableWorker] {
        var announced: [DurableWorker] = []
        var running: [Int64: Int] = [:]
        for shard in 0..<(try await shards(of: namespace)) {
            let reply = try await run(.workers, in: namespace, shard)
            let workers = reply[0].list ?? []
            for index in stride(from: 0, to: workers.count - 3, by: 4) {
                let (id, process) = (workers[index].number ?? 0, workers[index + 2].number ?? 0)
                announced.append(
                    DurableWorker(
                        .init(id: id, host: workers[index + 1].text ?? "", process: process),
                        seen: .microseconds(workers[index + 3].number ?? 0), running: 0))
            }
            let counts = reply[1].list ?? []
            for index in stride(from: 0, to: counts.count - 1, by: 2) {
                running[counts[index].number ?? 0, default: 0] += Int(counts[index + 1].number ?? 0)
            }
        }
        for index in announced.indices { announced[index].running = running[announced[index].identity.id] ?? 0 }
        return DurableWorker.listed(announced)
    }

    /// Counts a selection: see ``StoreCalls/count(matching:in:)``. Reads all rows of the namespace, some
    /// at a time.
    package func count(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> DurableSelectionCount {
        let look = try await look(at: namespace, 0)
        var found = DurableSelectionCount()
        try await scan(namespace) { key, stored, _ in
            guard selection.includes(key, stored.row, at: look.now, by: look.rules) else { return }
            found.add(stored.row, at: look.now, by: look.rules)
        }
        found.dead = try await deadRuns(matching: selection, in: namespace).count
        return found
    }
}
