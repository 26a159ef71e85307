import Foundation
import TestSupport

/// A disk of a server whose syncs can be slow, fail or be dropped, and that forgets at a crash what was not synced.
final class FaultyDisk {
    enum Mode {
        case works
        case delays(milliseconds: Int)
        case fails
        case drops
    }

    /// The variables that a server on this disk starts with.
    let environment: [String]
    private let folder: String

    /// Whether this machine can have one.
    static var isAvailable: Bool { compiler != nil && FileManager.default.fileExists(atPath: "/proc/self/fd") }

    private static let compiler: String? = {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return path.map { $0 + "/clang" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/lull-disk-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../FaultySync/FaultySync.c").standardizedFileURL.path
        let compile = Process()
        compile.executableURL = URL(fileURLWithPath: Self.compiler ?? "/usr/bin/clang")
        compile.arguments = ["-shared", "-fPIC", "-O1", "-Wall", "-o", folder + "/sync.so", source]
        try compile.run()
        compile.waitUntilExit()
        guard compile.terminationStatus == 0 else {
            throw TestRedis.NotStarted(description: "the compiler could not make the library of the disk")
        }
        environment = ["LD_PRELOAD='\(folder)/sync.so'", "LULL_SYNC='\(folder)'"]
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func change(to mode: Mode) throws {
        let text =
            switch mode {
            case .works: "w"
            case .delays(let milliseconds): "d \(milliseconds)"
            case .fails: "f"
            case .drops: "x"
            }
        try text.write(toFile: folder + "/mode", atomically: true, encoding: .utf8)
    }

    /// A crash of the machine: the files that the server has appended to end where they were last synced. The server
    /// must have ended.
    ///
    /// - Returns: The instant of the last write that a completed sync covers, in seconds since 1970.
    func crash(_ server: TestRedis) throws -> Double {
        var synced: [String: (size: Int64, at: Double)] = [:]
        let lines = (try? String(contentsOfFile: folder + "/synced", encoding: .utf8)) ?? ""
        for line in lines.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard parts.count == 3, let size = Int64(parts[0]), let at = Double(parts[1]) else { continue }
            synced[parts[2]] = (size, at / 1_000_000)
        }
        var last = 0.0
        let files = server.folder + "/appendonlydir"
        for name in try FileManager.default.contentsOfDirectory(atPath: files) where name.contains(".incr.") {
            let path = files + "/" + name
            let found = synced.first {
                $0.key.hasSuffix("/" + name) && $0.key.contains(server.folder.split(separator: "/").last!)
            }?.value
            last = max(last, found?.at ?? 0)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            let size = try handle.seekToEnd()
            try handle.truncate(atOffset: min(size, UInt64(max(0, found?.size ?? 0))))
            try handle.close()
        }
        return last
    }
}
