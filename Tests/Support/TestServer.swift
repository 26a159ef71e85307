import Foundation
import Testing

/// A PostgreSQL server of the tests' own, in a temporary folder, with a socket there and no network.
///
/// It never runs as root. It ends, and its folder is removed, with the test process, however that ends: a shell waits
/// for the end of a pipe.
package final class TestServer: Sendable {
    /// The folder of the server's programs; nil if there are none, and the tests are left out.
    package static let programs: String? = {
        let variable = ProcessInfo.processInfo.environment["LULL_POSTGRES"].map { [$0] } ?? []
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let debian = versions.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
            .map { "/usr/lib/postgresql/\($0)/bin" }
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (variable + debian + path).first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    package static var isInstalled: Bool { programs != nil }

    /// The server that most tests share. It does not sync: nothing of it has to survive the machine.
    package static let shared: Result<TestServer, any Error> = Result { try TestServer(settings: ["fsync=off"]) }

    package struct NotStarted: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// The folder of the socket and of the data.
    package let folder: String
    private let shell: Process
    private let input: Pipe

    /// Creates a data folder, and starts a server.
    ///
    /// - Parameters:
    ///   - original: The server whose data the new one copies, as its replica.
    ///   - parent: The folder in which to put everything.
    package init(
        settings: [String] = [], replicaOf original: TestServer? = nil,
        in parent: String = FileManager.default.temporaryDirectory.path
    ) throws {
        guard let programs = Self.programs else { throw NotStarted(description: "PostgreSQL is not installed") }
        folder = parent + "/lull-pg-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        // PostgreSQL refuses to run as root.
        let isRoot = getuid() == 0
        let user = isRoot ? "setpriv --reuid=nobody --regid=nogroup --clear-groups" : ""
        let options = (["listen_addresses=", "unix_socket_directories=\(folder)", "max_connections=200"] + settings)
            .map { "-c '\($0)'" }.joined(separator: " ")
        let creation =
            if let original {
                "'\(programs)/pg_basebackup' -h '\(original.folder)' -U lull -D data -R -X stream -c fast --no-sync"
            } else {
                "'\(programs)/initdb' -D data -U lull --auth=trust --no-sync --encoding=UTF8 --locale=C"
            }
        let script = """
            cd '\(folder)' || exit 1
            \(isRoot ? "chown nobody:nogroup '\(folder)'" : ":")
            \(user) \(creation) >init.log 2>&1 || exit 1
            end() { kill -$1 $server; \(waitInShell("! kill -0 $server")); }
            start() { \(user) '\(programs)/postgres' -D data \(options) >>log 2>&1 & server=$!; }
            start
            echo started
            while read -r command; do
                case $command in
                kill) end QUIT ;;
                start) start ;;
                esac
                echo done
            done 2>/dev/null
            end INT 2>/dev/null
            cd / && rm -rf '\(folder)'
            """
        shell.arguments = ["-c", script]
        input = Pipe()
        shell.standardInput = input
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        answers = output.fileHandleForReading
        guard readLine() == "started" else {
            let log = (try? String(contentsOfFile: folder + "/init.log", encoding: .utf8)) ?? ""
            throw NotStarted(description: "initdb failed: \(log)")
        }
        try awaitReadiness()
    }

    deinit { try? input.fileHandleForWriting.close() }

    private let answers: FileHandle

    private func readLine() -> String {
        var line: [UInt8] = []
        while let byte = try? answers.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Lets the server end at once, without a checkpoint, as after a crash.
    package func crash() {
        command("kill")
    }

    /// Starts the server again, and waits until it answers.
    package func start() throws {
        command("start")
        try awaitReadiness()
    }

    private func command(_ name: String) {
        input.fileHandleForWriting.write(Data("\(name)\n".utf8))
        _ = readLine()
    }

    private func awaitReadiness() throws {
        let log = folder + "/log"
        try blockUntil(or: "no answer: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")") {
            let look = Process()
            look.executableURL = URL(fileURLWithPath: (Self.programs ?? "") + "/pg_isready")
            look.arguments = ["-q", "-h", folder]
            try look.run()
            look.waitUntilExit()
            return look.terminationStatus == 0
        }
    }

    /// The URL of a schema.
    package func url(_ schema: String = "lull", user: String = "lull") -> String {
        "postgres://\(user)@/postgres?host=\(folder)&schema=\(schema)"
    }

    /// Runs a program of the server's, and returns what it prints.
    package func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: (Self.programs ?? "") + "/" + program)
        process.arguments = ["-h", folder, "-U", "lull"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NotStarted(description: "\(program) failed") }
        return String(decoding: data, as: UTF8.self)
    }

    /// Runs statements, and returns the last value.
    @discardableResult
    package func psql(_ sql: String) throws -> String {
        var output = ""
        // A statement such as VACUUM cannot be part of several.
        for statement in sql.split(separator: ";\n") {
            output = try run("psql", ["-d", "postgres", "-qAtc", String(statement)])
        }
        return output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
