internal import CLullFiles
internal import CLullSQLite
internal import LullDurable

// Opening: what a file has to be, and the settings of a connection.

extension SQLiteFile {
    /// Throws a clear error where SQLite's own would not be.
    static func inspect(_ path: String, creates: Bool, _ options: Options) throws(DurableError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard lull_is_directory(directory) != 0 else { throw .unusable("there is no directory \(directory)") }
        // These names mean something else to SQLite.
        guard path != ":memory:", !path.hasPrefix("file:") else {
            throw .unusable("\(path) is no path: a store is a file, and is named as one")
        }
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .unusable("the path of a store is empty, or holds a NUL")
        }
        guard lull_is_directory(path) == 0 else { throw .unusable("\(path) is a directory") }
        guard creates || lull_exists(path) != 0 else { throw .unusable("there is no file \(path)") }
        // SQLite takes a file of one byte for an empty one, and would overwrite it.
        guard lull_size(path) != 1 else { throw .unusable("\(path) is not a database of SQLite") }
        guard options.allowsNetwork || lull_is_remote(directory) == 0 else {
            throw .unusable("\(path) lies on another machine, where several processes cannot share a file safely")
        }
        guard sqlite3_threadsafe() != 0 else { throw .unusable("this build of SQLite cannot be used with threads") }
    }

    /// Connects to a file that is Lull's or empty, with the settings that all other code relies on.
    static func connect(
        _ path: String, creates: Bool, _ options: Options
    ) throws(DurableError) -> Connection {
        let connection = try Connection(path, creates: creates, options)
        guard !connection.isReadOnly else { throw .unusable("\(path) cannot be written") }
        _ = try connection.kind()
        try connection.execute(
            """
            PRAGMA synchronous = \(options.syncs ? "FULL" : "OFF");
            PRAGMA fullfsync = 1;
            PRAGMA checkpoint_fullfsync = 1;
            PRAGMA mmap_size = 0;
            PRAGMA cache_size = -8192;
            PRAGMA journal_size_limit = 4194304;
            """)
        return connection
    }
}
