internal import LullDurable
internal import LullSQLite

/// `lull compact`: returns a store's unused space to the file system.
enum CompactCommand {
    static func run(_ options: CommandOptions) throws(Failure) -> String {
        guard case .file(let path) = try options.storeURL(for: .compact) else {
            throw .usage("lull compact is for files: a server keeps its own data compact", .compact)
        }
        let file = try StoreURL.file(path, options.patience, .compact)
        do throws(DurableError) { return try text(file.compact()) } catch { throw Failure(error, .compact) }
    }

    private static func text(_ sizes: SQLiteFile.Sizes) -> String {
        let given = sizes.before - sizes.after
        if given <= 0 { return "nothing to reclaim: all of \(megabytes(sizes.after)) is in use" }
        let ending = sizes.isCut ? "" : ", as soon as the current readers have finished"
        return "reclaimed \(megabytes(given)) of \(megabytes(sizes.before))\(ending)"
    }
}
