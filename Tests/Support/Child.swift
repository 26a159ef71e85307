import Foundation
import Testing

/// A process, of the program `DurableChild` or another of the tests, that the test starts, stops and kills.
package final class Child {
    struct NotStarted: Error {
        let code: Int32
    }

    private let process: pid_t
    private var hasEnded = false
    /// The status with which it has ended.
    package private(set) var status: Int32 = 0

    package convenience init(_ arguments: String...) throws {
        try self.init(named: "DurableChild", arguments)
    }

    package init(named program: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws {
        let path = Products.path(of: program)
        var strings = ([path] + arguments).map { strdup($0) } + [nil]
        let environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for string in strings + variables { free(string) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, path, nil, nil, &strings, &variables)
        guard code == 0 else { throw NotStarted(code: code) }
        self.process = process
    }

    deinit { kill() }

    /// Sends a signal to the process.
    package func signal(_ number: Int32) { _ = Foundation.kill(process, number) }

    /// Stops the process, and waits until it is stopped.
    package func stop() {
        signal(SIGSTOP)
        while waitpid(process, &status, WUNTRACED) < 0, errno == EINTR {}
    }

    /// Kills the process, and waits until it has ended.
    package func kill() {
        guard !hasEnded else { return }
        signal(SIGKILL)
        wait()
    }

    /// Waits until the process has ended.
    package func wait() {
        guard !hasEnded else { return }
        hasEnded = true
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}

/// The lines that child processes have written, read while they write more.
package struct Lines {
    private let path: String
    private var offset: UInt64 = 0
    package private(set) var all: [String] = []

    package init(_ path: String) {
        self.path = path
    }

    /// Reads new lines. The last line may be incomplete while its writer lives.
    package mutating func read() throws {
        guard let handle = FileHandle(forReadingAtPath: path) else { return }
        defer { try? handle.close() }
        try handle.seek(toOffset: offset)
        let data = try handle.readToEnd() ?? Data()
        guard let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return }
        let lines = data[...end]
        offset += UInt64(lines.count)
        all += String(decoding: lines, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Waits until there are `count` lines; only a hang reaches the time limit.
    package mutating func wait(for count: Int) async throws {
        try await waitUntil {
            try read()
            return all.count >= count
        }
    }
}
