import LullCore
import LullDurable

@testable import LullSQLite

extension SQLiteFile {
    /// Returns what is wrong with a file: what SQLite finds, and the violated rules of rows, ends and numbers.
    func audit(isComplete: Bool) throws(DurableError) -> [String] {
        try read { transaction throws(DurableError) in
            let verdict = try transaction.connection.text("PRAGMA integrity_check")
            if verdict != "ok" { return [verdict] }
            var broken: [String] = []
            for namespace in try transaction.connection.namespaces() {
                let rows = try transaction.connection[.rows]
                rows.bind(1, namespace.id)
                for entry in try transaction.entries(rows) {
                    let ends = try transaction.ends(of: entry.key, in: namespace)
                    broken += entry.checkInvariants(ends: ends, isComplete: isComplete, by: namespace.rules)
                    if let run = entry.row.run, max(run.id, run.fence) > transaction.meta.sequence {
                        broken.append("run \(run.id) with fence \(run.fence) comes after \(transaction.meta.sequence)")
                    }
                }
            }
            broken += try transaction.wrongCounts().map { "\($0) is counted in one way only" }
            broken += try transaction.generationsBeyondBase().map { "\($0) may be used again" }
            broken += try transaction.strayValues().map { "\($0) is a value in no range" }
            return broken
        }
    }
}

extension SQLiteTransaction {
    fileprivate func ends(
        of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> [ClosedRange<Int64>] {
        let statement = try connection.prepare(
            """
            SELECT first, last FROM ended WHERE namespace = ?1 AND key = ?2
            UNION ALL SELECT run_from, run_to FROM dead WHERE namespace = ?1 AND key = ?2
            """)
        defer { statement.reset() }
        statement.bind(1, namespace.id)
        statement.bind(2, blob: key)
        var ends: [ClosedRange<Int64>] = []
        while try statement.next() { ends.append(try statement.range(0, 1)) }
        return ends
    }

    /// Returns the values of `collect` in no range that is pending, ready, in the run, dead, or to be deleted.
    fileprivate func strayValues() throws(DurableError) -> [String] {
        let statement = try connection.prepare(
            """
            SELECT value.key, generation FROM collected AS value WHERE NOT EXISTS (
                SELECT 1 FROM work WHERE work.namespace = value.namespace AND work.key = value.key AND (
                    value.generation BETWEEN ready_from AND ready_to OR value.generation BETWEEN run_from AND run_to
                    OR value.generation > work.generation - ifnull(pending_count, 0)
                    AND value.generation <= work.generation)
            ) AND NOT EXISTS (
                SELECT 1 FROM dead WHERE dead.namespace = value.namespace AND dead.key = value.key
                    AND value.generation BETWEEN run_from AND run_to
            ) AND NOT EXISTS (
                SELECT 1 FROM spent WHERE spent.namespace = value.namespace AND spent.key = value.key
                    AND value.generation BETWEEN spent.first AND spent.last
            )
            """)
        defer { statement.reset() }
        var found: [String] = []
        while try statement.next() { found.append("\(statement.text(0)) #\(statement.integer(1))") }
        return found
    }

    /// Returns the counts that the file keeps and that differ from those of its rows.
    fileprivate func wrongCounts() throws(DurableError) -> [String] {
        let counted = """
            SELECT * FROM (
                SELECT namespace, wake >> \(TallyPlace.shift) AS period,
                    sum(pending_count IS NOT NULL) AS pending, sum(ready_from IS NOT NULL) AS ready,
                    sum(run_id IS NOT NULL AND run_state = 'claimed') AS running,
                    sum(run_id IS NOT NULL AND run_state = 'backoff') AS retrying,
                    sum(pending_count IS NOT NULL AND ready_from IS NULL) AS due,
                    sum(pending_count IS NOT NULL AND run_id IS NOT NULL AND run_state = 'backoff'
                    AND error IS NOT NULL) AS replaced
                FROM work GROUP BY namespace, wake >> \(TallyPlace.shift))
            WHERE pending + ready + running + retrying > 0
            """
        let statement = try connection.prepare(
            """
            SELECT namespace || ' ' || period || ' ' || pending || ' ' || ready || ' ' || running || ' '
                || retrying || ' ' || due
                || ' ' || replaced
            FROM (SELECT * FROM (SELECT * FROM tally EXCEPT \(counted)) UNION ALL SELECT * FROM (\(counted)
            EXCEPT SELECT * FROM tally))
            UNION ALL SELECT 'dead of ' || name || ': ' || dead FROM namespaces
            WHERE dead <> (SELECT count(*) FROM dead WHERE dead.namespace = namespaces.id)
            UNION ALL SELECT 'counters of ' || name FROM namespaces
            WHERE runs > attempts OR executed < runs OR failures + lost_leases > attempts
            """)
        defer { statement.reset() }
        var found: [String] = []
        while try statement.next() { found.append(statement.text(0)) }
        return found
    }

    /// Returns the newest submits of idle keys whose generations the next row of the key would use again.
    fileprivate func generationsBeyondBase() throws(DurableError) -> [String] {
        let statement = try connection.prepare(
            """
            SELECT key, max(last) FROM ended WHERE last > ?1 AND NOT EXISTS (
                SELECT 1 FROM work WHERE work.namespace = ended.namespace AND work.key = ended.key)
            GROUP BY namespace, key
            """)
        defer { statement.reset() }
        statement.bind(1, meta.base)
        var found: [String] = []
        while try statement.next() { found.append("\(statement.text(0)) #\(statement.integer(1))") }
        return found
    }
}
