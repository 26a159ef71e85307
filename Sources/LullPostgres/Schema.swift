internal import CLullPostgres

/// The schema: its tables, and its functions, which are all that clients use. It is in the files of `CLullPostgres/Schema`.
///
/// Nothing in the text names the schema. A function finds its tables by the `search_path` that is fixed at its creation.
enum Schema {
    /// The version of the schema that this program uses.
    static var version: Int { migrations.count }

    /// The changes of the tables from each version to the next; version 0 is an empty schema. A change never changes once it has
    /// been released. A change of functions alone is a new version, too, with an empty text. A version drops the functions whose
    /// results have another type, and says in the changelog that `allow` is to be called again.
    static let migrations = [text("tables"), text("restarting")]

    /// The functions, after those that they call in their declarations.
    private static let functions = [
        "gate", "submits", "rows", "runs", "counts", "submit", "change", "work", "namespaces", "dead", "look", "upkeep",
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
        INSERT INTO meta (version, place) VALUES (\(Self.version), place())
        ON CONFLICT (is_single) DO UPDATE SET version = excluded.version;
        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(name) FROM PUBLIC;

        \(settings)
        COMMIT;

        """
    }
}
