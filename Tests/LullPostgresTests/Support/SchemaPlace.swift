import Lull
import LullPostgres
import TestSupport

/// A schema of its own on the shared server, with a name that needs quotes.
struct SchemaPlace {
    private static let count = Guarded(0)

    let schema: String

    init() {
        let number = Self.count.change { count in
            count += 1
            return count
        }
        schema = "Place-\(number)"
    }

    /// The URL of the schema, which is created.
    func url(user: String = "lull") throws -> String {
        let url = try TestServer.shared.get().url(schema)
        try PostgresSchema(url: url).apply()
        return try TestServer.shared.get().url(schema, user: user)
    }

    /// A session of a user, in which the functions need no schema.
    func session(user: String = "lull") throws -> SQL {
        let sql = try SQL(try TestServer.shared.get(), user: user)
        try sql(#"SET search_path TO "\#(schema)""#)
        return sql
    }
}
