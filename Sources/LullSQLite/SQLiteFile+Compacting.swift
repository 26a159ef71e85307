internal import Lull
package import LullDurable

// Compacting: makes a file smaller while other processes use it.

extension SQLiteFile {
    /// The sizes of a file before and after compacting.
    package struct Sizes: Sendable {
        package let before: Int64
        package let after: Int64
        /// Whether the file was truncated. Readers may prevent that for a while.
        package let isCut: Bool
    }

    /// The pages that one transaction moves. That takes some milliseconds, during which no other process can write.
    static let pagesPerStep: Int64 = 256

    /// Gives back unused space, in small steps between which other processes write. Each step is a transaction: the process may be
    /// killed at any time.
    package func compact() throws(DurableError) -> Sizes {
        let before = try size()
        if try setting("auto_vacuum") != 2 { try rewrite() }
        try deleteReleasedValues(patience: options.patience)
        // Other processes may free as much space as this gives back, without end: gives back what is free now.
        var left = try setting("freelist_count")
        while left > 0 {
            let most = min(left, Self.pagesPerStep)
            try write { transaction throws(DurableError) in try transaction.giveBack(most) }
            left = min(left - most, try setting("freelist_count"))
        }
        return Sizes(before: before, after: try size(), isCut: try truncate())
    }

    /// Rewrites a file of a version that could not give back space in steps. No other process can write meanwhile.
    private func rewrite() throws(DurableError) {
        try writerLock.acquire(within: options.patience)
        defer { writerLock.release() }
        let connection = try openConnection()
        try check()
        do throws(DurableError) {
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
        } catch {
            // Its commit may have failed: recovers the file, as after any other.
            _ = resolve(.number(0), after: error)
            throw error
        }
    }

    /// Truncates the file after its contents.
    private func truncate() throws(DurableError) -> Bool {
        try writerLock.acquire(within: options.patience)
        defer { writerLock.release() }
        return try openConnection().checkpoint(truncates: true, within: options.patience)
    }

    private func size() throws(DurableError) -> Int64 { try setting("page_count") * setting("page_size") }

    private func setting(_ name: String) throws(DurableError) -> Int64 {
        try read { transaction throws(DurableError) in try transaction.connection.number("PRAGMA \(name)") }
    }
}

extension SQLiteTransaction {
    /// Moves pages from the end of the file to free ones, so that the file can be truncated.
    fileprivate mutating func giveBack(_ pages: Int64) throws(DurableError) {
        hasMovedPages = true
        try connection.prepare("PRAGMA incremental_vacuum(\(pages))").run()
    }
}
