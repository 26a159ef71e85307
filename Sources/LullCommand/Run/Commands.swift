internal import CLullCommand
internal import LullCore

/// Executions of `lull run`: each runs COMMAND, with the records on its standard input.
struct Commands: Performer {
    /// A command that is running.
    private struct Child {
        let job: Int64
        /// For messages.
        let key: Key
        /// The pipe that is its standard error. As long as the command runs the writing end is open here, too: so its end is
        /// told once, by the supervisor.
        let pipe: (reading: Int32, writing: Int32)
        var errors = CommandErrors()
        var isStopping = false
    }

    /// A process group that was told to stop.
    private struct StoppingGroup {
        let command: Int64
        /// When it is killed.
        let deadline: CoreInstant
        /// Its number, when the command itself has ended. What else is in it ends unseen: it is looked for now and then.
        var group: pid_t?
        var nextLook = CoreInstant.farFuture
    }

    private let name: String
    private let firstArgument: [UInt8]
    private let template: CommandTemplate
    private let keyRule: KeyRule
    private let terminator: UInt8
    private let killAfter: CoreDuration

    private var supervisor: Supervisor
    /// The running commands, numbered in order of their starts.
    private var children: [Int64: Child] = [:]
    private var lastCommand: Int64 = 0
    /// The running commands by their pipes, as far as these are open.
    private var pipes: [Int32: Int64] = [:]
    /// The pipes of commands that have ended, where something that they left behind may still write.
    private var leftPipes: Set<Int32> = []
    /// The process groups that were told to stop.
    private var stopping: [StoppingGroup] = []

    private(set) var failure: Failure?

    var writesOutput: Bool { false }

    /// Forks the supervisor, so this comes before everything that a fork must not share.
    ///
    /// - Throws: A failure of status 127 or 126 if COMMAND cannot be found or executed.
    init(_ command: [Argument], _ settings: Settings) throws(Failure) {
        firstArgument = Invocation.bytes(command.first)
        name = Terminal.shown(firstArgument)
        let path = try Program.find(firstArgument, searching: getenv("PATH").map { Invocation.bytes($0) })
        template = CommandTemplate(command.dropFirst().map { Invocation.bytes($0) })
        supervisor = try Supervisor(path, environment: Self.inheritedEnvironment())
        keyRule = settings.keyRule
        terminator = settings.terminator
        killAfter = settings.killAfter
    }

    private static let variables: [(name: String, detail: CommandTemplate.Detail)] = [
        ("LULL_KEY=", .key), ("LULL_COUNT=", .count), ("LULL_EDGE=", .edge),
    ]
    /// The same where a store keeps the runs.
    private static let durableVariables = ["LULL_RUN=", "LULL_ATTEMPT=", "LULL_FENCE="]

    private static func inheritedEnvironment() -> [Argument] {
        var variables: [Argument] = []
        var place = lull_environment()
        while let variable = place?.pointee {
            let ours = Self.variables.map(\.name) + Self.durableVariables
            let isOurs = ours.contains { strncmp($0, variable, $0.utf8.count) == 0 }
            if !isOurs { variables.append(variable) }
            place = place.map { $0 + 1 }
        }
        return variables
    }

    // MARK: - Starting

    mutating func start(_ job: Job, _ streams: inout Streams) -> Ending? {
        do {
            try spawn(job)
            return nil
        } catch {
            streams.log.report(subject(job.key) + error.message)
            return .threw
        }
    }

    private mutating func spawn(_ job: Job) throws(Failure) {
        let details: (CommandTemplate.Detail) -> [UInt8] = { [keyRule] detail in
            switch detail {
            case .key: keyRule.plain(job.key)
            case .value: job.batch.value
            case .count: Array("\(job.count)".utf8)
            case .edge: Array("\(job.edge.name)".utf8)
            }
        }
        let arguments = [firstArgument] + template.filled(details)
        var variables = Self.variables.map { Array($0.name.utf8) + details($0.detail) }
        if let attempt = job.attempt, let fence = job.fence {
            let numbers = [job.id, Int64(attempt), fence]
            variables += zip(Self.durableVariables, numbers).map { Array("\($0)\($1)".utf8) }
        }
        guard !(arguments + variables).contains(where: { $0.contains(0) }) else {
            throw notStarted("a NUL byte cannot be in an argument or in the environment; \(Self.hint)")
        }
        let input: Int32
        let pipe: (reading: Int32, writing: Int32)
        do {
            input = try CommandInput.file(job.batch, terminator: terminator)
        } catch {
            throw notStarted(error.message)
        }
        defer { close(input) }
        do {
            pipe = try Pipe.make()
        } catch {
            throw notStarted(error.message)
        }
        _ = lull_add_flags(pipe.reading, 0, O_NONBLOCK)
        lastCommand += 1
        supervisor.start(lastCommand, arguments, variables, input: input, errors: pipe.writing)
        children[lastCommand] = Child(job: job.id, key: job.key, pipe: pipe)
        pipes[pipe.reading] = lastCommand
    }

    private static let hint = "let the command read the records from its standard input"

    private func notStarted(_ why: String) -> Failure {
        Failure(status: ExitStatus.commandFailed, message: "\(name) was not started: \(why)")
    }

    // MARK: - Standard error

    func addInterests(to interests: inout [pollfd], _ streams: Streams) {
        interests.append(pollfd(descriptor: supervisor.descriptor, Int32(POLLIN)))
        // As long as our standard error is not read, the commands wait as they would if it were theirs.
        guard streams.log.isEmpty else { return }
        for pipe in pipes.keys { interests.append(pollfd(descriptor: pipe, Int32(POLLIN))) }
        for pipe in leftPipes { interests.append(pollfd(descriptor: pipe, Int32(POLLIN))) }
    }

    mutating func attend(_ ready: ArraySlice<pollfd>, _ streams: inout Streams) {
        for interest in ready where interest.revents != 0 {
            let pipe = interest.fd
            if let command = pipes[pipe] {
                _ = forward(pipe, of: &children[command], &streams)
            } else if leftPipes.contains(pipe) {
                var nobody: Child?
                if case .end = forward(pipe, of: &nobody, &streams) { forget(pipe) }
            }
        }
    }

    /// Passes on what has been written, and keeps the end of what a command wrote itself.
    private func forward(_ pipe: Int32, of child: inout Child?, _ streams: inout Streams) -> CommandErrors.Received {
        CommandErrors.receive(from: pipe) { bytes in
            streams.log.text += bytes
            child?.errors.append(bytes)
        }
    }

    private mutating func forget(_ pipe: Int32) {
        close(pipe)
        pipes[pipe] = nil
        leftPipes.remove(pipe)
    }

    /// Passes on all that a command has written, which has ended.
    private mutating func finish(_ child: inout Child?, _ streams: inout Streams) {
        guard let pipe = child?.pipe else { return }
        close(pipe.writing)
        // All that it wrote is in the pipe, and what comes after that is not its own.
        var received = forward(pipe.reading, of: &child, &streams)
        if case .some = received { received = forward(pipe.reading, of: &child, &streams) }
        if case .end = received { return forget(pipe.reading) }
        pipes[pipe.reading] = nil
        leftPipes.insert(pipe.reading)
    }

    // MARK: - Stopping and ending

    mutating func stop(_ job: Int64, at now: CoreInstant) {
        guard let command = children.first(where: { $0.value.job == job })?.key else { return }
        children[command]?.isStopping = true
        supervisor.signal(command, SIGTERM)
        stopping.append(StoppingGroup(command: command, deadline: now.advanced(by: killAfter)))
    }

    var isAtRest: Bool { stopping.isEmpty }

    var alarm: CoreInstant {
        stopping.reduce(.farFuture) { min($0, $1.deadline, $1.nextLook) }
    }

    mutating func wake(at now: CoreInstant) {
        for stopping in stopping where stopping.deadline <= now { supervisor.signal(stopping.command, SIGKILL) }
        stopping.removeAll { stopping in
            stopping.deadline <= now || stopping.group.map { CLullCommand.kill(-$0, 0) != 0 } ?? false
        }
        for index in stopping.indices where stopping[index].group != nil {
            stopping[index].nextLook = now.advanced(by: .milliseconds(50))
        }
    }

    mutating func reap(_ streams: inout Streams) -> [(job: Int64, error: String?)] {
        var ended: [(job: Int64, error: String?)] = []
        for end in supervisor.ended() {
            var child = children.removeValue(forKey: end.command)
            finish(&child, &streams)
            guard let child else { continue }
            if let index = stopping.firstIndex(where: { $0.command == end.command }) {
                if end.process == 0 {
                    stopping.remove(at: index)
                } else {
                    stopping[index].group = end.process
                    stopping[index].nextLook = .farPast
                }
            }
            ended.append((child.job, judge(child, end, &streams)))
        }
        return supervisor.isLost && failure == nil ? ended + giveUp() : ended
    }

    /// Says how a command has ended, if it has failed.
    private func judge(_ child: Child, _ end: Supervisor.Answer, _ streams: inout Streams) -> String? {
        guard end.process != 0 else {
            let isTooLong = end.status == E2BIG
            let why = notStarted(isTooLong ? "the arguments are too long; \(Self.hint)" : Failure.reason(end.status))
            streams.log.report(subject(child.key) + why.message)
            return why.message
        }
        let ending = lull_ending(end.status)
        guard ending != 0 else { return nil }
        let how = ending > 0 ? "failed with status \(ending)" : "was ended by signal \(-ending)"
        let lines = child.errors.lines
        if !child.isStopping {
            if child.errors.isLineOpen { streams.log.text.append(UInt8(ascii: "\n")) }
            let shown = Terminal.end(of: lines.joined(separator: " / "), upTo: Self.shownErrors)
            let last = shown.isEmpty ? "" : ": \(shown)"
            streams.log.report("\(subject(child.key))\(name) \(how)\(last)")
        }
        return "\(name) \(how)" + (lines.isEmpty ? "" : ": \(lines.joined(separator: "\n"))")
    }

    /// As much of what a command wrote as the message of its failure shows.
    private static let shownErrors = 100

    /// Nobody starts commands any more, or tells of their ends: the end of all of them.
    private mutating func giveUp() -> [(job: Int64, error: String?)] {
        failure = Failure(
            status: ExitStatus.inputOutput,
            message: "the process that looks after the commands was killed; the commands are ended, and so is lull")
        Descendants.end(stopping.compactMap(\.group))
        let ended = children.values.map { (job: $0.job, error: Optional("\(name) was ended with its supervisor")) }
        for child in children.values {
            close(child.pipe.reading)
            close(child.pipe.writing)
        }
        children = [:]
        pipes = [:]
        stopping = []
        return ended
    }

    func kill() {
        supervisor.end()
    }

    /// What a message about an execution begins with.
    private func subject(_ key: Key) -> String {
        key.bytes.isEmpty ? "" : "key \(Terminal.shown(key.bytes)): "
    }
}
