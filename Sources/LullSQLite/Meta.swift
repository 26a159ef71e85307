internal import LullCore
internal import LullDurable

/// The columns of `meta`, in the order in which they are read.
enum MetaColumn: Int32, Column {
    case base, sequence, highest, lastCommit, boot, sinceBoot, wall, start

    static let list = "base, sequence, highest, last_commit, boot, since_boot, wall, start"
}

/// The entry that a file has once: its numbers and its time.
struct Meta {
    var base: Int64
    var sequence: Int64
    /// A random number of the latest transaction that wrote this: see ``CommitMark/number(_:)``.
    var lastCommit: Int64
    var time: StoreTime

    /// How far the stored instant may lag behind: to write it in each commit would add a page to each. See
    /// ``catchUp(in:)``.
    private static let lag = CoreDuration.milliseconds(10)

    /// Reads the entry in an open transaction.
    init(from connection: Connection) throws(DurableError) {
        let statement = try connection[.readMeta]
        defer { statement.reset() }
        guard try statement.next() else { throw connection.damage("no entry about itself") }
        typealias Columns = MetaColumn
        base = try statement.number(Columns.base)
        sequence = try statement.number(Columns.sequence)
        lastCommit = statement.integer(Columns.lastCommit)
        let anchor = StoreTime.Reading(
            boot: statement.text(Columns.boot),
            sinceBoot: CoreDuration(nanoseconds: try statement.number(Columns.sinceBoot)),
            wall: statement.instant(Columns.wall))
        time = StoreTime(
            anchor: anchor, start: statement.instant(Columns.start), highest: statement.instant(Columns.highest))
    }

    /// Creates the entry of a new file.
    static func create(in connection: Connection, at reading: StoreTime.Reading) throws(DurableError) {
        try connection.execute("INSERT INTO meta VALUES (0, 0, 0, 0, '', 0, 0, 0)")
        try StoreTime(at: reading).writeAnchor(to: connection)
    }

    /// Finds the latest instant in all rows: that of a submit is not always written to this entry.
    mutating func catchUp(in connection: Connection) throws(DurableError) {
        let latest = try connection.number("SELECT max(coalesce(pending_last, pending_first)) FROM work")
        time.note(CoreInstant(nanoseconds: latest))
    }

    /// Whether anything but the latest instant differs.
    func differs(from old: Meta) -> Bool {
        base != old.base || sequence != old.sequence || time.anchor != old.time.anchor
    }

    /// Whether a transaction that has written something need not write this.
    func canLag(behind old: Meta) -> Bool {
        !differs(from: old) && time.highest < old.time.highest.advanced(by: Self.lag)
    }

    /// Writes what has changed.
    func write(to connection: Connection, since old: Meta) throws(DurableError) {
        let statement = try connection[.writeMeta]
        statement.bind(":base", base)
        statement.bind(":sequence", sequence)
        statement.bind(":highest", time.highest)
        statement.bind(":last_commit", lastCommit)
        try statement.run()
        if time.anchor != old.time.anchor { try time.writeAnchor(to: connection) }
    }
}

extension StoreTime {
    fileprivate func writeAnchor(to connection: Connection) throws(DurableError) {
        let statement = try connection[.writeAnchor]
        statement.bind(":boot", text: anchor.boot)
        statement.bind(":since_boot", anchor.sinceBoot.nanoseconds)
        statement.bind(":wall", anchor.wall)
        statement.bind(":start", start)
        try statement.run()
    }
}
