import Foundation
import Lull
import LullDurable
import LullPostgres
import TestSupport
import Testing

/// A disk that is full under the server. The test mounts one, and so must be run as root on Linux.
@Suite("A full disk", .onServer, .longForm, .ownThreads, .enabled(if: getuid() == 0, "only root may mount a disk"))
struct FullDiskTests {
    private func run(_ program: String, _ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/\(program)")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test
    func `refuses submits with an error, loses nothing that was acknowledged, and goes on when there is room`()
        async throws
    {
        let disk = FileManager.default.temporaryDirectory.path + "/lull-disk-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try #require(try run("mount", "-t", "tmpfs", "-o", "size=160m,mode=777", "tmpfs", disk) == 0)
        defer {
            _ = try? run("umount", "-l", disk)
            try? FileManager.default.removeItem(atPath: disk)
        }
        let server = try TestServer(settings: ["max_wal_size=32MB", "min_wal_size=32MB"], in: disk)
        try PostgresSchema(url: server.url()).apply()
        let store = try await PostgresStore(url: server.url(), timeLimit: .seconds(2))
        let load = try await ServerLoad(on: store)
        try await waitUntil { load.count >= 500 }

        // As in a database that has filled the disk itself.
        let filler = disk + "/filler"
        _ = try run("dd", "if=/dev/zero", "of=\(filler)", "bs=64k")
        let big = [UInt8](repeating: 7, count: 1 << 20)
        var errors: [DurableError] = []
        for number in 0..<200 where errors.count < 3 {
            do throws(DurableError) {
                _ = try await store.submit(
                    DurableSubmission(namespace: "n", key: Array("big \(number)".utf8), value: big))
            } catch {
                errors.append(error)
            }
        }
        #expect(errors.count == 3)
        for error in errors {
            if case .tooLarge = error { Issue.record("\(error)") }
        }

        try FileManager.default.removeItem(atPath: filler)
        // The server may have ended, if it could not write its log.
        server.crash()
        try server.start()
        let before = load.count
        try await waitUntil { load.count >= before + 500 }
        await load.end()
        await store.close()
        print("\(load.count) submits acknowledged, \(load.unanswered) not; \(errors[0])")
        #expect(try load.lost(on: server) == 0)
    }
}
