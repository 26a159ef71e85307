internal import CLullCommand

/// The process that starts the commands, from inside: one loop, which ends when the program that forked it does.
///
/// Being in a group of its own, it gets none of the terminal's signals. It gives the terminal up, so that no command is stopped by
/// the system for reading it: it cannot be opened.
struct SupervisorProcess {
    private let path: [UInt8]
    private let environment: [Argument]
    /// The socket over which requests come.
    private let requests: Int32
    /// The pipe for what came of them.
    private let answers: Int32
    private let signals: Signals

    /// Answers that did not fit into the pipe.
    private var untold: [Supervisor.Answer] = []
    /// The commands that run, by their processes.
    private var running: [pid_t: Int64] = [:]
    /// The groups of the commands that run, and of those that have left something behind in it.
    private var groups: [Int64: pid_t] = [:]

    /// What the process does after the fork, to its end.
    static func run(_ path: [UInt8], _ environment: [Argument], requests: Int32, answers: Int32) -> Never {
        setpgid(0, 0)
        lull_leave_terminal()
        Descendants.adopt()
        lull_set_name("lull-supervisor")
        // The input is not its own: whoever writes there is to see the end of the program at once.
        let nothing = lull_open("/dev/null", O_RDONLY)
        if nothing > 0 {
            dup2(nothing, STDIN_FILENO)
            close(nothing)
        }
        // Signals that end the program do not end this: it goes with it. Commands get them with their usual effect.
        guard let signals = try? Signals() else { _exit(ExitStatus.inputOutput) }
        if lull_is_ignored(SIGQUIT) == 0 { lull_handle(SIGQUIT) { _ in } }
        var process = SupervisorProcess(path, environment, requests, answers, signals)
        process.serve()
        Descendants.end(process.groups.values)
        _exit(ExitStatus.success)
    }

    private init(_ path: [UInt8], _ environment: [Argument], _ requests: Int32, _ answers: Int32, _ signals: Signals) {
        self.path = path
        self.environment = environment
        self.requests = requests
        self.answers = answers
        self.signals = signals
    }

    /// Starts commands and tells of their ends, until nobody asks for it any more.
    private mutating func serve() {
        while true {
            var interests = [
                pollfd(descriptor: requests, Int32(POLLIN)), pollfd(descriptor: signals.descriptor, Int32(POLLIN)),
                pollfd(descriptor: untold.isEmpty ? -1 : answers, Int32(POLLOUT)),
            ]
            guard poll(&interests, nfds_t(interests.count), -1) >= 0 else { continue }
            if interests[1].revents != 0 {
                _ = signals.received()
                reap()
            }
            if !untold.isEmpty { tell() }
            // Requests of a program that is gone are not carried out.
            if Int32(interests[0].revents) & Int32(POLLHUP | POLLERR) != 0 { return }
            if interests[0].revents != 0, !carryOut() { return }
        }
    }

    /// Carries out a request; false if there will be none any more.
    private mutating func carryOut() -> Bool {
        var request = Supervisor.Request(command: 0)
        let received = withUnsafeMutableBytes(of: &request) { Link.receive(into: $0, from: requests) }
        guard let descriptors = received else { return false }
        defer { for descriptor in descriptors { close(descriptor) } }
        if request.signal != 0 {
            if let group = groups[request.command] { kill(-group, request.signal) }
            return true
        }
        var words = [CChar](repeating: 0, count: request.length)
        let rest = words.withUnsafeMutableBytes { Link.receive(into: $0, from: requests) }
        guard rest != nil else { return false }
        guard descriptors.count == 2 else {
            // What does not fit among the descriptors of this process is dropped on the way.
            untold.append(Supervisor.Answer(command: request.command, status: EMFILE))
            tell()
            return true
        }
        var process: pid_t = 0
        let code = start(&words, Int(request.arguments), descriptors[0], descriptors[1], &process)
        if code == 0 {
            running[process] = request.command
            groups[request.command] = process
        } else {
            untold.append(Supervisor.Answer(command: request.command, status: code))
            tell()
        }
        return true
    }

    private func start(
        _ words: inout [CChar], _ count: Int, _ input: Int32, _ errors: Int32, _ process: inout pid_t
    ) -> Int32 {
        words.withUnsafeMutableBufferPointer { words in
            var pointers: [Argument?] = []
            var isStart = true
            for index in words.indices {
                if isStart { pointers.append(words.baseAddress.map { $0 + index }) }
                isStart = words[index] == 0
            }
            let arguments = pointers[..<count] + [nil]
            let variables = environment + pointers[count...] + [nil]
            return CStrings.with([path]) { path in
                lull_spawn(&process, path[0], Array(arguments), Array(variables), input, errors)
            }
        }
    }

    /// Collects everything that has ended: commands, and orphans that they have left.
    private mutating func reap() {
        var status: Int32 = 0
        while true {
            let process = waitpid(-1, &status, WNOHANG)
            guard process > 0 else { break }
            guard let command = running.removeValue(forKey: process) else { continue }
            untold.append(Supervisor.Answer(command: command, process: process, status: status))
        }
        // The number of a group that nobody is in any more may become a stranger's.
        if groups.count > running.count {
            groups = groups.filter { running[$0.value] != nil || kill(-$0.value, 0) == 0 }
        }
    }

    /// Writes the answers that fit into the pipe, none of them in parts.
    private mutating func tell() {
        let size = MemoryLayout<Supervisor.Answer>.stride
        while !untold.isEmpty {
            let count = Array(untold.prefix(Int(PIPE_BUF) / size)).withUnsafeBytes {
                write(answers, $0.baseAddress, $0.count)
            }
            if count < 0, lull_errno() == EINTR { continue }
            // Nobody reads any more: the next look at the requests says so.
            if count < 0, lull_errno() == EPIPE { untold = [] }
            guard count > 0 else { return }
            untold.removeFirst(count / size)
        }
    }
}
