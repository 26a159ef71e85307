import TestSupport
import Testing

extension ServerLoad {
    /// Returns how many of the acknowledged submits a server has lost. See `lost(_:)`.
    func lost(on server: TestServer, schema: String = "lull") throws -> Int {
        let sql = try SQL(server)
        try sql(#"SET search_path TO "\#(schema)""#)
        return try lost { key in
            let ranges = try sql(
                """
                SELECT first, last FROM ended WHERE key = '\(key)'
                UNION ALL SELECT run_from, run_to FROM work WHERE key = '\(key)' AND run_id IS NOT NULL
                UNION ALL SELECT ready_from, ready_to FROM work WHERE key = '\(key)' AND ready_to IS NOT NULL
                UNION ALL SELECT generation - pending_count + 1, generation FROM work WHERE key = '\(key)'
                AND pending_count > 0
                ORDER BY 1
                """
            ).compactMap { row in Int64(row[0] ?? "").flatMap { first in Int64(row[1] ?? "").map { first...$0 } } }
            // Numbers have no gaps, so nothing is recorded that was not submitted.
            let covered = ranges.reduce(0) { $0 + $1.count }
            let submits = acknowledged(for: key)
            #expect(
                covered <= submits || unanswered > 0, "\(key): \(covered) submits are recorded, \(submits) acknowledged"
            )
            return ranges
        }
    }
}
