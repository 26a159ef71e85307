import Foundation
import Testing

/// A Redis or Valkey server of the tests' own, in a temporary folder, on a socket there or on a free port of this
/// machine.
///
/// It ends, and its folder is removed, with the test process, however that ends: a shell waits for the end of a pipe.
package final class TestRedis: Sendable {
    /// The server's program; nil if there is none, and the tests are left out.
    package static let program: String? = {
        let variable = ProcessInfo.processInfo.environment["LULL_REDIS"].map { [$0] } ?? []
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let programs = (path + ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]).flatMap { folder in
            ["redis-server", "valkey-server"].map { "\(folder)/\($0)" }
        }
        return (variable + programs).first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    package static var isInstalled: Bool { program != nil }

    /// The server that most tests share. It keeps nothing.
    package static let shared: Result<TestRedis, any Error> = Result {
        try TestRedis(["save ''", "appendonly no", "databases 1000"])
    }

    package struct NotStarted: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// The folder of the socket and of the data.
    package let folder: String
    /// The port, if the server has one.
    package let port: Int?
    private let shell: Process
    private let input: Pipe
    private let answers: FileHandle

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - settings: Lines of its configuration.
    ///   - hasPort: Whether it can be reached by TCP.
    ///   - environment: Variables of the server alone, as `NAME=VALUE`.
    package init(
        _ settings: [String], hasPort: Bool = false, environment: [String] = [],
        in parent: String = FileManager.default.temporaryDirectory.path
    ) throws {
        guard let program = Self.program else { throw NotStarted(description: "Redis is not installed") }
        folder = parent + "/lull-redis-" + UUID().uuidString.prefix(8)
        port = hasPort ? Self.freePort() : nil
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let lines =
            [
                "dir '\(folder)'", "unixsocket '\(folder)/socket'", "port \(port ?? 0)", "bind 127.0.0.1",
                "daemonize no",
                "logfile '\(folder)/log'", "protected-mode no",
            ] + settings
        try (lines.joined(separator: "\n") + "\n").write(toFile: folder + "/conf", atomically: true, encoding: .utf8)
        shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        let script = """
            cd '\(folder)' || exit 1
            end() { kill -$1 $server; \(waitInShell("! kill -0 $server")); }
            start() { \(environment.joined(separator: " ")) '\(program)' ./conf >>out 2>&1 & server=$!; }
            start
            while read -r command; do
                case $command in
                kill) end KILL ;;
                stop) kill -STOP $server ;;
                continue) kill -CONT $server ;;
                start) start ;;
                esac
                echo done
            done 2>/dev/null
            end KILL 2>/dev/null
            cd / && rm -rf '\(folder)'
            """
        shell.arguments = ["-c", script]
        input = Pipe()
        shell.standardInput = input
        let output = Pipe()
        shell.standardOutput = output
        shell.standardError = FileHandle.nullDevice
        answers = output.fileHandleForReading
        try shell.run()
        try awaitReadiness()
    }

    deinit { try? input.fileHandleForWriting.close() }

    /// The server dies at once, as after `kill -9`.
    package func crash() { command("kill") }

    /// Starts the server again, and waits until it answers.
    package func start() throws {
        command("start")
        try awaitReadiness()
    }

    /// The server hangs until it is continued.
    package func pause() { command("stop") }
    package func unpause() { command("continue") }

    private func command(_ name: String) {
        input.fileHandleForWriting.write(Data("\(name)\n".utf8))
        while let byte = try? answers.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {}
    }

    private func awaitReadiness() throws {
        let log = folder + "/log"
        try blockUntil(or: "no answer: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")") {
            ["PONG", "NOAUTH Authentication required."].contains((try? self("PING")) ?? "")
        }
    }

    /// Runs a command by the server's own client program, and returns what it prints.
    @discardableResult
    package func callAsFunction(_ arguments: String...) throws -> String { try self(arguments) }

    @discardableResult
    package func callAsFunction(_ arguments: [String]) throws -> String {
        let client = Process()
        let server = Self.program ?? ""
        client.executableURL = URL(fileURLWithPath: server.replacing("-server", with: "-cli"))
        client.arguments = ["-s", folder + "/socket"] + arguments
        let output = Pipe()
        client.standardOutput = output
        client.standardError = output
        try client.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        client.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// The URL of a database, by the socket.
    package func url(_ database: Int = 0, durability: String? = "memory") -> String {
        "redis+unix://\(folder)/socket?db=\(database)" + (durability.map { "&durability=\($0)" } ?? "")
    }

    /// The URL by the port.
    package func portURL(durability: String? = "memory") -> String {
        "redis://127.0.0.1:\(port ?? 0)" + (durability.map { "?durability=\($0)" } ?? "")
    }

    /// A port that nothing uses now, and whose number for the bus of a cluster, 10,000 higher, is available as well.
    private static func freePort() -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: 20_000..<32_000)
            if [port, port + 10_000].allSatisfy(isFree) { return port }
        }
        return 0
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = streamSocket(AF_INET)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
