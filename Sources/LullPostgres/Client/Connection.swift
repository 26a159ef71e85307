internal import CLullPostgres
internal import LullDurable

/// A connection of libpq that never blocks. Only the client's thread uses it.
final class Connection {
    private let handle: OpaquePointer

    /// Begins to connect.
    init?(_ parameters: [(name: String, value: String)]) {
        var names: [UnsafePointer<CChar>?] = parameters.map { UnsafePointer(strdup($0.name)) } + [nil]
        var values: [UnsafePointer<CChar>?] = parameters.map { UnsafePointer(strdup($0.value)) } + [nil]
        defer { for text in names + values { free(UnsafeMutableRawPointer(mutating: text)) } }
        guard let handle = lull_PQconnectStartParams(&names, &values, 0) else { return nil }
        self.handle = handle
        lull_PQsetnonblocking(handle, 1)
        // The server's notices are for a person.
        lull_PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit { lull_PQfinish(handle) }

    var descriptor: Int32 { lull_PQsocket(handle) }

    /// The latest error in one line.
    var message: String {
        let lines = String(cString: lull_PQerrorMessage(handle)).split(separator: "\n")
        return lines.map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: "; ")
    }

    typealias Wait = StoreThread<Client.Item>.Wait

    // MARK: - Connecting

    /// Goes on connecting after the descriptor became ready. `none`: it is connected.
    ///
    /// - Throws: ``Broken`` if it cannot connect.
    func goOnConnecting() throws(Broken) -> Wait {
        switch lull_PQconnectPoll(handle) {
        case LULL_POLLING_OK: return .none
        case LULL_POLLING_READING: return .reading
        case LULL_POLLING_WRITING: return .writing
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
            lull_PQsendQueryParams(handle, statement.text, Int32(count), &types, &values, &lengths, &formats, 1) == 1,
            lull_PQflush(handle) >= 0
        else { throw Broken(message: message) }
    }

    /// Whether something is left to be sent.
    func flush() throws(Broken) -> Bool {
        switch lull_PQflush(handle) {
        case 0: return false
        case 1: return true
        default: throw Broken(message: message)
        }
    }

    /// Takes what has arrived. Returns the answer when the server is ready again: before that it may not have
    /// committed.
    func receive() throws(Broken) -> Result<Rows, ServerError>? {
        guard lull_PQconsumeInput(handle) == 1 else { throw Broken(message: message) }
        while lull_PQisBusy(handle) == 0 {
            guard let result = lull_PQgetResult(handle) else {
                defer { answer = nil }
                guard let answer else { throw Broken(message: message) }
                return answer
            }
            defer { lull_PQclear(result) }
            try take(result)
        }
        return nil
    }

    private var answer: Result<Rows, ServerError>?

    private func take(_ result: OpaquePointer) throws(Broken) {
        switch lull_PQresultStatus(result) {
        case LULL_TUPLES_OK, LULL_COMMAND_OK:
            var rows = Rows()
            let columns = lull_PQnfields(result)
            for row in 0..<lull_PQntuples(result) {
                rows.append(Row(values: (0..<columns).map { Self.value(result, row, $0) }))
            }
            answer = .success(rows)
        default:
            // Without a code it is an error of the connection.
            guard let code = lull_PQresultErrorField(result, Int32(UInt8(ascii: "C"))) else {
                throw Broken(message: message)
            }
            let text = lull_PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
            answer = .failure(ServerError(code: String(cString: code), message: text ?? ""))
        }
    }

    private static func value(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> [UInt8]? {
        if lull_PQgetisnull(result, row, column) == 1 { return nil }
        let count = Int(lull_PQgetlength(result, row, column))
        return Array(UnsafeRawBufferPointer(start: lull_PQgetvalue(result, row, column), count: count))
    }

    // MARK: - Notifications

    /// Takes what has arrived while no statement runs, and returns the payloads of notifications.
    func notifications() throws(Broken) -> [String] {
        guard lull_PQconsumeInput(handle) == 1, lull_PQstatus(handle) == LULL_CONNECTION_OK else {
            throw Broken(message: message)
        }
        var payloads: [String] = []
        while let notification = lull_PQnotifies(handle) {
            payloads.append(String(cString: notification.pointee.extra))
            lull_PQfreemem(notification)
        }
        return payloads
    }
}

/// A connection that was lost, or could not be made.
struct Broken: Error {
    let message: String
}

/// An error that the server answers with. The transaction was rolled back, so nothing was recorded.
struct ServerError: Error, ServerFault {
    /// The five characters of the error code.
    let code: String
    let message: String

    /// What the client does about it.
    enum Cure {
        /// Repeat the statement: it has met another transaction.
        case again
        /// Another transaction holds a lock for too long.
        case locked
        /// The server ends, or is a replica: connect again.
        case reconnect
        /// Answer the caller.
        case none
    }

    var cure: Cure {
        switch code {
        case "40001", "40P01": .again
        case "55P03": .locked
        // Too many connections, starting up, shutting down, or read-only as a replica is.
        case "53300", "57P01", "57P02", "57P03", "25006": .reconnect
        default: .none
        }
    }

    func durable(in namespace: String) -> DurableError {
        switch code {
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
        case "55P03": .refused("another transaction has locked the key for too long")
        case "25006": .refused("the database is read-only: it is a replica, or is set so (\(message))")
        default: .refused("the server says: \(message) (\(code))")
        }
    }
}
