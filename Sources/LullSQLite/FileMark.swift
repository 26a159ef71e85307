internal import CLullFiles

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
    private let modified: Int64

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
