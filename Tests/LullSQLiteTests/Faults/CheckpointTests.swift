import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// When the log is copied into the file, and by which process.
@Suite(.ownThreads) struct CheckpointTests {
    private let disk = FaultyDisk()
    private let place: Place
    private let machine = Machine()
    private let options: SQLiteFile.Options

    init() throws {
        place = try Place()
        var options = SQLiteFile.Options(machine, patience: .milliseconds(20))
        options.vfs = disk.name
        options.longLog = 20
        self.options = options
    }

    @Test func `only the holder of the writer lock copies the log`() throws {
        var file: SQLiteFile? = try SQLiteFile(place.path, options)
        try file?.open(try debounce(2))
        try file?.submit(submission("a", "one"))
        let writes = disk.calls(.write, of: .database)
        let writerLock = try WriterLock(besides: place.path)
        try writerLock.acquire(within: .zero)
        file?.cleanUp()
        file = nil
        #expect(disk.calls(.write, of: .database) == writes, "neither while idle nor at the end")
        writerLock.release()
        file = try SQLiteFile(place.path, options)
        #expect(disk.calls(.write, of: .database) > writes)
        #expect(try file?.status()?.pending == 1)
    }

    @Test func `a failed checkpoint fails no submit and is repeated later`() throws {
        let file = try SQLiteFile(place.path, options)
        try file.open(try debounce(2))
        disk.arm(.error, at: [.write, .sync], of: .database, lasts: true)
        for number in 0..<100 { try file.submit(submission("key \(number)", "value")) }
        #expect(disk.hasFailed)
        disk.mend()
        for number in 100..<200 { try file.submit(submission("key \(number)", "value")) }
        file.cleanUp()
        #expect(disk.calls(.truncate, of: .log) > 0, "the log is empty")
        #expect(try file.status()?.pending == 200)
        #expect(try file.audit(isComplete: true) == [])
    }
}
