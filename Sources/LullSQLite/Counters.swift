package import LullDurable

// The counters of a namespace that only increase: attempts at runs, and lost leases. They are in the file because monitoring subtracts
// two readings, whichever processes did the work in between. Each claim writes them once.

extension SQLiteTransaction {
    package func count(attempts: Int, lostLeases: Int, in namespace: DurableNamespace) throws(DurableError) {
        try addToCounters(of: namespace, attempts: attempts, lostLeases: lostLeases)
    }

    package func countRestart(in namespace: DurableNamespace) throws(DurableError) {
        let statement = try connection[.countRestart]
        statement.bind(":namespace", namespace.id)
        try statement.run()
    }

    /// Adds to the counters of a namespace, and to the number of its dead runs.
    func addToCounters(
        of namespace: DurableNamespace, attempts: Int = 0, lostLeases: Int = 0, dead: Int = 0
    ) throws(DurableError) {
        let statement = try connection[.addToCounters]
        statement.bind(":attempts", Int64(attempts))
        statement.bind(":lost_leases", Int64(lostLeases))
        statement.bind(":dead", Int64(dead))
        statement.bind(":namespace", namespace.id)
        try statement.run()
    }

    func readCounters(of namespace: DurableNamespace, to status: inout DurableStatus) throws(DurableError) {
        let statement = try connection[.readCounters]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        guard try statement.next() else { return }
        status.attempts = Int(try statement.number(0))
        status.lostLeases = Int(try statement.number(1))
        status.dead = Int(try statement.number(2))
        status.restarted = Int(try statement.number(3))
    }
}
