internal import CLullPostgres
public import LullDurable

/// Creates and migrates the schema of a ``PostgresStore``.
///
/// The calls block their thread while they wait for the server: they are for a program that prepares a database, as
/// `lull schema` does. The role of the URL owns the schema; it needs no other rights than to create one.
public struct PostgresSchema: Sendable {
    private let url: ConnectionURL

    /// Takes the URL of a database: `postgres://user@host/database`, with `?schema=NAME` for another schema than
    /// `lull`.
    ///
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if it is no such URL.
    public init(url: String) throws(DurableError) {
        self.url = try ConnectionURL(url)
    }

    /// Returns the SQL that brings the schema to the version of this program; the empty text if it has that version.
    ///
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if the schema is newer, or the database cannot be reached.
    public func script() throws(DurableError) -> String {
        let session = try Session(url)
        let version = try version(session)
        return version == Schema.version ? "" : Schema.script(for: url.quotedSchema, from: version)
    }

    /// Brings the schema to the version of this program, in one transaction.
    ///
    /// - Returns: Whether it had another version before.
    /// - Throws: ``/LullDurable/DurableError/unusable(_:)`` if that fails. Nothing has changed then.
    @discardableResult
    public func apply() throws(DurableError) -> Bool {
        let session = try Session(url)
        // Two programs may start at once.
        try session.run("SELECT pg_advisory_lock(hashtextextended('lull schema', 0))")
        let version = try version(session)
        if version == Schema.version { return false }
        try session.run(Schema.script(for: url.quotedSchema, from: version))
        return true
    }

    /// Makes a copy of a database the one on which workers work: one that was restored from a dump, on any server and
    /// under any name, or created from a template. Make sure before that the original is not used any more, or belongs
    /// to other work.
    public func adopt() throws(DurableError) {
        let session = try Session(url)
        guard try version(session) > 0 else { throw .unusable("the database has no schema of Lull to adopt") }
        try session.run("BEGIN; SET LOCAL search_path TO \(url.quotedSchema), pg_temp; SELECT adopt(); COMMIT")
    }

    private func version(_ session: Session) throws(DurableError) -> Int {
        let exists = try session.text(
            "SELECT to_regclass('\(url.quotedSchema.quoting("'", with: "'")).meta') IS NOT NULL")
        guard exists == "t" else { return 0 }
        let version = Int(try session.text("SELECT version FROM \(url.quotedSchema).meta") ?? "") ?? 0
        guard version <= Schema.version else {
            throw .unusable(
                "the schema of the database has version \(version); this version of Lull knows \(Schema.version)")
        }
        return version
    }
}

/// A connection that blocks.
private final class Session {
    private let handle: OpaquePointer

    init(_ url: ConnectionURL) throws(DurableError) {
        var trouble = ""
        for host in url.hosts {
            let parameters = host.parameters + [("connect_timeout", "5")]
            let text = parameters.map { name, value in
                "\(name)='\(value.quoting("\\'", with: "\\"))'"
            }.joined(separator: " ")
            guard let handle = lull_PQconnectdb(text) else { continue }
            if lull_PQstatus(handle) == LULL_CONNECTION_OK {
                lull_PQsetNoticeReceiver(handle, { _, _ in }, nil)
                self.handle = handle
                return
            }
            trouble = Self.message(handle)
            lull_PQfinish(handle)
        }
        throw .unusable("the database cannot be reached: \(trouble)")
    }

    deinit { lull_PQfinish(handle) }

    func run(_ sql: String) throws(DurableError) { _ = try text(sql) }

    /// Runs statements, and returns the first value of the last answer.
    func text(_ sql: String) throws(DurableError) -> String? {
        let result = lull_PQexec(handle, sql)
        defer { lull_PQclear(result) }
        switch lull_PQresultStatus(result) {
        case LULL_COMMAND_OK: return nil
        case LULL_TUPLES_OK: return lull_PQntuples(result) > 0 ? String(cString: lull_PQgetvalue(result, 0, 0)) : nil
        default: throw .unusable("the server says: \(Self.message(handle))")
        }
    }

    private static func message(_ handle: OpaquePointer) -> String {
        String(cString: lull_PQerrorMessage(handle)).split(separator: "\n")
            .map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: "; ")
    }
}

/// The schema: its tables, and its functions, which are all that clients use. It is in the files of
/// `CLullPostgres/Schema`.
///
/// Nothing in the text names the schema. A function finds its tables by the `search_path` that is fixed at its
/// creation.
enum Schema {
    /// The version of the schema that this program uses.
    static var version: Int { migrations.count }

    /// The changes of the tables from each version to the next; version 0 is an empty schema. A change never changes
    /// once it has been released. A change of functions alone is a new version, too, with an empty text. A version
    /// drops the functions whose results have another type, and says in the changelog that `allow` is to be called
    /// again.
    static let migrations = ["tables"].map(text)

    /// The functions, after those that they call in their declarations.
    private static let functions = [
        "numbers", "rows", "namespaces", "inbox", "look", "upkeep",
    ].map(text)

    private static let settings = text("settings")

    private static func text(_ name: String) -> String {
        guard let text = lull_schema(name) else { preconditionFailure("there is no file \(name).sql") }
        return String(cString: text)
    }

    /// Returns the statements that bring a schema to this program's version, in one transaction.
    ///
    /// - Parameters:
    ///   - name: The name of the schema as an identifier.
    ///   - version: The version that it has; 0 if there is none.
    static func script(for name: String, from version: Int) -> String {
        """
        -- The schema of Lull, version \(Self.version).
        BEGIN;
        SET LOCAL client_min_messages TO warning;
        CREATE SCHEMA IF NOT EXISTS \(name);
        SET LOCAL search_path TO \(name), pg_temp;

        \((migrations.dropFirst(version) + functions).joined(separator: "\n"))
        INSERT INTO meta (version, place, started) VALUES (\(Self.version), place(), pg_postmaster_start_time())
        ON CONFLICT (is_single) DO UPDATE SET version = excluded.version;
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(name) FROM PUBLIC;

        \(settings)
        COMMIT;

        """
    }
}
