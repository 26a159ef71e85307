internal import CLullSQLite

/// What tells a file, and each state of its contents, from others. Of a file that is not there everything is zero.
struct FileMark: Equatable {
    /// Which file it is, whatever it is called.
    struct Identity: Equatable {
        let device: Int64
        let inode: Int64
    }

    let identity: Identity
    let size: Int64
    /// When the contents were changed.
    private let modified: Int64

    init(of path: String) {
        let mark = lull_mark_of(path)
        identity = Identity(device: mark.device, inode: mark.inode)
        (size, modified) = (mark.size, mark.modified)
    }

    var isThere: Bool { identity.inode != 0 }
}
