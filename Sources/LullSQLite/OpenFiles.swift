internal import CLullFiles
internal import LullDurable

/// The files of a store as they were opened. Later their names may mean other files, or none: then what is written is lost.
struct OpenFiles {
    /// The path as the user gave it, and the full path, since the process may change its directory.
    private let path: String
    private let name: String
    private let identity: FileMark.Identity
    /// The log and its index, once they have been seen.
    private var log: [FileMark.Identity] = []
    /// When to check all of them again.
    private var nextCheck = ContinuousClock.now

    init(_ path: String, _ connection: Connection) throws(DurableError) {
        self.path = path
        name = path.hasPrefix("/") ? path : connection.file
        identity = FileMark(of: name).identity
        // The name may mean another file already.
        if connection.hasMoved { throw Self.missing(path) }
    }

    /// The error for what has been written to a file that no longer has its name; nil if it still has.
    var loss: DurableError? { FileMark(of: name).identity == identity ? nil : Self.missing(path, found: name) }

    /// Throws if the name no longer means the file that was opened first.
    func checkIdentity() throws(DurableError) {
        if let loss { throw loss }
    }

    /// Checks the file of a new connection.
    mutating func reopened(_ connection: Connection) throws(DurableError) {
        log = []
        try checkIdentity()
        if connection.hasMoved { throw Self.missing(path) }
    }

    /// Throws if the database, or a file beside it, has been deleted or replaced. Looks twice a second.
    mutating func check(_ connection: Connection?, _ writerLock: WriterLock) throws(DurableError) {
        let now = ContinuousClock.now
        guard now >= nextCheck else { return }
        try checkIdentity()
        if let missing = writerLock.missing { throw Self.missing(missing) }
        if let connection {
            let names = ["-wal", "-shm"].map { connection.file + $0 }
            let found = names.map { FileMark(of: $0).identity }
            for (name, (old, new)) in zip(names, zip(log, found)) where old != new { throw Self.missing(name) }
            log = found
        }
        nextCheck = now.advanced(by: .milliseconds(400))
    }

    private static func missing(_ path: String, found name: String? = nil) -> DurableError {
        let exists = lull_exists(name ?? path) != 0
        return .unusable(
            exists
                ? "\(path) was replaced by another file while it was in use"
                : "\(path) is gone (moved or deleted): put it back, or begin a new store, and start again")
    }
}
