import FaultVFS
import Foundation
import LullDurable
import TestSupport
import Testing

@testable import LullSQLite

/// Who may do what with the files of a store: they belong to the user who created them, and a user who may not write to
/// a store cannot hold its locks either.
@Suite(.ownThreads) struct PermissionTests {
    private let place: Place
    private let machine = Machine()

    init() throws {
        place = try Place()
    }

    private func rights(_ suffix: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: place.path + suffix)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    private func open() throws -> SQLiteFile { try SQLiteFile(place.path, SQLiteFile.Options(machine)) }

    private func set(_ rights: Int, of suffix: String = "") throws {
        try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: place.path + suffix)
    }

    @Test func `only the owner of a new store can read its files`() throws {
        let file = try open()
        try file.open(try debounce(1))
        try file.submit(submission("a", "one"))
        for suffix in ["", "-wal", "-shm", "-want", "-write"] { #expect(try rights(suffix) == 0o600, "\(suffix)") }
    }

    @Test func `a link to a file that is not there creates it for its owner`() throws {
        let other = place.directory + "/other"
        try FileManager.default.createSymbolicLink(atPath: place.path, withDestinationPath: other)
        _ = try open()
        #expect(try FileManager.default.attributesOfItem(atPath: other)[.posixPermissions] as? Int == 0o600)
    }

    /// An empty file that was created before is how a user says who else may use a store.
    @Test(arguments: [(0o644, 0o600), (0o600, 0o600), (0o664, 0o660), (0o660, 0o660), (0o666, 0o666)])
    func `an existing file keeps its permissions, and the files beside it get them`(_ file: Int, _ locks: Int) throws {
        #expect(FileManager.default.createFile(atPath: place.path, contents: nil))
        try set(file)
        let store = try open()
        try store.open(try debounce(1))
        for suffix in ["", "-wal", "-shm"] { #expect(try rights(suffix) == file, "\(suffix)") }
        for suffix in ["-want", "-write"] { #expect(try rights(suffix) == locks, "\(suffix)") }
    }

    @Test func `lock files of an earlier version get the right permissions`() throws {
        _ = try open()
        try set(0o644)
        for suffix in ["-want", "-write"] { try set(0o644, of: suffix) }
        _ = try open()
        #expect(try rights("-want") == 0o600)
        #expect(try rights("-write") == 0o600)
    }

    @Test func `users who may only read the file cannot lock`() throws {
        _ = try open()
        try set(0o644)
        _ = try open()
        guard geteuid() == 0, fault_act_as_nobody(true) else { return }
        let descriptors = ["", "-want", "-write"].map { Foundation.open(place.path + $0, O_RDONLY) }
        _ = fault_act_as_nobody(false)
        #expect(descriptors.map { $0 >= 0 } == [true, false, false])
        for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
    }

    @Test func `lock files that other users can lock are refused`() throws {
        _ = try open()
        // The file now belongs to another user, who cannot change the permissions of the lock files.
        guard geteuid() == 0 else { return }
        for suffix in ["", "-wal", "-shm"] { #expect(chown(place.path + suffix, 65534, 65534) == 0) }
        for suffix in ["-want", "-write"] { try set(0o666, of: suffix) }
        guard fault_act_as_nobody(true) else { return }
        let error = #expect(throws: DurableError.self) { try open() }
        _ = fault_act_as_nobody(false)
        #expect(
            error?.description.contains("-want can be locked by users who may not write") == true, "\(error as Any)")
        // The owner of the lock files, or root, can.
        _ = try open()
        #expect(try rights("-want") == 0o600)
    }

    @Test func `a link is not followed`() throws {
        let other = place.directory + "/other"
        #expect(FileManager.default.createFile(atPath: other, contents: nil))
        try FileManager.default.createSymbolicLink(atPath: place.path + "-want", withDestinationPath: other)
        let error = #expect(throws: DurableError.self) { try open() }
        #expect(error?.description.contains("-want cannot be opened for writing: ") == true, "\(error as Any)")
    }
}
