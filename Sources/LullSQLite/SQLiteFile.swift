internal import CLullSQLite
internal import Lull
package import LullDurable

/// A store in one file, for one thread: every call returns when it has been committed.
///
/// Transactions that write, of all processes, pass the file's writer lock, and so does everything that touches the file beyond
/// them: making it, copying the write-ahead log into it, finding out whether a commit that failed has been made.
package final class SQLiteFile {
    /// How a file is used.
    package struct Options: Sendable {
        package var limits = DurableLimits()
        package var clock = StoreClock.system
        /// Whether a file that is not there is made.
        package var creates = true
        /// Whether the file may lie on another machine.
        package var allowsNetwork = false
        /// How long to wait for other processes that use the file.
        package var patience = Duration.seconds(5)
        /// SQLite's name of the file system that it uses; nil for the usual one.
        package var vfs: String?
        /// The write-ahead log is copied into the file when it has this many pages.
        package var longLog = 1000
        /// Whether a commit waits for the disk. Only the tests that show that it must do without.
        package var syncs = true
        /// What brings a file from each version to the next; those of tests go further.
        var migrations = Schema.migrations

        package init() {}
    }

    let path: String
    let options: Options
    let writerLock: WriterLock
    private(set) var connection: Connection?
    private var files: OpenFiles
    /// When to look for old entries next, and since when nothing has been written.
    var nextTending = ContinuousClock.now
    var calmSince = ContinuousClock.now
    /// Whether a commit has failed and it is not known yet whether it was made.
    private var isUnsettled = false
    /// The log is copied when it has this many pages.
    private var checkpointAt: Int
    private var version: Int64?

    /// Opens a file, or makes it.
    package init(_ path: String, _ options: Options = Options()) throws(DurableError) {
        self.path = path
        self.options = options
        checkpointAt = options.longLog
        do throws(DurableError) {
            try Self.inspect(path, creates: options.creates, options)
            let connection = try Self.connect(path, creates: options.creates, options)
            files = try OpenFiles(path, connection)
            writerLock = try WriterLock(besides: connection.file)
            try writerLock.acquire(within: options.patience)
            defer { writerLock.release() }
            // It lets space be given back in small steps, and can be said only of a file in which there is nothing yet.
            if try connection.kind() == .empty { try connection.execute("PRAGMA auto_vacuum = INCREMENTAL") }
            guard try connection.word("PRAGMA journal_mode = WAL") == "wal" else {
                throw .unusable("\(path) cannot have a write-ahead log")
            }
            // The process that left the log may have been killed, or a sync may have failed: then the log may be in the
            // system's cache only, and another sync need not change that. It must be on the disk before it is added to, or
            // copied into the file.
            if connection.hasLog { try connection.rewriteLog() }
            let reading = options.clock.read()
            try connection.migrate { connection throws(DurableError) in try Meta.create(in: connection, at: reading) }
            // When others use the file, the log is theirs.
            if connection.hasLog {
                _ = try connection.checkpoint(truncates: true, within: .milliseconds(100))
            }
            self.connection = connection
            // The first to come after a boot ties the file's time to it, before anybody can set the wall clock.
            attempt([])
        } catch .refused(let why) {
            throw .unusable(why)
        }
    }

    /// The connection, opened again if it had to be closed. The writer lock must be held.
    func usable() throws(DurableError) -> Connection {
        if let connection { return connection }
        try files.checkIdentity()
        let opened = try Self.connect(path, creates: false, options)
        try files.reopened(opened)
        // What the log holds may never have reached the disk, though it can be read. It has to be there before it is copied: a
        // cut in between would leave a part of the copy, and nothing to mend it with. Copied and gone, all is certain.
        if isUnsettled {
            try opened.rewriteLog()
            guard try opened.checkpoint(truncates: true, within: options.patience) else {
                throw .refused("\(path) is read by another program for too long")
            }
            // What is refused now must not be found in an old log after a cut: it is certain that it is empty.
            try opened.rewriteLog()
        }
        isUnsettled = false
        connection = opened
        return opened
    }

    /// Throws if the file, or one beside it, has been deleted or replaced: what is written then is lost.
    ///
    /// To be called as often as one likes: it looks twice a second.
    package func check() throws(DurableError) {
        try files.check(connection, writerLock)
    }

    // MARK: - Writing

    /// Does something in a transaction of its own.
    package func write<Answer: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        try answer(to: body) { write([$0]) }
    }

    /// Does what several callers want in one transaction, and answers each.
    ///
    /// - Parameters:
    ///   - patience: How long to wait for others; that of the options if it is left out.
    ///   - more: Returns the calls that have come meanwhile, if there are any, and if they should share the transaction.
    func write(_ calls: [any PendingCall], within patience: Duration? = nil, more: () -> [any PendingCall] = { [] }) {
        do throws(DurableError) {
            try writerLock.acquire(within: patience ?? options.patience)
        } catch {
            for call in calls { call.refuse(error) }
            return
        }
        defer { writerLock.release() }
        attempt(calls, more: more)
        shortenLog()
    }

    private func attempt(_ calls: [any PendingCall], more: () -> [any PendingCall] = { [] }) {
        let connection: Connection
        let old: Meta
        let reading: StoreTime.Reading
        do throws(DurableError) {
            connection = try usable()
            try check()
            connection.failed = nil
            try connection[.begin].run()
            var meta = try Meta(from: connection)
            reading = options.clock.read()
            if !meta.time.isTied(to: reading) { try meta.catchUp(in: connection) }
            old = meta
        } catch {
            self.connection?.rollBack()
            for call in calls { call.refuse(error) }
            return
        }

        var meta = old
        let writes = connection.writes
        var transaction = transaction(connection, &meta, at: reading)
        var calls = calls
        var made = 0
        while connection.failed == nil {
            if made == calls.count {
                let new = more()
                if new.isEmpty { break }
                calls += new
                transaction.table.now = meta.time.now(options.clock.read())
            }
            calls[made].perform(in: &transaction)
            made += 1
        }
        if connection.failed == nil { try? transaction.deleteSpentValues(afterWriting: connection.writes &- writes) }
        meta.base = transaction.table.base
        meta.sequence = transaction.table.sequence
        let isUnchanged = connection.writes == writes && !transaction.hasMovedPages
        if connection.failed == nil, isUnchanged, !meta.differs(from: old) {
            connection.rollBack()
            return finish(calls, nil)
        }
        let mark: CommitMark
        if let submitted = transaction.table.submitted, meta.canLag(behind: old) {
            mark = submitted
        } else {
            meta.lastCommit = .random(in: .min ... .max)
            mark = .number(meta.lastCommit)
            if connection.failed == nil { try? meta.write(to: connection, since: old) }
        }
        if let failed = connection.failed {
            // One of them, or the disk. Retries each call alone to isolate the failing one.
            connection.rollBack()
            if calls.count == 1 { return finish(calls, failed) }
            for call in calls { attempt([call]) }
            return
        }

        do throws(DurableError) {
            try connection[.commit].run()
            calmSince = .now
            // A commit to a file that no longer has its name is not acknowledged.
            finish(calls, files.loss.map { .unknown($0.reason) })
        } catch {
            // Without room the last part of a commit was not written, which makes it one.
            if connection.failedCode & 0xFF == SQLITE_FULL {
                connection.rollBack()
                return finish(calls, error)
            }
            finish(calls, resolve(mark, after: error))
        }
    }

    private func finish(_ calls: [any PendingCall], _ failure: DurableError?) {
        for call in calls { call.finish(failure) }
    }

    /// Finds out whether a commit that failed has been made.
    ///
    /// - Returns: Nil if it has.
    func resolve(_ mark: CommitMark, after error: DurableError) -> DurableError? {
        connection?.close()
        connection = nil
        isUnsettled = true
        do throws(DurableError) {
            let connection = try usable()
            if try connection.has(mark) { return nil }
            if case .refused = error { return error }
            return .refused("\(error)")
        } catch let second {
            return .unknown("\(error.reason); then \(second.reason)")
        }
    }

    /// Copies a long log into the file.
    private func shortenLog() {
        guard let connection else { return }
        let pages = connection.pagesInLog
        if pages < options.longLog { checkpointAt = options.longLog }
        guard pages >= checkpointAt else { return }
        // A reader may keep the rest from being copied, and an error shows itself again; what has been committed is safe.
        _ = try? connection.checkpoint(truncates: false, within: .zero)
        checkpointAt = pages + options.longLog / 4
    }

    /// Empties the log if no other process uses the file, and deletes most values that have ended.
    package func rest() {
        guard let connection, connection.hasLog else { return }
        // It is left to others if they are at the file, and if it takes long.
        try? deleteSpentValues(for: .milliseconds(250), patience: .zero)
        guard (try? writerLock.acquire(within: .zero)) != nil else { return }
        defer { writerLock.release() }
        _ = try? connection.checkpoint(truncates: true, within: .zero)
    }

    // MARK: - Reading

    /// Asks something that changes nothing.
    package func read<Answer: Sendable>(
        _ body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        try answer(to: body) { read([$0]) }
    }

    /// Makes calls that change nothing, all at one instant. They wait for no writer.
    func read(_ calls: [any PendingCall]) {
        do throws(DurableError) {
            let connection = try readable()
            try check()
            connection.failed = nil
            try connection[.beginReading].run()
            defer { connection.rollBack() }
            var meta = try Meta(from: connection)
            var transaction = transaction(connection, &meta, at: options.clock.read())
            for var call in calls {
                call.perform(in: &transaction)
                call.finish(nil)
            }
        } catch {
            for call in calls { call.refuse(error) }
        }
    }

    private func readable() throws(DurableError) -> Connection {
        if let connection { return connection }
        try writerLock.acquire(within: options.patience)
        defer { writerLock.release() }
        return try usable()
    }

    /// Whether another connection has committed since this was last asked; the first answer is yes.
    package func hasForeignCommits() throws(DurableError) -> Bool {
        try check()
        let statement = try readable()[.dataVersion]
        defer { statement.reset() }
        guard try statement.next() else { return true }
        let new = statement.integer(0)
        defer { version = new }
        if new != version { calmSince = .now }
        return new != version
    }

    // MARK: - Parts

    private func transaction(
        _ connection: Connection, _ meta: inout Meta, at reading: StoreTime.Reading
    ) -> SQLiteTransaction {
        let now = meta.time.now(reading)
        let table = SQLiteTable(connection, at: now, sequence: meta.sequence, base: meta.base)
        return SQLiteTransaction(table, limits: options.limits)
    }

    func answer<Answer: Sendable>(
        to body: @escaping @Sendable (inout SQLiteTransaction) throws(DurableError) -> Answer,
        _ pass: (any PendingCall) -> Void
    ) throws(DurableError) -> Answer {
        let result = Guarded<Result<Answer, DurableError>?>(nil)
        pass(Call(body) { answer, _ in _ = result.exchange(answer) })
        guard let result = result.value else { preconditionFailure("every call is answered") }
        return try result.get()
    }
}
