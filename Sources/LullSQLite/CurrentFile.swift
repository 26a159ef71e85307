internal import LullDurable

/// The file of a store's thread. If the options say so, it is opened again when one of its names means another file, or
/// none: what a process cannot end for, since it has other work, it goes on after.
struct CurrentFile {
    private enum State {
        case open(SQLiteFile)
        /// Nothing could be opened yet.
        case lost
    }

    private let path: String
    private let options: SQLiteFile.Options
    private var state: State

    init(_ path: String, _ options: SQLiteFile.Options) throws(DurableError) {
        (self.path, self.options) = (path, options)
        state = .open(try SQLiteFile(path, options))
    }

    /// The file that was opened last, if it can still be used, or that would say why not.
    var opened: SQLiteFile? { if case .open(let file) = state { file } else { nil } }

    /// Returns the file, opened again if need be.
    mutating func file() throws(DurableError) -> SQLiteFile {
        guard let reopens = options.reopens else {
            guard let opened else { preconditionFailure("a file was closed that is not opened again") }
            return opened
        }
        if let opened {
            guard let loss = opened.loss else { return opened }
            reopens(loss)
            // Or the index of its log would be taken for that of the new one.
            opened.close()
        }
        state = .lost
        let file = try SQLiteFile(path, options)
        state = .open(file)
        reopens(nil)
        return file
    }
}
