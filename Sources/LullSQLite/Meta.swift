internal import LullCore
internal import LullDurable

/// What a file holds once: its numbers and its time.
struct Meta {
    var base: Int64
    var sequence: Int64
    /// The number that the latest transaction to write this has drawn.
    var lastCommit: Int64
    var time: StoreTime

    /// The latest instant is not written more often than this: that would be one more page in each commit. See ``catchUp(in:)``.
    private static let lag = CoreDuration.milliseconds(10)

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

    /// Finds the latest instant, which was not written here if it is that of a submit. Reads all rows.
    mutating func catchUp(in connection: Connection) throws(DurableError) {
        let latest = try connection.number("SELECT max(pending_last) FROM work")
        time.note(CoreInstant(nanoseconds: latest))
    }

    /// Whether anything differs but how late it is.
    func differs(from old: Meta) -> Bool {
        base != old.base || sequence != old.sequence || time.anchor != old.time.anchor
    }

    /// Whether a transaction that has written something can leave this as it was.
    func canLag(behind old: Meta) -> Bool {
        !differs(from: old) && time.highest < old.time.highest.advanced(by: Self.lag)
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
