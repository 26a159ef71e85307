internal import CLullCommand
internal import CLullSystem

/// The supervisor itself: an event loop that ends when the program that forked it ends.
///
/// It has a process group of its own, so the terminal sends it no signals. It also gives up the controlling terminal: a
/// command cannot open it, and so is not stopped for reading from it.
struct SupervisorProcess {
    private let path: [UInt8]
    private let environment: [Argument]
    private let requests: Int32
    private let answers: Int32
    private let signals: Signals

    /// Answers that wait for room in the pipe.
    private var unsent: [Supervisor.Answer] = []
    /// The running commands by process id.
    private var running: [pid_t: Int64] = [:]
    /// The process groups of the running commands, and those that ended commands have left processes in.
    private var groups: [Int64: pid_t] = [:]
    /// The commands whose groups got a signal and are not gone, each with the latest signal.
    private var awaited: [Int64: Int32] = [:]
    /// When to look at the awaited groups next, and how long to wait then. On Linux the supervisor adopts the members
    /// of a group, and sees them end; it does not see those whose parent has left the group.
    private var nextLook = Int64.max
    private var pause = SupervisorProcess.shortestPause
    private static let shortestPause: Int64 = 16_000_000
    private static let longestPause: Int64 = 1_000_000_000

    /// Runs the supervisor after the fork, until it exits.
    static func run(_ path: [UInt8], _ environment: [Argument], requests: Int32, answers: Int32) -> Never {
        setpgid(0, 0)
        lull_leave_terminal()
        lull_adopt_orphans()
        lull_set_name("lull-supervisor")
        // Close the inherited standard input: its writer must see at once when the program ends.
        let nothing = lull_open("/dev/null", O_RDONLY)
        if nothing > 0 {
            dup2(nothing, STDIN_FILENO)
            close(nothing)
        }
        // Signals that end the program do not end the supervisor, which ends with it. Commands get them with their
        // default action.
        guard let signals = try? Signals() else { _exit(ExitStatus.inputOutput) }
        if lull_is_ignored(SIGQUIT) == 0 { lull_handle(SIGQUIT) { _ in } }
        var process = SupervisorProcess(
            path: path, environment: environment, requests: requests, answers: answers, signals: signals)
        process.serve()
        Descendants.killAll(process.groups.values)
        _exit(ExitStatus.success)
    }

    /// Starts commands and reports their ends, until the program closes the socket.
    private mutating func serve() {
        while true {
            var interests = [
                pollfd(descriptor: requests, Int32(POLLIN)), pollfd(descriptor: signals.descriptor, Int32(POLLIN)),
                pollfd(descriptor: unsent.isEmpty ? -1 : answers, Int32(POLLOUT)),
            ]
            guard poll(&interests, nfds_t(interests.count), timeout) >= 0 else { continue }
            if interests[1].revents != 0 {
                _ = signals.received()
                reap()
            }
            if !awaited.isEmpty { lookAtGroups(hasReaped: interests[1].revents != 0) }
            // Once the program has ended, its remaining requests are not carried out.
            if Int32(interests[0].revents) & Int32(POLLHUP | POLLERR) != 0 { return }
            if interests[0].revents != 0, !carryOut() { return }
            if !unsent.isEmpty { sendAnswers() }
        }
    }

    /// In milliseconds, for `poll`; -1 for none. The end of a command itself is an event.
    private var timeout: Int32 {
        guard awaited.keys.contains(where: { groups[$0].map { running[$0] == nil } ?? true }) else { return -1 }
        return Int32(max(0, nextLook - lull_nanoseconds_since_boot()) / 1_000_000 + 1)
    }

    /// Reports the awaited groups that are gone.
    private mutating func lookAtGroups(hasReaped: Bool) {
        let now = lull_nanoseconds_since_boot()
        let isTime = now >= nextLook
        guard hasReaped || isTime else { return }
        if isTime {
            nextLook = now + pause
            pause = min(2 * pause, Self.longestPause)
        }
        for (command, signal) in awaited {
            if let group = groups[command] {
                if running[group] != nil { continue }
                if Descendants.isAlive(group, isThorough: isTime && signal == SIGKILL) { continue }
            }
            groups[command] = nil
            awaited[command] = nil
            unsent.append(Supervisor.Answer(.gone, command))
        }
    }

    /// - Returns: False if the program has closed the socket.
    private mutating func carryOut() -> Bool {
        var request = Supervisor.Request(command: 0)
        let received = withUnsafeMutableBytes(of: &request) { SupervisorSocket.receive(into: $0, from: requests) }
        guard let descriptors = received else { return false }
        defer { for descriptor in descriptors { close(descriptor) } }
        if request.signal != 0 {
            if let group = groups[request.command] { kill(-group, request.signal) }
            awaited[request.command] = request.signal
            pause = Self.shortestPause
            // At once, for a group that is gone already.
            nextLook = lull_nanoseconds_since_boot()
            return true
        }
        var strings = [CChar](repeating: 0, count: request.length)
        let rest = strings.withUnsafeMutableBytes { SupervisorSocket.receive(into: $0, from: requests) }
        guard rest != nil else { return false }
        guard descriptors.count == request.descriptors else {
            // The kernel drops the descriptors that would exceed this process's limit.
            unsent.append(Supervisor.Answer(.notStarted, request.command, status: EMFILE))
            return true
        }
        var process: pid_t = 0
        // This process may have been stopped, too, while the request waited.
        let isTooLate = lull_nanoseconds_since_boot() >= request.deadline
        let code =
            isTooLate
            ? ETIMEDOUT : start(&strings, Int(request.arguments), descriptors, &process)
        if code == 0 {
            running[process] = request.command
            groups[request.command] = process
            unsent.append(Supervisor.Answer(.started, request.command))
        } else {
            unsent.append(Supervisor.Answer(.notStarted, request.command, status: code))
        }
        return true
    }

    private func start(
        _ strings: inout [CChar], _ count: Int, _ descriptors: [Int32], _ process: inout pid_t
    ) -> Int32 {
        strings.withUnsafeMutableBufferPointer { strings in
            var pointers: [Argument?] = []
            var isStart = true
            for index in strings.indices {
                if isStart { pointers.append(strings.baseAddress.map { $0 + index }) }
                isStart = strings[index] == 0
            }
            let arguments = pointers[..<count] + [nil]
            let variables = environment + pointers[count...] + [nil]
            return lull_spawn(
                &process, path.cString, Array(arguments), Array(variables), descriptors[0], descriptors[1],
                descriptors.count > 2 ? descriptors[2] : -1)
        }
    }

    /// Reaps everything that has ended: commands, and the orphans that they have left.
    private mutating func reap() {
        var status: Int32 = 0
        while true {
            let process = waitpid(-1, &status, WNOHANG)
            guard process > 0 else { break }
            guard let command = running.removeValue(forKey: process) else { continue }
            unsent.append(Supervisor.Answer(.ended, command, status: status))
        }
        // Forget empty groups: their ids may be reused.
        if groups.count > running.count {
            groups = groups.filter { running[$0.value] != nil || Descendants.isAlive($0.value, isThorough: false) }
        }
    }

    /// Writes as many answers as fit into the pipe, none of them in parts.
    private mutating func sendAnswers() {
        let size = MemoryLayout<Supervisor.Answer>.stride
        while !unsent.isEmpty {
            let count = Array(unsent.prefix(Int(PIPE_BUF) / size)).withUnsafeBytes {
                write(answers, $0.baseAddress, $0.count)
            }
            if count < 0, lull_errno() == EINTR { continue }
            // The program has ended; the next event on the socket says so.
            if count < 0, lull_errno() == EPIPE { unsent = [] }
            guard count > 0 else { return }
            unsent.removeFirst(count / size)
        }
    }
}
