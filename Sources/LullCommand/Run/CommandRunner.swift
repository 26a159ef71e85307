internal import CLullCommand
internal import LullCore
internal import LullDurable
internal import LullEngine

/// Carries out the executions of `lull run` and `lull work`: runs COMMAND for each, with the records on its standard
/// input.
struct CommandRunner: ExecutionHandler {
    private struct Child {
        let id: Int64
        /// For messages.
        let key: Key
        /// Whether it is a run of a store.
        let isStored: Bool
        /// The pipe that is its standard error.
        let pipe: Int32
        /// What to start again if it could not be started; nil once it was.
        var item: PreparedCommand?
        var standardError = StandardErrorTail()
        /// The pipe that is its descriptor for answers, if its run is one of a store.
        var answerPipe: Int32?
        var answer = CommandAnswer()
        /// Whether it has written anything there.
        var hasAnswer: Bool { !answer.isEmpty }
        var isStopping = false
        /// How it has ended, while its group has not: the next command of its key has to wait for the whole group.
        var end: ExecutionResult?
    }

    fileprivate enum Stopping {
        /// Its group gets SIGKILL at an instant.
        case terminated(CoreInstant)
        /// Its group got SIGKILL. If it is still there at an instant, that is reported.
        case killed(CoreInstant)
        case reported
    }

    private let name: String
    private let preparation: CommandPreparation
    private let killAfter: CoreDuration
    private let stopSignal: Int32
    private let statuses: CommandAnswer.Statuses
    private let hasTimeLimit: Bool

    private var supervisor: Supervisor
    /// The running commands, numbered in the order in which they started.
    private var children: [Int64: Child] = [:]
    private var lastCommand: Int64 = 0
    /// The running commands by those of their pipes that are open.
    private var pipes: [Int32: Int64] = [:]
    /// The running commands by the pipes on which they answer, as long as those are open.
    private var answerPipes: [Int32: Int64] = [:]
    /// The pipes of commands that have ended, in which processes that they left behind may still write.
    private var orphanedPipes: Set<Int32> = []
    /// The commands whose groups were sent the signal that stops them, and are not gone.
    private var stopping: [Int64: Stopping] = [:]
    private var waiting = WaitingStarts()
    /// The executions that have ended without a command.
    private var unstarted: [(id: Int64, end: ExecutionResult)] = []

    private(set) var failure: Failure?

    var writesOutput: Bool { false }

    /// Forks the supervisor. Call it before anything that a fork must not share: threads, open databases.
    ///
    /// - Throws: A failure of status 127 or 126 if COMMAND cannot be found or executed.
    init(_ command: [Argument], _ options: CommandOptions) throws(Failure) {
        let firstArgument = Invocation.bytes(command.first)
        name = Terminal.shown(firstArgument)
        let path = try ProgramLookup.find(firstArgument, searching: getenv("PATH").map { Invocation.bytes($0) })
        preparation = CommandPreparation(
            firstArgument: firstArgument, template: CommandTemplate(command.dropFirst().map { Invocation.bytes($0) }),
            keyRule: options.keyRule, terminator: options.terminator)
        supervisor = try Supervisor(path, environment: Self.inheritedEnvironment())
        killAfter = options.killAfter ?? .seconds(5)
        stopSignal = options.stopSignal ?? SIGTERM
        statuses = options.answerStatuses
        hasTimeLimit = options.timeLimit != nil
    }

    private static func inheritedEnvironment() -> [Argument] {
        var variables: [Argument] = []
        var pointer = lull_environment()
        while let variable = pointer?.pointee {
            let isOurs = CommandPreparation.variables.contains { strncmp($0, variable, $0.utf8.count) == 0 }
            if !isOurs { variables.append(variable) }
            pointer = pointer.map { $0 + 1 }
        }
        return variables
    }

    // MARK: - Starting

    var prepare: @Sendable (WorkItem, Batch<Record>) -> PreparedCommand { preparation.prepare }

    func discard(_ prepared: PreparedCommand) { prepared.closeInput() }

    mutating func start(
        _ prepared: PreparedCommand, before deadline: Int64, at now: CoreInstant, _ streams: inout StandardStreams
    ) -> ExecutionResult? {
        if case .failure(let refusal) = prepared.texts {
            let why = notStarted(refusal.reason)
            streams.log.report(prepared.key.subject + why)
            // It would not be otherwise the next time.
            return prepared.isStored ? .answered(.gaveUp(why)) : .failed(why)
        }
        var item = prepared
        item.deadline = deadline
        if waiting.isEmpty {
            spawn(item, at: now, &streams)
        } else {
            item.closeInput()
            item.input = nil
            waiting.append(item)
        }
        return nil
    }

    /// Starts the command of an execution, or makes the execution wait if this machine lacks something.
    private mutating func spawn(_ prepared: PreparedCommand, at now: CoreInstant, _ streams: inout StandardStreams) {
        var item = prepared
        // One that waits must not hold descriptors.
        item.input = nil
        defer { prepared.closeInput() }
        guard case .success(let (arguments, variables)) = item.texts else { return }
        do throws(Failure) {
            var made: Int32?
            defer { if let made { close(made) } }
            if prepared.input == nil { made = try CommandInput.file(item.records, terminator: preparation.terminator) }
            let pipe = try CommandPipe()
            let answers = item.isStored ? try CommandPipe() : nil
            let command = lastCommand + 1
            let code = supervisor.start(
                command, before: item.deadline, arguments, variables, input: prepared.input ?? made ?? -1,
                errors: pipe.writing, answers: answers?.writing)
            if code != 0 { throw .system("cannot start a process", code) }
            lastCommand = command
            let (errors, answer) = (pipe.takeReading(), answers?.takeReading())
            children[command] = Child(
                id: item.id, key: item.key, isStored: item.isStored, pipe: errors, item: item, answerPipe: answer)
            pipes[errors] = command
            if let answer { answerPipes[answer] = command }
        } catch {
            wait([item], error.message, at: now, &streams)
        }
    }

    /// Makes executions wait that this machine could not start, and ends those that would wait in vain.
    private mutating func wait(
        _ items: [PreparedCommand], _ why: String, at now: CoreInstant, _ streams: inout StandardStreams
    ) {
        let isFirst = waiting.isEmpty
        let hopeless = waiting.putBack(items, isAlone: children.isEmpty, at: now)
        if isFirst, !waiting.isEmpty {
            let kind = "times commands had to wait for descriptors, processes or memory"
            streams.report("\(name) has to wait: \(why)", of: kind, at: now)
        }
        for item in hopeless {
            let rest = item.isStored ? "; the run goes back to the store, and is claimed again after a pause" : ""
            streams.report(
                item.key.subject + notStarted(why) + rest,
                of: "commands not started\(item.isStored ? ", and tried again" : ": \(why)")", at: now)
            unstarted.append((item.id, .notStarted))
        }
    }

    /// Tries the first execution that waits.
    private mutating func startWaiting(at now: CoreInstant, _ streams: inout StandardStreams) {
        guard !waiting.isEmpty, !isStarting, let item = waiting.next(at: now) else { return }
        spawn(item, at: now, &streams)
    }

    /// Whether the supervisor has yet to start a command.
    private var isStarting: Bool { children.values.contains { $0.item != nil } }

    mutating func startNothingMore() {
        unstarted += waiting.removeAll().map { ($0.id, .notStarted) }
    }

    private func notStarted(_ why: String) -> String { "\(name) was not started: \(why)" }

    /// Whether the error code of a command that was not started says that this machine lacks something.
    private static func isObstacle(_ code: Int32) -> Bool {
        [EAGAIN, EMFILE, ENFILE, ENOMEM].contains(code)
    }

    // MARK: - Standard error

    func addInterests(to interests: inout [pollfd], _ streams: StandardStreams) {
        interests.append(pollfd(descriptor: supervisor.descriptor, Int32(POLLIN)))
        for pipe in answerPipes.keys { interests.append(pollfd(descriptor: pipe, Int32(POLLIN))) }
        // While the standard error of this program is not read, its commands block on theirs, as they would if they
        // wrote to it directly.
        guard streams.log.isEmpty else { return }
        for pipe in pipes.keys { interests.append(pollfd(descriptor: pipe, Int32(POLLIN))) }
        for pipe in orphanedPipes { interests.append(pollfd(descriptor: pipe, Int32(POLLIN))) }
    }

    mutating func handleEvents(_ events: ArraySlice<pollfd>, _ streams: inout StandardStreams) {
        for interest in events where interest.revents != 0 {
            let pipe = interest.fd
            if let command = answerPipes[pipe] {
                if case .end = receiveAnswer(pipe, &children[command]) {
                    children[command]?.answerPipe = nil
                    closeAnswer(pipe)
                }
                continue
            }
            var noChild: Child?
            let received: Pipe.Received
            if let command = pipes[pipe] {
                received = forward(pipe, of: &children[command], &streams)
            } else if orphanedPipes.contains(pipe) {
                received = forward(pipe, of: &noChild, &streams)
            } else {
                continue
            }
            if case .end = received { closePipe(pipe) }
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

    private func receiveAnswer(_ pipe: Int32, _ child: inout Child?) -> Pipe.Received {
        Pipe.receive(from: pipe) { child?.answer.append($0) }
    }

    private mutating func closeAnswer(_ pipe: Int32) {
        close(pipe)
        answerPipes[pipe] = nil
    }

    /// Takes the rest of what an ended command has written, and forwards what was for standard error.
    private mutating func finish(_ command: Int64, _ child: inout Child?, _ streams: inout StandardStreams) {
        if let pipe = child?.answerPipe {
            // Whoever keeps it open beyond the end of the command says nothing more.
            while case .some = receiveAnswer(pipe, &child) {}
            closeAnswer(pipe)
        }
        guard let pipe = child?.pipe, pipes[pipe] == command else { return }
        // Everything it wrote is in the pipe by now. What arrives later comes from other processes.
        var received = forward(pipe, of: &child, &streams)
        if case .some = received { received = forward(pipe, of: &child, &streams) }
        if case .end = received { return closePipe(pipe) }
        pipes[pipe] = nil
        orphanedPipes.insert(pipe)
    }

    // MARK: - Stopping and ending

    mutating func stop(_ id: Int64, at now: CoreInstant) {
        guard let (command, child) = children.first(where: { $0.value.id == id }) else {
            unstarted += waiting.removeAll { $0.id == id }.map { ($0.id, .notStarted) }
            return
        }
        guard !child.isStopping else { return }
        children[command]?.isStopping = true
        supervisor.signal(command, stopSignal)
        stopping[command] = .terminated(now.advanced(by: killAfter))
    }

    var isIdle: Bool { stopping.isEmpty && unstarted.isEmpty }

    var alarm: CoreInstant {
        if !unstarted.isEmpty { return .farPast }
        let nextTry = waiting.isEmpty || isStarting ? .farFuture : waiting.nextTry
        return stopping.values.reduce(nextTry) { min($0, $1.alarm) }
    }

    mutating func advance(to now: CoreInstant, _ streams: inout StandardStreams) -> [(id: Int64, end: ExecutionResult)]
    {
        var ended: [(id: Int64, end: ExecutionResult)] = []
        var lacking: (items: [PreparedCommand], why: String) = ([], "")
        for answer in supervisor.received() {
            let command = answer.command
            switch answer.event {
            case .started:
                children[command]?.item = nil
                waiting.started()
            case .notStarted:
                guard var child = take(command, &streams) else { continue }
                stopping[command] = nil
                if Self.isObstacle(answer.status), !child.isStopping, let item = child.item {
                    lacking.items.append(item)
                    lacking.why = Failure.reason(answer.status)
                } else {
                    ended.append((child.id, notStarted(&child, answer.status, &streams)))
                }
            case .ended:
                guard var child = take(command, &streams) else { continue }
                let end = self.end(of: child, answer.status, &streams)
                if child.isStopping {
                    child.end = end
                    children[command] = child
                } else {
                    ended.append((child.id, end))
                }
                waiting.commandEnded()
            case .gone:
                stopping[command] = nil
                if let child = children[command], let end = child.end {
                    children[command] = nil
                    ended.append((child.id, end))
                }
                waiting.commandEnded()
            case nil: break
            }
        }
        if supervisor.isLost, failure == nil { ended += failAll() }
        insist(at: now, &streams)
        if !lacking.items.isEmpty { wait(lacking.items, lacking.why, at: now, &streams) }
        startWaiting(at: now, &streams)
        defer { unstarted = [] }
        return ended + unstarted
    }

    /// Removes a command that has ended, with the rest of what it has written.
    private mutating func take(_ command: Int64, _ streams: inout StandardStreams) -> Child? {
        var child = children.removeValue(forKey: command)
        finish(command, &child, &streams)
        return child
    }

    /// Sends SIGKILL to groups that were given enough time, and reports those that survive it.
    private mutating func insist(at now: CoreInstant, _ streams: inout StandardStreams) {
        for (command, state) in stopping where state.alarm <= now {
            if case .terminated = state {
                supervisor.signal(command, SIGKILL)
                stopping[command] = .killed(now.advanced(by: Self.patience))
            } else {
                stopping[command] = .reported
                let key = children[command].map { $0.key.subject } ?? ""
                streams.log.report("\(key)processes of \(name) have not ended after SIGKILL; lull waits for them")
            }
        }
    }

    /// How long after SIGKILL to report a group that is still there.
    private static let patience = CoreDuration.seconds(5)

    private func notStarted(_ child: inout Child, _ code: Int32, _ streams: inout StandardStreams) -> ExecutionResult {
        // The supervisor answers that it was too late: the run may be another worker's.
        if code == ETIMEDOUT || child.isStopping && Self.isObstacle(code) { return .notStarted }
        let why = notStarted(code == E2BIG ? CommandPreparation.tooLong.reason : Failure.reason(code))
        streams.log.report(child.key.subject + why)
        return code == E2BIG && child.isStored ? .answered(.gaveUp(why)) : .failed(why)
    }

    /// Returns how a command has ended, and logs a failure.
    private func end(of child: Child, _ status: Int32, _ streams: inout StandardStreams) -> ExecutionResult {
        let ending = lull_ending(status)
        let how =
            switch ending {
            case 0: "asked for another attempt"
            case 1...: "failed with status \(ending)"
            default: "was terminated by signal \(-ending)"
            }
        let lines = child.standardError.lines
        let error = "\(name) \(how)" + (lines.isEmpty ? "" : ": \(lines.joined(separator: "\n"))")
        // A message follows, of this or of the session.
        if child.standardError.isLineOpen, hasTimeLimit || !child.isStopping && (ending != 0 || child.hasAnswer) {
            streams.log.bytes.append(UInt8(ascii: "\n"))
        }
        if child.isStored, let answer = answer(of: child, ending, error: error, &streams) {
            switch answer {
            case .snoozed: break
            case .threw(let why): streams.log.report(child.key.subject + why)
            default: report(child, how, lines, &streams)
            }
            return .answered(answer)
        }
        guard ending != 0 else { return .returned }
        report(child, how, lines, &streams)
        return .failed(error)
    }

    /// Returns what a command has said of its run, by a line or by its status.
    private func answer(
        of child: Child, _ status: Int32, error: String, _ streams: inout StandardStreams
    ) -> HandlerEnd? {
        do throws(Refusal) {
            if let end = try child.answer.handlerEnd(error: error) { return end }
        } catch {
            let why = "\(name) wrote on descriptor \(CommandAnswer.descriptor): \(error.reason)"
            // It wanted something else than to be done.
            if status == 0 { return .threw(why) }
            streams.log.report(child.key.subject + why)
        }
        return statuses.handlerEnd(status, error: error)
    }

    /// Logs that a command has failed, unless it was told to stop.
    private func report(_ child: Child, _ how: String, _ lines: [String], _ streams: inout StandardStreams) {
        if !child.isStopping {
            let shown = Terminal.end(of: lines.joined(separator: " / "), upTo: Self.shownErrorColumns)
            let last = shown.isEmpty ? "" : ": \(shown)"
            streams.log.report("\(child.key.subject)\(name) \(how)\(last)")
        }
    }

    /// How much of a command's standard error the message of its failure shows, in columns.
    private static let shownErrorColumns = 100

    /// Fails all running commands: the supervisor, which starts them and reports their ends, was killed.
    private mutating func failAll() -> [(id: Int64, end: ExecutionResult)] {
        failure = .inputOutput("the supervisor of the commands was killed; lull has killed the commands, and ends")
        Descendants.killAll([])
        let why = "\(name) was killed with its supervisor"
        let ended = children.values.map { (id: $0.id, end: ExecutionResult.failed(why)) }
        for pipe in pipes.keys { close(pipe) }
        for pipe in answerPipes.keys { close(pipe) }
        answerPipes = [:]
        children = [:]
        pipes = [:]
        stopping = [:]
        startNothingMore()
        return ended
    }

    func killAll() {
        supervisor.end()
    }
}

extension CommandRunner.Stopping {
    fileprivate var alarm: CoreInstant {
        switch self {
        case .terminated(let instant), .killed(let instant): instant
        case .reported: .farFuture
        }
    }
}
