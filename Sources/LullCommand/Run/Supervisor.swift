internal import CLullCommand

/// The process that starts the commands, as this program sees it.
///
/// It is there so that commands end with this program, however that ends: it notices when this process is gone, and kills them and
/// all that they have started. Being their parent, it also sees their ends, and tells of them.
///
/// There are two ways between the processes: a socket for requests, which are not answered, and a pipe for what came of them.
struct Supervisor {
    /// What a request begins with: what is wanted of which command, and what follows.
    struct Request: BitwiseCopyable {
        /// A signal's number, or 0: start it.
        var signal: Int32 = 0
        /// The number of its arguments; the other words are variables of the environment.
        var arguments: Int32 = 0
        /// The bytes of all words, each with its NUL.
        var length = 0
        var command: Int64
    }

    /// What came of a request to start a command: it has ended, or was not started.
    struct Answer: BitwiseCopyable {
        var command: Int64 = 0
        /// The process, which is also the number of its group; 0 if it was not started.
        var process: Int32 = 0
        /// As `waitpid` says it, or an error's code.
        var status: Int32 = 0
    }

    /// To be polled for reading: commands have ended, or the supervisor has.
    let descriptor: Int32
    private let socket: Int32
    private let process: pid_t
    /// How long the end of this program waits for the end of what is killed with it.
    private static let patience: Int32 = 1000

    /// Whether the supervisor is gone. Somebody must have killed it.
    private(set) var isLost = false

    /// Forks the supervisor. This has to come before anything that a fork must not share: threads, open databases.
    ///
    /// - Parameters:
    ///   - path: Of the program to start.
    ///   - environment: What each command gets, before its own variables.
    init(_ path: [UInt8], environment: [Argument]) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard lull_socket_pair(&ends) == 0 else { throw .system("cannot make a socket") }
        let (reading, writing) = try Pipe.make()
        socket = ends[0]
        descriptor = reading
        guard lull_add_flags(reading, 0, O_NONBLOCK) == 0, lull_add_flags(writing, 0, O_NONBLOCK) == 0 else {
            throw .system("cannot make a pipe")
        }
        // No signal ends the supervisor before it is out of the terminal's reach and has its handlers.
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
        // If somebody kills the supervisor alone, its descendants come here, to be killed.
        Descendants.adopt()
        // Each running command takes a descriptor here; what the commands themselves may have is as it was.
        lull_raise_descriptor_limit()
    }

    /// Starts the program, as the command of a number.
    ///
    /// - Parameters:
    ///   - arguments: From the name of the program on.
    ///   - variables: Of the environment, beside those that every command gets.
    mutating func start(
        _ command: Int64, _ arguments: [[UInt8]], _ variables: [[UInt8]], input: Int32, errors: Int32
    ) {
        let words = arguments + variables
        let length = words.reduce(0) { $0 + $1.count + 1 }
        var message = Link.bytes(
            of: Request(arguments: Int32(arguments.count), length: length, command: command), more: length)
        for word in words {
            message += word
            message.append(0)
        }
        send(message, [input, errors])
    }

    /// Sends a signal to the group of a command.
    mutating func signal(_ command: Int64, _ number: Int32) {
        send(Link.bytes(of: Request(signal: number, command: command)))
    }

    private mutating func send(_ message: [UInt8], _ descriptors: [Int32] = []) {
        // That nobody is there is told by the other way, too.
        if !isLost, !Link.send(message, descriptors, to: socket) { isLost = true }
    }

    /// Hands over the commands that have ended, or were not started.
    mutating func ended() -> [Answer] {
        var ended: [Answer] = []
        var places = [Answer](repeating: Answer(), count: 64)
        while true {
            let count = places.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, lull_errno() == EINTR { continue }
            if count == 0 { isLost = true }
            guard count > 0 else { return ended }
            // What is written at once is read at once: a whole number of them.
            ended += places[..<(count / MemoryLayout<Answer>.stride)]
        }
    }

    /// Ends the supervisor, and with it all that commands have left behind.
    func end() {
        shutdown(socket, Int32(SHUT_WR))
        var interest = pollfd(descriptor: socket, Int32(POLLIN))
        // It closes its end when nothing is left. Whatever takes longer than that is killed already, and ends by itself.
        if poll(&interest, 1, Self.patience) > 0 { waitpid(process, nil, 0) }
    }
}

/// What goes over the socket: whole messages, or nothing any more.
enum Link {
    /// Sends everything, and the descriptors with the first byte.
    static func send(_ message: [UInt8], _ descriptors: [Int32] = [], to socket: Int32) -> Bool {
        var done = 0
        while done < message.count {
            let count = message.withUnsafeBytes {
                lull_send(
                    socket, $0.baseAddress.map { $0 + done }, $0.count - done, descriptors,
                    done == 0 ? descriptors.count : 0)
            }
            if count < 0, lull_errno() == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// The bytes of a value, with room for more.
    static func bytes<Value: BitwiseCopyable>(of value: Value, more: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(MemoryLayout<Value>.size + more)
        withUnsafeBytes(of: value) { bytes += $0 }
        return bytes
    }

    /// Receives as much as there is room for.
    ///
    /// - Returns: The descriptors that came with it; nil if the other side is gone.
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
