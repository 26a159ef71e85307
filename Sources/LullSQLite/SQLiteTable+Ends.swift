internal import LullCore
internal import LullDurable

// What has ended, dead runs, tokens, and how they are forgotten.

extension SQLiteTable {
    mutating func record(
        _ ending: DurableEnding, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        if ending.how == .dead, let run = ending.run { return try bury(run, of: entry, at: now, in: namespace) }
        if ending.how != .absorbed { try spendValues(of: ending.submits, of: entry.key, in: namespace) }
        if ending.how == .absorbed, try extend(ending, of: entry.key, at: now, in: namespace) { return }
        let statement = try connection[.insertEnd]
        statement.bind(1, namespace.id)
        statement.bind(2, blob: entry.key)
        statement.bind(3, ending.submits.lowerBound)
        statement.bind(4, ending.submits.upperBound)
        statement.bind(5, text: "\(ending.how.name)")
        statement.bind(6, ending.run?.id)
        statement.bind(7, ending.run?.fence)
        statement.bind(8, text: ending.run?.errorText)
        statement.bind(9, now)
        try statement.run()
    }

    /// Lets the key's latest end cover an absorbed submit, if it is one of absorbed ones that come right before.
    private func extend(
        _ ending: DurableEnding, of key: [UInt8], at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) -> Bool {
        let latest = try connection[.latestEnd]
        defer { latest.reset() }
        latest.bind(1, namespace.id)
        latest.bind(2, blob: key)
        guard try latest.next(), try latest.number(1) + 1 == ending.submits.lowerBound,
            DurableEnding.How(latest.text(2)) == .absorbed
        else { return false }
        let statement = try connection[.extendEnd]
        statement.bind(1, latest.integer(0))
        statement.bind(2, ending.submits.upperBound)
        statement.bind(3, now)
        try statement.run()
        return true
    }

    /// Keeps a run that has failed for good, with its values.
    private func bury(
        _ run: DurableRow.Run, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        guard run.value.batch.value == .stored(.run) else {
            preconditionFailure("a run that dies has been claimed in an earlier step, and lies in its own place")
        }
        let statement = try connection[.insertDead]
        statement.bind(1, namespace.id)
        statement.bind(2, blob: entry.key)
        statement.bind(3, run.id)
        statement.bind(4, run.value.submits.lowerBound)
        statement.bind(5, run.value.submits.upperBound)
        statement.bind(6, run.value.count)
        statement.bind(7, run.value.first)
        statement.bind(8, run.value.due)
        statement.bind(9, text: "\(run.value.edge.name)")
        statement.bind(10, run.fence)
        statement.bind(11, run.owner)
        statement.bind(12, run.attempt)
        statement.bind(13, text: run.errorText)
        statement.bind(14, now)
        statement.bind(15, entry.handle)
        try statement.run()
    }

    // MARK: - Questions

    mutating func end(
        ofRun run: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> DurableEnding.How? {
        if let dead = try findDead(run, in: namespace), dead.key == key { return .dead }
        let statement = try connection[.endsNewestFirst]
        defer { statement.reset() }
        statement.bind(1, namespace.id)
        statement.bind(2, blob: key)
        while try statement.next() {
            guard let other = statement.integerOrNull(0) else { continue }
            if other == run { return try how(statement, 1) }
            // The runs of a key end in the order of their ids.
            if other < run { return nil }
        }
        return nil
    }

    mutating func end(
        ofSubmit generation: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> (how: DurableEnding.How, error: String?)? {
        let ended = try connection[.endOfSubmit]
        defer { ended.reset() }
        ended.bind(1, namespace.id)
        ended.bind(2, blob: key)
        ended.bind(3, generation)
        if try ended.next(), ended.integer(0) <= generation { return (try how(ended, 1), ended.textOrNull(2)) }
        let dead = try connection[.deadOfSubmit]
        defer { dead.reset() }
        dead.bind(1, namespace.id)
        dead.bind(2, blob: key)
        dead.bind(3, generation)
        return try dead.next() ? (.dead, dead.textOrNull(0)) : nil
    }

    private func how(_ statement: Statement, _ column: Int32) throws(DurableError) -> DurableEnding.How {
        let name = statement.text(column)
        guard let how = DurableEnding.How(name) else { throw connection.damage("the end '\(name)'") }
        return how
    }

    mutating func newestEnd(of key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> Int64? {
        let ended = try connection[.latestEnd]
        defer { ended.reset() }
        ended.bind(1, namespace.id)
        ended.bind(2, blob: key)
        let newest = try ended.next() ? ended.integer(1) : nil
        let dead = try connection[.newestDead]
        defer { dead.reset() }
        dead.bind(1, namespace.id)
        dead.bind(2, blob: key)
        guard try dead.next(), let died = dead.integerOrNull(0) else { return newest }
        return max(newest ?? died, died)
    }

    // MARK: - Dead runs

    mutating func findDead(
        _ run: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> (key: [UInt8], run: DurableRow.Run)? {
        let statement = try connection[.deadByRun]
        defer { statement.reset() }
        statement.bind(1, run)
        statement.bind(2, namespace.id)
        guard try statement.next() else { return nil }
        let (key, dead, _) = try dead(statement, in: namespace)
        return (key, dead)
    }

    mutating func takeDead(
        _ run: Int64, withValues: Bool, in namespace: DurableNamespace
    ) throws(DurableError) -> Bool {
        if withValues, namespace.collects, let dead = try findDead(run, in: namespace) {
            try spendValues(of: dead.run.value.submits, of: dead.key, in: namespace)
        }
        let statement = try connection[.deleteDead]
        statement.bind(1, run)
        statement.bind(2, namespace.id)
        let before = connection.writes
        try statement.run()
        return connection.writes != before
    }

    /// Reads the dead run that a statement is at.
    func dead(
        _ statement: Statement, in namespace: DurableNamespace
    ) throws(DurableError) -> (key: [UInt8], run: DurableRow.Run, at: CoreInstant) {
        var value = try statement.value(in: .run, submits: try statement.range(2, 3), from: 4)
        if !namespace.collects { value.batch = Batch(.bytes(statement.blob(13), of: value.submits.upperBound)) }
        let run = DurableRow.Run(
            value: value, id: try statement.number(1), fence: try statement.number(8), owner: statement.integer(9),
            attempt: Int(try statement.number(10)), state: .backoff(until: .origin),
            error: statement.isNull(11) ? nil : statement.blob(11))
        return (statement.blob(0), run, statement.instant(12))
    }

    // MARK: - Tokens, and forgetting

    mutating func answer(
        to token: String, in namespace: DurableNamespace
    ) throws(DurableError) -> DurableReceipt? {
        let statement = try connection[.answerToToken]
        defer { statement.reset() }
        statement.bind(1, namespace.id)
        statement.bind(2, text: token)
        guard try statement.next() else { return nil }
        return DurableReceipt(
            namespace: namespace.name, key: statement.blob(0), generation: statement.integer(1), dueIn: nil,
            due: statement.integerOrNull(2))
    }

    mutating func remember(
        _ receipt: DurableReceipt, for token: String, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        let statement = try connection[.insertToken]
        statement.bind(1, namespace.id)
        statement.bind(2, text: token)
        statement.bind(3, blob: receipt.key)
        statement.bind(4, receipt.generation)
        statement.bind(5, receipt.due)
        statement.bind(6, now)
        try statement.run()
    }

    /// Looks at the oldest of what there is, in all namespaces: rows lie in the order in which they were recorded. One that has
    /// to stay is recorded once more, and looked at again when it is old again: it covers absorbed submits that came later, or
    /// belongs to a key with a run that is dead or may still die.
    mutating func forget(
        endsBefore ended: CoreInstant, tokensBefore tokens: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        let oldest = try connection[.oldEnds]
        defer { oldest.reset() }
        oldest.bind(1, ended)
        if try oldest.next(), let last = oldest.integerOrNull(0) {
            oldest.reset()
            let keeping = try connection[.keepEnds]
            keeping.bind(1, last)
            keeping.bind(2, ended)
            keeping.bind(3, now)
            try keeping.run()
            let forgetting = try connection[.forgetEnds]
            forgetting.bind(1, last)
            try forgetting.run()
        }
        let statement = try connection[.forgetTokens]
        statement.bind(1, tokens)
        try statement.run()
    }
}
