package import LullCore

// Ends, dead runs and tokens of the keys that a table has loaded.

extension LoadedTable {
    package mutating func record(
        _ ended: EndedSubmits, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        if ended.how == .dead, let run = ended.run {
            keep(dead: run, of: entry.key, place: known(entry.key)?.after?.places.run ?? 0, at: now)
            return
        }
        var end = StoredEnd(ended, at: now)
        if ended.how == .absorbed {
            let last = try knownEnds(of: entry.key).first {
                $0.how == .absorbed && $0.submits.upperBound + 1 == ended.submits.lowerBound
            }
            if let last {
                end.submits = last.submits.lowerBound...ended.submits.upperBound
                remove(last, of: entry.key)
            }
        }
        known(entry.key)?.ends.append(end)
    }

    /// Removes an end that has just been recorded, or that the store has.
    private mutating func remove(_ end: StoredEnd, of key: [UInt8]) {
        guard let known = known(key) else { return }
        if let index = known.ends.lastIndex(of: end) {
            known.ends.remove(at: index)
        } else {
            known.removedEnds.append(end)
        }
    }

    /// Returns how submits of a key have ended, the newest first.
    private mutating func knownEnds(of key: [UInt8]) throws(DurableError) -> [StoredEnd] {
        guard let stored = ends[key] else {
            missing.ends.insert(key)
            throw Self.isMissing
        }
        guard let change = known(key) else { return stored }
        return change.ends.reversed() + stored.filter { !change.removedEnds.contains($0) }
    }

    package mutating func end(
        ofRun run: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> EndKind? {
        try knownEnds(of: key).first { $0.run == run }?.how
    }

    package mutating func end(
        ofSubmit generation: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> (how: EndKind, error: String?)? {
        let change = known(key)
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
        return known.takenDead.contains(run) ? nil : dead
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
        remove(StoredEnd(EndedSubmits(dead.run, .dead), at: dead.at), of: dead.key)
        if let known = known(dead.key) {
            known.takenDead.append(run)
            known.others.append(range)
            known.retried = withValues ? nil : dead
        }
        return true
    }

    // MARK: - Retention

    /// Does nothing: the store does it in steps of their own.
    package mutating func forget(
        endsBefore ended: CoreInstant, tokensBefore tokens: CoreInstant, in namespace: DurableNamespace
    ) {}
}
