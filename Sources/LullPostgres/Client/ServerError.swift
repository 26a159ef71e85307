internal import LullDurable

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
                "the database has no schema of Lull, or an older one: `lull schema --store URL --apply` creates it (\(message))"
            )
        case "42501":
            .unusable("the role may not do this: `SELECT lull.allow(role, part)` gives it the rights (\(message))")
        case "55P03": .refused("another transaction has locked the key for too long")
        case "25006": .refused("the database is read-only: it is a replica, or is set so (\(message))")
        default: .refused("the server says: \(message) (\(code))")
        }
    }
}
