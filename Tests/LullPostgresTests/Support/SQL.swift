import CLullPostgres

/// A session of `libpq` that blocks: a user's, or the test's own look at the tables.
final class SQL {
    struct Failure: Error, CustomStringConvertible {
        let code: String
        let description: String
    }

    private let handle: OpaquePointer

    init(_ server: TestServer, user: String = "lull", parameters: String = "") throws {
        guard let handle = PQconnectdb("host='\(server.folder)' user='\(user)' dbname=postgres \(parameters)") else {
            throw Failure(code: "", description: "out of memory")
        }
        self.handle = handle
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        guard PQstatus(handle) == CONNECTION_OK else {
            throw Failure(code: "", description: String(cString: PQerrorMessage(handle)))
        }
    }

    deinit { PQfinish(handle) }

    /// Runs statements, and returns the rows of the last one as text.
    @discardableResult
    func callAsFunction(_ sql: String) throws -> [[String?]] {
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK: return []
        case PGRES_TUPLES_OK:
            return (0..<PQntuples(result)).map { row in
                (0..<PQnfields(result)).map { column in
                    PQgetisnull(result, row, column) == 1 ? nil : String(cString: PQgetvalue(result, row, column))
                }
            }
        default:
            let code = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
            throw Failure(code: code, description: String(cString: PQerrorMessage(handle)))
        }
    }

    /// The first value of the last answer.
    func value(_ sql: String) throws -> String? { try self(sql).first?.first ?? nil }
}
