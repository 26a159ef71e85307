import LullCore
import LullDurable

@testable import LullPostgres

extension SQL {
    /// The rows of the table `work`, in the schema of the search path, by their keys as text.
    func rows() throws -> [String: StoredRow] {
        var rows: [String: StoredRow] = [:]
        for row in try self("SELECT encode(key, 'escape'), encode(state, 'hex') FROM work") {
            rows[row[0] ?? ""] = try StoredRow(Self.bytes(row[1]) ?? [])
        }
        return rows
    }

    /// The number of submits that are pending.
    func pending() throws -> Int { try rows().values.reduce(0) { $0 + $1.row.gate.count } }
}
