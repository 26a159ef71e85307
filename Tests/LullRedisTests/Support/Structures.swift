import LullCore
import LullDurable

@testable import LullRedis

extension RedisStore {
    /// What does not fit together in the structures of all namespaces. While nothing changes, there is none of it.
    func brokenRules() async throws -> [String] {
        var broken: [String] = []
        for name in (try await ask(Command("SMEMBERS", Self.names)).list ?? []).compactMap(\.text) {
            for shard in 0..<(try await shards(of: name)) {
                let structures = try await Structures(self, name, shard)
                broken += structures.brokenRules.map { "\(name), shard \(shard): \($0)" }
            }
        }
        return broken
    }
}

/// All that a shard has.
private struct Structures {
    private let rules: DurableRules
    private var rows: [[UInt8]: [UInt8]] = [:]
    private var values: Set<[UInt8]> = []
    private var due: [[UInt8]: Int64] = [:]
    private var held: Set<[UInt8]> = []
    private var past: [[UInt8]: [UInt8]] = [:]
    private var ended: Set<[UInt8]> = []
    private var answered: Set<[UInt8]> = []
    private var dead: Set<[UInt8]> = []
    private var names: Set<[UInt8]> = []
    private var ready: [[UInt8]: Int64] = [:]
    private var tally: [String: Int64] = [:]
    private var withoutSentinel: [String] = []

    init(_ store: RedisStore, _ namespace: String, _ shard: Int) async throws {
        let prefix = Scripts.prefix(namespace, shard)
        let sentinel = [0xFF] + Array("lull".utf8)
        rules = try DurableRules(stored: try await store.ask(Command("HGET", prefix + "meta", "rules")).bytes)

        var missing: [String] = []
        func members(_ name: String, _ command: String...) async throws -> [[UInt8]] {
            let command = Command([command[0], prefix + name] + command.dropFirst())
            return (try await store.ask(command).list ?? []).map { $0.bytes ?? [] }
        }
        func pairs(_ name: String, _ command: String...) async throws -> [[UInt8]: [UInt8]] {
            let command = Command([command[0], prefix + name] + command.dropFirst())
            let list = (try await store.ask(command).list ?? []).map { $0.bytes ?? [] }
            var pairs: [[UInt8]: [UInt8]] = [:]
            for index in stride(from: 0, to: list.count - 1, by: 2) { pairs[list[index]] = list[index + 1] }
            if pairs.removeValue(forKey: sentinel) == nil { missing.append(name) }
            return pairs
        }
        rows = try await pairs("rows", "HGETALL")
        past = try await pairs("past", "HGETALL")
        due = try await pairs("due", "ZRANGE", "0", "-1", "WITHSCORES").mapValues {
            Int64(String(decoding: $0, as: UTF8.self)) ?? -1
        }
        ready = try await pairs("ready", "ZRANGE", "0", "-1", "WITHSCORES").mapValues {
            Int64(String(decoding: $0, as: UTF8.self)) ?? -1
        }
        let meta = (try await store.ask(Command("HGETALL", prefix + "meta")).list ?? []).map { $0.bytes ?? [] }
        for index in stride(from: 0, to: meta.count - 1, by: 2) where meta[index].contains(UInt8(ascii: ":")) {
            let name = String(decoding: meta[index], as: UTF8.self)
            tally[name] = Int64(String(decoding: meta[index + 1], as: UTF8.self))
        }
        names = Set(try await members("keys", "ZRANGE", "0", "-1"))
        values = Set(try await members("values", "HKEYS"))
        held = Set(try await members("held", "ZRANGE", "0", "-1"))
        ended = Set(try await members("ended", "ZRANGE", "0", "-1"))
        answered = Set(try await members("answered", "ZRANGE", "0", "-1"))
        dead = Set(try await members("dead", "ZRANGE", "0", "-1"))
        for (name, has) in [
            ("values", values.remove(sentinel)), ("held", held.remove(sentinel)), ("ended", ended.remove(sentinel)),
            ("answered", answered.remove(sentinel)), ("dead", dead.remove(sentinel)), ("keys", names.remove(sentinel)),
        ] where has == nil { missing.append(name) }
        withoutSentinel = missing
    }

    private func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    /// The fields of the values from an index on.
    private func fields(_ key: [UInt8], _ index: Int64?, _ count: Int) -> [[UInt8]] {
        guard let index else { return [] }
        let count = rules.combination == .collect ? Int64(count) : 1
        return (index..<(index + count)).map { Array("\($0):".utf8) + key }
    }

    var brokenRules: [String] {
        var broken = withoutSentinel.map { "\($0) has no sentinel" }
        if Set(rows.keys) != Set(due.keys) { broken.append("other keys have rows than instants to wake") }
        if Set(rows.keys) != names { broken.append("other keys have rows than names") }
        var counted: [String: Int64] = [:]
        var waiting: [[UInt8]: Int64] = [:]
        var needed: [[UInt8]] = []
        var holders: Set<[UInt8]> = []
        for (key, bytes) in rows {
            guard let stored = StoredRow(bytes) else {
                broken.append("\(text(key)): the row cannot be read")
                continue
            }
            let row = stored.row
            let wake = Packed(bytes)?[8].number ?? -1
            let kept = Tally(row)
            for name in Tally.names where kept[name] > 0 {
                counted["\(wake / 4_194_304):\(name)", default: 0] += Int64(kept[name])
            }
            waiting[key] = row.ready.map { min($0.due.nanoseconds / 1000, .never) }
            if due[key] != wake { broken.append("\(text(key)): wakes at \(due[key] ?? -1), not at \(wake)") }
            let latest = min(row.wake(by: rules).nanoseconds / 1000, .never)
            if wake > latest { broken.append("\(text(key)): wakes at \(wake), later than at \(latest)") }
            if row.isIdle { broken.append("\(text(key)): has an idle row") }
            needed += fields(key, stored.values[.pending], row.gate.count)
            needed += fields(key, stored.values[.ready], row.ready?.count ?? 0)
            needed += fields(key, stored.values[.run], row.run?.value.count ?? 0)
            let ranges = [row.run?.value.submits, row.ready?.submits].compactMap { $0 }
            for (one, next) in zip(ranges, ranges.dropFirst()) where one.upperBound >= next.lowerBound {
                broken.append("\(text(key)): \(one) and \(next) overlap")
            }
            if row.run != nil, row.run?.isInBackoff == false {
                holders.insert(Array("\(row.run?.owner ?? 0):".utf8) + key)
            }
        }
        if counted != tally { broken.append("counts \(tally), not \(counted)") }
        if waiting != ready { broken.append("other values are ready than their instants") }
        if holders != held { broken.append("other runs are held than claimed: \(held.count), \(holders.count)") }
        var kinds: [UInt8: Set<[UInt8]>] = [:]
        for (name, bytes) in past {
            kinds[name.first ?? 0, default: []].insert(Array(name.dropFirst()))
            guard name.first == UInt8(ascii: "d"), let packed = Packed(bytes), let key = packed[0].bytes else {
                continue
            }
            let run = DurableRow.Run(packed[2])
            needed += fields(key, packed[2]["index"].number, run.value.count)
        }
        if Set(needed) != values || needed.count != values.count {
            broken.append("\(values.count) values are stored, \(needed.count) needed")
        }
        if kinds[UInt8(ascii: "e")] ?? [] != ended { broken.append("other ends than keys with ends") }
        if kinds[UInt8(ascii: "d")] ?? [] != dead { broken.append("other dead runs than their numbers") }
        let answers = past.keys.filter { [UInt8(ascii: "t"), UInt8(ascii: "b")].contains($0.first) }
        if Set(answers) != answered { broken.append("other answers than their names") }
        return broken
    }
}
