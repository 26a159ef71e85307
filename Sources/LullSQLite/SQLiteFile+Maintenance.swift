internal import Lull
internal import LullCore
package import LullDurable

// The maintenance of a file beside its transactions: keeps the log short, and deletes what is old.

extension SQLiteFile {
    /// How often there may be something to do, and how often while there is more of it.
    private static let interval = Duration.seconds(1)
    private static let busyInterval = Duration.milliseconds(40)

    /// Copies a long log into the file. The writer lock must be held.
    func shortenLog() {
        guard let connection else { return }
        let pages = connection.pagesInLog
        if pages < options.longLog { nextCheckpoint = options.longLog }
        guard pages >= nextCheckpoint else { return }
        // A reader may keep the rest from being copied, and an error shows itself again. What has been committed is
        // safe.
        _ = try? checkpoint(connection, truncates: false, within: .zero)
        nextCheckpoint = pages + options.longLog / 4
    }

    /// Empties the log if no other process uses the file, and deletes most values that have ended.
    package func cleanUp() {
        guard let connection, connection.hasLog else { return }
        // Other processes do it if they use the file, or if it takes long.
        try? deleteReleasedValues(for: .milliseconds(250), patience: .zero)
        guard (try? writerLock.acquire(within: .zero)) != nil else { return }
        defer { writerLock.release() }
        _ = try? checkpoint(connection, truncates: true, within: .zero)
    }

    /// Deletes some of what is old, or cleans up when nothing has been written for a while.
    ///
    /// To be called a few times a second by a thread that waits. It never waits for a lock: other writers go first.
    package func maintain() {
        let now = ContinuousClock.now
        guard now >= nextMaintenance else { return }
        nextMaintenance = now.advanced(by: Self.interval)
        // An error of the file reaches the callers that need it.
        let isOld = try? read { transaction throws(DurableError) in try transaction.hasOldEntries() }
        if isOld == true {
            try? write(within: .zero) { transaction throws(DurableError) in try transaction.deleteOldEntries() }
            nextMaintenance = now.advanced(by: Self.busyInterval)
        } else if now - lastCommit >= Self.interval {
            cleanUp()
        }
    }

    /// Deletes values that have ended, in steps between which other processes write, until none is left.
    ///
    /// - Parameters:
    ///   - time: How long it may take; by default, as long as it takes.
    ///   - patience: How long to wait for other processes at each step.
    func deleteReleasedValues(for time: Duration? = nil, patience: Duration) throws(DurableError) {
        let end = time.map { ContinuousClock.now.advanced(by: $0) }
        while end.map({ ContinuousClock.now < $0 }) ?? true {
            guard try read({ transaction throws(DurableError) in try transaction.hasReleasedValues() }) else { return }
            try write(within: patience) { transaction throws(DurableError) in
                try transaction.deleteReleasedValues(atMost: 4 * SQLiteTransaction.mostDeleted)
            }
        }
    }
}

extension SQLiteTransaction {
    /// Returns whether values that have ended are still in the file.
    fileprivate func hasReleasedValues() throws(DurableError) -> Bool {
        let statement = try connection[.spent]
        defer { statement.reset() }
        return try statement.next()
    }

    /// Returns whether the file holds values that have ended, or ends or tokens that are older than their limits.
    fileprivate func hasOldEntries() throws(DurableError) -> Bool {
        if try hasReleasedValues() { return true }
        if try isOld(.firstEnd, limits.retention) { return true }
        return try isOld(.firstToken, limits.tokenLifetime)
    }

    /// Returns whether the oldest row is older than a limit.
    private func isOld(_ oldest: Query, _ limit: Duration) throws(DurableError) -> Bool {
        let statement = try connection[oldest]
        defer { statement.reset() }
        guard try statement.next() else { return false }
        return statement.instant(0) < now.advanced(by: .nanoseconds(-CoreDuration(limit).nanoseconds))
    }

    /// Deletes some of them.
    fileprivate mutating func deleteOldEntries() throws(DurableError) {
        try deleteReleasedValues()
        // Any namespace will do: it deletes the oldest entries of all of them.
        guard let namespace = try connection.namespaces().first else { return }
        try forget(beyond: limits, in: namespace, at: now)
    }
}

extension SQLiteFile {
    /// Makes a copy that was restored one whose numbers the original cannot have given, even by a clock that was ahead.
    ///
    /// - Returns: What new numbers are above.
    package func adopt() throws(DurableError) -> Int64 {
        try write { transaction throws(DurableError) in try transaction.adopt() }
    }
}

// Compacting: makes a file smaller while other processes use it.

extension SQLiteFile {
    /// The sizes of a file before and after compacting.
    package struct Sizes: Sendable {
        package let before: Int64
        package let after: Int64
        /// Whether the file was truncated. Readers may prevent that for a while.
        package let isCut: Bool
    }

    /// The pages that one transaction moves. That takes some milliseconds, during which no other process can write.
    static let pagesPerStep: Int64 = 256

    /// Gives back unused space, in small steps between which other processes write. Each step is a transaction: the
    /// process may be killed at any time.
    package func compact() throws(DurableError) -> Sizes {
        let before = try size()
        if try setting("auto_vacuum") != 2 { try rewrite() }
        try deleteReleasedValues(patience: options.patience)
        // Other processes may free as much space as this gives back, without end: gives back what is free now.
        var left = try setting("freelist_count")
        while left > 0 {
            let most = min(left, Self.pagesPerStep)
            try write { transaction throws(DurableError) in try transaction.giveBack(most) }
            left = min(left - most, try setting("freelist_count"))
        }
        return Sizes(before: before, after: try size(), isCut: try truncate())
    }

    /// Rewrites a file of a version that could not give back space in steps. No other process can write meanwhile.
    private func rewrite() throws(DurableError) {
        try writerLock.acquire(within: options.patience)
        defer { writerLock.release() }
        let connection = try openConnection()
        try check()
        do throws(DurableError) {
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
        } catch {
            // Its commit may have failed: recovers the file, as after any other.
            _ = resolve(.number(0), after: error)
            throw error
        }
    }

    /// Truncates the file after its contents.
    private func truncate() throws(DurableError) -> Bool {
        try writerLock.acquire(within: options.patience)
        defer { writerLock.release() }
        return try checkpoint(openConnection(), truncates: true, within: options.patience)
    }

    private func size() throws(DurableError) -> Int64 { try setting("page_count") * setting("page_size") }

    private func setting(_ name: String) throws(DurableError) -> Int64 {
        try read { transaction throws(DurableError) in try transaction.connection.number("PRAGMA \(name)") }
    }
}

extension SQLiteTransaction {
    /// Moves pages from the end of the file to free ones, so that the file can be truncated.
    fileprivate mutating func giveBack(_ pages: Int64) throws(DurableError) {
        hasMovedPages = true
        try connection.prepare("PRAGMA incremental_vacuum(\(pages))").run()
    }
}
