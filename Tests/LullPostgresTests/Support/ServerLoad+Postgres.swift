import LullDurable
import TestSupport
import Testing

extension ServerLoad {
    /// Returns how many of the acknowledged submits a server has lost. See `lost(_:)`.
    func lost(on server: TestServer, schema: String = "lull") throws -> Int {
        let sql = try SQL(server)
        try sql(#"SET search_path TO "\#(schema)""#)
        let rows = try sql.rows()
        // Numbers have gaps where the server was started anew; what has run was counted.
        let kept = "(SELECT * FROM tallies UNION ALL SELECT * FROM changes) c"
        let executed = Int(try sql.value("SELECT sum(count) FROM \(kept) WHERE name = 'executed'") ?? "") ?? 0
        let waiting = rows.values.reduce(0) { $0 + $1.row.gate.count + ($1.row.ready?.count ?? 0) }
        #expect(
            executed + waiting <= count || unanswered > 0,
            "\(executed) submits have run and \(waiting) wait, \(count) were acknowledged")
        return try lost { key in
            var ranges = try sql("SELECT first, last FROM ended WHERE key = '\(key)'").compactMap { row in
                Int64(row[0] ?? "").flatMap { first in Int64(row[1] ?? "").map { first...$0 } }
            }
            if let row = rows[key]?.row {
                ranges += [row.run?.value.submits, row.ready?.submits].compactMap(\.self)
                if row.pending != nil { ranges.append(row.generation - Int64(row.gate.count) + 1...row.generation) }
            }
            ranges.sort { $0.lowerBound < $1.lowerBound }
            return ranges
        }
    }
}
