internal import CLullFiles
internal import LullDurable

/// The files of a store as they were opened. Their names may come to mean others, or none; what is written to them then is lost.
struct OpenFiles {
    /// The path as the user gave it, and the full path: the process may change its directory.
    private let path: String
    private let name: String
    private let identity: FileMark.Identity
    /// The log, and its index, when they have been seen.
    private var log: [FileMark.Identity] = []
    /// When all of them are looked at again.
    private var nextCheck = ContinuousClock.now

    init(_ path: String, _ connection: Connection) throws(DurableError) {
        self.path = path
        name = path.hasPrefix("/") ? path : connection.file
        identity = FileMark(of: name).identity
        // The name may mean another file already.
        if connection.hasMoved { throw Self.gone(path) }
    }

    /// Why what has been written is lost; nil if it is where the name says.
    var loss: DurableError? { FileMark(of: name).identity == identity ? nil : Self.gone(path, found: name) }

    /// Throws if the name means another file than the one that was opened first.
    func checkIdentity() throws(DurableError) {
        if let loss { throw loss }
    }

    /// Takes note of another connection.
    mutating func reopened(_ connection: Connection) throws(DurableError) {
        log = []
        try checkIdentity()
        if connection.hasMoved { throw Self.gone(path) }
    }

    /// Throws if any of the files is gone, those beside the database among them. Looks twice a second.
    mutating func check(_ connection: Connection?, _ writerLock: WriterLock) throws(DurableError) {
        let now = ContinuousClock.now
        guard now >= nextCheck else { return }
        try checkIdentity()
        if let missing = writerLock.missing { throw Self.gone(missing) }
        if let connection {
            let names = ["-wal", "-shm"].map { connection.file + $0 }
            let found = names.map { FileMark(of: $0).identity }
            for (name, (old, new)) in zip(names, zip(log, found)) where old != new { throw Self.gone(name) }
            log = found
        }
        nextCheck = now.advanced(by: .milliseconds(400))
    }

    private static func gone(_ path: String, found name: String? = nil) -> DurableError {
        let isThere = lull_exists(name ?? path) != 0
        return .unusable(
            isThere
                ? "\(path) was replaced by another file while it was in use"
                : "\(path) is gone (moved or deleted): put it back, or begin a new store, and start again")
    }
}
