internal import Lull
internal import LullCore
internal import LullDurable

// What a shard says of itself.

/// The settings and the counts of a shard, and what nobody else needs to know of it.
@dynamicMemberLookup
struct ShardRecord: Sendable {
    var meta: ShardMeta
    var shards: Int
    /// The latest instant at which a row was stepped, and how many steps there were.
    var latest: CoreInstant
    var steps: String

    /// Reads the answers to `TIME` and `HGETALL`.
    init(time: Reply, _ reply: Reply, of namespace: String, at instant: CoreInstant?) throws(DurableError) {
        var fields: [String: [UInt8]] = [:]
        let list = reply.list ?? []
        for index in stride(from: 0, to: list.count - 1, by: 2) {
            fields[list[index].text ?? ""] = list[index + 1].bytes
        }
        func number(_ name: String) -> Int64? { fields[name].flatMap { Int64(String(decoding: $0, as: UTF8.self)) } }
        guard let version = number("version"), let settings = fields["settings"], let rules = fields["rules"] else {
            throw .noPolicy(namespace: namespace)
        }
        guard version == Scripts.version else {
            throw .unusable(ServerError.otherVersion(version, of: namespace))
        }
        let now = instant ?? CoreInstant(microseconds: (time[0].number ?? 0) * 1_000_000 + (time[1].number ?? 0))
        let place = String(decoding: fields["place"] ?? [], as: UTF8.self).split(separator: " ")
        shards = place.last.flatMap { Int($0) } ?? 1
        meta = ShardMeta(
            now: now, settings: settings, rules: try DurableRules(rules), pause: DurablePause(stored: fields["pause"]),
            arrival: number("arrival").map { CoreInstant(stored: $0) })
        latest = CoreInstant(microseconds: number("latest") ?? 0)
        steps = number("steps").map { "\($0)" } ?? ""
        for (name, bytes) in fields {
            let parts = name.split(separator: ":")
            let text = String(decoding: bytes, as: UTF8.self)
            if parts.count == 1 {
                meta.add(Int(text) ?? 0, name, period: 0)
            } else if let period = Int64(parts[0]) {
                meta.add(Int(text) ?? 0, String(parts[1]), period: period)
            } else if parts[0] == "worker", let id = Int64(parts[1]) {
                let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
                guard words.count == 3, let at = Int64(words[0]), let process = Int64(words[1]) else { continue }
                let identity = DurableWorker.Identity(id: id, host: String(words[2]), process: process)
                meta.workers.append((identity, CoreInstant(microseconds: at)))
            }
        }
    }

    subscript<Part>(dynamicMember path: KeyPath<ShardMeta, Part>) -> Part { meta[keyPath: path] }
}

extension RedisStore {
    package func meta(of place: ShardPlace, isWhole: Bool) async throws(DurableError) -> ShardMeta {
        try await record(of: place, isWhole: isWhole).meta
    }

    /// Returns what a shard says of itself; opens a namespace again that the server has lost.
    func record(of place: ShardPlace, isWhole: Bool = false) async throws(DurableError) -> ShardRecord {
        do throws(DurableError) { return try await recordIfThere(of: place, isWhole: isWhole) } catch {
            guard case .noPolicy = error, try await reopen(place.namespace) else { throw error }
            return try await recordIfThere(of: place, isWhole: isWhole)
        }
    }

    func recordIfThere(of place: ShardPlace, isWhole: Bool = false) async throws(DurableError) -> ShardRecord {
        let names = ["version", "settings", "rules", "place", "pause", "arrival", "latest", "steps"]
        let read =
            isWhole ? Command("HGETALL", place.key(.meta)) : Command(["HMGET", place.key(.meta)] + names)
        var replies = try await ask([.command(read), .command(Command("TIME"))], in: place.namespace)
        if !isWhole {
            replies[0] = .list(zip(names, replies[0].list ?? []).flatMap { [.bytes(Array($0.utf8)), $1] })
        }
        let meta = try ShardRecord(
            time: replies[1], replies[0], of: place.namespace,
            at: options.microseconds.map { CoreInstant(microseconds: $0) })
        if meta.now.duration(to: meta.latest) > .seconds(1) {
            state.change { $0.take(.isBehind(place, meta.now.duration(to: meta.latest))) }
        }
        return meta
    }

    /// Changes what a shard says of itself, or structures of it, if nobody has changed its settings meanwhile.
    ///
    /// - Parameters:
    ///   - waits: Whether it waits for replicas, if the durability says so.
    ///   - isWhole: Whether counts and workers are wanted.
    ///   - body: Returns what is written, nil for nothing; and what must be as it was.
    func change<Answer: Sendable>(
        _ place: ShardPlace, waits: Bool = false, isWhole: Bool = false,
        _ body: (ShardRecord) throws(DurableError) -> (write: KeyWrite?, guards: [[String]], answer: Answer)
    ) async throws(DurableError) -> Answer {
        while true {
            let meta = try await record(of: place, isWhole: isWhole)
            let (write, guards, answer) = try body(meta)
            guard let write else { return answer }
            if try await write.isDone(in: place, settings: meta.settings, at: meta.now, guards, by: self, waits: waits)
            {
                return answer
            }
        }
    }
}

extension KeyWrite {
    /// A write that concerns no key.
    init() { self.init(key: Scripts.sentinel, expected: []) }

    mutating func set(_ field: String, _ text: String) { set(field, Array(text.utf8)) }
    mutating func set(_ field: String, _ bytes: [UInt8]) { add(.hset, .meta, Array(field.utf8), bytes) }
    mutating func unset(_ field: String) { remove(Array(field.utf8), from: .meta) }

    /// New settings, which differ from all before.
    mutating func renewSettings(after settings: [UInt8], at now: CoreInstant) {
        let last = Int64(String(decoding: settings, as: UTF8.self)) ?? 0
        set("settings", "\(max(last + 1, now.microseconds))")
    }

    /// Writes this; returns false if something has changed meanwhile, and nothing was written.
    func isDone(
        in place: ShardPlace, settings: [UInt8], at now: CoreInstant, _ guards: [[String]], by store: RedisStore,
        waits: Bool = false
    ) async throws(DurableError) -> Bool {
        var replicas: Int?
        if waits, case .replicas(let count) = store.durability { replicas = count }
        let terms = WriteTerms(
            place: place, settings: settings, now: now, guards: guards, waits: waits,
            deadline: .now + store.options.timeLimit)
        return try await store.client.write(self, terms, replicas: replicas)
    }
}
