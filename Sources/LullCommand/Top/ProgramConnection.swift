internal import CLullCommand
internal import CLullSockets
internal import LullCore

/// A connection to the socket of a program that can be looked into, and what has come through it.
struct ProgramConnection {
    /// How long a program has for its first answer, in milliseconds.
    static let patience: Int32 = 5000
    /// The longest line that is read.
    private static let longest = 16 << 20

    enum Event {
        case line([UInt8])
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

    init(to operand: Argument) throws(Failure) {
        path = String(cString: operand)
        descriptor = lull_socket_connect(operand)
        guard descriptor < 0 else { return }
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
    mutating func next(_ signals: Signals, output: Int32) throws(Failure) -> Event {
        while true {
            if let line = takeLine() { return .line(line) }
            var interests = [
                pollfd(descriptor: signals.descriptor, Int32(POLLIN)), pollfd(hangUpOf: output),
                pollfd(descriptor: descriptor, Int32(POLLIN)),
            ]
            if poll(&interests, 3, hasAnswered ? -1 : Self.patience) == 0 { throw silence }
            if Int32(interests[1].revents) & Int32(POLLERR | POLLHUP) != 0 { return .outputIsClosed }
            if let number = signals.received().first(where: Signals.isEnding) { return .signal(number) }
            if interests[2].revents != 0, try !receive() { return .end }
        }
    }

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
        hasAnswered = true
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
