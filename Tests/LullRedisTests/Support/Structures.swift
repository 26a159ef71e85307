import LullCore
import LullDurable

@testable import LullRedis

extension RedisStore {
    /// What does not fit together in the structures of all namespaces. While nothing changes, there is none of it.
    func brokenRules() async throws -> [String] {
        var broken: [String] = []
        for name in (try await ask(Command("SMEMBERS", Self.names)).list ?? []).compactMap(\.text) {
            for place in try await places(of: name) {
                let structures = try await Structures(self, place)
                broken += structures.brokenRules.map { "\(name), shard \(place.shard): \($0)" }
            }
        }
        return broken
    }
}

/// All that a shard has.
private struct Structures {
    private let meta: ShardRecord
    private var pairs: [Structure: [[UInt8]: [UInt8]]] = [:]
    private var withoutSentinel: [Structure] = []

    init(_ store: RedisStore, _ place: ShardPlace) async throws {
        meta = try await store.record(of: place, isWhole: true)
        for structure in Structure.allCases where structure != .meta {
            let command =
                structure.isHash
                ? Command("HGETALL", place.key(structure))
                : Command("ZRANGE", place.key(structure), "0", "-1", "WITHSCORES")
            let list = (try await store.ask(command).list ?? []).map { $0.bytes ?? [] }
            var found: [[UInt8]: [UInt8]] = [:]
            for index in stride(from: 0, to: list.count - 1, by: 2) { found[list[index]] = list[index + 1] }
            if found.removeValue(forKey: Scripts.sentinel) == nil { withoutSentinel.append(structure) }
            pairs[structure] = found
        }
    }

    private func members(_ structure: Structure) -> Set<[UInt8]> { Set(pairs[structure].map { Array($0.keys) } ?? []) }
    private func scores(_ structure: Structure) -> [[UInt8]: Int64] {
        (pairs[structure] ?? [:]).mapValues { Int64(String(decoding: $0, as: UTF8.self)) ?? -1 }
    }

    private func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    private func fields(_ key: [UInt8], _ place: Int64, _ count: Int) -> [[UInt8]] {
        let count = meta.rules.combination == .collect ? Int64(count) : 1
        return (place..<place + count).map { Array("\($0):".utf8) + key }
    }

    var brokenRules: [String] {
        var broken = withoutSentinel.map { "\($0) has no sentinel" }
        let rows = pairs[.rows] ?? [:]
        if Set(rows.keys) != members(.due) { broken.append("other keys have rows than instants to wake") }
        if Set(rows.keys) != members(.keys) { broken.append("other keys have rows than names") }
        let (due, ready) = (scores(.due), scores(.ready))
        var counted: [Int64: Tally] = [:]
        var waiting: [[UInt8]: Int64] = [:]
        var needed: [[UInt8]] = []
        var holders: Set<[UInt8]> = []
        for (key, bytes) in rows {
            guard let stored = try? StoredRow(bytes) else {
                broken.append("\(text(key)): the row cannot be read")
                continue
            }
            let row = stored.row
            if stored.bytes != bytes { broken.append("\(text(key)): is written otherwise than it is read") }
            broken += row.checkInvariants().map { "\(text(key)): \($0)" }
            let tally = CountedRow(stored)
            if !tally.tally.isZero { counted[tally.period, default: Tally()] += tally.tally }
            waiting[key] = row.ready.map { $0.due.stored }
            if due[key] != stored.wake.stored {
                broken.append("\(text(key)): wakes at \(due[key] ?? -1), not at \(stored.wake)")
            }
            if stored.wake > row.wake(by: meta.rules) { broken.append("\(text(key)): wakes too late") }
            if stored.latest > meta.now { broken.append("\(text(key)): was stepped later than now") }
            if row.isIdle { broken.append("\(text(key)): has an idle row") }
            if row.pending != nil { needed += fields(key, stored.places.pending, row.gate.count) }
            if let ready = row.ready { needed += fields(key, stored.places.ready, ready.count) }
            if let run = row.run { needed += fields(key, stored.places.run, run.value.count) }
            if let holder = stored.holder { holders.insert(Array("\(holder):".utf8) + key) }
        }
        let kept = Dictionary(uniqueKeysWithValues: meta.tallies.map { ($0.period, $0.tally) })
        if counted != kept { broken.append("counts \(kept), not \(counted)") }
        if waiting != ready { broken.append("other values are ready than their instants") }
        if holders != members(.held) { broken.append("other runs are held than claimed") }
        if members(.ends) != members(.ended) { broken.append("other ends by their keys than by their instants") }
        if !members(.inbox).isEmpty { broken.append("the inbox has entries") }
        var kinds: [UInt8: Set<[UInt8]>] = [:]
        for (name, bytes) in pairs[.past] ?? [:] {
            kinds[name.first ?? 0, default: []].insert(Array(name.dropFirst()))
            guard name.first == UInt8(ascii: "d") else { continue }
            guard let dead = try? StoredDead(bytes) else {
                broken.append("\(text(name)): the dead run cannot be read")
                continue
            }
            needed += fields(dead.key, dead.place, dead.run.value.count)
        }
        let values = members(.values)
        if Set(needed) != values || needed.count != values.count {
            broken.append("\(values.count) values are stored, \(needed.count) needed")
        }
        if kinds[UInt8(ascii: "d")] ?? [] != members(.dead) { broken.append("other dead runs than their numbers") }
        let answers = members(.past).filter { [UInt8(ascii: "t"), UInt8(ascii: "b")].contains($0.first) }
        if answers != members(.aged) { broken.append("other answers than their names") }
        return broken
    }
}
