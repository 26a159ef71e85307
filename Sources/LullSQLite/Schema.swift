internal import LullDurable

/// The tables of the file. Any SQLite tool shows them in readable form. Instants are nanoseconds of the file's own
/// time.
enum Schema {
    /// Marks a file as one of Lull's: "Lull" in ASCII.
    static let applicationID: Int64 = 0x4C75_6C6C

    /// The steps from each version to the next; an empty file has version 0. A step never changes once it has been
    /// released.
    static let migrations = [tables]

    // The columns that are read most come first and values last: SQLite reads a row from its beginning, and stores a
    // large value on pages of its own. The columns of a row and of a run are those that `RowColumns.swift` names.
    //
    // Values of `collect` are rows of `collected`: the ranges of generations say which of them are pending, ready, in
    // the run or dead. Those in a range of `spent` are to be deleted. `tally` has the counts of the keys that wake
    // within the same four seconds.
    //
    // Of a namespace: `starts` in each `period`, `burst` of them at once, and in `arrival` what the limit has counted;
    // whether who handles the values of `collect` `merges` them into one; since when it is `paused`, in nanoseconds
    // since 1970 by the wall clock, and `paused_until` when, in the file's time. What follows the values in a row is
    // mostly NULL, and then need not be reached.
    private static let tables = """
        CREATE TABLE meta (
            base INTEGER NOT NULL, sequence INTEGER NOT NULL, highest INTEGER NOT NULL, last_commit INTEGER NOT NULL,
            boot TEXT NOT NULL, since_boot INTEGER NOT NULL, wall INTEGER NOT NULL, start INTEGER NOT NULL
        );
        CREATE TABLE namespaces (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL, wait INTEGER NOT NULL, max_wait INTEGER, edges TEXT NOT NULL, delay_rule TEXT NOT NULL,
            max_count INTEGER, combination TEXT NOT NULL, max_batch INTEGER, spacing INTEGER,
            dead INTEGER NOT NULL DEFAULT 0, restart TEXT, paused INTEGER, pause_reason TEXT,
            paused_until INTEGER, starts INTEGER, period INTEGER, burst INTEGER, max_running INTEGER, arrival INTEGER,
            merges INTEGER NOT NULL DEFAULT 0,
            \(DurableTotals.names.map { "\($0) INTEGER NOT NULL DEFAULT 0" }.joined(separator: ", "))
        );
        CREATE TABLE work (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL, wake INTEGER NOT NULL,
            born INTEGER NOT NULL, generation INTEGER NOT NULL, taken INTEGER NOT NULL, phase TEXT NOT NULL,
            quiet INTEGER NOT NULL, latest INTEGER, span INTEGER, spacing INTEGER NOT NULL,
            pending_count INTEGER, pending_first INTEGER, pending_last INTEGER, pending_by INTEGER,
            ready_from INTEGER, ready_to INTEGER, ready_count INTEGER, ready_first INTEGER, ready_due INTEGER,
            ready_edge TEXT, ready_since INTEGER,
            run_id INTEGER, run_fence INTEGER, run_owner INTEGER, run_attempt INTEGER, run_snoozes INTEGER,
            run_state TEXT, run_until INTEGER,
            run_from INTEGER, run_to INTEGER, run_count INTEGER, run_first INTEGER, run_due INTEGER, run_edge TEXT,
            run_since INTEGER, error TEXT, pending BLOB, ready BLOB, run BLOB, run_mark INTEGER, run_began INTEGER,
            UNIQUE (namespace, key)
        );
        CREATE INDEX work_by_wake ON work (namespace, wake);
        CREATE INDEX work_by_worker ON work (run_owner) WHERE run_state = 'claimed';
        CREATE INDEX work_by_ready ON work (namespace, ready_due) WHERE ready_due IS NOT NULL;
        CREATE TABLE collected (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL, generation INTEGER NOT NULL,
            value BLOB NOT NULL,
            UNIQUE (namespace, key, generation)
        );
        CREATE TABLE spent (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL
        );
        CREATE TABLE ended (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL, how TEXT NOT NULL, run INTEGER, fence INTEGER, error TEXT,
            recorded INTEGER NOT NULL, at INTEGER NOT NULL
        );
        CREATE INDEX ended_by_key ON ended (namespace, key, last);
        CREATE TABLE dead (
            run_id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL, at INTEGER NOT NULL,
            run_fence INTEGER NOT NULL, run_owner INTEGER NOT NULL, run_attempt INTEGER NOT NULL,
            run_snoozes INTEGER NOT NULL, run_state TEXT NOT NULL,
            run_until INTEGER NOT NULL, run_from INTEGER NOT NULL, run_to INTEGER NOT NULL, run_count INTEGER NOT NULL,
            run_first INTEGER NOT NULL, run_due INTEGER NOT NULL, run_edge TEXT NOT NULL, run_since INTEGER,
            error TEXT, value BLOB, run_mark INTEGER, run_began INTEGER
        );
        CREATE INDEX dead_by_key ON dead (namespace, key);
        CREATE INDEX dead_by_age ON dead (namespace, at, run_id);
        CREATE TABLE tokens (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, token TEXT NOT NULL, key BLOB NOT NULL,
            generation INTEGER NOT NULL, due INTEGER, at INTEGER NOT NULL,
            UNIQUE (namespace, token)
        );
        CREATE TABLE tally (
            namespace INTEGER NOT NULL, period INTEGER NOT NULL,
            \(Tally.names.map { "\($0) INTEGER NOT NULL" }.joined(separator: ", ")),
            PRIMARY KEY (namespace, period)
        ) WITHOUT ROWID;
        CREATE TABLE workers (
            namespace INTEGER NOT NULL, id INTEGER NOT NULL, host TEXT NOT NULL, process INTEGER NOT NULL,
            at INTEGER NOT NULL, PRIMARY KEY (namespace, id)
        ) WITHOUT ROWID;
        """
}

extension Connection {
    /// The kind of a file, by what it says of itself.
    enum Kind: Equatable {
        case empty
        case ours(version: Int64)
    }

    /// Reads the kind of the file, all of it at one moment: another process may be creating the file. Throws if it is
    /// not one of Lull's, or newer than this program.
    func kind() throws(DurableError) -> Kind {
        let begins = !isInTransaction
        if begins { try self[.beginReading].run() }
        defer { if begins { rollBack() } }
        let id = try number("PRAGMA application_id")
        let version = try number("PRAGMA user_version")
        if id == 0, version == 0, try number("SELECT count(*) FROM sqlite_master") == 0 { return .empty }
        guard id == Schema.applicationID else {
            throw .unusable("\(path) is a database, but not one of Lull's")
        }
        guard version > 0 else { throw damage("the version \(version)") }
        guard version <= migrations.count else {
            throw .unusable(
                "\(path) was written by a newer version of Lull: its schema is \(version), this version knows "
                    + "\(migrations.count)"
            )
        }
        return .ours(version: version)
    }

    /// Brings the file to this program's version. The writer lock must be held.
    ///
    /// - Parameter meta: Creates the entry of `meta` in a new file.
    func migrate(creating meta: (Connection) throws(DurableError) -> Void) throws(DurableError) {
        let old: Int64 =
            switch try kind() {
            case .empty: 0
            case .ours(let version): version
            }
        if old == migrations.count { return }
        try execute("BEGIN IMMEDIATE")
        do throws(DurableError) {
            for migration in migrations.dropFirst(Int(old)) { try execute(migration) }
            if old == 0 { try meta(self) }
            try execute("PRAGMA application_id = \(Schema.applicationID)")
            try execute("PRAGMA user_version = \(migrations.count)")
            try execute("COMMIT")
        } catch {
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Returns the first column of the first row as a number; 0 if there is no row.
    func number(_ sql: String) throws(DurableError) -> Int64 {
        let statement = try prepare(sql)
        defer { statement.reset() }
        return try statement.next() ? statement.integer(0) : 0
    }

    /// Returns the first column of the first row as text; empty if there is no row.
    func text(_ sql: String) throws(DurableError) -> String {
        let statement = try prepare(sql)
        defer { statement.reset() }
        let text = try statement.next() ? statement.text(0) : ""
        // A statement commits when it ends: the row with a new journal mode comes before, and the commit may still
        // fail.
        while try statement.next() {}
        return text
    }
}
