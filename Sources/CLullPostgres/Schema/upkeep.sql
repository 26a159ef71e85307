-- Upkeep: what is forgotten, workers, copies, and rights.

-- Sums up the changes of counts, and deletes ends and tokens that are older than these durations, or more than
-- `most`, and what clients that are gone have left: at most `size` of each. The ends of a key stay while it has a run
-- or a dead run, whose fate depends on them.
--
-- next: the id from which the next call goes on: pass it as `after`, first 0. has_more: whether there is more to
-- delete now.
CREATE OR REPLACE FUNCTION forget(
    retention bigint, token_lifetime bigint, most bigint, after bigint, size int, at bigint DEFAULT NULL,
    OUT next bigint, OUT has_more boolean
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    now bigint := coalesce(at, present());
    ids bigint[];
    tokens int;
BEGIN
    SELECT array_agg(o.id) INTO ids
    FROM (
        SELECT e.id FROM ended e
        WHERE e.id > after AND (e.at < now - retention OR e.id <= (SELECT max(x.id) FROM ended x) - most)
        ORDER BY e.id LIMIT size
    ) o;
    DELETE FROM ended e
    WHERE e.id = ANY (ids)
        AND NOT EXISTS (SELECT FROM work w WHERE w.namespace = e.namespace AND w.key = e.key AND w.run IS NOT NULL)
        AND NOT EXISTS (SELECT FROM dead d WHERE d.namespace = e.namespace AND d.key = e.key);
    DELETE FROM tokens t
    WHERE t.id = ANY (ARRAY(
        SELECT o.id FROM tokens o
        WHERE o.at < now - token_lifetime OR o.id <= (SELECT max(x.id) FROM tokens x) - most
        ORDER BY o.id LIMIT size));
    GET DIAGNOSTICS tokens = ROW_COUNT;
    -- A client repeats a batch within minutes, or never.
    DELETE FROM batches b WHERE b.at < now - 86400000000;
    next := coalesce(ids[size], 0);
    has_more := sum_changes(100 * size) OR next > 0 OR tokens = size;
END $$;

-- Sums up some changes of counts, unless another transaction does, and returns whether there are more.
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
        SELECT g.namespace, g.period, g.name, sum(g.count) FROM gone g GROUP BY g.namespace, g.period, g.name
        ON CONFLICT (namespace, period, name) DO UPDATE SET count = t.count + excluded.count
    )
    SELECT count(*) INTO changed FROM gone;
    DELETE FROM tallies t WHERE t.count = 0;
    RETURN changed >= size;
END $$;

-- Records that a worker is there; one that said so more than `memory` ago is forgotten.
CREATE OR REPLACE FUNCTION announce(
    namespace text, worker bigint, host text, process bigint, memory bigint, at bigint DEFAULT NULL
) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    now bigint := coalesce(at, present());
BEGIN
    -- What another transaction has locked is not old, or is being deleted by it.
    DELETE FROM workers w
    WHERE w.ctid = ANY (ARRAY(
        SELECT o.ctid FROM workers o WHERE o.namespace = n.id AND o.worker <> announce.worker AND o.at < now - memory
        FOR UPDATE SKIP LOCKED));
    INSERT INTO workers (namespace, worker, host, process, at)
    VALUES (n.id, announce.worker, announce.host, announce.process, now)
    ON CONFLICT (namespace, worker) DO UPDATE SET host = excluded.host, process = excluded.process, at = excluded.at;
END $$;

-- Where these tables are: the server's data directory, the database in it, and a table in that. A copy has another
-- place, whether it was made by a dump or from a template; a database with a new name has the old one.
CREATE OR REPLACE FUNCTION place() RETURNS text LANGUAGE sql STABLE
RETURN (
    SELECT format('%s/%s/%s', s.system_identifier, d.oid, 'meta'::regclass::oid)
    FROM pg_control_system() s, pg_database d WHERE d.datname = current_database());

-- Makes a copy one that is worked on, with numbers above all those of the original.
CREATE OR REPLACE FUNCTION adopt() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    above bigint := greatest(
        (SELECT s.last_value FROM numbers s), (SELECT m.floor FROM meta m), (SELECT max(e.last) FROM ended e),
        (SELECT max(d.run) FROM dead d), (SELECT max(t.generation) FROM tokens t), present()) + 1099511627776;
BEGIN
    PERFORM raise_numbers(above);
    UPDATE meta SET place = place(), floor = above, started = pg_postmaster_start_time();
    -- What was read before is not written any more.
    UPDATE namespaces n SET revision = n.revision + 1;
END $$;

-- The version of the schema.
CREATE OR REPLACE FUNCTION schema_version() RETURNS int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
RETURN (SELECT m.version FROM meta m);

-- Rights.

-- Gives a role the rights of a producer (to add calls to the inbox), of a reader (to look), or of a worker (all that
-- the library does: it writes rows, and is trusted).
CREATE OR REPLACE FUNCTION allow(role text, part text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
    reading text[] := '{schema_version,rules,names,describe,look,rows_by_key,rows_by_wake,holders,keys_with_entries,
        ends,dead_run,dead_runs,numbered_values,health,status,state}';
    appending text[] := '{schema_version,open,rules,append,submit,touch,flush,cancel,state,status}';
    writing text[] := '{load,store,pause,resume,set_arrival,forget_namespace,forget,announce}';
    names text[] := CASE part
        WHEN 'reader' THEN reading WHEN 'producer' THEN appending WHEN 'worker' THEN reading || appending || writing
    END;
    f regprocedure;
BEGIN
    IF names IS NULL THEN
        RAISE EXCEPTION 'a role can be a producer, a worker or a reader, not %', quote_literal(part);
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role);
    IF part <> 'producer' THEN EXECUTE format('GRANT SELECT ON keys, entries TO %I', role); END IF;
    FOR f IN
        SELECT p.oid::regprocedure FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = ANY (names)
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, role);
    END LOOP;
END $$;
