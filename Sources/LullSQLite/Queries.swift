internal import LullCore

/// The statements whose text never changes. Parameters are numbered in the order in which the callers bind them.
enum Query: Int, CaseIterable {
    case begin, beginReading, commit, rollback
    case readMeta, writeMeta, writeAnchor
    case namespaceByName, allNamespaces, insertNamespace, updateNamespace
    case readCounters, addToCounters
    case pendingByKey, rowByID, insertRow, insertPending, deleteRow, runValue
    case insertValue, values, generationOfValue, deleteValues, insertSpent, spent, deleteSpent
    case earliestRows, nextWake, rowsOfWorker, allKeys, keysOfSubmitter, rows, listedRows
    case insertEnd, extendEnd, latestEnd, endOfSubmit, endsNewestFirst
    case insertDead, deadByRun, deadOfSubmit, newestDead, deadRuns, deleteDead, deadCount
    case firstEnd, oldEnds, keepEnds, forgetEnds
    case firstToken, answerToToken, insertToken, forgetTokens
    case dataVersion

    /// The columns of a row, in the order in which ``Statement/entry(key:)`` reads them.
    private static let row = """
        \(pending), ready_to, ready_count, ready_first, ready_due, ready_edge, \
        run_from, run_to, run_count, run_first, run_due, run_edge, run_until, fence, owner, claimed_by, attempt, error, key, \
        ready_since
        """
    /// Those of them that matter while nothing is ready and there is no run: every column that is read takes time.
    private static let pending = """
        id, wake, born, generation, taken, is_open, quiet, anchor, span, pending_count, pending_last, ready_from, run_id, \
        pending_by
        """
    private static let namespace =
        "id, name, kind, wait, max_wait, edges, delay_rule, max_count, combination, max_batch"
    private static let dead = """
        key, run, first_submit, last_submit, count, first, due, edge, fence, owner, attempts, error, at
        """

    private static func names(_ groups: Change.Groups) -> String {
        Change.columns(of: groups).map(\.name).joined(separator: ", ")
    }
    private static func parameters(_ groups: Change.Groups) -> String {
        Change.columns(of: groups).map(\.parameter).joined(separator: ", ")
    }

    /// Some values of a key.
    private static let range = "namespace = ?1 AND key = ?2 AND generation BETWEEN ?3 AND ?4"

    var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .beginReading: "BEGIN"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"

        case .readMeta:
            "SELECT base, sequence, highest, last_commit, boot, since_boot, wall, start FROM meta"
        case .writeMeta:
            "UPDATE meta SET base = ?1, sequence = ?2, highest = ?3, last_commit = ?4"
        case .writeAnchor:
            "UPDATE meta SET boot = ?1, since_boot = ?2, wall = ?3, start = ?4"

        case .namespaceByName: "SELECT \(Self.namespace) FROM namespaces WHERE name = ?1"
        case .allNamespaces: "SELECT \(Self.namespace) FROM namespaces ORDER BY name"
        case .insertNamespace:
            """
            INSERT INTO namespaces (kind, wait, max_wait, edges, delay_rule, max_count, combination, max_batch, name)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """
        case .updateNamespace:
            """
            UPDATE namespaces SET kind = ?1, wait = ?2, max_wait = ?3, edges = ?4, delay_rule = ?5, max_count = ?6,
                combination = ?7, max_batch = ?8
            WHERE name = ?9
            """

        case .readCounters: "SELECT attempts, lost_leases FROM namespaces WHERE id = ?1"
        case .addToCounters:
            "UPDATE namespaces SET attempts = attempts + ?1, lost_leases = lost_leases + ?2 WHERE id = ?3"

        case .pendingByKey: "SELECT \(Self.pending) FROM work WHERE namespace = ?1 AND key = ?2"
        case .rowByID: "SELECT \(Self.row) FROM work WHERE id = ?1"
        case .insertRow:
            """
            INSERT INTO work (\(Self.names(Change.all)), pending, ready, run, born, namespace, key)
            VALUES (\(Self.parameters(Change.all)), ?31, ?32, ?33, ?34, ?35, ?36)
            """
        case .insertPending:
            """
            INSERT INTO work (\(Self.names(Change.allPending)), pending, born, namespace, key)
            VALUES (\(Self.parameters(Change.allPending)), ?31, ?34, ?35, ?36)
            """
        case .deleteRow: "DELETE FROM work WHERE id = ?1"
        case .earliestRows:
            "SELECT \(Self.row) FROM work WHERE namespace = ?1 AND wake <= ?2 ORDER BY wake, id LIMIT ?3"
        case .nextWake: "SELECT min(wake) FROM work WHERE namespace = ?1"
        case .rowsOfWorker: "SELECT \(Self.row) FROM work WHERE claimed_by = ?1 AND +namespace = ?2 ORDER BY id"
        case .allKeys: "SELECT key FROM work WHERE namespace = ?1 ORDER BY id"
        case .keysOfSubmitter:
            """
            SELECT key FROM work WHERE namespace = ?1 AND pending_by IN (?2, \(DurableRow.Submitter.severalNumber))
            ORDER BY id
            """
        case .runValue: "SELECT run FROM work WHERE id = ?1"
        case .rows: "SELECT \(Self.row) FROM work WHERE namespace = ?1"
        case .listedRows:
            "SELECT \(Self.row) FROM work WHERE namespace = ?1 AND key >= ?2 ORDER BY key LIMIT ?3"

        case .insertValue: "INSERT INTO collected (namespace, key, generation, value) VALUES (?1, ?2, ?3, ?4)"
        case .values: "SELECT value FROM collected WHERE \(Self.range) ORDER BY generation"
        case .generationOfValue:
            "SELECT generation FROM collected WHERE \(Self.range) ORDER BY generation LIMIT 1 OFFSET ?5"
        case .deleteValues:
            "DELETE FROM collected WHERE id IN (SELECT id FROM collected WHERE \(Self.range) ORDER BY generation LIMIT ?5)"
        case .insertSpent: "INSERT INTO spent (namespace, key, first, last) VALUES (?1, ?2, ?3, ?4)"
        case .spent: "SELECT id, namespace, key, first, last FROM spent ORDER BY id LIMIT 1"
        case .deleteSpent: "DELETE FROM spent WHERE id = ?1"

        case .insertEnd:
            """
            INSERT INTO ended (namespace, key, first, last, how, run, fence, error, recorded, at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)
            """
        case .extendEnd: "UPDATE ended SET last = ?2, at = ?3 WHERE id = ?1"
        case .latestEnd:
            "SELECT id, last, how FROM ended WHERE namespace = ?1 AND key = ?2 ORDER BY last DESC LIMIT 1"
        case .endOfSubmit:
            """
            SELECT first, how, error FROM ended WHERE namespace = ?1 AND key = ?2 AND last >= ?3 ORDER BY last LIMIT 1
            """
        case .endsNewestFirst:
            "SELECT run, how FROM ended WHERE namespace = ?1 AND key = ?2 ORDER BY last DESC"

        case .insertDead:
            """
            INSERT INTO dead (namespace, key, run, first_submit, last_submit, count, first, due, edge, fence, owner,
                attempts, error, at, value)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, run FROM work WHERE id = ?15
            """
        case .deadByRun: "SELECT \(Self.dead), value FROM dead WHERE run = ?1 AND namespace = ?2"
        case .deadOfSubmit:
            """
            SELECT error FROM dead
            WHERE namespace = ?1 AND key = ?2 AND first_submit <= ?3 AND last_submit >= ?3 LIMIT 1
            """
        case .newestDead: "SELECT max(last_submit) FROM dead WHERE namespace = ?1 AND key = ?2"
        case .deadRuns:
            "SELECT \(Self.dead), value FROM dead WHERE namespace = ?1 ORDER BY at, run LIMIT ?2"
        case .deleteDead: "DELETE FROM dead WHERE run = ?1 AND namespace = ?2"
        case .deadCount: "SELECT count(*) FROM dead WHERE namespace = ?1"

        case .firstEnd: "SELECT recorded FROM ended ORDER BY id LIMIT 1"
        case .oldEnds:
            "SELECT max(id) FROM (SELECT id, recorded FROM ended ORDER BY id LIMIT 256) WHERE recorded < ?1"
        case .keepEnds:
            """
            INSERT INTO ended (namespace, key, first, last, how, run, fence, error, recorded, at)
            SELECT namespace, key, first, last, how, run, fence, error, ?3, at FROM ended AS old
            WHERE id <= ?1 AND (at >= ?2
                OR EXISTS (SELECT 1 FROM dead WHERE dead.namespace = old.namespace AND dead.key = old.key)
                OR EXISTS (SELECT 1 FROM work
                    WHERE work.namespace = old.namespace AND work.key = old.key AND run_id IS NOT NULL))
            """
        case .forgetEnds: "DELETE FROM ended WHERE id <= ?1"

        case .firstToken: "SELECT at FROM tokens ORDER BY id LIMIT 1"
        case .answerToToken: "SELECT key, generation, due FROM tokens WHERE namespace = ?1 AND token = ?2"
        case .insertToken:
            "INSERT INTO tokens (namespace, token, key, generation, due, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        case .forgetTokens:
            """
            DELETE FROM tokens WHERE id <= (
                SELECT max(id) FROM (SELECT id, at FROM tokens ORDER BY id LIMIT 256) WHERE at < ?1)
            """
        case .dataVersion: "PRAGMA data_version"
        }
    }
}
