import Foundation
import Lull
import TestSupport
import Testing

/// A store of its own, which is removed after the test, and the command on it.
final class TestStore {
    enum Kind: String, CaseIterable {
        /// A file in a folder.
        case file
        /// A schema on the PostgreSQL server that tests share.
        case server
        /// A database of the Redis server that tests share.
        case redis

        /// Those on servers that are installed.
        static var servers: [Kind] {
            (TestServer.isInstalled ? [.server] : []) + (TestRedis.isInstalled ? [.redis] : [])
        }
    }

    /// The next database of the Redis server. Other tests use those up to 920.
    private static let database = Guarded(920)

    /// The folder of the file.
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("lull-\(UUID().uuidString)").path
    let url: String

    /// Creates a store: without a kind, of the one that `LULL_TEST_STORE` names, or else a file.
    init(_ kind: Kind? = nil) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let named = ProcessInfo.processInfo.environment["LULL_TEST_STORE"].flatMap(Kind.init)
        switch kind ?? named ?? .file {
        case .file:
            url = "sqlite:\(path)/store.db"
        case .server:
            url = try TestServer.shared.get().url("test_\(UUID().uuidString.prefix(13))")
            let outcome = try lull("schema", "--store", url, "--apply")
            if outcome.ending != 0 { throw TestServer.NotStarted(description: outcome.errors) }
        case .redis:
            let server = try TestRedis.shared.get()
            let database = Self.database.change { database in
                defer { database = database == 998 ? 920 : database + 1 }
                return database
            }
            try server("-n", "\(database)", "FLUSHDB")
            url = server.url(database)
        }
    }

    /// The store of another server.
    init(url: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        self.url = url
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var option: [String] { ["--store", url] }

    func arguments(_ options: String, _ rest: [String]) -> [String] {
        var arguments = options.split(separator: " ").map(String.init)
        arguments.insert(contentsOf: option, at: 1)
        return arguments + rest
    }

    /// Runs the command to its end.
    func run(_ options: String, _ rest: [String] = [], input: String = "") throws -> ToolProcess.Outcome {
        try lull(arguments(options, rest), input: Array(input.utf8))
    }

    /// Starts the command.
    func start(
        _ options: String, _ rest: [String] = [], environment: [String: String] = [:],
        errors: ToolProcess.Standard = .pipe
    ) throws -> ToolProcess {
        try ToolProcess(arguments(options, rest), environment: environment, errors: errors)
    }

    /// Returns the object that a command prints.
    func object(_ options: String) throws -> [String: Any] {
        let line = try run(options).output
        return try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
    }

    /// Returns the counts of the only namespace that are not 0.
    func status() throws -> [String: Int] {
        let known = ["pending", "ready", "running", "retrying", "dead"]
        return try object("status --json").compactMapValues { $0 as? Int }
            .filter { known.contains($0.key) && $0.value != 0 }
    }

    /// Returns how many seconds the run of a key has been under way, and how many are left of its lease.
    func run(of key: String) throws -> (runningFor: Double, leaseFor: Double)? {
        let run = try object("list --json \(key)")["run"] as? [String: Any]
        guard let runningFor = run?["runningFor"] as? Double, let leaseFor = run?["leaseFor"] as? Double else {
            return nil
        }
        return (runningFor, leaseFor)
    }

    /// Waits until a run has been under way that long.
    func waitUntilRunning(_ key: String, for seconds: Double) throws {
        try eventually("\(key) has been running for \(seconds) s") {
            try #require(try run(of: key), "the run is over").runningFor > seconds
        }
    }
}

/// What commands wait for until the test opens it: a FIFO, which can be opened to read only once somebody may write.
final class Gate {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("lull-\(UUID().uuidString)").path
    private var descriptor: Int32 = -1

    init() throws {
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// For a shell.
    var wait: String { "true <\(path)" }

    func open() throws {
        descriptor = Foundation.open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
    }
}
