internal import Lull
internal import LullCore
internal import LullDurable

// What is done at a file while nothing else is.

extension SQLiteFile {
    /// How often there may be something to do, and how often while there is more of it.
    private static let usual = Duration.seconds(1)
    private static let soon = Duration.milliseconds(40)

    /// Deletes some of what is old, or empties the log when nothing has been written for a while.
    ///
    /// To be called a few times a second by a thread that waits. It never waits for a lock: other writers go first.
    package func tend() {
        let now = ContinuousClock.now
        guard now >= nextTending else { return }
        nextTending = now.advanced(by: Self.usual)
        // An error of the file will reach the callers that want something of it.
        let isOld = try? read { transaction throws(DurableError) in try transaction.remembersTooMuch() }
        if isOld == true {
            let call = Call { transaction throws(DurableError) in
                try transaction.forget()
            } answer: { _, _ in
            }
            write([call], within: .zero)
            nextTending = now.advanced(by: Self.soon)
        } else if now - calmSince >= Self.usual {
            rest()
        }
    }

    /// Deletes values that have ended, in steps between which others write, until none is left.
    ///
    /// - Parameters:
    ///   - time: How long it may take; as long as it takes, if it is left out.
    ///   - patience: How long to wait for others at each step.
    func deleteSpentValues(for time: Duration? = nil, patience: Duration) throws(DurableError) {
        let end = time.map { ContinuousClock.now.advanced(by: $0) }
        while end.map({ ContinuousClock.now < $0 }) ?? true {
            guard try read({ transaction throws(DurableError) in try transaction.hasSpentValues() }) else { return }
            try answer(to: { transaction throws(DurableError) in
                try transaction.table.deleteSpentValues(atMost: 4 * SQLiteTable.mostDeleted)
            }) { write([$0], within: patience) }
        }
    }
}

extension SQLiteTransaction {
    /// Whether there are values that have ended and are still there.
    fileprivate func hasSpentValues() throws(DurableError) -> Bool {
        let statement = try table.connection[.spent]
        defer { statement.reset() }
        return try statement.next()
    }

    /// Whether there are ends or tokens that are older than they have to be, or values that have ended.
    fileprivate func remembersTooMuch() throws(DurableError) -> Bool {
        if try hasSpentValues() { return true }
        if try isOld(.firstEnd, limits.retention) { return true }
        return try isOld(.firstToken, limits.tokenLifetime)
    }

    /// Whether the oldest row has been kept for longer than it has to be.
    private func isOld(_ oldest: Query, _ time: Duration) throws(DurableError) -> Bool {
        let statement = try table.connection[oldest]
        defer { statement.reset() }
        guard try statement.next() else { return false }
        return statement.instant(0) < now.advanced(by: .nanoseconds(-CoreDuration(time).nanoseconds))
    }

    /// Forgets some of them.
    fileprivate mutating func forget() throws(DurableError) {
        try table.deleteSpentValues()
        // It is the same in all namespaces.
        guard let namespace = try table.connection.namespaces().first else { return }
        try table.forget(beyond: limits, in: namespace, at: now)
    }
}
