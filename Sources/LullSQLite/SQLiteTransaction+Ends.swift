package import LullCore
package import LullDurable

// Ends, dead runs and tokens, and deleting old ones.

/// The columns of a dead run before those of its run, in the order in which they are read.
enum DeadColumn: Int32, Column, CaseIterable {
    case key, at, error, value
}

extension SQLiteTransaction {
    package mutating func record(
        _ ended: EndedSubmits, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        if ended.how == .dead, let run = ended.run { return try insertDead(run, of: entry, at: now, in: namespace) }
        if ended.how != .absorbed { try releaseValues(of: ended.submits, of: entry.key, in: namespace) }
        if ended.how == .absorbed, try extend(ended, of: entry.key, at: now, in: namespace) { return }
        let statement = try connection[.insertEnd]
        statement.bind(":namespace", namespace.id)
        statement.bind(":key", blob: entry.key)
        statement.bind(":first", ended.submits.lowerBound)
        statement.bind(":last", ended.submits.upperBound)
        statement.bind(":how", text: "\(ended.how.name)")
        statement.bind(":run", ended.run?.id)
        statement.bind(":fence", ended.run?.fence)
        statement.bind(":error", text: ended.run?.errorText)
        statement.bind(":now", now)
        try statement.run()
    }

    /// Extends the key's latest end to an absorbed submit, if it is the end of absorbed submits right before.
    private func extend(
        _ ended: EndedSubmits, of key: [UInt8], at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) -> Bool {
        let latest = try connection[.latestEnd]
        defer { latest.reset() }
        latest.bind(":namespace", namespace.id)
        latest.bind(":key", blob: key)
        guard try latest.next(), try latest.number(1) + 1 == ended.submits.lowerBound,
            EndKind(latest.text(2)) == .absorbed
        else { return false }
        let statement = try connection[.extendEnd]
        statement.bind(":id", latest.integer(0))
        statement.bind(":last", ended.submits.upperBound)
        statement.bind(":now", now)
        try statement.run()
        return true
    }

    /// Stores a run that has failed for good, with its values.
    private mutating func insertDead(
        _ run: DurableRow.Run, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        guard run.value.batch.value == .stored(.run) else {
            preconditionFailure("a run that dies was claimed in an earlier step, so its value is in the column `run`")
        }
        let statement = try connection[.insertDead]
        statement.bind(":error", text: run.errorText)
        statement.bind(":now", now)
        statement.bind(":id", entry.handle)
        try statement.run()
        count(dead: 1, in: namespace)
    }

    // MARK: - Queries

    package mutating func end(
        ofRun run: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> EndKind? {
        if let dead = try findDead(run, in: namespace), dead.key == key { return .dead }
        let statement = try connection[.endsNewestFirst]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        statement.bind(":key", blob: key)
        while try statement.next() {
            guard let other = statement.integerOrNull(0) else { continue }
            if other == run { return try how(statement, 1) }
            // The runs of a key end in the order of their ids.
            if other < run { return nil }
        }
        return nil
    }

    package mutating func end(
        ofSubmit generation: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> (how: EndKind, error: String?)? {
        let ended = try connection[.endOfSubmit]
        defer { ended.reset() }
        ended.bind(":namespace", namespace.id)
        ended.bind(":key", blob: key)
        ended.bind(":generation", generation)
        if try ended.next(), ended.integer(0) <= generation { return (try how(ended, 1), ended.textOrNull(2)) }
        let dead = try connection[.deadOfSubmit]
        defer { dead.reset() }
        dead.bind(":namespace", namespace.id)
        dead.bind(":key", blob: key)
        dead.bind(":generation", generation)
        return try dead.next() ? (.dead, dead.textOrNull(0)) : nil
    }

    package func ended(
        of key: [UInt8]?, limit: Int, in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableEnd<[UInt8]>] {
        let statement = try connection[key == nil ? .latestEnds : .latestEndsOfKey]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        if let key { statement.bind(":key", blob: key) }
        statement.bind(":limit", max(0, limit))
        var ends: [DurableEnd<[UInt8]>] = []
        while try statement.next() {
            ends.append(
                DurableEnd(
                    key: statement.blob(0), submits: try statement.range(1, 2), how: try how(statement, 3),
                    run: statement.integerOrNull(4), error: statement.textOrNull(5),
                    age: DurableNamespace.time(from: statement.instant(6), to: now)))
        }
        return ends
    }

    private func how(_ statement: Statement, _ column: Int) throws(DurableError) -> EndKind {
        let name = statement.text(column)
        guard let how = EndKind(name) else { throw connection.damage("the end '\(name)'") }
        return how
    }

    package mutating func newestEnd(of key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> Int64? {
        let ended = try connection[.latestEnd]
        defer { ended.reset() }
        ended.bind(":namespace", namespace.id)
        ended.bind(":key", blob: key)
        let newest = try ended.next() ? ended.integer(1) : nil
        let dead = try connection[.newestDead]
        defer { dead.reset() }
        dead.bind(":namespace", namespace.id)
        dead.bind(":key", blob: key)
        guard try dead.next(), let died = dead.integerOrNull(0) else { return newest }
        return max(newest ?? died, died)
    }

    // MARK: - Dead runs

    package mutating func findDead(
        _ run: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> (key: [UInt8], run: DurableRow.Run)? {
        let statement = try connection[.deadByRun]
        defer { statement.reset() }
        statement.bind(":run", run)
        statement.bind(":namespace", namespace.id)
        guard try statement.next() else { return nil }
        let (key, dead, _) = try dead(statement, in: namespace)
        return (key, dead)
    }

    package mutating func takeDead(
        _ run: Int64, withValues: Bool, in namespace: DurableNamespace
    ) throws(DurableError) -> Bool {
        if withValues, namespace.collects, let dead = try findDead(run, in: namespace) {
            try releaseValues(of: dead.run.value.submits, of: dead.key, in: namespace)
        }
        let statement = try connection[.deleteDead]
        statement.bind(":run", run)
        statement.bind(":namespace", namespace.id)
        let before = connection.rowsWritten
        try statement.run()
        guard connection.rowsWritten != before else { return false }
        count(dead: -1, in: namespace)
        return true
    }

    /// Reads a dead run from the current row.
    func dead(
        _ statement: Statement, in namespace: DurableNamespace
    ) throws(DurableError) -> (key: [UInt8], run: DurableRow.Run, at: CoreInstant) {
        typealias Dead = DeadColumn
        var run = DurableRow.Run(value: DurableRow.Ready(storedIn: .run))
        var reader = RowReader(statement, from: DeadColumn.allCases.count, count: RowColumn.ofRun.count)
        try run.code(with: &reader)
        run.state = .backoff(until: .origin)
        if !statement.isNull(Dead.error) { run.error = statement.blob(Dead.error) }
        if !namespace.collects {
            run.value.batch = Batch(.bytes(statement.blob(Dead.value), of: run.value.submits.upperBound))
        }
        return (statement.blob(Dead.key), run, statement.instant(Dead.at))
    }

    // MARK: - Tokens, and deleting what is old

    package mutating func answer(
        to token: String, in namespace: DurableNamespace
    ) throws(DurableError) -> DurableReceipt? {
        let statement = try connection[.answerToToken]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        statement.bind(":token", text: token)
        guard try statement.next() else { return nil }
        return DurableReceipt(
            namespace: namespace.name, key: statement.blob(0), generation: statement.integer(1), dueIn: nil,
            due: statement.integerOrNull(2))
    }

    package mutating func remember(
        _ receipt: DurableReceipt, for token: String, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        let statement = try connection[.insertToken]
        statement.bind(":namespace", namespace.id)
        statement.bind(":token", text: token)
        statement.bind(":key", blob: receipt.key)
        statement.bind(":generation", receipt.generation)
        statement.bind(":due", receipt.due)
        statement.bind(":now", now)
        try statement.run()
    }

    /// Deletes some of the oldest entries of all namespaces: rows are in the order in which they were recorded.
    ///
    /// An end that has to stay is recorded again, and checked again when it is old again: it covers absorbed submits
    /// that came later, or belongs to a key with a run that is dead or may still die.
    package mutating func forget(
        endsBefore ended: CoreInstant, tokensBefore tokens: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        let oldest = try connection[.oldEnds]
        defer { oldest.reset() }
        oldest.bind(":before", ended)
        if try oldest.next(), let last = oldest.integerOrNull(0) {
            oldest.reset()
            let keeping = try connection[.keepEnds]
            keeping.bind(":last", last)
            keeping.bind(":before", ended)
            keeping.bind(":now", now)
            try keeping.run()
            let forgetting = try connection[.forgetEnds]
            forgetting.bind(":last", last)
            try forgetting.run()
        }
        let statement = try connection[.forgetTokens]
        statement.bind(":before", tokens)
        try statement.run()
    }
}
