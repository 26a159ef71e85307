/// The schema: its tables, and its functions, which are all that clients use.
///
/// Nothing in the text names the schema. A function finds its tables by the `search_path` that is fixed at its creation.
enum Schema {
    /// The version of the schema that this program uses.
    static var version: Int { migrations.count }

    /// The changes of the tables from each version to the next; version 0 is an empty schema. A change never changes once it has
    /// been released. A change of functions alone is a new version, too. It drops those whose
    /// results have another type, and gives back the rights to them.
    ///
    /// Version 3 has new functions alone.
    static let migrations = [tables, counts, "", forgottenNamespaces, announcedWorkers]

    private static let functions = [
        gate, rows, batches, submits, keys, runs, questions, summing, upkeep, forgetting, workers,
    ]

    /// The settings under which functions run. A plan must not depend on statistics: a queue may be empty when a session makes the plan, and
    /// have a million rows when the session uses it again.
    private static let settings = """
        DO $$
        DECLARE
            f record;
            setting text;
        BEGIN
            FOR f IN
                SELECT p.oid::regprocedure AS function, p.proname AS name FROM pg_proc p
                WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.prosecdef
            LOOP
                EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_generic_plan SET enable_seqscan = off', f.function);
                -- Each setting takes a microsecond. A single submit has no other plan anyway.
                CONTINUE WHEN f.name = 'submit';
                FOREACH setting IN ARRAY '{enable_sort,enable_hashjoin,enable_mergejoin,jit}'::text[] LOOP
                    EXECUTE format('ALTER FUNCTION %s SET %s = off', f.function, setting);
                END LOOP;
            END LOOP;
        END $$;
        """

    /// Returns the statements that bring a schema to this program's version, in one transaction.
    ///
    /// - Parameters:
    ///   - name: The name of the schema as an identifier.
    ///   - version: The version that it has; 0 if there is none.
    static func script(for name: String, from version: Int) -> String {
        let parts = Array(migrations.dropFirst(version)) + functions
        return """
            -- The schema of Lull, version \(Self.version).
            BEGIN;
            SET LOCAL client_min_messages TO warning;
            CREATE SCHEMA IF NOT EXISTS \(name);
            SET LOCAL search_path TO \(name), pg_temp;

            \(parts.joined(separator: "\n\n"))

            INSERT INTO meta (version, place) VALUES (\(Self.version), place())
            ON CONFLICT (is_single) DO UPDATE SET version = excluded.version;
            REVOKE ALL ON ALL FUNCTIONS IN SCHEMA \(name) FROM PUBLIC;

            \(settings)
            COMMIT;

            """
    }
}
