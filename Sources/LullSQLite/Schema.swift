internal import LullDurable

/// The tables of the file. Any SQLite tool shows them in readable form. The columns of `work` are the parts of a ``DurableRow``.
/// Instants are nanoseconds of the file's own time.
enum Schema {
    /// Marks a file as one of Lull's: "Lull" in ASCII.
    static let applicationID: Int64 = 0x4C75_6C6C

    /// The steps from each version to the next; an empty file has version 0. A step never changes once it has been released.
    static let migrations = [version1, version2 + counters, tally, workers]

    // The columns that are read most come first and values last: SQLite reads a row from its beginning, and stores a large value on
    // pages of its own.
    private static let version1 = """
        CREATE TABLE meta (
            base INTEGER NOT NULL, sequence INTEGER NOT NULL, highest INTEGER NOT NULL, last_commit INTEGER NOT NULL,
            boot TEXT NOT NULL, since_boot INTEGER NOT NULL, wall INTEGER NOT NULL, start INTEGER NOT NULL
        );
        CREATE TABLE namespaces (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL, wait INTEGER NOT NULL, max_wait INTEGER, edges TEXT NOT NULL, delay_rule TEXT NOT NULL,
            max_count INTEGER, combination TEXT NOT NULL
        );
        CREATE TABLE work (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL, wake INTEGER NOT NULL,
            born INTEGER NOT NULL, generation INTEGER NOT NULL, taken INTEGER NOT NULL,
            is_open INTEGER NOT NULL, quiet INTEGER NOT NULL, anchor INTEGER NOT NULL, span INTEGER NOT NULL,
            pending_count INTEGER NOT NULL, pending_last INTEGER,
            ready_from INTEGER, ready_to INTEGER, ready_count INTEGER, ready_first INTEGER, ready_due INTEGER,
            ready_edge TEXT,
            run_id INTEGER, run_from INTEGER, run_to INTEGER, run_count INTEGER, run_first INTEGER, run_due INTEGER,
            run_edge TEXT, run_until INTEGER, fence INTEGER, owner INTEGER, claimed_by INTEGER, attempt INTEGER, error TEXT,
            pending BLOB, ready BLOB, run BLOB,
            UNIQUE (namespace, key)
        );
        CREATE INDEX work_by_wake ON work (namespace, wake);
        CREATE INDEX work_by_worker ON work (claimed_by) WHERE claimed_by IS NOT NULL;
        CREATE TABLE ended (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL, how TEXT NOT NULL, run INTEGER, fence INTEGER, error TEXT,
            recorded INTEGER NOT NULL, at INTEGER NOT NULL
        );
        CREATE INDEX ended_by_key ON ended (namespace, key, last);
        CREATE TABLE dead (
            run INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL,
            first_submit INTEGER NOT NULL, last_submit INTEGER NOT NULL, count INTEGER NOT NULL, first INTEGER NOT NULL,
            due INTEGER NOT NULL, edge TEXT NOT NULL, fence INTEGER NOT NULL, owner INTEGER NOT NULL,
            attempts INTEGER NOT NULL, error TEXT, at INTEGER NOT NULL, value BLOB NOT NULL
        );
        CREATE INDEX dead_by_key ON dead (namespace, key);
        CREATE TABLE tokens (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, token TEXT NOT NULL, key BLOB NOT NULL,
            generation INTEGER NOT NULL, due INTEGER, at INTEGER NOT NULL,
            UNIQUE (namespace, token)
        );
        """

    // Adds `max_batch` and `spacing` to a namespace; to a row `ready_since`, the instant from which the rest of a batch may start,
    // `pending_by`, the number of the submitter, 0 for several, and `spacing`. `phase` replaces `is_open`. `pending_first`, the
    // oldest submit behind what is pending, and `latest`, the latest due instant, replace `anchor`, which was the one or the
    // other. Values of `collect` become rows of `collected`: the ranges of generations say
    // which of them are pending, ready, in the run or dead. Those in a range of `spent` are to be deleted. Creates
    // tables again where new columns would come after the values; ``Connection/separateValues()`` does the rest.
    private static let version2 = """
        ALTER TABLE namespaces ADD COLUMN max_batch INTEGER;
        ALTER TABLE namespaces ADD COLUMN spacing INTEGER;
        ALTER TABLE work RENAME TO old_work;
        DROP INDEX work_by_wake;
        DROP INDEX work_by_worker;
        CREATE TABLE work (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL, wake INTEGER NOT NULL,
            born INTEGER NOT NULL, generation INTEGER NOT NULL, taken INTEGER NOT NULL,
            phase TEXT NOT NULL, quiet INTEGER NOT NULL, latest INTEGER, span INTEGER NOT NULL, spacing INTEGER NOT NULL,
            pending_count INTEGER NOT NULL, pending_first INTEGER, pending_last INTEGER, pending_by INTEGER,
            ready_from INTEGER, ready_to INTEGER, ready_count INTEGER, ready_first INTEGER, ready_due INTEGER,
            ready_edge TEXT, ready_since INTEGER,
            run_id INTEGER, run_from INTEGER, run_to INTEGER, run_count INTEGER, run_first INTEGER, run_due INTEGER,
            run_edge TEXT, run_until INTEGER, fence INTEGER, owner INTEGER, claimed_by INTEGER, attempt INTEGER, error TEXT,
            pending BLOB, ready BLOB, run BLOB,
            UNIQUE (namespace, key)
        );
        INSERT INTO work SELECT
            id, namespace, key, wake, born, generation, taken, iif(is_open, 'open', 'idle'), quiet,
            iif(is_open AND namespace IN (SELECT id FROM namespaces WHERE kind = 'debounce' AND edges = 'leading'), anchor, NULL),
            span, 0, pending_count, iif(pending_count > 0, anchor, NULL), pending_last, NULL, ready_from, ready_to, ready_count, ready_first, ready_due, ready_edge, NULL,
            run_id, run_from, run_to, run_count, run_first, run_due, run_edge, run_until, fence, owner, claimed_by,
            attempt, error, pending, ready, run
        FROM old_work;
        DROP TABLE old_work;
        CREATE INDEX work_by_wake ON work (namespace, wake);
        CREATE INDEX work_by_worker ON work (claimed_by) WHERE claimed_by IS NOT NULL;
        ALTER TABLE dead RENAME TO old_dead;
        DROP INDEX dead_by_key;
        CREATE TABLE dead (
            run INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL,
            first_submit INTEGER NOT NULL, last_submit INTEGER NOT NULL, count INTEGER NOT NULL, first INTEGER NOT NULL,
            due INTEGER NOT NULL, edge TEXT NOT NULL, fence INTEGER NOT NULL, owner INTEGER NOT NULL,
            attempts INTEGER NOT NULL, error TEXT, at INTEGER NOT NULL, value BLOB
        );
        INSERT INTO dead SELECT * FROM old_dead;
        DROP TABLE old_dead;
        CREATE INDEX dead_by_key ON dead (namespace, key);
        CREATE TABLE collected (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL, generation INTEGER NOT NULL,
            value BLOB NOT NULL,
            UNIQUE (namespace, key, generation)
        );
        CREATE TABLE spent (
            id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key BLOB NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL
        );
        """

    // Adds what the workers have announced.
    private static let workers = """
        CREATE TABLE workers (
            namespace INTEGER NOT NULL, id INTEGER NOT NULL, host TEXT NOT NULL, process INTEGER NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (namespace, id)
        ) WITHOUT ROWID;
        """
}

extension Connection {
    /// The kind of a file, by what it says of itself.
    enum Kind: Equatable {
        case empty
        case ours(version: Int64)
    }

    /// Reads the kind of the file. Throws if it is not one of Lull's, or newer than this program.
    func kind() throws(DurableError) -> Kind {
        let id = try number("PRAGMA application_id")
        let version = try number("PRAGMA user_version")
        if id == 0, version == 0, try number("SELECT count(*) FROM sqlite_master") == 0 { return .empty }
        guard id == Schema.applicationID else {
            throw .unusable("\(path) is a database, but not one of Lull's")
        }
        guard version > 0 else { throw damage("the version \(version)") }
        guard version <= migrations.count else {
            throw .unusable(
                "\(path) was written by a newer version of Lull: its schema is \(version), this version knows \(migrations.count)"
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
            for (version, migration) in migrations.enumerated().dropFirst(Int(old)) {
                try execute(migration)
                if version == 1 { try separateValues() }
            }
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
        // A statement commits when it ends: the row with a new journal mode comes before, and the commit may still fail.
        while try statement.next() {}
        return text
    }
}
