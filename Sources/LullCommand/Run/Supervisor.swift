internal import CLullCommand

/// The parent's side of the supervisor: the process that starts the commands.
///
/// The supervisor exists so that the commands end with this program, however this program ends: it notices that, and
/// then kills them and everything they have started. As their parent it also sees them end, and reports that.
///
/// Requests go through a socket and are not answered there; a pipe returns the results.
struct Supervisor {
    /// The header of a request; the strings follow it.
    struct Request: BitwiseCopyable {
        /// The signal to send, or 0 to start the command.
        var signal: Int32 = 0
        /// How many of the strings are arguments; the others are environment variables.
        var arguments: Int32 = 0
        /// The size of all strings in bytes, each with its NUL.
        var length = 0
        var command: Int64
        /// When it is too late to start the command, in nanoseconds since the boot of the machine.
        var deadline = Int64.max
        /// How many descriptors come with it: standard input, standard error, and the one for answers.
        var descriptors = 2

        var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
    }

    /// What has become of a command.
    struct Answer: BitwiseCopyable {
        enum Event: Int32 {
            case started
            /// It could not be started.
            case notStarted
            /// The command itself has ended, its group perhaps not.
            case ended
            /// No process of the group is left. Sent for groups that got a signal.
            case gone
        }

        var command: Int64 = 0
        private var number: Int32 = 0
        /// The status from `waitpid` of one that has ended, or the error code of one that was not started: `ETIMEDOUT`
        /// if it was too late.
        var status: Int32 = 0

        /// Nil is impossible: the supervisor is a fork of this program.
        var event: Event? { Event(rawValue: number) }

        init() {}

        init(_ event: Event, _ command: Int64, status: Int32 = 0) {
            (number, self.command, self.status) = (event.rawValue, command, status)
        }
    }

    /// Poll this for reading: there are answers, or the supervisor has ended.
    let descriptor: Int32
    private let socket: Int32
    private let process: pid_t
    /// How long, in milliseconds, ``end()`` waits for the processes that it kills.
    private static let patience: Int32 = 1000

    /// Whether the supervisor has ended, which means that something killed it.
    private(set) var isLost = false

    /// Forks the supervisor. Call it before anything that a fork must not share: threads, open databases.
    ///
    /// - Parameters:
    ///   - path: The program to start.
    ///   - environment: The environment of every command; each adds variables of its own.
    init(_ path: [UInt8], environment: [Argument]) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard lull_socket_pair(&ends) == 0 else { throw .system("cannot make a socket") }
        let (reading, writing) = try Pipe.make(isBlocking: false)
        socket = ends[0]
        descriptor = reading
        // No signal may end the supervisor before it has left the terminal and installed its handlers.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        sigprocmask(SIG_SETMASK, &all, &before)
        process = lull_fork()
        if process == 0 {
            close(ends[0])
            close(reading)
            SupervisorProcess.run(path, environment, requests: ends[1], answers: writing)
        }
        let code = lull_errno()
        sigprocmask(SIG_SETMASK, &before, nil)
        close(ends[1])
        close(writing)
        guard process > 0 else { throw .system("cannot start a process", code) }
        // If the supervisor alone is killed, its descendants become children of this process, which then kills them.
        lull_adopt_orphans()
        // Each running command takes a descriptor here. The limit that the commands inherit stays as it was.
        _ = lull_raise_descriptor_limit()
    }

    /// Starts the program as the command of the given number.
    ///
    /// - Parameters:
    ///   - deadline: When it is too late to do so, in nanoseconds since the boot of the machine.
    ///   - arguments: The arguments, from the name of the program on.
    ///   - variables: Environment variables besides those that every command gets.
    ///   - answers: What is its descriptor 3; nil for none.
    /// - Returns: The error code with which this machine has refused to pass the descriptors on, or 0.
    mutating func start(
        _ command: Int64, before deadline: Int64, _ arguments: [[UInt8]], _ variables: [[UInt8]], input: Int32,
        errors: Int32, answers: Int32?
    ) -> Int32 {
        let strings: [UInt8] = (arguments + variables).flatMap { (string: [UInt8]) in string + [0] }
        let request = Request(
            arguments: Int32(arguments.count), length: strings.count, command: command, deadline: deadline,
            descriptors: answers == nil ? 2 : 3)
        return send(request.bytes + strings, [input, errors] + [answers].compactMap(\.self))
    }

    /// Sends a signal to the process group of a command. The supervisor answers when the group is gone.
    mutating func signal(_ command: Int64, _ number: Int32) {
        _ = send(Request(signal: number, command: command).bytes)
    }

    private mutating func send(_ message: [UInt8], _ descriptors: [Int32] = []) -> Int32 {
        guard !isLost else { return 0 }
        let code = SupervisorSocket.send(message, descriptors, to: socket)
        if [ETOOMANYREFS, ENOBUFS, ENOMEM].contains(code) { return code }
        // If the supervisor has ended, the end of the pipe reports that too.
        if code != 0 { isLost = true }
        return 0
    }

    mutating func received() -> [Answer] {
        var received: [Answer] = []
        var answers = [Answer](repeating: Answer(), count: 64)
        while true {
            let count = answers.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, lull_errno() == EINTR { continue }
            if count == 0 { isLost = true }
            guard count > 0 else { return received }
            // Answers are written whole, so a read returns a whole number of them.
            received += answers[..<(count / MemoryLayout<Answer>.stride)]
        }
    }

    /// Ends the supervisor, and kills everything that the commands have left behind.
    func end() {
        shutdown(socket, Int32(SHUT_WR))
        var interest = pollfd(descriptor: socket, Int32(POLLIN))
        // The supervisor closes its end when no process is left. Those that take longer have been sent SIGKILL, and end
        // by themselves.
        if poll(&interest, 1, Self.patience) > 0 { waitpid(process, nil, 0) }
    }
}

/// Sends and receives whole messages over the supervisor's socket.
enum SupervisorSocket {
    /// Sends a message, with the descriptors attached to its first byte.
    ///
    /// - Returns: The code of an error, or 0.
    static func send(_ message: [UInt8], _ descriptors: [Int32] = [], to socket: Int32) -> Int32 {
        var done = 0
        while done < message.count {
            let count = message.withUnsafeBytes {
                lull_send(
                    socket, $0.baseAddress.map { $0 + done }, $0.count - done, descriptors,
                    done == 0 ? descriptors.count : 0)
            }
            if count < 0, lull_errno() == EINTR { continue }
            guard count > 0 else { return done == 0 ? lull_errno() : EPIPE }
            done += count
        }
        return 0
    }

    /// Receives exactly as many bytes as the buffer holds.
    ///
    /// - Returns: The descriptors that came with them; nil if the other side has closed the socket.
    static func receive(into bytes: UnsafeMutableRawBufferPointer, from socket: Int32) -> [Int32]? {
        var descriptors: [Int32] = []
        var done = 0
        while done < bytes.count {
            var received: [Int32] = [-1, -1, -1, -1]
            var number = 0
            let count = lull_receive(
                socket, bytes.baseAddress.map { $0 + done }, bytes.count - done, &received, &number)
            descriptors += received[..<number]
            if count < 0, lull_errno() == EINTR { continue }
            guard count > 0 else {
                for descriptor in descriptors { close(descriptor) }
                return nil
            }
            done += count
        }
        return descriptors
    }
}
