internal import CLullCommand
internal import LullDurable
internal import LullSQLite

/// `lull compact`: gives back the space that a store needs no more.
enum CompactCommand {
    static func run(_ operands: [Argument], _ settings: Settings) throws(Failure) -> Int32 {
        try operands.checkEmpty(for: .compact)
        let file = try settings.store(creates: false, for: .compact)
        let sizes: SQLiteFile.Sizes
        do throws(DurableError) {
            sizes = try file.compact()
        } catch {
            throw Failure(error, .compact)
        }
        var output = Outlet(STDOUT_FILENO)
        output.text.append(string: line(sizes) + "\n")
        _ = try output.drain()
        return ExitStatus.success
    }

    private static func line(_ sizes: SQLiteFile.Sizes) -> String {
        let given = sizes.before - sizes.after
        if given <= 0 { return "nothing to give back: all of \(megabytes(sizes.after)) is in use" }
        let line = "gave back \(megabytes(given)) of \(megabytes(sizes.before))"
        return sizes.isCut ? line : line + ", as soon as those who are reading let go of it"
    }

    /// `1.5 MB`, rounded up so that nothing is not said of something.
    static func megabytes(_ bytes: Int64) -> String {
        let tenths = (bytes + 99_999) / 100_000
        return "\(tenths / 10).\(tenths % 10) MB"
    }
}
