internal import CLullSystem

/// The process that starts the commands, as this program sees it.
///
/// It is there so that commands end with this program, however that ends: it notices when this process is gone, and kills them and
/// all that they have started. Being their parent, it also sees their ends, and tells of them.
///
/// There are two ways between the processes: a socket, over which each request to start a command is answered before the next
/// one, and a pipe for the ends, which come at any time.
struct Supervisor {
    /// How a command ended.
    struct Ended {
        let process: pid_t
        /// As `waitpid` says it.
        let status: Int32
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
            SupervisorProcess.run(path, environment, requests: ends[1], ends: writing)
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

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - arguments: From the name of the program on.
    ///   - variables: Of the environment, beside those that every command gets.
    /// - Returns: The process, which is also the number of its group, or an error's code.
    mutating func start(
        _ arguments: [[UInt8]], _ variables: [[UInt8]], input: Int32, errors: Int32
    ) -> (process: pid_t, code: Int32) {
        let words = arguments + variables
        let header = [Int32(arguments.count), Int32(words.reduce(0) { $0 + $1.count + 1 })]
        var message: [UInt8] = []
        message.reserveCapacity(8 + Int(header[1]))
        header.withUnsafeBytes { message += $0 }
        for word in words {
            message += word
            message.append(0)
        }
        var answer: [Int32] = [0, 0]
        guard Link.send(message, [input, errors], to: socket), Link.receive(&answer, from: socket) != nil else {
            isLost = true
            return (-1, EPIPE)
        }
        return (answer[0], answer[1])
    }

    /// Hands over the commands that have ended.
    mutating func ended() -> [Ended] {
        var ended: [Ended] = []
        var places = [Int32](repeating: 0, count: 512)
        while !isLost {
            let count = places.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, lull_errno() == EINTR { continue }
            if count == 0 { isLost = true }
            guard count > 0 else { break }
            // What is written at once is read at once: a whole number of them.
            for index in stride(from: 0, to: count / 4, by: 2) {
                ended.append(Ended(process: places[index], status: places[index + 1]))
            }
        }
        return ended
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

    /// Receives as much as there is room for.
    ///
    /// - Returns: The descriptors that came with it; nil if the other side is gone.
    static func receive<Element: BitwiseCopyable>(_ message: inout [Element], from socket: Int32) -> [Int32]? {
        message.withUnsafeMutableBytes { bytes in
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
}
