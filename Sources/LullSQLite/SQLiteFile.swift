internal import CLullFiles
internal import CLullSQLite
package import LullDurable

/// A store in one file, for one thread: every call returns when its transaction has ended.
///
/// The file's writer lock orders the writing transactions of all processes, and everything else that changes the file:
/// creating it, copying the write-ahead log into it, and finding out whether a commit that failed was made.
package final class SQLiteFile {
    /// How a file is used.
    package struct Options: Sendable {
        package var limits = DurableLimits()
        package var clock = StoreClock.system
        /// Whether a file that does not exist is created.
        package var creates = true
        /// Whether a store only reads it: see ``SQLiteReader``.
        package var isReadOnly = false
        /// Whether the file may lie on another machine.
        package var allowsNetwork = false
        /// How long to wait for other processes that use the file.
        package var patience = Duration.seconds(5)
        /// For a store that opens the path again when a name means another file, or none, instead of failing from then
        /// on: told why, and nil when it is open again.
        package var reopens: (@Sendable (DurableError?) -> Void)?
        /// SQLite's name of the file system that it uses; nil for the default one.
        package var vfs: String?
        /// The number of pages at which the write-ahead log is copied into the file.
        package var longLog = 1000
        /// Whether a commit waits for the disk. False only in the tests that show what that loses.
        package var syncs = true
        /// The steps that bring a file from each version to the next. Tests add versions.
        var migrations = Schema.migrations

        package init() {}
    }

    let path: String
    let options: Options
    let writerLock: WriterLock
    /// Whether the file can be used, or has to be recovered first.
    var state: FileState
    var files: OpenFiles
    /// The contents of the file, as far as they are known: see SQLiteFile+Checkpoints.swift.
    var contents: FileMark?
    /// When to check again that the files are in place.
    var nextCheck = ContinuousClock.now
    /// When to look for old entries next.
    var nextMaintenance = ContinuousClock.now
    /// When this process, or as far as it knows another one, has committed last.
    var lastCommit = ContinuousClock.now
    /// The number of pages at which the log is copied next.
    var nextCheckpoint: Int
    /// SQLite's number of the contents that ``hasForeignCommits()`` saw last.
    private var dataVersion: Int64?

    /// Opens a file, and creates it if the options say so.
    package init(_ path: String, _ options: Options = Options()) throws(DurableError) {
        self.path = path
        self.options = options
        nextCheckpoint = options.longLog
        try Self.inspect(path, creates: options.creates, options)
        let connection = try Self.connect(path, creates: options.creates, options)
        files = try OpenFiles(path, connection, reopens: options.reopens != nil)
        let writerLock = try WriterLock(besides: connection.file)
        self.writerLock = writerLock
        state = .uncertain
        try writerLock.acquire(within: options.patience)
        defer { writerLock.release() }
        let isOther = try checkLog(of: connection)
        // It lets space be given back in small steps, and can be set only while a file is empty.
        if try connection.kind() == .empty { try connection.execute("PRAGMA auto_vacuum = INCREMENTAL") }
        guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw .unusable("\(path) cannot have a write-ahead log")
        }
        // The process that left the log may have been killed, or a sync may have failed: then the log may be in the
        // system's cache only, and another sync need not change that. It must be on the disk before it is added to, or
        // copied into the file.
        if connection.hasLog { try connection.rewriteLog() }
        let reading = options.clock.read()
        try connection.migrate { connection throws(DurableError) in try Meta.create(in: connection, at: reading) }
        // When other processes use the file, they keep the log.
        if connection.hasLog {
            _ = try checkpoint(connection, truncates: true, within: .milliseconds(100))
        }
        try files.opened(connection)
        noteOpening(of: connection, isOther: isOther)
        state = .open(connection)
        // The first process after a boot ties the file's time to it, before anything can set the wall clock.
        _ = transact { _ in }
    }

    var connection: Connection? { state.connection }

    /// Throws if the file, or one beside it, has been deleted, replaced or overwritten: what is written then is lost.
    ///
    /// It looks twice a second, however often it is called.
    package func check() throws(DurableError) {
        let now = ContinuousClock.now
        guard now >= nextCheck else { return }
        if let loss { throw loss }
        nextCheck = now.advanced(by: .milliseconds(400))
    }

    // MARK: - Writing

    /// Executes a body in a transaction of its own.
    ///
    /// - Parameters:
    ///   - patience: How long to wait for other processes; by default, that of the options.
    ///   - body: Called once. Its result counts only if the transaction is committed.
    package func write<Answer>(
        within patience: Duration? = nil,
        _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        try writerLock.acquire(within: patience ?? options.patience)
        defer { writerLock.release() }
        var result: Result<Answer, DurableError>?
        let end = transact { transaction in
            do throws(DurableError) { result = .success(try body(&transaction)) } catch { result = .failure(error) }
        }
        shortenLog()
        // A body that failed by itself has recorded nothing, whatever happened to the transaction.
        if case .failure(let error) = result { throw error }
        if let failure = end.failure { throw failure }
        guard let result else { preconditionFailure("a transaction was committed without its body") }
        return try result.get()
    }

    /// Makes several calls in one transaction, and answers each.
    ///
    /// - Parameter more: Returns calls that have come meanwhile and that should share the transaction.
    func write(_ calls: [StoreCall], more: () -> [StoreCall] = { [] }) {
        do throws(DurableError) {
            try writerLock.acquire(within: options.patience)
        } catch {
            return calls.map { $0.refusal(error) }.answer()
        }
        defer { writerLock.release() }
        commit(calls, more: more)
        shortenLog()
    }

    // MARK: - Reading

    /// Executes a body that changes nothing, at one instant. It does not wait for writers.
    package func read<Answer>(
        _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        let connection = try connectionForReading()
        try check()
        connection.latestFailure = nil
        try connection[.beginReading].run()
        defer { connection.rollBack() }
        var transaction = SQLiteTransaction(
            connection, try Meta(from: connection), at: options.clock.read(), limits: options.limits)
        return try body(&transaction)
    }

    /// Makes calls that change nothing, all at one instant, and answers each.
    func read(_ calls: [StoreCall]) {
        do throws(DurableError) {
            try read { transaction in calls.map { $0.perform(&transaction)(nil) } }.answer()
        } catch {
            calls.map { $0.refusal(error) }.answer()
        }
    }

    private func connectionForReading() throws(DurableError) -> Connection {
        if let connection { return connection }
        try writerLock.acquire(within: options.patience)
        defer { writerLock.release() }
        return try openConnection()
    }

    /// Closes the file, which cannot be used afterwards. What the log holds is copied into the file for which it was
    /// written, wherever that is now, so that the file that has its name can be used without the log.
    func close() {
        if let connection, (try? writerLock.acquire(within: .seconds(1))) != nil {
            _ = try? checkpoint(connection, truncates: true, within: .zero)
            writerLock.release()
        }
        connection?.close()
    }

    /// Returns whether another connection has committed since the last call; true at the first one.
    package func hasForeignCommits() throws(DurableError) -> Bool {
        try check()
        let statement = try connectionForReading()[.dataVersion]
        defer { statement.reset() }
        guard try statement.next() else { return true }
        let new = statement.integer(0)
        defer { dataVersion = new }
        if new != dataVersion { lastCommit = .now }
        return new != dataVersion
    }
}

// Opening: what a file has to be, and the settings of a connection.

extension SQLiteFile {
    /// Throws a clear error where SQLite's own would not be.
    static func inspect(_ path: String, creates: Bool, _ options: Options) throws(DurableError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard lull_is_directory(directory) != 0 else { throw .unusable("there is no directory \(directory)") }
        // These names mean something else to SQLite.
        guard path != ":memory:", !path.hasPrefix("file:") else {
            throw .unusable("\(path) is not a path: a store is a file, and is named by its path")
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
        do throws(DurableError) { _ = try connection.kind() } catch {
            throw connection.hasWholeLog ? error : OpenFiles.missingLog(path)
        }
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
