internal import CLullFiles
internal import Foundation
internal import LullDurable

/// The files of a store as they were opened. Later their names may mean other files, or none: then what is written is
/// lost.
struct OpenFiles {
    /// The path as the user gave it.
    private let path: String
    /// The same from the root, since the process may change its directory. A link stays one, since it may be changed.
    private let name: String
    private let identity: FileMark.Identity
    /// The path of the database without links, beside which SQLite has the log and its index.
    private let place: String
    /// The log and its index, as a connection has opened them.
    private var log: [(suffix: String, identity: FileMark.Identity)] = []
    /// What the user can do when one is gone.
    private let advice: String

    init(_ path: String, _ connection: Connection, reopens: Bool) throws(DurableError) {
        self.path = path
        advice = reopens ? "" : ": put it back, or begin a new store, and start again"
        name = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        place = connection.file
        identity = FileMark(of: name).identity
        // The name may mean another file already.
        if connection.hasMoved { throw missing("") }
    }

    /// Takes note of the log of a new connection, whose file must still have the name. The writer lock must be held.
    mutating func opened(_ connection: Connection) throws(DurableError) {
        try checkIdentity()
        if connection.hasMoved { throw missing("") }
        log = ["-wal", "-shm"].map { ($0, FileMark(of: place + $0).identity) }
    }

    /// What the name means now.
    var mark: FileMark { FileMark(of: name) }

    /// Whether the name means the file that was opened first.
    func isOpen(_ mark: FileMark) -> Bool { mark.identity == identity }

    /// Throws if the name no longer means the file that was opened first.
    func checkIdentity() throws(DurableError) {
        if !isOpen(mark) { throw missing("") }
    }

    /// The error for what has been written while one of the names meant another file; nil if all mean what they did.
    ///
    /// - Parameter mark: What the name means now.
    func loss(_ mark: FileMark) -> DurableError? {
        if !isOpen(mark) { return missing("") }
        return log.first { FileMark(of: place + $0.suffix).identity != $0.identity }.map { missing($0.suffix) }
    }

    /// Whether another log, or another index, has the name of the one that was opened.
    var hasOtherLog: Bool {
        log.contains { file in
            let mark = FileMark(of: place + file.suffix)
            return mark.exists && mark.identity != file.identity
        }
    }

    /// The error for a file beside the database, or the database itself, that was deleted or replaced.
    func missing(_ suffix: String) -> DurableError {
        .unusable(
            lull_exists(suffix.isEmpty ? name : place + suffix) != 0
                ? "\(path)\(suffix) was replaced by another file while it was in use"
                : "\(path)\(suffix) is gone (moved or deleted)\(advice)")
    }

    var overwritten: DurableError { .unusable("\(path) was overwritten by another program while it was in use") }

    var cutLog: DurableError { .unusable("\(path)-wal was cut while it was in use") }

    /// The error for a log that another process uses, and that has another file's name now.
    static func missingLog(_ path: String) -> DurableError {
        .unusable("\(path)-wal was deleted or cut while it is in use: end what uses the store, and start again")
    }

    var strangeLog: DurableError {
        .unusable(
            "\(path) is not the file for which \(path)-wal was written: put that back, or remove \(path)-wal and "
                + "\(path)-shm (or \(path)-write, if both were restored)")
    }
}

/// Identifies a file and a state of its contents. All zero for a file that does not exist.
struct FileMark: Equatable {
    /// Identifies a file, whatever its name.
    struct Identity: Equatable {
        let device: Int64
        let inode: Int64
    }

    let identity: Identity
    let size: Int64
    /// When the contents changed last.
    let modified: Int64

    init(of path: String) {
        self.init(lull_mark_of(path, -1))
    }

    /// The mark of an open file.
    init(open descriptor: Int32) {
        self.init(lull_mark_of(nil, descriptor))
    }

    private init(_ mark: lull_mark) {
        identity = Identity(device: mark.device, inode: mark.inode)
        (size, modified) = (mark.size, mark.modified)
    }

    var exists: Bool { identity.inode != 0 }
}
