import LullCore
import LullDurable

@testable import LullPostgres

extension SQL {
    /// What does not agree in the tables of a schema: the columns of a row with its state, the values with the rows
    /// that have them, the counts that are kept with those of all rows.
    func brokenRules(of schema: String) throws -> [String] {
        try self(#"SET search_path TO "\#(schema)""#)
        var broken: [String] = []
        var counts: [Count: Int] = [:]
        for row in try self("SELECT namespace, period, name, sum(count) FROM (\(Self.kept)) c GROUP BY 1, 2, 3") {
            counts[Count(row[0], row[1], row[2]), default: 0] += Int(row[3] ?? "") ?? 0
        }
        var needed: Set<String> = []
        let rules = try rulesOfNamespaces()
        for row in try self(Self.rows) {
            let namespace = row[0] ?? ""
            let key = "\(namespace) \(row[1] ?? "")"
            guard let state = Self.bytes(row[2]), let stored = try? StoredRow(state), let own = rules[namespace] else {
                broken.append("\(key): the row cannot be read")
                continue
            }
            if stored.bytes != state.dropLast() { broken.append("\(key): is written otherwise than it is read") }
            broken += stored.row.checkInvariants().map { "\(key): \($0)" }
            if stored.row.isIdle { broken.append("\(key): has an idle row") }
            if stored.wake > stored.row.wake(by: own) { broken.append("\(key): wakes too late") }
            let ready = stored.row.ready.flatMap { $0.isHeld ? nil : $0.due.microseconds }
            let columns = [
                stored.wake.wake, stored.row.run?.id, stored.holder, stored.row.pending?.submitter.number, ready,
            ]
            if row[3..<8].map({ $0.flatMap { Int64($0) } }) != columns {
                broken.append("\(key): has the columns \(row[3..<8]), not \(columns)")
            }
            let hasWork = stored.row.pending != nil || stored.row.ready != nil || stored.row.run != nil
            if row[8] != (hasWork ? "t" : "f") { broken.append("\(key): has_work is \(row[8] ?? "null")") }
            broken += values(of: stored, Int(state.last ?? 0), row[9] ?? "", own, &needed, key)
            let counted = CountedRow(stored.row, wake: stored.wake.wake)
            for (name, count) in zip(Tally.names, counted.tally.counts) {
                counts[Count(namespace, "\(counted.period)", name), default: 0] -= count
            }
        }
        for row in try self("SELECT namespace, encode(state, 'hex') FROM dead") {
            guard let dead = Self.bytes(row[1]).flatMap({ try? StoredDead($0) }), let own = rules[row[0] ?? ""] else {
                broken.append("a dead run cannot be read")
                continue
            }
            counts[Count(row[0], "0", "dead"), default: 0] -= 1
            let count = own.combination == .collect ? Int64(dead.run.value.count) : 1
            for number in dead.place..<dead.place + count { needed.insert(Self.value(row[0], dead.key, number)) }
        }
        let numbered = Set(
            try self("SELECT namespace, encode(key, 'hex'), number FROM numbered").map { row in
                Self.value(row[0], Self.bytes(row[1]) ?? [], Int64(row[2] ?? "") ?? 0)
            })
        if numbered != needed {
            broken.append("values: \(numbered.subtracting(needed)) too many, without \(needed.subtracting(numbered))")
        }
        let totals = DurableTotals().named.map(\.name)
        for (count, surplus) in counts where surplus != 0 && !totals.contains(count.name) {
            broken.append("\(count) is \(surplus) too high")
        }
        return broken
    }

    private struct Count: Hashable {
        let namespace: String
        let period: String
        let name: String

        init(_ namespace: String?, _ period: String?, _ name: String?) {
            (self.namespace, self.period, self.name) = (namespace ?? "", period ?? "", name ?? "")
        }
    }

    private static let kept = "SELECT * FROM tallies UNION ALL SELECT * FROM changes"
    private static let rows = """
        SELECT namespace, encode(key, 'hex'), encode(state, 'hex'), wake, run, claimed_by, submitter, ready, has_work,
            concat(v0 IS NOT NULL, v1 IS NOT NULL, v2 IS NOT NULL)
        FROM work
        """

    private func rulesOfNamespaces() throws -> [String: DurableRules] {
        var rules: [String: DurableRules] = [:]
        for row in try self("SELECT id, array_to_string(rules, ',', '-') FROM namespaces") {
            let parts = (row[1] ?? "").split(separator: ",").map { Int64($0) }
            rules[row[0] ?? ""] = try DurableRules(parts: parts)
        }
        return rules
    }

    /// Compares the slots of a row with those that have values, and notes which values need a row of their own.
    private func values(
        of stored: StoredRow, _ slots: Int, _ full: String, _ rules: DurableRules, _ needed: inout Set<String>,
        _ key: String
    ) -> [String] {
        let collects = rules.combination == .collect
        let parts: [(isThere: Bool, number: Int64, count: Int)] = [
            (stored.row.pending != nil, stored.places.pending, stored.row.gate.count),
            (stored.row.ready != nil, stored.places.ready, stored.row.ready?.count ?? 0),
            (stored.row.run != nil, stored.places.run, stored.row.run?.value.count ?? 0),
        ]
        let name = key.split(separator: " ", omittingEmptySubsequences: false)
        let bytes = Self.bytes(String(name[1])) ?? []
        var expected = ["f", "f", "f"]
        for (index, part) in parts.enumerated() where part.isThere {
            let slot = slots >> (2 * index) & 3
            if slot < 3, !collects { expected[slot] = "t" }
            guard slot == 3 || collects else { continue }
            for number in part.number..<part.number + (collects ? Int64(part.count) : 1) {
                needed.insert(Self.value(String(name[0]), bytes, number))
            }
        }
        return expected.joined() == full ? [] : ["\(key): has values in \(full), not \(expected.joined())"]
    }

    private static func value(_ namespace: String?, _ key: [UInt8], _ number: Int64) -> String {
        "\(namespace ?? "") \(key) \(number)"
    }

    static func bytes(_ hex: String?) -> [UInt8]? {
        guard let hex else { return nil }
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).map { place in
            UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16) ?? 0
        }
    }
}
