package import LullCore

// Ends, dead runs and tokens of the keys that a table has loaded.

extension LoadedTable {
    package mutating func record(
        _ ending: DurableEnding, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        if ending.how == .dead, let run = ending.run {
            keep(dead: run, of: entry.key, place: known(entry.key)?.row?.places.run ?? 0, at: now)
            return
        }
        var end = StoredEnd(ending, at: now)
        if ending.how == .absorbed {
            let last = try knownEnds(of: entry.key).first
            if let last, last.how == .absorbed, last.submits.upperBound + 1 == ending.submits.lowerBound {
                end.submits = last.submits.lowerBound...ending.submits.upperBound
                remove(last, of: entry.key)
            }
        }
        _ = with(entry.key) { $0.change.ends.append(end) }
    }

    /// Removes an end that has just been recorded, or that the store has.
    private mutating func remove(_ end: StoredEnd, of key: [UInt8]) {
        _ = with(key) { known in
            if let index = known.change.ends.lastIndex(of: end) {
                known.change.ends.remove(at: index)
            } else {
                known.change.removedEnds.append(end)
            }
        }
    }

    /// Returns how submits of a key have ended, the newest first.
    private mutating func knownEnds(of key: [UInt8]) throws(DurableError) -> [StoredEnd] {
        guard let stored = ends[key] else {
            missing.ends.insert(key)
            throw Self.isMissing
        }
        guard let change = known(key)?.change else { return stored }
        return change.ends.reversed() + stored.filter { !change.removedEnds.contains($0) }
    }

    package mutating func end(
        ofRun run: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> DurableOutcome? {
        try knownEnds(of: key).first { $0.run == run }?.how
    }

    package mutating func end(
        ofSubmit generation: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> (how: DurableOutcome, error: String?)? {
        let change = known(key)?.change
        if let end = change?.ends.first(where: { $0.submits.contains(generation) }) { return (end.how, end.errorText) }
        let id = SubmitID(key: key, number: generation)
        guard let stored = endsOfSubmits[id] else {
            missing.endsOfSubmits.insert(id)
            throw Self.isMissing
        }
        guard let end = stored, change?.removedEnds.contains(end) != true else { return nil }
        return (end.how, end.errorText)
    }

    package mutating func newestEnd(of key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> Int64? {
        try knownEnds(of: key).map(\.submits.upperBound).max()
    }

    // MARK: - Dead runs

    private mutating func knownDead(_ run: Int64) throws(DurableError) -> StoredDead? {
        guard let stored = deadRuns[run] else {
            missing.dead.insert(run)
            throw Self.isMissing
        }
        guard let dead = stored else { return nil }
        guard let known = known(dead.key) else {
            missing.keys.insert(dead.key)
            throw Self.isMissing
        }
        return known.change.takenDead.contains(run) ? nil : dead
    }

    package mutating func findDead(
        _ run: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> (key: [UInt8], run: DurableRow.Run)? {
        try knownDead(run).map { ($0.key, $0.run) }
    }

    package mutating func takeDead(
        _ run: Int64, withValues: Bool, in namespace: DurableNamespace
    ) throws(DurableError) -> Bool {
        guard let dead = try knownDead(run) else { return false }
        let range = dead.place..<dead.place + valueCount(of: dead.run.value)
        remove(StoredEnd(DurableEnding(dead.run, .dead), at: dead.at), of: dead.key)
        _ = with(dead.key) { known in
            known.change.takenDead.append(run)
            known.others.append(range)
            known.retried = withValues ? nil : dead
        }
        return true
    }

    // MARK: - Tokens and retention

    package mutating func answer(
        to token: String, in namespace: DurableNamespace
    ) throws(DurableError) -> DurableReceipt? {
        guard let receipt = tokens[token] else {
            missing.tokens.insert(token)
            throw Self.isMissing
        }
        return receipt
    }

    package mutating func remember(
        _ receipt: DurableReceipt, for token: String, at now: CoreInstant, in namespace: DurableNamespace
    ) {
        tokens[token] = .some(receipt)
        _ = with(receipt.key) { $0.change.tokens.append((token, receipt)) }
    }

    /// Does nothing: the store does it in steps of their own.
    package mutating func forget(
        endsBefore ended: CoreInstant, tokensBefore tokens: CoreInstant, in namespace: DurableNamespace
    ) {}
}
