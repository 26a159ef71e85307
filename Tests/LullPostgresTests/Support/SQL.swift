import CLullPostgres
import TestSupport

/// A session of `libpq` that blocks: a user's, or the test's own look at the tables.
final class SQL {
    struct Failure: Error, CustomStringConvertible {
        let code: String
        let description: String
    }

    private let handle: OpaquePointer

    init(_ server: TestServer, user: String = "lull", parameters: String = "") throws {
        if let why = lull_pq_load() { throw Failure(code: "", description: String(cString: why)) }
        guard let handle = lull_PQconnectdb("host='\(server.folder)' user='\(user)' dbname=postgres \(parameters)")
        else {
            throw Failure(code: "", description: "out of memory")
        }
        self.handle = handle
        lull_PQsetNoticeReceiver(handle, { _, _ in }, nil)
        guard lull_PQstatus(handle) == LULL_CONNECTION_OK else {
            throw Failure(code: "", description: String(cString: lull_PQerrorMessage(handle)))
        }
    }

    deinit { lull_PQfinish(handle) }

    /// Runs statements, and returns the rows of the last one as text.
    @discardableResult
    func callAsFunction(_ sql: String) throws -> [[String?]] {
        let result = lull_PQexec(handle, sql)
        defer { lull_PQclear(result) }
        switch lull_PQresultStatus(result) {
        case LULL_COMMAND_OK: return []
        case LULL_TUPLES_OK:
            return (0..<lull_PQntuples(result)).map { row in
                (0..<lull_PQnfields(result)).map { column in
                    lull_PQgetisnull(result, row, column) == 1
                        ? nil : String(cString: lull_PQgetvalue(result, row, column))
                }
            }
        default:
            let code = lull_PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
            throw Failure(code: code, description: String(cString: lull_PQerrorMessage(handle)))
        }
    }

    /// The first value of the last answer.
    func value(_ sql: String) throws -> String? { try self(sql).first?.first ?? nil }
}
