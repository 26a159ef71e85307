internal import CLullPostgres

/// A connection of libpq that never blocks. Only the client's thread uses it.
final class Connection {
    private let handle: OpaquePointer

    /// Begins to connect.
    init?(_ parameters: [(name: String, value: String)]) {
        var names: [UnsafePointer<CChar>?] = parameters.map { UnsafePointer(strdup($0.name)) } + [nil]
        var values: [UnsafePointer<CChar>?] = parameters.map { UnsafePointer(strdup($0.value)) } + [nil]
        defer { for text in names + values { free(UnsafeMutableRawPointer(mutating: text)) } }
        guard let handle = PQconnectStartParams(&names, &values, 0) else { return nil }
        self.handle = handle
        PQsetnonblocking(handle, 1)
        // The server's notices are for a person.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    var descriptor: Int32 { PQsocket(handle) }

    /// The latest error in one line.
    var message: String {
        let lines = String(cString: PQerrorMessage(handle)).split(separator: "\n")
        return lines.map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: "; ")
    }

    /// What a connection waits for.
    enum Wait {
        case reading
        case writing
        case none
    }

    // MARK: - Connecting

    /// Goes on connecting after the descriptor became ready. `none`: it is connected.
    ///
    /// - Throws: ``Broken`` if it cannot connect.
    func goOnConnecting() throws(Broken) -> Wait {
        switch PQconnectPoll(handle) {
        case PGRES_POLLING_OK: return .none
        case PGRES_POLLING_READING: return .reading
        case PGRES_POLLING_WRITING: return .writing
        default: throw Broken(message: message)
        }
    }

    // MARK: - Statements

    /// Sends a statement, as far as the system takes it.
    func send(_ statement: Statement) throws(Broken) {
        let count = statement.values.count
        var lengths = statement.values.map { Int32($0?.count ?? 0) }
        var formats = [Int32](repeating: 1, count: count)
        // A name is text: the server converts it.
        for (index, type) in statement.types.enumerated() where type == 0 { formats[index] = 0 }
        var types = statement.types
        // Text needs its zero at the end.
        let buffers = statement.values.map { value -> UnsafeMutablePointer<CChar>? in
            guard let value else { return nil }
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: value.count + 1)
            value.withUnsafeBytes {
                UnsafeMutableRawPointer(buffer).copyMemory(
                    from: $0.baseAddress ?? UnsafeRawPointer(buffer), byteCount: $0.count)
            }
            buffer[value.count] = 0
            return buffer
        }
        defer { for buffer in buffers { buffer?.deallocate() } }
        var values = buffers.map { UnsafePointer($0) }
        guard
            PQsendQueryParams(handle, statement.text, Int32(count), &types, &values, &lengths, &formats, 1) == 1,
            PQflush(handle) >= 0
        else { throw Broken(message: message) }
    }

    /// Whether something is left to be sent.
    func flush() throws(Broken) -> Bool {
        switch PQflush(handle) {
        case 0: return false
        case 1: return true
        default: throw Broken(message: message)
        }
    }

    /// Takes what has arrived. Returns the answer when the server is ready again: before that it may not have committed.
    func receive() throws(Broken) -> Result<Rows, ServerError>? {
        guard PQconsumeInput(handle) == 1 else { throw Broken(message: message) }
        while PQisBusy(handle) == 0 {
            guard let result = PQgetResult(handle) else {
                defer { answer = nil }
                guard let answer else { throw Broken(message: message) }
                return answer
            }
            defer { PQclear(result) }
            try take(result)
        }
        return nil
    }

    private var answer: Result<Rows, ServerError>?

    private func take(_ result: OpaquePointer) throws(Broken) {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            var rows = Rows()
            let columns = PQnfields(result)
            for row in 0..<PQntuples(result) {
                rows.append(Row(values: (0..<columns).map { Self.value(result, row, $0) }))
            }
            answer = .success(rows)
        default:
            // Without a code it is an error of the connection.
            guard let code = PQresultErrorField(result, Int32(UInt8(ascii: "C"))) else {
                throw Broken(message: message)
            }
            let text = PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
            answer = .failure(ServerError(code: String(cString: code), message: text ?? ""))
        }
    }

    private static func value(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> [UInt8]? {
        if PQgetisnull(result, row, column) == 1 { return nil }
        let count = Int(PQgetlength(result, row, column))
        return Array(UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: count))
    }

    // MARK: - Notifications

    /// Takes what has arrived while no statement runs, and returns the payloads of notifications.
    func notifications() throws(Broken) -> [String] {
        guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw Broken(message: message) }
        var payloads: [String] = []
        while let notification = PQnotifies(handle) {
            payloads.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return payloads
    }
}

/// A connection that was lost, or could not be made.
struct Broken: Error {
    let message: String
}
