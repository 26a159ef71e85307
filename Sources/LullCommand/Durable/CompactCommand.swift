internal import CLullCommand
internal import LullDurable
internal import LullSQLite

/// `lull compact`: returns a store's unused space to the file system.
enum CompactCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> Int32 {
        guard case .file(let path) = try options.storeURL(for: .compact) else {
            throw .usage("lull compact is for files: a server keeps its own data compact", .compact)
        }
        let file = try StoreURL.file(path, options.patience, .compact)
        let sizes: SQLiteFile.Sizes
        do throws(DurableError) {
            sizes = try file.compact()
        } catch {
            throw Failure(error, .compact)
        }
        try OutputBuffer.print(line(sizes) + "\n")
        return ExitStatus.success
    }

    private static func line(_ sizes: SQLiteFile.Sizes) -> String {
        let given = sizes.before - sizes.after
        if given <= 0 { return "nothing to reclaim: all of \(megabytes(sizes.after)) is in use" }
        let line = "reclaimed \(megabytes(given)) of \(megabytes(sizes.before))"
        return sizes.isCut ? line : line + ", as soon as the current readers have finished"
    }

    /// Returns `1.5 MB`, rounded up so that only nothing is shown as nothing.
    static func megabytes(_ bytes: Int64) -> String {
        let tenths = (bytes + 99_999) / 100_000
        return "\(tenths / 10).\(tenths % 10) MB"
    }
}
