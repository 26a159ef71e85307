internal import CLullCommand
internal import LullCore
internal import LullDurable

/// Carries out the executions of `lull run` and `lull work`: runs COMMAND for each, with the records on its standard
/// input.
struct CommandRunner: ExecutionHandler {
    private struct Child {
        let id: Int64
        /// For messages.
        let key: Key
        /// The pipe that is its standard error. The writing end stays open here while the command runs, so that its end
        /// is reported once: by the supervisor, not by an end of file.
        let pipe: (reading: Int32, writing: Int32)
        var standardError = StandardErrorTail()
        var isStopping = false
    }

    /// A process group that was sent SIGTERM.
    private struct StoppingGroup {
        let command: Int64
        /// When it gets SIGKILL.
        let deadline: CoreInstant
        /// The group's id, once the command itself has ended. The end of its other members raises no event, so it is
        /// polled for.
        var group: pid_t?
        var nextCheck = CoreInstant.farFuture
    }

    private let name: String
    private let firstArgument: [UInt8]
    private let template: CommandTemplate
    private let keyRule: KeyRule
    private let terminator: UInt8
    private let killAfter: CoreDuration

    private var supervisor: Supervisor
    /// The running commands, numbered in the order in which they started.
    private var children: [Int64: Child] = [:]
    private var lastCommand: Int64 = 0
    /// The running commands by those of their pipes that are open.
    private var pipes: [Int32: Int64] = [:]
    /// The pipes of commands that have ended, in which processes that they left behind may still write.
    private var orphanedPipes: Set<Int32> = []
    private var stopping: [StoppingGroup] = []

    private(set) var failure: Failure?

    var writesOutput: Bool { false }

    /// Forks the supervisor. Call it before anything that a fork must not share: threads, open databases.
    ///
    /// - Throws: A failure of status 127 or 126 if COMMAND cannot be found or executed.
    init(_ command: [Argument], _ options: CommandOptions) throws(Failure) {
        firstArgument = Invocation.bytes(command.first)
        name = Terminal.shown(firstArgument)
        let path = try Program.find(firstArgument, searching: getenv("PATH").map { Invocation.bytes($0) })
        template = CommandTemplate(command.dropFirst().map { Invocation.bytes($0) })
        supervisor = try Supervisor(path, environment: Self.inheritedEnvironment())
        keyRule = options.keyRule
        terminator = options.terminator
        killAfter = options.killAfter ?? .seconds(5)
    }

    private static let variables: [(name: String, detail: CommandTemplate.Detail)] = [
        ("LULL_KEY=", .key), ("LULL_COUNT=", .count), ("LULL_EDGE=", .edge),
    ]
    /// Set in addition for the runs of a store.
    private static let durableVariables = ["LULL_RUN=", "LULL_ATTEMPT=", "LULL_FENCE="]
    /// Set in addition if the submit had a context.
    private static let contextVariable = "LULL_CONTEXT="

    private static func inheritedEnvironment() -> [Argument] {
        var variables: [Argument] = []
        var pointer = lull_environment()
        while let variable = pointer?.pointee {
            let ours = Self.variables.map(\.name) + Self.durableVariables + [Self.contextVariable]
            let isOurs = ours.contains { strncmp($0, variable, $0.utf8.count) == 0 }
            if !isOurs { variables.append(variable) }
            pointer = pointer.map { $0 + 1 }
        }
        return variables
    }

    // MARK: - Starting

    mutating func start(_ item: WorkItem, _ streams: inout StandardStreams) -> ExecutionEnd? {
        let (arguments, variables) = texts(of: item)
        guard !(arguments + variables).contains(where: { $0.contains(0) }) else {
            let why = notStarted("a NUL byte cannot be in an argument or in the environment; \(Self.hint)")
            streams.log.report(subject(item.key) + why)
            return .failed(why)
        }
        do {
            try spawn(item, arguments, variables)
            return nil
        } catch {
            streams.log.report(subject(item.key) + notStarted(error.message))
            return .notStarted
        }
    }

    private func texts(of item: WorkItem) -> (arguments: [[UInt8]], variables: [[UInt8]]) {
        let details: (CommandTemplate.Detail) -> [UInt8] = { [keyRule] detail in
            switch detail {
            case .key: keyRule.plain(item.key)
            case .value: item.batch.value
            case .count: Array("\(item.due.count)".utf8)
            case .edge: Array("\(item.due.edge.name)".utf8)
            }
        }
        let arguments = [firstArgument] + template.filled(details)
        var variables = Self.variables.map { Array($0.name.utf8) + details($0.detail) }
        if let attempt = item.attempt, let fence = item.fence {
            let numbers = [item.id, Int64(attempt), fence]
            variables += zip(Self.durableVariables, numbers).map { Array("\($0)\($1)".utf8) }
        }
        if let context = item.context { variables.append(Array((Self.contextVariable + context).utf8)) }
        return (arguments, variables)
    }

    /// - Throws: What this machine lacks.
    private mutating func spawn(
        _ item: WorkItem, _ arguments: [[UInt8]], _ variables: [[UInt8]]
    ) throws(Failure) {
        let input = try CommandInput.file(item.batch, terminator: terminator)
        defer { close(input) }
        let pipe = try Pipe.make()
        _ = lull_add_flags(pipe.reading, 0, O_NONBLOCK)
        lastCommand += 1
        supervisor.start(lastCommand, arguments, variables, input: input, errors: pipe.writing)
        children[lastCommand] = Child(id: item.id, key: item.key, pipe: pipe)
        pipes[pipe.reading] = lastCommand
    }

    private static let hint = "let the command read the records from its standard input"

    private func notStarted(_ why: String) -> String { "\(name) was not started: \(why)" }

    /// Whether the error code of a command that was not started says that this machine lacks something.
    private static func isObstacle(_ code: Int32) -> Bool {
        [EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }

    // MARK: - Standard error

    func addInterests(to interests: inout [pollfd], _ streams: StandardStreams) {
        interests.append(pollfd(descriptor: supervisor.descriptor, Int32(POLLIN)))
        // While the standard error of this program is not read, its commands block on theirs, as they would if they
        // wrote to it directly.
        guard streams.log.isEmpty else { return }
        for pipe in pipes.keys { interests.append(pollfd(descriptor: pipe, Int32(POLLIN))) }
        for pipe in orphanedPipes { interests.append(pollfd(descriptor: pipe, Int32(POLLIN))) }
    }

    mutating func handleEvents(_ events: ArraySlice<pollfd>, _ streams: inout StandardStreams) {
        for interest in events where interest.revents != 0 {
            let pipe = interest.fd
            if let command = pipes[pipe] {
                _ = forward(pipe, of: &children[command], &streams)
            } else if orphanedPipes.contains(pipe) {
                var noChild: Child?
                if case .end = forward(pipe, of: &noChild, &streams) { closePipe(pipe) }
            }
        }
    }

    /// Forwards what has been written to the log, and keeps the tail of what the command itself wrote.
    private func forward(_ pipe: Int32, of child: inout Child?, _ streams: inout StandardStreams) -> Pipe.Received {
        Pipe.receive(from: pipe) { bytes in
            streams.log.bytes += bytes
            child?.standardError.append(bytes)
        }
    }

    private mutating func closePipe(_ pipe: Int32) {
        close(pipe)
        pipes[pipe] = nil
        orphanedPipes.remove(pipe)
    }

    /// Forwards the rest of what an ended command has written.
    private mutating func finish(_ child: inout Child?, _ streams: inout StandardStreams) {
        guard let pipe = child?.pipe else { return }
        close(pipe.writing)
        // Everything it wrote is in the pipe by now. What arrives later comes from other processes.
        var received = forward(pipe.reading, of: &child, &streams)
        if case .some = received { received = forward(pipe.reading, of: &child, &streams) }
        if case .end = received { return closePipe(pipe.reading) }
        pipes[pipe.reading] = nil
        orphanedPipes.insert(pipe.reading)
    }

    // MARK: - Stopping and ending

    mutating func stop(_ id: Int64, at now: CoreInstant) {
        guard let command = children.first(where: { $0.value.id == id })?.key else { return }
        children[command]?.isStopping = true
        supervisor.signal(command, SIGTERM)
        stopping.append(StoppingGroup(command: command, deadline: now.advanced(by: killAfter)))
    }

    var isIdle: Bool { stopping.isEmpty }

    var alarm: CoreInstant {
        stopping.reduce(.farFuture) { min($0, $1.deadline, $1.nextCheck) }
    }

    mutating func wake(at now: CoreInstant) {
        for stopping in stopping where stopping.deadline <= now { supervisor.signal(stopping.command, SIGKILL) }
        stopping.removeAll { stopping in
            stopping.deadline <= now || stopping.group.map { CLullCommand.kill(-$0, 0) != 0 } ?? false
        }
        for index in stopping.indices where stopping[index].group != nil {
            stopping[index].nextCheck = now.advanced(by: .milliseconds(50))
        }
    }

    mutating func reap(_ streams: inout StandardStreams) -> [(id: Int64, end: ExecutionEnd)] {
        var ended: [(id: Int64, end: ExecutionEnd)] = []
        for end in supervisor.ended() {
            var child = children.removeValue(forKey: end.command)
            finish(&child, &streams)
            guard let child else { continue }
            if let index = stopping.firstIndex(where: { $0.command == end.command }) {
                if end.process == 0 {
                    stopping.remove(at: index)
                } else {
                    stopping[index].group = end.process
                    stopping[index].nextCheck = .farPast
                }
            }
            ended.append((child.id, self.end(of: child, end, &streams)))
        }
        return supervisor.isLost && failure == nil ? ended + failAll() : ended
    }

    /// Returns how a command has ended, and logs a failure.
    private func end(of child: Child, _ end: Supervisor.Answer, _ streams: inout StandardStreams) -> ExecutionEnd {
        guard end.process != 0 else {
            let isTooLong = end.status == E2BIG
            let why = notStarted(isTooLong ? "the arguments are too long; \(Self.hint)" : Failure.reason(end.status))
            streams.log.report(subject(child.key) + why)
            return Self.isObstacle(end.status) ? .notStarted : .failed(why)
        }
        let ending = lull_ending(end.status)
        guard ending != 0 else { return .returned }
        let how = ending > 0 ? "failed with status \(ending)" : "was terminated by signal \(-ending)"
        let lines = child.standardError.lines
        if !child.isStopping {
            if child.standardError.isLineOpen { streams.log.bytes.append(UInt8(ascii: "\n")) }
            let shown = Terminal.end(of: lines.joined(separator: " / "), upTo: Self.shownErrorColumns)
            let last = shown.isEmpty ? "" : ": \(shown)"
            streams.log.report("\(subject(child.key))\(name) \(how)\(last)")
        }
        return .failed("\(name) \(how)" + (lines.isEmpty ? "" : ": \(lines.joined(separator: "\n"))"))
    }

    /// How much of a command's standard error the message of its failure shows, in columns.
    private static let shownErrorColumns = 100

    /// Fails all running commands: the supervisor, which starts them and reports their ends, was killed.
    private mutating func failAll() -> [(id: Int64, end: ExecutionEnd)] {
        failure = .inputOutput("the supervisor of the commands was killed; lull has killed the commands, and ends")
        Descendants.killAll(stopping.compactMap(\.group))
        let ended = children.values.map {
            (id: $0.id, end: ExecutionEnd.failed("\(name) was killed with its supervisor"))
        }
        for child in children.values {
            close(child.pipe.reading)
            close(child.pipe.writing)
        }
        children = [:]
        pipes = [:]
        stopping = []
        return ended
    }

    func killAll() {
        supervisor.end()
    }

    /// Returns the start of a message about an execution.
    private func subject(_ key: Key) -> String {
        key.bytes.isEmpty ? "" : "key \(Terminal.shown(key.bytes)): "
    }
}

/// Finds the program that COMMAND names, as a shell would; `lull` does this once, at the start.
enum Program {
    /// Returns the path of a program, from its name and the directories of `PATH`.
    ///
    /// - Throws: A failure of status 127 if there is none, or 126 if it cannot be executed.
    static func find(_ name: [UInt8], searching path: [UInt8]?) throws(Failure) -> [UInt8] {
        let shown = ServerURL.withoutPassword(String(decoding: name, as: UTF8.self))
        guard !name.isEmpty else { throw Failure(status: ExitStatus.notFound, message: "COMMAND is empty") }
        var candidates = [name]
        if !name.contains(UInt8(ascii: "/")) {
            let directories = (path ?? Array("/usr/local/bin:/usr/bin:/bin".utf8))
                .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            // An empty directory is the current one.
            candidates = directories.map { ($0.isEmpty ? [UInt8(ascii: ".")] : Array($0)) + [UInt8(ascii: "/")] + name }
        }
        var refusal: Int32?
        for candidate in candidates {
            let code = lull_obstacle(candidate.cString)
            if code == 0 { return candidate }
            if code != ENOENT, code != ENOTDIR { refusal = refusal ?? code }
        }
        guard let refusal else { throw Failure(status: ExitStatus.notFound, message: "\(shown): command not found") }
        throw Failure(
            status: ExitStatus.cannotExecute, message: "\(shown): cannot be executed: \(Failure.reason(refusal))")
    }
}
