internal import CLullPostgres
internal import LullDurable

/// A connection of libpq, which sends the statements of a request together, each with an end of its own: one that fails
/// keeps none of the others from the server. One request is sent after the other.
final class Connection: ServerWire {
    typealias Host = ConnectionURL.Host
    typealias Request = Statements
    typealias Response = Rows

    static let window = 1

    /// What was sent, each with an end of its own.
    private enum Message {
        case statement
        /// Gives a statement a name.
        case preparation(of: String)
        /// Asks for the process that answers.
        case question
    }

    private let handle: OpaquePointer
    /// What has no answer yet of a request, and what was answered: the rows of the statement that has some, or the
    /// first error.
    private var unanswered: [Message] = []
    private var rows = Rows()
    private var error: ServerError?
    /// Whether the server itself is at the other end, and not a pooler, which may send each transaction to another
    /// process; nil before the first answer.
    private var isDirect: Bool?
    /// The names of statements that the server has analyzed: that of a long one takes it longer than a plan.
    private var names: [String: String] = [:]
    private var nameCount = 0

    /// Begins to connect.
    init(_ host: ConnectionURL.Host) throws(ConnectionFailure) {
        var names: [UnsafePointer<CChar>?] = host.parameters.map { UnsafePointer(strdup($0.name)) } + [nil]
        var values: [UnsafePointer<CChar>?] = host.parameters.map { UnsafePointer(strdup($0.value)) } + [nil]
        defer { for text in names + values { free(UnsafeMutableRawPointer(mutating: text)) } }
        guard let handle = lull_PQconnectStartParams(&names, &values, 0) else {
            throw ConnectionFailure("out of memory")
        }
        self.handle = handle
        // A failure at the first step has no descriptor to wait for.
        if descriptor < 0 { throw failure }
        lull_PQsetnonblocking(handle, 1)
        // The server's notices are for a person.
        lull_PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit { lull_PQfinish(handle) }

    var descriptor: Int32 { lull_PQsocket(handle) }

    /// The latest error in one line.
    private var failure: ConnectionFailure {
        let lines = String(cString: lull_PQerrorMessage(handle)).split(separator: "\n")
        return ConnectionFailure(lines.map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: "; "))
    }

    func goOnConnecting() throws(ConnectionFailure) -> DescriptorWait? {
        switch lull_PQconnectPoll(handle) {
        case LULL_POLLING_OK:
            guard lull_PQenterPipelineMode(handle) == 1 else { throw failure }
            return nil
        case LULL_POLLING_READING: return .reading
        case LULL_POLLING_WRITING: return .writing
        default: throw failure
        }
    }

    // MARK: - Statements

    func send(_ statements: Statements, until deadline: ContinuousClock.Instant) throws(ConnectionFailure) {
        // A pooler gives its clients numbers of its own.
        if isDirect == nil { try send(Statement("SELECT pg_backend_pid()"), as: .question) }
        // One that failed is repeated in another transaction.
        if lull_PQtransactionStatus(handle) == LULL_TRANSACTION_FAILED { try send(Statement("ROLLBACK")) }
        for statement in statements.list { try send(statement) }
    }

    private func send(_ statement: Statement, as message: Message = .statement) throws(ConnectionFailure) {
        let name = try statement.values.isEmpty ? nil : name(of: statement)
        let count = Int32(statement.values.count)
        let lengths = statement.values.map { Int32($0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: statement.values.count)
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
        let values = buffers.map { UnsafePointer($0) }
        let isSent =
            if let name {
                lull_PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
            } else {
                lull_PQsendQueryParams(handle, statement.text, count, statement.types, values, lengths, formats, 1)
            }
        guard isSent == 1 else { throw failure }
        try end(message)
    }

    /// Returns the name of a statement, or nil if it is to be sent without one.
    private func name(of statement: Statement) throws(ConnectionFailure) -> String? {
        guard isDirect == true else { return nil }
        if let name = names[statement.text] { return name }
        nameCount += 1
        let name = "lull_\(nameCount)"
        let count = Int32(statement.types.count)
        guard lull_PQsendPrepare(handle, name, statement.text, count, statement.types) == 1 else { throw failure }
        try end(.preparation(of: statement.text))
        names[statement.text] = name
        return name
    }

    private func end(_ message: Message) throws(ConnectionFailure) {
        guard lull_PQpipelineSync(handle) == 1 else { throw failure }
        unanswered.append(message)
    }

    func flush() throws(ConnectionFailure) -> Bool {
        switch lull_PQflush(handle) {
        case 0: return false
        case 1: return true
        default: throw failure
        }
    }

    /// A statement is answered when the server is ready again: before that it may not have committed.
    func receive() throws(ConnectionFailure) -> [ServerArrival<Rows>] {
        guard lull_PQconsumeInput(handle) == 1,
            !unanswered.isEmpty || lull_PQstatus(handle) == LULL_CONNECTION_OK
        else {
            throw failure
        }
        var arrivals: [ServerArrival<Rows>] = []
        while let message = unanswered.first, lull_PQisBusy(handle) == 0 {
            // Nothing stands between the answers of two statements.
            guard let result = lull_PQgetResult(handle) else { continue }
            defer { lull_PQclear(result) }
            try take(result, of: message)
            guard lull_PQresultStatus(result) == LULL_PIPELINE_SYNC else { continue }
            unanswered.removeFirst()
            if !unanswered.isEmpty { continue }
            arrivals.append(.answer(error.map { .failure($0) } ?? .success(rows)))
            (rows, error) = (Rows(), nil)
        }
        while let notification = lull_PQnotifies(handle) {
            arrivals.append(.hint(String(cString: notification.pointee.extra)))
            lull_PQfreemem(notification)
        }
        return arrivals
    }

    private func take(_ result: OpaquePointer, of message: Message) throws(ConnectionFailure) {
        switch lull_PQresultStatus(result) {
        case LULL_COMMAND_OK, LULL_PIPELINE_SYNC: break
        case LULL_TUPLES_OK:
            if case .question = message {
                let process = Self.value(result, 0, 0).flatMap { Int32(bigEndian: $0) }
                isDirect = process == lull_PQbackendPID(handle)
                return
            }
            let columns = lull_PQnfields(result)
            for row in 0..<lull_PQntuples(result) {
                rows.append(Row(values: (0..<columns).map { Self.value(result, row, $0) }))
            }
        default:
            // Without a code it is an error of the connection.
            guard let code = lull_PQresultErrorField(result, Int32(UInt8(ascii: "C"))) else {
                throw failure
            }
            if case .preparation(let text) = message { names[text] = nil }
            let text = lull_PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
            error = error ?? ServerError(code: String(cString: code), message: text ?? "")
        }
    }

    private static func value(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> [UInt8]? {
        if lull_PQgetisnull(result, row, column) == 1 { return nil }
        let count = Int(lull_PQgetlength(result, row, column))
        return Array(UnsafeRawBufferPointer(start: lull_PQgetvalue(result, row, column), count: count))
    }
}

// MARK: - Errors

extension Connection {
    static func cure(of error: ServerError) -> ServerCure {
        switch error.code {
        // It has met another transaction.
        case "40001", "40P01": .again
        // Too many connections, starting up, shutting down, or read-only as a replica is.
        case "53300", "57P01", "57P02", "57P03", "25006": .reconnect
        default: .none
        }
    }

    static func error(_ error: ServerError, in namespace: String) -> DurableError {
        let message = error.message
        return switch error.code {
        case "LUL01": .noPolicy(namespace: namespace)
        case "LUL03": .unusable(message)
        case "3F000", "42P01", "42883":
            .unusable(
                "the database has no schema of Lull, or an older one: `lull schema --store URL --apply` creates it "
                    + "(\(message))"
            )
        case "42501":
            .unusable("the role may not do this: `SELECT lull.allow(role, part)` gives it the rights (\(message))")
        case "53100": .full("the disk of the server is full (\(message))")
        case ServerError.locked: .refused("another transaction has locked the key for too long")
        case "25006": .refused("the database is read-only: it is a replica, or is set so (\(message))")
        default: .refused("the server says: \(message) (\(error.code))")
        }
    }
}

extension ServerError {
    /// The code of an error: another transaction holds a lock for too long.
    static let locked = "55P03"
    /// The code of an error: others have taken what a step has read of a key without a row.
    static let taken = "LUL05"
}
