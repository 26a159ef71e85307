internal import CLullSystem
internal import LullCore

/// Executions of `lull run`: each runs COMMAND, with the records on its standard input.
struct Commands: Performer {
    /// A command that is running.
    private struct Child {
        let job: Int64
        /// For messages.
        let key: Key
        /// What is to be written to its standard input, from `position` on.
        var input: [UInt8]
        var position = 0
        /// The pipe's writing end; -1 when everything has been written, or nobody reads it.
        var pipe: Int32
        var isStopping = false
    }

    /// A process group that was told to stop.
    private struct StoppingGroup {
        let group: pid_t
        /// When it is killed.
        let deadline: CoreInstant
        /// Whether the command itself has ended. What else is in its group ends unseen: it is looked for now and then.
        var isLeaderless = false
        var nextLook = CoreInstant.farFuture
    }

    private let name: String
    private let path: [UInt8]
    private let firstArgument: [UInt8]
    private let template: CommandTemplate
    private let environment: [Argument]
    private let keyRule: KeyRule
    private let terminator: UInt8
    private let killAfter: CoreDuration

    private var children: [pid_t: Child] = [:]
    /// The process groups that were told to stop.
    private var stopping: [StoppingGroup] = []

    var writesOutput: Bool { false }

    /// - Throws: A failure of status 127 or 126 if COMMAND cannot be found or executed.
    init(_ command: [Argument], _ settings: Settings) throws(Failure) {
        firstArgument = Invocation.bytes(command.first)
        name = String(decoding: firstArgument, as: UTF8.self)
        path = try Program.find(firstArgument, searching: getenv("PATH").map { Invocation.bytes($0) })
        template = CommandTemplate(command.dropFirst().map { Invocation.bytes($0) })
        environment = Self.inheritedEnvironment()
        keyRule = settings.keyRule
        terminator = settings.terminator
        killAfter = settings.killAfter
    }

    private static let variables: [(name: String, detail: CommandTemplate.Detail)] = [
        ("LULL_KEY=", .key), ("LULL_COUNT=", .count), ("LULL_EDGE=", .edge),
    ]
    /// The same where a store keeps the runs.
    private static let durableVariables = ["LULL_RUN=", "LULL_ATTEMPT="]

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
            let (group, pipe) = try spawn(job)
            let input = job.batch.values.reduce(into: []) { $0 += $1 + [terminator] }
            children[group] = Child(job: job.id, key: job.key, input: input, pipe: pipe)
            feed(group)
            return nil
        } catch {
            streams.log.report(subject(job.key) + error.message)
            return .threw
        }
    }

    private func spawn(_ job: Job) throws(Failure) -> (group: pid_t, pipe: Int32) {
        let details: (CommandTemplate.Detail) -> [UInt8] = { detail in
            switch detail {
            case .key: keyRule.plain(job.key)
            case .value: job.batch.value
            case .count: Array("\(job.count)".utf8)
            case .edge: Array("\(job.edge.name)".utf8)
            }
        }
        let arguments = [firstArgument] + template.filled(details)
        var variables = Self.variables.map { Array($0.name.utf8) + details($0.detail) }
        if let attempt = job.attempt {
            variables += zip(Self.durableVariables, [Int(job.id), attempt]).map { Array("\($0)\($1)".utf8) }
        }
        guard !(arguments + variables).contains(where: { $0.contains(0) }) else {
            throw notStarted("a NUL byte cannot be in an argument or in the environment; \(Self.hint)")
        }
        let (reading, writing) = try Pipe.make()
        _ = lull_add_flags(writing, 0, O_NONBLOCK)
        var group: pid_t = 0
        let code = CStrings.with([path] + arguments + variables) { strings in
            let count = arguments.count + 1
            let vector = strings[1..<count] + [nil]
            return Array(vector).withUnsafeBufferPointer { vector in
                (environment + strings[count...] + [nil]).withUnsafeBufferPointer { environment in
                    lull_spawn(&group, strings[0], vector.baseAddress, environment.baseAddress, reading)
                }
            }
        }
        close(reading)
        guard code == 0 else {
            close(writing)
            throw notStarted(code == E2BIG ? "the arguments are too long; \(Self.hint)" : Failure.reason(code))
        }
        return (group, writing)
    }

    private static let hint = "let the command read the records from its standard input"

    private func notStarted(_ why: String) -> Failure {
        Failure(status: ExitStatus.commandFailed, message: "\(name) was not started: \(why)")
    }

    // MARK: - Standard input

    func addInterests(to interests: inout [pollfd]) {
        for child in children.values where child.pipe >= 0 {
            interests.append(pollfd(descriptor: child.pipe, Int32(POLLOUT)))
        }
    }

    mutating func attend() {
        for (group, child) in children where child.pipe >= 0 { feed(group) }
    }

    /// Writes what fits into the pipe. A command that does not read is no error.
    private mutating func feed(_ group: pid_t) {
        guard var child = children[group], child.pipe >= 0 else { return }
        while child.position < child.input.count {
            let count = child.input.withUnsafeBytes {
                write(child.pipe, $0.baseAddress.map { $0 + child.position }, $0.count - child.position)
            }
            if count < 0 {
                let code = lull_errno()
                if code == EINTR { continue }
                if code == EAGAIN || code == EWOULDBLOCK {
                    children[group] = child
                    return
                }
                break
            }
            child.position += count
        }
        close(child.pipe)
        child.pipe = -1
        child.input = []
        children[group] = child
    }

    // MARK: - Stopping and ending

    mutating func stop(_ job: Int64, at now: CoreInstant) {
        guard let group = children.first(where: { $0.value.job == job })?.key else { return }
        children[group]?.isStopping = true
        CLullSystem.kill(-group, SIGTERM)
        stopping.append(StoppingGroup(group: group, deadline: now.advanced(by: killAfter)))
    }

    var isAtRest: Bool { stopping.isEmpty }

    var alarm: CoreInstant {
        stopping.reduce(.farFuture) { min($0, $1.deadline, $1.nextLook) }
    }

    mutating func wake(at now: CoreInstant) {
        stopping.removeAll { stopping in
            if stopping.deadline <= now {
                CLullSystem.kill(-stopping.group, SIGKILL)
                return true
            }
            return stopping.isLeaderless && CLullSystem.kill(-stopping.group, 0) != 0
        }
        for index in stopping.indices where stopping[index].isLeaderless {
            stopping[index].nextLook = now.advanced(by: .milliseconds(50))
        }
    }

    mutating func reap(_ streams: inout Streams) -> [(job: Int64, error: String?)] {
        var ended: [(job: Int64, error: String?)] = []
        var status: Int32 = 0
        while true {
            let group = waitpid(-1, &status, WNOHANG)
            if group <= 0 { return ended }
            guard let child = children.removeValue(forKey: group) else { continue }
            if child.pipe >= 0 { close(child.pipe) }
            if let index = stopping.firstIndex(where: { $0.group == group }) {
                stopping[index].isLeaderless = true
                stopping[index].nextLook = .farPast
            }
            let ending = lull_ending(status)
            guard ending != 0 else {
                ended.append((child.job, nil))
                continue
            }
            let how = ending > 0 ? "failed with status \(ending)" : "was ended by signal \(-ending)"
            if !child.isStopping { streams.log.report("\(subject(child.key))\(name) \(how)") }
            ended.append((child.job, "\(name) \(how)"))
        }
    }

    func kill() {
        for group in children.keys { CLullSystem.kill(-group, SIGKILL) }
        for group in stopping { CLullSystem.kill(-group.group, SIGKILL) }
    }

    /// What a message about an execution begins with.
    private func subject(_ key: Key) -> String {
        if case .same = keyRule { return "" }
        var text: [UInt8] = []
        keyRule.append(key, to: &text)
        return "key \(Terminal.shown(text)): "
    }
}

/// Strings for the C library.
enum CStrings {
    /// Calls `body` with pointers to zero-terminated copies that live as long as the call.
    static func with<Result>(_ strings: [[UInt8]], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
        var bytes: [CChar] = []
        bytes.reserveCapacity(strings.reduce(0) { $0 + $1.count + 1 })
        var offsets: [Int] = []
        for string in strings {
            offsets.append(bytes.count)
            bytes += string.lazy.map { CChar(bitPattern: $0) }
            bytes.append(0)
        }
        return bytes.withUnsafeMutableBufferPointer { buffer in
            body(offsets.map { offset in buffer.baseAddress.map { $0 + offset } })
        }
    }
}
