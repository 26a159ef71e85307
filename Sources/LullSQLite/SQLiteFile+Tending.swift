internal import Lull
internal import LullCore
internal import LullDurable

// What is done at a file while nothing else is.

extension SQLiteFile {
    /// How often there may be something to do, and how often while there is more of it.
    private static let usual = Duration.seconds(1)
    private static let soon = Duration.milliseconds(40)

    /// Forgets what is old, a little at a time, and empties the log when nobody has written for a while. To be called a few times a
    /// second by whoever waits; it waits for nobody, and who is in its way goes first.
    package func tend() {
        let now = ContinuousClock.now
        guard now >= nextTending else { return }
        nextTending = now.advanced(by: Self.usual)
        // What is wrong with the file shows itself to those who want something of it.
        let isOld = try? read { transaction throws(DurableError) in try transaction.remembersTooMuch() }
        if isOld == true {
            let job = Job { transaction throws(DurableError) in
                try transaction.forget()
            } answer: { _, _ in
            }
            write([job], within: .zero)
            nextTending = now.advanced(by: Self.soon)
        } else if now - calmSince >= Self.usual {
            rest()
        }
    }

    /// Deletes values that have ended, in steps between which others write, until none is left or a moment has passed.
    ///
    /// - Parameter patience: How long to wait for others at each step.
    func deleteSpentValues(for time: Duration, patience: Duration) throws(DurableError) {
        let end = ContinuousClock.now.advanced(by: time)
        while ContinuousClock.now < end {
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
        try table.connection.number("SELECT EXISTS (SELECT 1 FROM spent)") == 1
    }

    /// Whether there are ends or tokens that are older than they have to be, or values that have ended.
    fileprivate func remembersTooMuch() throws(DurableError) -> Bool {
        if try hasSpentValues() { return true }
        if try isOld("recorded", ofFirstIn: "ended", limits.retention) { return true }
        return try isOld("at", ofFirstIn: "tokens", limits.tokenLifetime)
    }

    /// Whether the oldest row of a table has been kept for longer than it has to be.
    private func isOld(
        _ column: String, ofFirstIn table: String, _ time: Duration
    ) throws(DurableError) -> Bool {
        let statement = try self.table.connection.prepare(
            "SELECT 1 FROM (SELECT \(column) AS since FROM \(table) ORDER BY id LIMIT 1) WHERE since < ?1")
        defer { statement.reset() }
        statement.bind(1, now.advanced(by: .nanoseconds(-CoreDuration(time).nanoseconds)))
        return try statement.next()
    }

    /// Forgets some of them.
    fileprivate mutating func forget() throws(DurableError) {
        try table.deleteSpentValues()
        // It is the same in all namespaces.
        guard let namespace = try table.connection.namespaces().first else { return }
        try table.forget(beyond: limits, in: namespace, at: now)
    }
}
