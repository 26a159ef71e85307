internal import Lull
internal import LullCore
internal import LullDurable

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
        // A reader may keep the rest from being copied, and an error shows itself again. What has been committed is safe.
        _ = try? connection.checkpoint(truncates: false, within: .zero)
        nextCheckpoint = pages + options.longLog / 4
    }

    /// Empties the log if no other process uses the file, and deletes most values that have ended.
    package func cleanUp() {
        guard let connection, connection.hasLog else { return }
        // Other processes do it if they use the file, or if it takes long.
        try? deleteReleasedValues(for: .milliseconds(250), patience: .zero)
        guard (try? writerLock.acquire(within: .zero)) != nil else { return }
        defer { writerLock.release() }
        _ = try? connection.checkpoint(truncates: true, within: .zero)
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
