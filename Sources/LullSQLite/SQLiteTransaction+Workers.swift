package import LullCore
package import LullDurable

// The workers of a namespace, and when they are woken.

extension SQLiteTransaction {
    /// See ``DurableTable/announce(_:in:)``.
    package mutating func announce(_ worker: DurableWorker.Identity, in namespace: DurableNamespace)
        throws(DurableError)
    {
        let deletion = try connection[.forgetWorkers]
        deletion.bind(":namespace", namespace.id)
        deletion.bind(":before", now.nanoseconds - DurableWorker.memory.nanoseconds)
        try deletion.run()
        let statement = try connection[.announceWorker]
        statement.bind(":namespace", namespace.id)
        statement.bind(":worker", worker.id)
        statement.bind(":host", text: worker.host)
        statement.bind(":process", worker.process)
        statement.bind(":now", now)
        try statement.run()
    }

    /// See ``DurableTable/workers(of:)``.
    package mutating func workers(of namespace: DurableNamespace) throws(DurableError) -> [DurableWorker] {
        let statement = try connection[.announcedWorkers]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        var announced: [DurableWorker] = []
        while try statement.next() {
            announced.append(
                DurableWorker(
                    .init(id: statement.integer(0), host: statement.text(1), process: statement.integer(2)),
                    seen: DurableNamespace.time(from: statement.instant(3), to: now), running: Int(statement.integer(4))
                ))
        }
        return DurableWorker.listed(announced)
    }

    /// Returns the earliest instant at which something of a namespace can be claimed, nil if there is none, and whether
    /// the namespace is paused.
    package mutating func nextWake(in name: String) throws(DurableError) -> (next: CoreInstant?, isPaused: Bool) {
        let namespace = try namespace(name)
        return (try nextWake(in: namespace, besides: nil), namespace.pause(at: now) != nil)
    }
}
