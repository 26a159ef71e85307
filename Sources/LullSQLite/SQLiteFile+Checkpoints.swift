internal import CLullFiles
internal import CLullSQLite
internal import LullDurable

// The contents of the database, without its log: only a checkpoint changes them. So stores know when something else has
// overwritten the file in place, or put another one in its place, such as an older copy. What is in the log would be
// mixed with it, which damages both.
//
// A checkpoint notes beside the writer lock what it leaves. The note is empty while it works, so that one whose process
// is killed is not mistaken for something else, and counts within one boot, since it is not synced.

/// What a checkpoint has left.
private struct CheckpointNote {
    /// The boot of the machine.
    let boot: Int64
    let size: Int64
    let modified: Int64
    /// A hash of the beginning, which has a random number of the latest commit.
    let hash: Int64

    static let count = 4
    /// Nothing is known.
    static let none = [Int64](repeating: 0, count: count)

    init?(_ numbers: [Int64]) {
        guard numbers.count == Self.count, numbers[0] != 0 else { return nil }
        (boot, size, modified, hash) = (numbers[0], numbers[1], numbers[2], numbers[3])
    }

    init(_ mark: FileMark, hash: Int64, boot: Int64) {
        (size, modified, self.hash, self.boot) = (mark.size, mark.modified, hash, boot)
    }

    var numbers: [Int64] { [boot, size, modified, hash] }
}

extension SQLiteFile {
    private var boot: Int64 {
        // Not that of `Hasher`, which differs between processes.
        let hash = options.clock.read().boot.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return Int64(bitPattern: hash | 1)
    }

    /// Copies the log into the file. The writer lock must be held.
    ///
    /// - Returns: Whether all of it was copied.
    func checkpoint(_ connection: Connection, truncates: Bool, within time: Duration) throws(DurableError) -> Bool {
        let mark = files.mark
        // What is in a log that has no name any more is not lost yet.
        guard connection.hasWholeLog else { throw files.cutLog }
        if files.hasOtherLog { throw files.missing("-wal") }
        if files.isOpen(mark), mark != contents, !isAsNoted(connection) { throw files.overwritten }
        writerLock.note(CheckpointNote.none)
        defer { contents = files.mark }
        let isComplete = try connection.checkpoint(truncates: truncates, within: time)
        // Otherwise the disk may not have it all.
        if isComplete, files.isOpen(files.mark) { noteContents(of: connection) }
        return isComplete
    }

    private func noteContents(of connection: Connection) {
        let hash = Int64(bitPattern: connection.hash)
        if hash != 0 { writerLock.note(CheckpointNote(files.mark, hash: hash, boot: boot).numbers) }
    }

    /// Returns whether the file has what the latest checkpoint has left in it, as far as that is known. The writer lock
    /// must be held.
    private func isAsNoted(_ connection: Connection) -> Bool {
        let mark = files.mark
        if let note = CheckpointNote(writerLock.readNote(CheckpointNote.count)), note.boot == boot,
            (note.size, note.modified) != (mark.size, mark.modified)
        {
            // Something may have changed its time only.
            let hash = Int64(bitPattern: connection.hash)
            if hash != 0, hash != note.hash { return false }
        }
        contents = mark
        return true
    }

    /// Throws if the log beside a file that has just been opened is not its log. The writer lock must be held.
    ///
    /// - Returns: Whether the file is another one than that with the name before.
    @discardableResult
    func checkLog(of connection: Connection) throws(DurableError) -> Bool {
        guard connection.hasWholeLog else { throw OpenFiles.missingLog(path) }
        if isAsNoted(connection) { return false }
        if connection.hasLog { throw files.strangeLog }
        writerLock.note(CheckpointNote.none)
        contents = files.mark
        return true
    }

    /// Notes what a file contains that has been opened, unless a checkpoint of it has not come to its end. The writer
    /// lock must be held.
    ///
    /// - Parameter isOther: Whether it is another file than that with the name before.
    func noteOpening(of connection: Connection, isOther: Bool) {
        let mark = files.mark
        contents = mark
        let numbers = writerLock.readNote(CheckpointNote.count)
        if numbers.first == 0, !isOther { return }
        let note = CheckpointNote(numbers)
        if let note, note.boot == boot, (note.size, note.modified) == (mark.size, mark.modified) { return }
        noteContents(of: connection)
    }

    /// Why the files can no longer be used: the name of one means another file, or none, or something else has changed
    /// one. Nil if they can.
    var loss: DurableError? {
        let mark = files.mark
        if let loss = files.loss(mark) { return loss }
        if let suffix = writerLock.missingSuffix { return files.missing(suffix) }
        guard let connection else { return nil }
        guard connection.hasWholeLog else { return files.cutLog }
        if mark == contents { return nil }
        // A checkpoint may be under way.
        let isHeld = writerLock.isHeld
        guard isHeld || (try? writerLock.acquire(within: .zero)) != nil else { return nil }
        defer { if !isHeld { writerLock.release() } }
        return isAsNoted(connection) ? nil : files.overwritten
    }

    /// The same, right after a commit, of what it was written to. The writer lock must be held.
    func lossOfCommit(_ connection: Connection) -> DurableError? {
        let mark = files.mark
        if let loss = files.loss(mark) { return loss }
        return mark == contents || isAsNoted(connection) ? nil : files.overwritten
    }
}
