internal import CLullFiles

/// Identifies a file and the state of its contents. All zero for a file that does not exist.
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
        self.init(lull_mark_of(path, -1))
    }

    /// Of an open file.
    init(open descriptor: Int32) {
        self.init(lull_mark_of(nil, descriptor))
    }

    private init(_ mark: lull_mark) {
        identity = Identity(device: mark.device, inode: mark.inode)
        (size, modified) = (mark.size, mark.modified)
    }

    var isThere: Bool { identity.inode != 0 }
}
