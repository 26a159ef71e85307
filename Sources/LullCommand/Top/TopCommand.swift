internal import CLullCommand
internal import CLullSockets
internal import LullCore

/// `lull top`: shows the debouncers of a program that runs, through the socket at which `LullInspection` listens.
enum TopCommand {
    /// How long a program has for its first answer, in milliseconds.
    private static let patience: Int32 = 5000
    /// How often the table is shown anew, in nanoseconds of the program; its snapshots come four times as often.
    private static let interval: Int64 = 900_000_000
    /// The longest line that is read.
    private static let longest = 16 << 20

    static func run(_ operands: [Argument], _ options: CommandOptions) throws(Failure) -> Int32 {
        guard let operand = operands.first else {
            throw .usage("PATH is missing: the socket of a program, its LULL_INSPECT", .top)
        }
        try operands.dropFirst().checkEmpty(for: .top)
        let path = String(cString: operand)
        var program = Program(connection: try connect(to: operand, path), path: path)
        defer { close(program.connection) }
        let signals = try Signals()
        var output = OutputBuffer(STDOUT_FILENO)
        var table = TopTable()
        var shown: Int64?
        while true {
            switch try program.next(signals) {
            case .line(let line):
                let snapshot = try program.snapshot(line)
                if options.printsObjects {
                    output.bytes += line
                    output.bytes.append("\n")
                } else if shown.map({ snapshot.time - $0 >= Self.interval || snapshot.time < $0 }) ?? true {
                    shown = snapshot.time
                    let isTerminal = isatty(STDOUT_FILENO) != 0
                    // Go to the upper left corner and clear the screen.
                    if isTerminal { output.bytes.append(string: "\u{1B}[H\u{1B}[J") }
                    table.append(
                        snapshot, width: Terminal.tableWidth, lines: isTerminal ? Terminal.lines : nil,
                        style: options.style, to: &output.bytes)
                }
                if case .closed = try output.drain() { return ExitStatus.success }
            case .end:
                OutputBuffer.report(["\(path): the program has ended, or lets nobody look any more"])
                return ExitStatus.success
            case .outputIsClosed: return ExitStatus.success
            case .signal(let number): Signals.end(by: number)
            }
        }
    }

    private static func connect(to operand: Argument, _ path: String) throws(Failure) -> Int32 {
        let connection = lull_socket_connect(operand)
        guard connection < 0 else { return connection }
        let isSocket = lull_is_socket(operand) != 0
        switch -connection {
        case ENOENT:
            throw .failed("\(path): there is nothing. Start the program with LULL_INSPECT=\(path)")
        case EACCES: throw .failed("\(path): it belongs to another user, or its folder does")
        case ENAMETOOLONG: throw .failed("\(path): the path is too long for a socket")
        case EAGAIN: throw .failed("\(path): the program does not answer; it may be stopped")
        case ECONNREFUSED where isSocket: throw .failed("\(path): nobody listens: the program has ended")
        case let code where isSocket: throw .failed("\(path): \(Failure.reason(code))")
        default: throw .failed("\(path): it is no socket of a program")
        }
    }

    // MARK: - The program

    private struct Program {
        enum Event {
            case line([UInt8])
            case end
            case outputIsClosed
            case signal(Int32)
        }

        let connection: Int32
        let path: String
        private var received: [UInt8] = []
        /// How much of that has no end of a line.
        private var searched = 0
        private var hasAnswered = false

        init(connection: Int32, path: String) {
            self.connection = connection
            self.path = path
        }

        /// Waits for what comes next.
        mutating func next(_ signals: Signals) throws(Failure) -> Event {
            while true {
                if let line = takeLine() {
                    hasAnswered = true
                    return .line(line)
                }
                if received.count > TopCommand.longest { throw foreign }
                var interests = [
                    pollfd(descriptor: signals.descriptor, Int32(POLLIN)), pollfd(hangUpOf: STDOUT_FILENO),
                    pollfd(descriptor: connection, Int32(POLLIN)),
                ]
                if poll(&interests, 3, hasAnswered ? -1 : TopCommand.patience) == 0 {
                    throw .failed("\(path): the program does not answer; it may be stopped")
                }
                if Int32(interests[1].revents) & Int32(POLLERR | POLLHUP) != 0 { return .outputIsClosed }
                if let number = signals.received().first(where: Signals.isEnding) { return .signal(number) }
                guard interests[2].revents != 0 else { continue }
                var bytes = [UInt8](repeating: 0, count: 1 << 16)
                let count = lull_socket_receive(connection, &bytes, bytes.count)
                if count == 0 {
                    if hasAnswered { return .end }
                    throw received.isEmpty ? .failed("\(path): the program has closed the connection") : foreign
                }
                if count > 0 { received += bytes[..<count] }
            }
        }

        private mutating func takeLine() -> [UInt8]? {
            guard let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
                searched = received.count
                return nil
            }
            defer {
                received.removeFirst(end + 1)
                searched = 0
            }
            return Array(received[..<end])
        }

        func snapshot(_ line: [UInt8]) throws(Failure) -> ProgramSnapshot {
            do throws(ProgramSnapshot.Fault) {
                return try ProgramSnapshot(line)
            } catch {
                switch error {
                case .foreign: throw foreign
                case .newer: throw .failed("\(path): the program has a newer Lull than this command")
                case .refused(let reason): throw .failed("\(path): the program refuses: \(reason)")
                }
            }
        }

        private var foreign: Failure {
            .failed("\(path): the program there is none with LullInspection: it answers something else")
        }
    }
}
