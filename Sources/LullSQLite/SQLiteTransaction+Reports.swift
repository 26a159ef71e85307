internal import LullCore
internal import LullDurable

// Status, listings and dead runs. Of values, only those of dead runs are read.

extension SQLiteTransaction {
    mutating func status(of namespace: DurableNamespace) throws(DurableError) -> DurableStatus {
        var status = DurableStatus(namespace: namespace.name, rules: namespace.rules)
        try countWork(of: namespace, &status)
        try readCounters(of: namespace, to: &status)
        return status
    }

    /// Lists keys from `start` on, or, if it is empty, from the first key with the prefix.
    func list(
        prefix: [UInt8], from start: [UInt8] = [], limit: Int, in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableListing<[UInt8]>] {
        var listings: [DurableListing<[UInt8]>] = []
        let rows = try connection[.listedRows]
        defer { rows.reset() }
        rows.bind(":namespace", namespace.id)
        rows.bind(":start", blob: start.isEmpty ? prefix : start)
        while listings.count < limit, try rows.next() {
            let entry = try rows.entry()
            guard entry.key.starts(with: prefix) else { break }
            guard entry.row.isListed(at: now, by: namespace.rules) else { continue }
            listings.append(DurableListing(key: entry.key, row: entry.row, rules: namespace.rules, at: now))
        }
        return listings
    }

    func dead(limit: Int, in namespace: DurableNamespace) throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        var runs: [DurableDeadRun<[UInt8]>] = []
        let statement = try connection[.deadRuns]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        statement.bind(":limit", max(0, limit))
        while try statement.next() {
            let (key, run, at) = try dead(statement, in: namespace)
            let values =
                namespace.collects
                ? try values(of: run.value, of: key, in: namespace) : [statement.blob(DeadColumn.value)]
            runs.append(
                DurableDeadRun(
                    id: run.id, key: key, values: values, submits: run.value.submits, count: run.value.count,
                    attempts: run.attempt, error: run.errorText, age: DurableNamespace.time(from: at, to: now)))
        }
        return runs
    }
}
