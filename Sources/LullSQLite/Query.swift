internal import LullDurable
internal import LullCore

/// The statements whose text never changes.
enum Query: Int, CaseIterable {
    case begin, beginReading, commit, rollback
    case readMeta, writeMeta, writeAnchor
    case namespaceByName, allNamespaces, insertNamespace, updateNamespace, writePause, arrival, setArrival, leases
    case readCounters, addToCounters
    case tallies, addToTally, deleteEmptyTally, oldestReady, wokenRows
    case pendingByKey, rowByID, insertRow, insertPending, deleteRow, runValue
    case insertValue, values, generationOfValue, deleteValues, insertSpent, spent, deleteSpent
    case earliestRows, nextWake, rowsOfWorker, allRows, rowOfNamespace, keysOfSubmitter, rows, listedRows
    case insertEnd, extendEnd, latestEnd, endOfSubmit, endsNewestFirst, latestEnds, latestEndsOfKey
    case insertDead, deadByRun, deadOfSubmit, newestDead, oldestDeadRuns, newestDeadRuns, deleteDead
    case firstEnd, oldEnds, keepEnds, forgetEnds
    case firstToken, answerToToken, insertToken, forgetTokens
    case someRows, forgetEndsOfNamespace, forgetTokensOfNamespace, forgetValuesOfNamespace
    case forgetSpentOfNamespace, forgetTallyOfNamespace, forgetNamespace
    case announceWorker, forgetWorkers, announcedWorkers, forgetWorkersOfNamespace
    case dataVersion

    private static let namespace = NamespaceColumn.allCases.map(\.sqlName).joined(separator: ", ")
    private static let rules = NamespaceColumn.ofRules.map(\.sqlName)
    private static let counters = DurableTotals.names + ["dead"]
    private static let row = names(WorkColumn.read, RowColumn.all) + ", error"
    private static let pending = names(WorkColumn.read, RowColumn.ofPending)
    private static let deadRun = RowColumn.ofRun.map(\.name).joined(separator: ", ")
    private static let dead = names(DeadColumn.allCases, RowColumn.ofRun)
    private static let deadWithoutValue = "key, at, error, NULL, \(deadRun)"

    private static func names(_ columns: [some Column], _ more: [RowColumn]) -> String {
        (columns.map { "\($0)" } + more.map(\.name)).joined(separator: ", ")
    }

    /// The condition for a range of a key's values.
    private static let range = "namespace = :namespace AND key = :key AND generation BETWEEN :first AND :last"

    /// Returns the query of the latest ends and dead runs.
    private static func ends(_ condition: String, by order: String) -> String {
        """
        SELECT * FROM (
            SELECT key, first, last, how, run, error, at FROM ended WHERE \(condition) ORDER BY \(order) DESC
            LIMIT :limit)
        UNION ALL SELECT * FROM (
            SELECT key, run_from, run_to, 'dead', run_id, error, at FROM dead WHERE \(condition)
            ORDER BY at DESC, run_id DESC LIMIT :limit)
        ORDER BY at DESC, last DESC LIMIT :limit
        """
    }

    /// Returns the statement that deletes some rows of a namespace.
    private static func deletion(_ table: String) -> String {
        "DELETE FROM \(table) WHERE id IN (SELECT id FROM \(table) WHERE namespace = :namespace LIMIT :limit)"
    }

    var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .beginReading: "BEGIN"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"

        case .readMeta:
            "SELECT \(MetaColumn.list) FROM meta"
        case .writeMeta:
            "UPDATE meta SET base = :base, sequence = :sequence, highest = :highest, last_commit = :last_commit"
        case .writeAnchor:
            "UPDATE meta SET boot = :boot, since_boot = :since_boot, wall = :wall, start = :start"

        case .namespaceByName: "SELECT \(Self.namespace) FROM namespaces WHERE name = :name"
        case .allNamespaces: "SELECT \(Self.namespace) FROM namespaces ORDER BY name"
        case .insertNamespace:
            """
            INSERT INTO namespaces (\(Self.rules.joined(separator: ", ")), name)
            VALUES (\(Self.rules.map { ":" + $0 }.joined(separator: ", ")), :name)
            """
        case .updateNamespace:
            "UPDATE namespaces SET \(Self.rules.map { "\($0) = :\($0)" }.joined(separator: ", ")) WHERE name = :name"

        case .writePause:
            """
            UPDATE namespaces SET paused = :paused, pause_reason = :reason, paused_until = :until
            WHERE id = :namespace
            """

        case .arrival: "SELECT arrival FROM namespaces WHERE id = :namespace"
        case .setArrival: "UPDATE namespaces SET arrival = :arrival WHERE id = :namespace"
        case .leases: "SELECT id, run_until FROM work WHERE run_state = 'claimed' AND namespace = :namespace"

        case .readCounters:
            "SELECT \(Self.counters.joined(separator: ", ")) FROM namespaces WHERE id = :namespace"
        case .addToCounters:
            "UPDATE namespaces SET \(Self.counters.map { "\($0) = \($0) + :\($0)" }.joined(separator: ", ")) "
                + "WHERE id = :namespace"

        case .tallies: "SELECT period, \(Tally.names.joined(separator: ", ")) FROM tally WHERE namespace = :namespace"
        case .addToTally:
            """
            INSERT INTO tally VALUES (:namespace, :period, \(Tally.names.map { ":" + $0 }.joined(separator: ", ")))
            ON CONFLICT DO UPDATE SET \(Tally.names.map { "\($0) = \($0) + excluded.\($0)" }.joined(separator: ", "))
            """
        case .deleteEmptyTally:
            """
            DELETE FROM tally WHERE namespace = :namespace AND period = :period
            AND pending + ready + running + retrying = 0
            """
        case .wokenRows:
            """
            SELECT \(Self.row) FROM work WHERE namespace = :namespace AND wake BETWEEN :from AND :now
            ORDER BY wake, id LIMIT :limit
            """
        case .oldestReady:
            """
            SELECT ready_due FROM work WHERE namespace = :namespace AND ready_due IS NOT NULL ORDER BY ready_due LIMIT 1
            """

        case .pendingByKey:
            """
            SELECT \(Self.pending), coalesce(ready_from, run_id) FROM work WHERE namespace = :namespace AND key = :key
            """
        case .rowByID: "SELECT \(Self.row) FROM work WHERE id = :id"
        case .insertRow: RowUpdate.insertion(.all)
        case .insertPending: RowUpdate.insertion([.row, .pending, .wake])
        case .deleteRow: "DELETE FROM work WHERE id = :id"
        case .earliestRows:
            "SELECT \(Self.row) FROM work WHERE namespace = :namespace AND wake <= :now ORDER BY wake, id LIMIT :limit"
        case .nextWake: "SELECT min(wake) FROM work WHERE namespace = :namespace"
        case .rowsOfWorker:
            "SELECT \(Self.row) FROM work WHERE run_owner = :worker AND run_state = 'claimed' "
                + "AND +namespace = :namespace ORDER BY id"
        case .allRows: "SELECT id FROM work WHERE namespace = :namespace ORDER BY id"
        case .rowOfNamespace: "SELECT \(Self.row) FROM work WHERE id = :id AND namespace = :namespace"
        case .keysOfSubmitter:
            """
            SELECT key FROM work
            WHERE namespace = :namespace AND pending_by IN (:submitter, \(DurableRow.Submitter.severalNumber))
            ORDER BY id
            """
        case .runValue: "SELECT run FROM work WHERE id = :id"
        case .rows: "SELECT \(Self.row) FROM work WHERE namespace = :namespace"
        case .listedRows:
            "SELECT \(Self.row) FROM work WHERE namespace = :namespace AND key >= :start ORDER BY key"

        case .insertValue:
            "INSERT INTO collected (namespace, key, generation, value) VALUES (:namespace, :key, :generation, :value)"
        case .values: "SELECT value FROM collected WHERE \(Self.range) ORDER BY generation"
        case .generationOfValue:
            "SELECT generation FROM collected WHERE \(Self.range) ORDER BY generation LIMIT 1 OFFSET :index"
        case .deleteValues:
            "DELETE FROM collected WHERE id IN (SELECT id FROM collected WHERE \(Self.range) ORDER BY generation "
                + "LIMIT :limit)"
        case .insertSpent: "INSERT INTO spent (namespace, key, first, last) VALUES (:namespace, :key, :first, :last)"
        case .spent: "SELECT id, namespace, key, first, last FROM spent ORDER BY id LIMIT 1"
        case .deleteSpent: "DELETE FROM spent WHERE id = :id"

        case .insertEnd:
            """
            INSERT INTO ended (namespace, key, first, last, how, run, fence, error, recorded, at)
            VALUES (:namespace, :key, :first, :last, :how, :run, :fence, :error, :now, :now)
            """
        case .extendEnd: "UPDATE ended SET last = :last, at = :now WHERE id = :id"
        case .latestEnd:
            "SELECT id, last, how FROM ended WHERE namespace = :namespace AND key = :key ORDER BY last DESC LIMIT 1"
        case .endOfSubmit:
            """
            SELECT first, how, error FROM ended WHERE namespace = :namespace AND key = :key AND last >= :generation
            ORDER BY last LIMIT 1
            """
        case .endsNewestFirst:
            "SELECT run, how FROM ended WHERE namespace = :namespace AND key = :key ORDER BY last DESC"

        case .latestEnds: Self.ends("namespace = :namespace", by: "id")
        case .latestEndsOfKey: Self.ends("namespace = :namespace AND key = :key", by: "last")

        case .insertDead:
            """
            INSERT INTO dead (\(Self.deadRun), namespace, key, at, error, value)
            SELECT \(Self.deadRun), namespace, key, :now, :error, run FROM work WHERE id = :id
            """
        case .deadByRun: "SELECT \(Self.dead) FROM dead WHERE run_id = :run AND namespace = :namespace"
        case .deadOfSubmit:
            """
            SELECT error FROM dead
            WHERE namespace = :namespace AND key = :key AND run_from <= :generation AND run_to >= :generation LIMIT 1
            """
        case .newestDead: "SELECT max(run_to) FROM dead WHERE namespace = :namespace AND key = :key"
        case .oldestDeadRuns:
            "SELECT \(Self.deadWithoutValue) FROM dead WHERE namespace = :namespace ORDER BY at, run_id"
        case .newestDeadRuns:
            "SELECT \(Self.deadWithoutValue) FROM dead WHERE namespace = :namespace ORDER BY at DESC, run_id DESC"
        case .deleteDead: "DELETE FROM dead WHERE run_id = :run AND namespace = :namespace"

        case .firstEnd: "SELECT recorded FROM ended ORDER BY id LIMIT 1"
        case .oldEnds:
            "SELECT max(id) FROM (SELECT id, recorded FROM ended ORDER BY id LIMIT 256) WHERE recorded < :before"
        case .keepEnds:
            """
            INSERT INTO ended (namespace, key, first, last, how, run, fence, error, recorded, at)
            SELECT namespace, key, first, last, how, run, fence, error, :now, at FROM ended AS old
            WHERE id <= :last AND (at >= :before
                OR EXISTS (SELECT 1 FROM dead WHERE dead.namespace = old.namespace AND dead.key = old.key)
                OR EXISTS (SELECT 1 FROM work
                    WHERE work.namespace = old.namespace AND work.key = old.key AND run_id IS NOT NULL))
            """
        case .forgetEnds: "DELETE FROM ended WHERE id <= :last"

        case .firstToken: "SELECT at FROM tokens ORDER BY id LIMIT 1"
        case .answerToToken: "SELECT key, generation, due FROM tokens WHERE namespace = :namespace AND token = :token"
        case .insertToken:
            "INSERT INTO tokens (namespace, token, key, generation, due, at) "
                + "VALUES (:namespace, :token, :key, :generation, :due, :now)"
        case .forgetTokens:
            """
            DELETE FROM tokens WHERE id <= (
                SELECT max(id) FROM (SELECT id, at FROM tokens ORDER BY id LIMIT 256) WHERE at < :before)
            """

        case .someRows: "SELECT \(Self.row) FROM work WHERE namespace = :namespace LIMIT :limit"
        case .forgetEndsOfNamespace: Self.deletion("ended")
        case .forgetTokensOfNamespace: Self.deletion("tokens")
        case .forgetValuesOfNamespace: Self.deletion("collected")
        case .forgetSpentOfNamespace: "DELETE FROM spent WHERE namespace = :namespace"
        case .forgetTallyOfNamespace: "DELETE FROM tally WHERE namespace = :namespace"
        case .forgetNamespace: "DELETE FROM namespaces WHERE id = :namespace"

        case .announceWorker:
            "INSERT OR REPLACE INTO workers (namespace, id, host, process, at) "
                + "VALUES (:namespace, :worker, :host, :process, :now)"
        case .forgetWorkers: "DELETE FROM workers WHERE namespace = :namespace AND at < :before"
        case .announcedWorkers:
            """
            SELECT id, host, process, at, (
                SELECT count(*) FROM work WHERE run_owner = workers.id AND run_state = 'claimed'
                AND +namespace = workers.namespace)
            FROM workers WHERE namespace = :namespace
            """
        case .forgetWorkersOfNamespace: "DELETE FROM workers WHERE namespace = :namespace"

        case .dataVersion: "PRAGMA data_version"
        }
    }
}
