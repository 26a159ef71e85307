internal import Lull
package import LullDurable

// How a file gets smaller while others use it.

extension SQLiteFile {
    /// How large a file was, and is.
    package struct Sizes: Sendable {
        package let before: Int64
        package let after: Int64
        /// Whether the file has been cut; readers may keep it from that for a while.
        package let isCut: Bool
    }

    /// As many pages are moved in one transaction: this takes some milliseconds, during which no other process can write.
    static let pagesAtOnce: Int64 = 256

    /// Gives back the space that is not in use, in small steps between which others write. Each is a transaction: this may be
    /// killed at any time.
    package func compact() throws(DurableError) -> Sizes {
        let before = try size()
        if try setting("auto_vacuum") != 2 { try rewrite() }
        try deleteSpentValues(patience: options.patience)
        // Others may make as much room as is given back, for ever: what is there now is enough.
        var left = try setting("freelist_count")
        while left > 0 {
            let most = min(left, Self.pagesAtOnce)
            try write { transaction throws(DurableError) in try transaction.giveBack(most) }
            left = min(left - most, try setting("freelist_count"))
        }
        return Sizes(before: before, after: try size(), isCut: try cut())
    }

    /// Writes a file anew that was made before space could be given back in steps. No other process can write meanwhile.
    private func rewrite() throws(DurableError) {
        try writerLock.acquire(within: options.patience)
        defer { writerLock.release() }
        let connection = try usable()
        try check()
        do throws(DurableError) {
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
        } catch {
            // Its commit may have failed: what lies in the log is made certain, as after any other.
            _ = resolve(.number(0), after: error)
            throw error
        }
    }

    /// Lets the file end where its contents do.
    private func cut() throws(DurableError) -> Bool {
        try writerLock.acquire(within: options.patience)
        defer { writerLock.release() }
        return try usable().checkpoint(truncates: true, within: options.patience)
    }

    private func size() throws(DurableError) -> Int64 { try setting("page_count") * setting("page_size") }

    private func setting(_ name: String) throws(DurableError) -> Int64 {
        try read { transaction throws(DurableError) in try transaction.table.connection.number("PRAGMA \(name)") }
    }
}

extension SQLiteTransaction {
    /// Moves what lies at the end of the file to where there is room, so that the end can be cut off.
    fileprivate mutating func giveBack(_ pages: Int64) throws(DurableError) {
        hasMovedPages = true
        try table.connection.prepare("PRAGMA incremental_vacuum(\(pages))").run()
    }
}
