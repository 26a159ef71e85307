import FaultVFS
import Foundation
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// Opening a file on a disk that fails, is full, or cannot be written: an error that says so, and no damage.
@Suite(.ownThreads) struct OpeningFaultTests {
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

    private func refusal() -> String? {
        do {
            _ = try SQLiteFile(place.path, options)
            return nil
        } catch {
            return switch error {
            case .unusable(let why), .refused(let why), .full(let why): why
            default: "another error: \(error)"
            }
        }
    }

    private func make() throws {
        let file = try SQLiteFile(place.path, options)
        try file.open(try debounce(2))
        try file.submit(submission("a", "one"))
    }

    private func contents() -> [Data?] {
        ["", "-wal", "-write"].map { FileManager.default.contents(atPath: place.path + $0) }
    }

    /// Counts the calls of one kind that `body` makes.
    private func count(_ calls: FaultyDisk.Calls, _ body: () throws -> Void) rethrows -> Int {
        let before = disk.calls(calls)
        try body()
        return disk.calls(calls) - before
    }

    @Test func `a first opening may meet a full disk at any write and succeeds later`() throws {
        let writes = try count(.write) { _ = try SQLiteFile(place.path, options) }
        #expect(writes > 10)
        for write in 0..<writes {
            let bench = try OpeningFaultTests()
            let full = "the disk of \(bench.place.path) is full"
            bench.disk.arm(.full, at: .write, after: write, lasts: true)
            let why = bench.refusal()
            #expect(why == nil || why == full)
            // The last write of an opening may fail only when something is submitted.
            if why == nil { #expect(throws: DurableError.full(full)) { try bench.make() } }
            bench.disk.mend()
            #expect(throws: Never.self) { try bench.make() }
        }
    }

    @Test func `a first opening may meet a failing disk at any call and succeeds later`() throws {
        let calls = try count(.any) { _ = try SQLiteFile(place.path, options) }
        for call in 0..<calls {
            let bench = try OpeningFaultTests()
            bench.disk.arm(.error, after: call, lasts: true)
            if let why = bench.refusal() {
                #expect(why.contains("failed: ") || why.contains("opened: "), "call \(call): \(why)")
            }
            bench.disk.mend()
            #expect(throws: Never.self, "after call \(call)") { try bench.make() }
        }
    }

    @Test func `a later opening may meet a failing disk at any call and harms nothing`() throws {
        try make()
        let whole = contents()
        let calls = try count(.any) { _ = try SQLiteFile(place.path, options) }
        for call in 0..<calls {
            for (index, name) in ["", "-wal", "-write"].enumerated() {
                try whole[index]?.write(to: URL(fileURLWithPath: place.path + name))
            }
            disk.arm(.error, after: call, lasts: true)
            let why = refusal()
            #expect(why?.contains("damaged") != true, "call \(call)")
            disk.mend()
            let file = try SQLiteFile(place.path, options)
            #expect(try file.status()?.pending == 1, "after call \(call): \(why ?? "")")
            #expect(try file.audit(isComplete: true) == [])
        }
    }

    @Test func `a file that can only be read is refused and unchanged`() throws {
        try make()
        let before = contents()
        disk.protect(true)
        #expect(refusal() == "\(place.path) cannot be written")
        #expect(contents() == before)
        disk.protect(false)
        #expect(refusal() == nil)
    }

    @Test func `a directory that cannot be written is refused`() throws {
        var options = options
        options.vfs = nil
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: 0o555], ofItemAtPath: place.directory)
        defer { try? files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.directory) }
        guard fault_act_as_nobody(true) else { return }
        defer { _ = fault_act_as_nobody(false) }
        let error = #expect(throws: DurableError.self) { try SQLiteFile(place.path, options) }
        #expect(error == .unusable("\(place.path) cannot be opened: unable to open database file"))
    }

    @Test func `a file that the user may only read is refused and unchanged`() throws {
        var options = options
        options.vfs = nil
        // The files beside it get the same permissions.
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o644]
        #expect(FileManager.default.createFile(atPath: place.path, contents: nil, attributes: attributes))
        let file = try SQLiteFile(place.path, options)
        try file.open(try debounce(2))
        file.cleanUp()
        let before = contents()
        guard fault_act_as_nobody(true) else { return }
        let error = #expect(throws: DurableError.self) { try SQLiteFile(place.path, options) }
        _ = fault_act_as_nobody(false)
        #expect(error == .unusable("\(place.path) cannot be written"))
        #expect(contents() == before)
        #expect(throws: Never.self) { try file.submit(submission("a", "one")) }
    }
}
