internal import LullDurable

// The counts of keys, kept so that `status` need not read every row.
extension Schema {
    /// What a row `w` of `work` counts as, in the order of ``Tally/names``.
    private static let kinds = zip(
        Tally.names,
        [
            "w.pending_count > 0", "w.ready_to IS NOT NULL", "w.claimed_by IS NOT NULL",
            "w.run_id IS NOT NULL AND w.claimed_by IS NULL", "w.pending_count > 0 AND w.ready_to IS NULL",
            "w.pending_count > 0 AND w.run_id IS NOT NULL AND w.claimed_by IS NULL AND w.error IS NOT NULL",
        ])

    /// Returns a list of expressions, one of each count.
    private static func list(
        _ separator: String = ", ", _ expression: (_ name: String, _ condition: String) -> String
    ) -> String {
        kinds.map { expression($0, $1) }.joined(separator: separator)
    }

    /// The tables of version 2, and what writes them.
    static let counts = #"""
        -- What transactions have changed in the numbers of keys: rows are only added, so that no transaction waits for another one, and are
        -- summed up in `tallies` by `forget`. A row of `work` counts as it is stored, in the period of four seconds in which it wakes, for
        -- nothing is written when time passes. `due` are those that are pending with nothing ready, `replaced` those that are pending
        -- beside a failed run. Dead runs count in period 0.
        CREATE TABLE changes (
            namespace int NOT NULL, period bigint NOT NULL, pending int NOT NULL, ready int NOT NULL, running int NOT NULL,
            retrying int NOT NULL, due int NOT NULL, replaced int NOT NULL, dead int NOT NULL DEFAULT 0
        ) WITH (
            autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
            autovacuum_analyze_scale_factor = 1
        );
        CREATE TABLE tallies (
            namespace int NOT NULL, period bigint NOT NULL, pending bigint NOT NULL, ready bigint NOT NULL, running bigint NOT NULL,
            retrying bigint NOT NULL, due bigint NOT NULL, replaced bigint NOT NULL, dead bigint NOT NULL,
            PRIMARY KEY (namespace, period)
        ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
        CREATE INDEX work_by_ready ON work ((namespace + 0), ready_due) WHERE ready_due IS NOT NULL;

        -- Every row is inserted with nothing pending, and then updated: the insertion changes no count.
        CREATE FUNCTION note_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO changes
            SELECT c.namespace, c.period, \#(list { name, _ in "sum(c.\(name))" })
            FROM (
                SELECT w.namespace, w.wake >> 22 AS period, \#(list { name, condition in "(\(condition))::int AS \(name)" })
                FROM new_rows w
                UNION ALL
                SELECT w.namespace, w.wake >> 22, \#(list { _, condition in "-(\(condition))::int" })
                FROM old_rows w
            ) c
            GROUP BY c.namespace, c.period
            HAVING \#(list(" OR ") { name, _ in "sum(c.\(name)) <> 0" });
            RETURN NULL;
        END $$;
        CREATE FUNCTION note_deletion() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO changes
            SELECT w.namespace, w.wake >> 22, \#(list { _, condition in "-count(*) FILTER (WHERE \(condition))" })
            FROM old_rows w
            WHERE w.pending_count > 0 OR w.ready_to IS NOT NULL OR w.run_id IS NOT NULL
            GROUP BY w.namespace, w.wake >> 22;
            RETURN NULL;
        END $$;
        CREATE FUNCTION note_deaths() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO changes
            SELECT d.namespace, 0, 0, 0, 0, 0, 0, 0, count(*) * CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END
            FROM dead_rows d GROUP BY d.namespace;
            RETURN NULL;
        END $$;
        CREATE TRIGGER counts_update AFTER UPDATE ON work REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
            FOR EACH STATEMENT EXECUTE FUNCTION note_update();
        CREATE TRIGGER counts_deletion AFTER DELETE ON work REFERENCING OLD TABLE AS old_rows
            FOR EACH STATEMENT EXECUTE FUNCTION note_deletion();
        CREATE TRIGGER counts_death AFTER INSERT ON dead REFERENCING NEW TABLE AS dead_rows
            FOR EACH STATEMENT EXECUTE FUNCTION note_deaths();
        CREATE TRIGGER counts_revival AFTER DELETE ON dead REFERENCING OLD TABLE AS dead_rows
            FOR EACH STATEMENT EXECUTE FUNCTION note_deaths();
        -- The triggers have locked the tables until the end of this transaction.
        INSERT INTO tallies
        SELECT w.namespace, w.wake >> 22, \#(list { _, condition in "count(*) FILTER (WHERE \(condition))" }), 0
        FROM work w GROUP BY w.namespace, w.wake >> 22;
        INSERT INTO tallies SELECT d.namespace, 0, 0, 0, 0, 0, 0, 0, count(*) FROM dead d GROUP BY d.namespace;
        """#

    static let summing = #"""
        -- Sums up some of the changes of counts. One transaction at a time does so, and no other one waits for its rows.
        CREATE OR REPLACE FUNCTION sum_changes(size int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            changed int;
        BEGIN
            IF NOT pg_try_advisory_xact_lock(hashtextextended('lull counts', 'changes'::regclass::oid::bigint)) THEN RETURN false; END IF;
            WITH gone AS (
                DELETE FROM changes c WHERE c.ctid = ANY (ARRAY(SELECT x.ctid FROM changes x LIMIT size)) RETURNING *
            ), summed AS (
                INSERT INTO tallies AS t
                SELECT
                    g.namespace, g.period, sum(g.pending), sum(g.ready), sum(g.running), sum(g.retrying), sum(g.due), sum(g.replaced),
                    sum(g.dead)
                FROM gone g GROUP BY g.namespace, g.period
                ON CONFLICT (namespace, period) DO UPDATE SET
                    pending = t.pending + excluded.pending, ready = t.ready + excluded.ready,
                    running = t.running + excluded.running, retrying = t.retrying + excluded.retrying, due = t.due + excluded.due,
                    replaced = t.replaced + excluded.replaced, dead = t.dead + excluded.dead
            )
            SELECT count(*) INTO changed FROM gone;
            -- Each key that is counted is counted in one of these.
            DELETE FROM tallies t
            WHERE t.pending = 0 AND t.ready = 0 AND t.running = 0 AND t.retrying = 0 AND t.dead = 0
                AND t.due = 0 AND t.replaced = 0;
            RETURN changed >= size;
        END $$;
        """#
}
