import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// The command as a process, with real pipes and signals.
///
/// Every wait has a time limit that only a hang reaches: tests wait for events, never for time to pass.
final class ToolProcess {
    /// How the process ended, and its output.
    struct Outcome: Equatable {
        /// The exit status, or minus the number of the signal.
        var ending: Int32
        var output: String
        var errors: String
        var outputBytes: [UInt8]

        var lines: [String] {
            output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        }
        var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
    }

    struct TimedOut: Error {
        let waitingFor: String
        let output: String
        let errors: String
    }

    static let path = Products.path(of: "lull")
    static let patience = 60.0
    /// A process that another test starts must not inherit a pipe, or a program that is being written.
    static let spawning = NSLock()

    let group: pid_t
    private var input: Int32
    private var streams: [(descriptor: Int32, bytes: [UInt8])]
    private var ending: Int32?

    /// An argument that is left out is a pipe.
    enum Standard {
        case pipe
        case file(String, Int32)
        case closed
    }

    init(
        _ arguments: [String], environment: [String: String] = [:], program: String? = nil,
        input: Standard = .pipe, output: Standard = .pipe, errors: Standard = .pipe
    ) throws {
        lull_ignore(SIGPIPE)
        Self.spawning.lock()
        defer { Self.spawning.unlock() }
        #if canImport(Darwin)
            // A pointer, to what the next call allocates.
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var ours: [Int32] = [-1, -1, -1]
        var theirs: [Int32] = []
        for (number, standard) in [input, output, errors].enumerated() {
            let descriptor = Int32(number)
            switch standard {
            case .closed: posix_spawn_file_actions_addclose(&actions, descriptor)
            case .file(let path, let flags): posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0o644)
            case .pipe:
                let (reading, writing) = try LullCommand.Pipe.make()
                ours[number] = number == 0 ? writing : reading
                theirs.append(number == 0 ? reading : writing)
                posix_spawn_file_actions_adddup2(&actions, theirs[theirs.count - 1], descriptor)
            }
        }
        try Self.closeDescriptorsOnExec()
        let program = program ?? Self.path
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let code = CStrings.with(([program] + arguments + variables).map { Array($0.utf8) }) { strings in
            var process: pid_t = 0
            let vector = Array(strings[...arguments.count]) + [nil]
            let environment = Array(strings[(arguments.count + 1)...]) + [nil]
            let code = posix_spawn(&process, program, &actions, nil, vector, environment)
            return (code, process)
        }
        for descriptor in theirs { close(descriptor) }
        guard code.0 == 0 else { throw Failure.system(program, code.0) }
        group = code.1
        self.input = ours[0]
        streams = [(ours[1], []), (ours[2], [])]
    }

    /// Makes programs that are started from now on inherit none of the present descriptors but the standard ones.
    private static func closeDescriptorsOnExec() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/dev/fd") {
            // The listing's own descriptor is in the list, and closed by now.
            if let descriptor = Int32(name), descriptor > 2 { _ = lull_add_flags(descriptor, FD_CLOEXEC, 0) }
        }
    }

    deinit {
        if ending == nil {
            kill(group, SIGKILL)
            var status: Int32 = 0
            waitpid(group, &status, 0)
        }
        closeInput()
        for stream in streams where stream.descriptor >= 0 { close(stream.descriptor) }
    }

    // MARK: - Doing

    func send(_ text: String) {
        send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count < 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Goes on sending a text until nobody reads any more, in a thread that then closes the input.
    func keepSending(_ text: String) {
        let descriptor = input
        let bytes = Array(text.utf8)
        input = -1
        Thread.detachNewThread {
            while bytes.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) > 0 {}
            close(descriptor)
        }
    }

    func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    func closeOutput() {
        close(streams[0].descriptor)
        streams[0].descriptor = -1
    }

    func signal(_ number: Int32) {
        _ = kill(group, number)
    }

    // MARK: - Waiting

    /// Waits for so many more lines of output, and returns the first of them.
    func line() throws -> String {
        try takeLine(of: 0)
    }

    /// Sends a text a hundred times a second until a line of output comes.
    func line(sending text: String) throws -> String {
        while streams[0].bytes.firstIndex(of: UInt8(ascii: "\n")) == nil {
            send(text)
            try collect(within: 0.01)
        }
        return try line()
    }

    /// Waits for so many more lines of standard error.
    func errorLine() throws -> String {
        try takeLine(of: 1)
    }

    private func takeLine(of stream: Int) throws -> String {
        let limit = Date(timeIntervalSinceNow: Self.patience)
        while true {
            if let end = streams[stream].bytes.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: streams[stream].bytes[..<end], as: UTF8.self)
                streams[stream].bytes.removeSubrange(...end)
                return line
            }
            try collect(until: limit, "a line")
        }
    }

    /// Waits until `lull` says that it has read so many records.
    func waitUntilRead(_ count: Int) throws {
        repeat { signal(SIGUSR1) } while try !errorLine().contains("submitted \(count)")
    }

    /// Closes the input, and waits for the end of the process and of all that write to its output.
    func finish() throws -> Outcome {
        closeInput()
        let limit = Date(timeIntervalSinceNow: Self.patience)
        while streams.contains(where: { $0.descriptor >= 0 }) { try collect(until: limit, "the end of the output") }
        return try end()
    }

    /// Waits for the end of the process alone.
    func end() throws -> Outcome {
        var status: Int32 = 0
        try eventually("the process ends") { waitpid(group, &status, WNOHANG) != 0 }
        ending = lull_ending(status)
        return Outcome(
            ending: lull_ending(status), output: String(decoding: streams[0].bytes, as: UTF8.self),
            errors: String(decoding: streams[1].bytes, as: UTF8.self), outputBytes: streams[0].bytes)
    }

    private func collect(until limit: Date, _ what: String) throws {
        let left = limit.timeIntervalSinceNow
        guard left > 0, try collect(within: left) else { throw timedOut(what) }
    }

    /// Reads what comes first.
    ///
    /// - Returns: Whether anything has come within so many seconds.
    @discardableResult
    private func collect(within seconds: Double) throws -> Bool {
        var interests = streams.map { pollfd(descriptor: $0.descriptor, Int32(POLLIN)) }
        guard poll(&interests, 2, Int32(seconds * 1000) + 1) > 0 else { return false }
        for stream in streams.indices where interests[stream].revents != 0 {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(streams[stream].descriptor, &buffer, buffer.count)
            if count > 0 {
                streams[stream].bytes += buffer[..<count]
            } else {
                close(streams[stream].descriptor)
                streams[stream].descriptor = -1
            }
        }
        return true
    }

    private func timedOut(_ what: String) -> TimedOut {
        TimedOut(
            waitingFor: what, output: String(decoding: streams[0].bytes, as: UTF8.self),
            errors: String(decoding: streams[1].bytes, as: UTF8.self))
    }
}

/// Runs the command on an input to its end.
func lull(_ arguments: String..., input: String = "", environment: [String: String] = [:]) throws -> ToolProcess.Outcome
{
    try lull(arguments, input: Array(input.utf8), environment: environment)
}

/// Runs the command on bytes to its end.
func lull(
    _ arguments: [String], input: [UInt8], environment: [String: String] = [:]
) throws -> ToolProcess.Outcome {
    let file = try TemporaryFile(input)
    let process = try ToolProcess(arguments, environment: environment, input: .file(file.path, O_RDONLY))
    return try process.finish()
}

/// A file that is removed with its last reference.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8] = [], executable: Bool = false) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("lull-\(UUID().uuidString)").path
        try ToolProcess.spawning.withLock { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
        chmod(path, executable ? 0o755 : 0o644)
    }

    convenience init(_ text: String, executable: Bool = false) throws {
        try self.init(Array(text.utf8), executable: executable)
    }

    deinit {
        unlink(path)
    }

    var text: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}

/// Waits until a condition is true.
func eventually(_ what: String, _ condition: () throws -> Bool) throws {
    try blockUntil(or: "it does not come true: \(what)", condition)
}

/// Whether a process has ended. In a container, nothing may reap orphans.
func hasEnded(_ process: pid_t) -> Bool {
    kill(process, 0) != 0
        || (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.contains(") Z ") == true
}

/// Waits until a process does nothing more by itself: each of its threads waits, however often one looks.
///
/// - Parameter look: What is looked at meanwhile.
func waitUntilIdle(_ process: pid_t, looking look: () throws -> Void = {}) throws {
    #if os(Linux)
        var looks = 0
        try eventually("the process is idle") {
            try look()
            looks = try isWaiting(process) ? looks + 1 : 0
            return looks == 50
        }
    #else
        try look()
    #endif
}

#if os(Linux)
    /// Whether all threads of a process wait for something.
    private func isWaiting(_ process: pid_t) throws -> Bool {
        let tasks = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
            (try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8))?.contains(") S ") == true
        }
    }
#endif

/// Calls `body` with the bytes of a text.
func withBytes<Result>(_ text: String, _ body: (ByteSlice) throws -> Result) rethrows -> Result {
    try Array(text.utf8).withUnsafeBufferPointer(body)
}
