internal import CLullCommand
internal import CLullSockets
internal import CLullSystem
internal import LullCore

/// A connection to the socket of a program that can be looked into, and what has come through it.
struct ProgramConnection {
    /// How long a program has for each line, in nanoseconds.
    private static let patience: Int64 = 5_000_000_000
    /// The longest line that is read.
    private static let longest = 16 << 20

    enum Event {
        case line([UInt8])
        /// No line has come for a while. This is said once.
        case silence
        case end
        case outputIsClosed
        case signal(Int32)
    }

    let descriptor: Int32
    let path: String
    private var received: [UInt8] = []
    /// How much of that has no end of a line.
    private var searched = 0
    private var hasAnswered = false
    /// When it last sent a line, or was connected to, in nanoseconds since boot.
    private var heard = lull_nanoseconds_since_boot()
    private var hasSaidSilence = false

    init(to operand: Argument) throws(Failure) {
        path = String(cString: operand)
        descriptor = lull_socket_connect(operand)
        if descriptor >= 0 {
            // In a folder of all users, another one may have taken the path.
            let user = lull_socket_peer(descriptor)
            if geteuid() == 0 || user == Int64(geteuid()) { return }
            close()
            throw .failed("\(path): the program there belongs to another user")
        }
        let isSocket = lull_is_socket(operand) != 0
        switch -descriptor {
        case ENOENT:
            throw .failed("\(path): there is nothing. Start the program with LULL_INSPECT=\(path)")
        case EACCES: throw .failed("\(path): it belongs to another user, or its folder does")
        case ENAMETOOLONG: throw .failed("\(path): the path is too long for a socket")
        case EAGAIN: throw silence
        case ECONNREFUSED where isSocket: throw .failed("\(path): nobody listens: the program has ended")
        case let code where isSocket: throw .failed("\(path): \(Failure.reason(code))")
        default: throw .failed("\(path): it is no socket of a program")
        }
    }

    func close() { CLullCommand.close(descriptor) }

    /// Waits for what comes next.
    ///
    /// - Parameter output: A descriptor whose reader may go; -1 for none.
    mutating func next(_ signals: Signals? = nil, output: Int32) throws(Failure) -> Event {
        while true {
            if let line = takeLine() { return .line(line) }
            var interests = [
                pollfd(descriptor: signals?.descriptor ?? -1, Int32(POLLIN)), pollfd(hangUpOf: output),
                pollfd(descriptor: descriptor, Int32(POLLIN)),
            ]
            // What comes bit by bit is no line yet.
            let left = max(0, heard + Self.patience - lull_nanoseconds_since_boot())
            if poll(&interests, 3, hasSaidSilence ? -1 : Int32(left / 1_000_000) + 1) == 0, isSilent {
                guard hasAnswered else { throw silence }
                hasSaidSilence = true
                return .silence
            }
            if Int32(interests[1].revents) & Int32(POLLERR | POLLHUP) != 0 { return .outputIsClosed }
            if let number = signals?.received().first(where: Signals.isEnding) { return .signal(number) }
            if interests[2].revents != 0, try !receive() { return .end }
        }
    }

    /// Whether it has sent no line for so long that it may be stopped.
    var isSilent: Bool { lull_nanoseconds_since_boot() - heard >= Self.patience }

    /// Takes what has come; false at the end.
    mutating func receive() throws(Failure) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = lull_socket_receive(descriptor, &bytes, bytes.count)
        if count == 0 {
            if hasAnswered { return false }
            throw received.isEmpty ? .failed("\(path): the program has closed the connection") : foreign
        }
        if count > 0 { received += bytes[..<count] }
        if received.count > Self.longest { throw foreign }
        return true
    }

    mutating func takeLine() -> [UInt8]? {
        guard let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = received.count
            return nil
        }
        defer {
            received.removeFirst(end + 1)
            searched = 0
        }
        (hasAnswered, hasSaidSilence) = (true, false)
        heard = lull_nanoseconds_since_boot()
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

    // MARK: - What there is to say of it

    var silence: Failure { .failed("\(path): the program does not answer; it may be stopped") }

    var end: Failure { .failed("\(path): the program has ended, or lets nobody look any more") }

    private var foreign: Failure {
        .failed("\(path): the program there is none with LullInspection: it answers something else")
    }
}
