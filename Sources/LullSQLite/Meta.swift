internal import LullCore
internal import LullDurable

/// What a file holds once: its numbers and its time.
struct Meta: Equatable {
    var base: Int64
    var sequence: Int64
    /// The number that the latest transaction has drawn: tells whether a commit that failed is in the file.
    var lastCommit: Int64
    var time: StoreTime

    /// Reads it in an open transaction.
    init(from connection: Connection) throws(DurableError) {
        let statement = try connection[.readMeta]
        defer { statement.reset() }
        guard try statement.next() else { throw connection.damage("no entry about itself") }
        base = try statement.number(0)
        sequence = try statement.number(1)
        lastCommit = statement.integer(3)
        let anchor = StoreTime.Reading(
            boot: statement.text(4), sinceBoot: CoreDuration(nanoseconds: try statement.number(5)),
            wall: statement.instant(6))
        time = StoreTime(anchor: anchor, start: statement.instant(7), highest: statement.instant(2))
    }

    /// Makes the entry of a new file.
    static func create(in connection: Connection, at reading: StoreTime.Reading) throws(DurableError) {
        try connection.execute("INSERT INTO meta VALUES (0, 0, 0, 0, '', 0, 0, 0)")
        try StoreTime(at: reading).writeAnchor(to: connection)
    }

    /// The same, with the time and the commit of another: whether anything else differs decides whether there is something
    /// to write.
    func with(highest other: Meta) -> Meta {
        var meta = self
        meta.lastCommit = other.lastCommit
        if time.anchor == other.time.anchor { meta.time = other.time }
        return meta
    }

    /// Writes what has changed.
    func write(to connection: Connection, since old: Meta) throws(DurableError) {
        let statement = try connection[.writeMeta]
        statement.bind(1, base)
        statement.bind(2, sequence)
        statement.bind(3, time.highest)
        statement.bind(4, lastCommit)
        try statement.run()
        if time.anchor != old.time.anchor { try time.writeAnchor(to: connection) }
    }
}

extension StoreTime {
    fileprivate func writeAnchor(to connection: Connection) throws(DurableError) {
        let statement = try connection[.writeAnchor]
        statement.bind(1, text: anchor.boot)
        statement.bind(2, anchor.sinceBoot.nanoseconds)
        statement.bind(3, anchor.wall)
        statement.bind(4, start)
        try statement.run()
    }
}
