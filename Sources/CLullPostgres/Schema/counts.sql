-- The counts of keys, kept so that `status` need not read every row.

-- What a row counts as. What is held counts as pending.
CREATE OR REPLACE FUNCTION counts(
    pending_count bigint, ready_to bigint, ready_due bigint, run_id bigint, claimed_by bigint, has_failed boolean
) RETURNS TABLE (pending int, ready int, running int, retrying int, due int, replaced int) LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT
        (pending_count > 0 OR ready_to IS NOT NULL AND ready_due IS NULL)::int, (ready_due IS NOT NULL)::int,
        (claimed_by IS NOT NULL)::int,
        (run_id IS NOT NULL AND claimed_by IS NULL)::int, (pending_count > 0 AND ready_due IS NULL)::int,
        (pending_count > 0 AND run_id IS NOT NULL AND claimed_by IS NULL AND has_failed)::int;
END;

-- Every row is inserted with nothing pending, and then updated: the insertion changes no count.
CREATE OR REPLACE FUNCTION note_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO changes
    SELECT
        w.namespace, w.wake >> 22, sum(w.sign * c.pending), sum(w.sign * c.ready), sum(w.sign * c.running),
        sum(w.sign * c.retrying), sum(w.sign * c.due), sum(w.sign * c.replaced)
    FROM
        (SELECT 1 AS sign, * FROM new_rows UNION ALL SELECT -1, * FROM old_rows) w,
        LATERAL counts(w.pending_count, w.ready_to, w.ready_due, w.run_id, w.claimed_by, w.error IS NOT NULL) c
    GROUP BY w.namespace, w.wake >> 22
    HAVING sum(w.sign * c.pending) <> 0 OR sum(w.sign * c.ready) <> 0 OR sum(w.sign * c.running) <> 0
        OR sum(w.sign * c.retrying) <> 0 OR sum(w.sign * c.due) <> 0 OR sum(w.sign * c.replaced) <> 0;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION note_deletion() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO changes
    SELECT
        w.namespace, w.wake >> 22, -sum(c.pending), -sum(c.ready), -sum(c.running), -sum(c.retrying), -sum(c.due),
        -sum(c.replaced)
    FROM
        old_rows w,
        LATERAL counts(w.pending_count, w.ready_to, w.ready_due, w.run_id, w.claimed_by, w.error IS NOT NULL) c
    WHERE w.pending_count > 0 OR w.ready_to IS NOT NULL OR w.run_id IS NOT NULL
    GROUP BY w.namespace, w.wake >> 22;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION note_deaths() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO changes
    SELECT d.namespace, 0, 0, 0, 0, 0, 0, 0, count(*) * CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END
    FROM dead_rows d GROUP BY d.namespace;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER counts_update AFTER UPDATE ON work
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_update();
CREATE OR REPLACE TRIGGER counts_deletion AFTER DELETE ON work
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_deletion();
CREATE OR REPLACE TRIGGER counts_death AFTER INSERT ON dead
    REFERENCING NEW TABLE AS dead_rows FOR EACH STATEMENT EXECUTE FUNCTION note_deaths();
CREATE OR REPLACE TRIGGER counts_revival AFTER DELETE ON dead
    REFERENCING OLD TABLE AS dead_rows FOR EACH STATEMENT EXECUTE FUNCTION note_deaths();

-- Sums up some of the changes of counts. One transaction at a time does so, and no other one waits for its rows.
CREATE OR REPLACE FUNCTION sum_changes(size int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    changed int;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('lull counts', 'changes'::regclass::oid::bigint)) THEN
        RETURN false;
    END IF;
    WITH gone AS (
        DELETE FROM changes c WHERE c.ctid = ANY (ARRAY(SELECT x.ctid FROM changes x LIMIT size)) RETURNING *
    ), summed AS (
        INSERT INTO tallies AS t
        SELECT
            g.namespace, g.period, sum(g.pending), sum(g.ready), sum(g.running), sum(g.retrying), sum(g.due),
            sum(g.replaced), sum(g.dead), sum(g.restarted)
        FROM gone g GROUP BY g.namespace, g.period
        ON CONFLICT (namespace, period) DO UPDATE SET
            pending = t.pending + excluded.pending, ready = t.ready + excluded.ready,
            running = t.running + excluded.running, retrying = t.retrying + excluded.retrying,
            due = t.due + excluded.due, replaced = t.replaced + excluded.replaced, dead = t.dead + excluded.dead,
            restarted = t.restarted + excluded.restarted
    )
    SELECT count(*) INTO changed FROM gone;
    -- Each key that is counted is counted in one of these.
    DELETE FROM tallies t
    WHERE t.pending = 0 AND t.ready = 0 AND t.running = 0 AND t.retrying = 0 AND t.dead = 0
        AND t.due = 0 AND t.replaced = 0 AND t.restarted = 0;
    RETURN changed >= size;
END $$;
