import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// The answers to submits when the disk fails at their commit.
@Suite(.ownThreads) struct CommitFaultTests {
    private let disk = FaultyDisk()
    private let place: Place
    private let machine = Machine()
    private let options: SQLiteFile.Options

    init() throws {
        place = try Place()
        var options = SQLiteFile.Options(machine, patience: .milliseconds(20))
        options.vfs = disk.name
        self.options = options
    }

    private func makeFile() throws -> SQLiteFile {
        let file = try SQLiteFile(place.path, options)
        try file.open(try debounce(2, .collect))
        return file
    }

    private func submit(_ value: String, to file: SQLiteFile) -> Result<Int64, DurableError> {
        do throws(DurableError) {
            return .success(try file.submit(submission("a", value, token: value)).generation)
        } catch {
            return .failure(error)
        }
    }

    /// Returns the values of the key in the file.
    private func values(in file: SQLiteFile) throws -> [String] {
        machine.pass(10)
        return try file.claim(claim(maxAttempts: 9)).flatMap { $0.values.map(text) }
    }

    @Test(arguments: [FaultyDisk.Effect.error, .errorAndLoss])
    func `a commit that is in the file succeeds although its sync failed`(_ effect: FaultyDisk.Effect) throws {
        var file: SQLiteFile? = try makeFile()
        #expect(submit("one", to: file!) == .success(1))
        disk.arm(effect, at: .sync, of: .log)
        #expect(submit("two", to: file!) == .success(2))
        #expect(disk.hasFailed)
        // Everything acknowledged is on the disk by now.
        disk.cut()
        file = nil
        disk.start()
        file = try makeFile()
        #expect(try values(in: file!) == ["one", "two"])
    }

    @Test func `a commit that is not in the file is refused`() throws {
        let file = try makeFile()
        disk.arm(.error, at: .write, of: .log)
        guard case .failure(.refused(let why)) = submit("one", to: file) else {
            Issue.record("a write that failed was not refused")
            return
        }
        #expect(why.hasPrefix("the disk of \(place.path) failed: "))
        #expect(try values(in: file) == [])
        #expect(throws: Never.self) { try submit("one", to: file).get() }
    }

    @Test func `a disk that has become read-only refuses submits with the cause, while it is`() throws {
        let file = try makeFile()
        let connection = file.connection
        disk.protect(true)
        for _ in 0..<3 {
            let why = "\(place.path) cannot be written: Read-only file system"
            #expect(submit("one", to: file) == .failure(.refused(why)))
        }
        #expect(file.connection === connection, "nothing was to be found out")
        disk.protect(false)
        #expect(throws: Never.self) { try submit("two", to: file).get() }
        #expect(try values(in: file) == ["two"])
    }

    @Test(arguments: [FaultyDisk.Effect.error, .errorAndLoss], 1...20)
    func `a commit that no process sees after a failed sync is refused and stays away`(
        _ effect: FaultyDisk.Effect, seed: Int
    ) throws {
        let disk = FaultyDisk(seed: UInt64(seed))
        defer { withExtendedLifetime(disk) {} }
        var options = options
        options.vfs = disk.name
        var file: SQLiteFile? = try SQLiteFile(place.path, options)
        try file?.open(try debounce(2, .collect))
        // The index of the log, which others hold, does not know of the commit.
        var other: SQLiteFile? = try SQLiteFile(place.path, options)
        // The first commit in a log is synced twice.
        #expect(submit("zero", to: file!) == .success(1))
        _ = try other?.status()
        disk.arm(effect, at: .sync, of: .log)
        guard case .failure(.refused) = submit("one", to: file!) else {
            Issue.record("a commit that no process sees was not refused")
            return
        }
        if !seed.isMultiple(of: 3) { disk.cut() }
        file = nil
        other = nil
        disk.start()
        // With no process left, the log is read again: the commit must not be in it, not even after a power cut.
        file = try SQLiteFile(place.path, options)
        #expect(try values(in: file!) == ["zero"])
    }

    @Test func `a commit that cannot be checked is unknown until the disk works again`() throws {
        let file = try makeFile()
        #expect(submit("one", to: file) == .success(1))
        disk.arm(.error, at: .sync, lasts: true)
        guard case .failure(.unknown(let why)) = submit("two", to: file) else {
            Issue.record("a commit that cannot be checked was not unknown")
            return
        }
        #expect(why.hasPrefix("the disk of \(place.path) failed: "))
        #expect(why.contains("; then the disk of \(place.path) failed: "))
        guard case .failure(.refused) = submit("three", to: file) else {
            Issue.record("a submit before the disk worked again was not refused")
            return
        }
        disk.mend()
        // Whether it was recorded or not, the same token makes it one submit.
        #expect(submit("two", to: file) == .success(2))
        #expect(submit("four", to: file) == .success(3))
        #expect(try values(in: file) == ["one", "two", "four"])
    }

    @Test func `a full disk refuses commits without reopening the file`() throws {
        let file = try makeFile()
        let connection = file.connection
        disk.arm(.full, at: .write, lasts: true)
        for _ in 0..<3 {
            #expect(submit("one", to: file) == .failure(.full("the disk of \(place.path) is full")))
            #expect(try file.status()?.pending == 0, "the file can be read")
        }
        #expect(file.connection === connection, "a commit that was certainly not made needs no recovery")
        disk.mend()
        #expect(submit("two", to: file) == .success(1))
        #expect(try values(in: file) == ["two"])
    }

    // After a failed sync, the system may never write parts of the log. The log is repaired before anything relies on
    // it.

    @Test func `a power cut during recovery from a failed sync damages nothing`() throws {
        let cuts = try cutsAfterAFailedSync { disk, cut, file, _ in
            disk.arm(.errorAndLoss, at: .sync, of: .log, cut: cut)
            fill(try #require(file))
            #expect(disk.hasFailed)
        }
        #expect(cuts > 30, "cuts that come later see nothing of it")
    }

    @Test func `a power cut while the next process opens the file after a failed sync damages nothing`() throws {
        let cuts = try cutsAfterAFailedSync { disk, cut, file, open in
            disk.arm(.errorAndLoss, at: .sync, of: .log, lasts: true)
            fill(try #require(file))
            #expect(disk.hasFailed)
            file = nil
            disk.mend()
            disk.arm(.cut, after: cut)
            file = try? open()
        }
        #expect(cuts > 30, "cuts that come later see nothing of it")
    }

    /// Submits a large value to each key.
    private func fill(_ file: SQLiteFile) {
        file.write(
            (0..<40).map { key in
                .submit(submission("key \(key)", String(repeating: "v", count: 500))) { _ in }
            })
    }

    /// - Parameter body: Makes a sync fail, and cuts the power a number of calls later.
    /// - Returns: How often the power was cut.
    private func cutsAfterAFailedSync(
        _ body: (FaultyDisk, _ cut: Int, inout SQLiteFile?, _ open: () throws -> SQLiteFile) throws -> Void
    ) throws -> Int {
        var cuts = 0
        for cut in 1...80 {
            let disk = FaultyDisk(seed: UInt64(cut))
            defer { withExtendedLifetime(disk) {} }
            let place = try Place()
            var options = options
            options.vfs = disk.name
            let settings = options
            let open = { try SQLiteFile(place.path, settings) }
            var file: SQLiteFile? = try open()
            try file?.open(try debounce(2, .collect))
            for key in 0..<40 { try file?.submit(submission("key \(key)", "\(key)")) }
            file?.cleanUp()
            for key in 0..<4 { try file?.submit(submission("key \(key)", "more")) }
            try body(disk, cut, &file, open)
            if disk.isOff { cuts += 1 }
            disk.cut()
            file = nil
            disk.start()
            file = try open()
            #expect(try file?.audit(isComplete: true) == [], "a cut \(cut) calls after the sync")
            #expect(try file?.status()?.pending == 40)
            file = nil
        }
        return cuts
    }
}
