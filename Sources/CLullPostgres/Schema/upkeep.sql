-- Upkeep: what is forgotten, workers, copies, and rights.

-- Sums up the changes of counts, and deletes ends and tokens that are older than these durations, or more than
-- `most`, and what clients and workers that are gone have left: at most `size` of each. The ends of a key stay while
-- it has a run or a dead run, whose fate depends on them.
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
        AND NOT EXISTS (SELECT FROM work w WHERE w.namespace = e.namespace AND w.key = e.key AND w.run_id IS NOT NULL)
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

-- Records that a worker is there. What was done by workers of more than `memory` ago is summed up under the number 0.
CREATE OR REPLACE FUNCTION announce(
    namespace text, worker bigint, host text, process bigint, memory bigint, at bigint DEFAULT NULL
) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    now bigint := coalesce(at, present());
BEGIN
    -- What another transaction has locked is not old, or is being deleted by it.
    WITH gone AS (
        DELETE FROM workers w
        WHERE w.ctid = ANY (ARRAY(
            SELECT o.ctid FROM workers o
            WHERE o.namespace = n.id AND o.owner NOT IN (0, worker) AND o.seen < now - memory
            FOR UPDATE SKIP LOCKED))
        RETURNING w.*
    )
    INSERT INTO workers AS w (namespace, owner, attempts, lost_leases, runs, executed, failures, at)
    SELECT
        n.id, 0, sum(g.attempts), sum(g.lost_leases), sum(g.runs), sum(g.executed), sum(g.failures), now
    FROM gone g HAVING count(*) > 0
    ON CONFLICT (namespace, owner) DO UPDATE SET
        attempts = w.attempts + excluded.attempts, lost_leases = w.lost_leases + excluded.lost_leases,
        runs = w.runs + excluded.runs, executed = w.executed + excluded.executed,
        failures = w.failures + excluded.failures, at = excluded.at;
    INSERT INTO workers AS w (namespace, owner, attempts, lost_leases, at, host, process, seen)
    VALUES (n.id, worker, 0, 0, now, announce.host, announce.process, now)
    ON CONFLICT (namespace, owner) DO UPDATE SET host = excluded.host, process = excluded.process, seen = excluded.seen;
END $$;

-- The workers that have announced themselves, how many microseconds ago, and the runs that each holds.
CREATE OR REPLACE FUNCTION workers(namespace text, at bigint DEFAULT NULL) RETURNS TABLE (
    worker bigint, host text, process bigint, seen bigint, running bigint
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    now bigint := coalesce(at, present());
BEGIN
    RETURN QUERY
    SELECT
        o.owner, o.host, o.process, greatest(now - o.seen, 0),
        (SELECT count(*) FROM work w WHERE w.claimed_by = o.owner AND w.namespace + 0 = n.id)
    FROM workers o WHERE o.namespace = n.id AND o.seen IS NOT NULL;
END $$;

-- Where these tables are: the server's data directory, the database in it, and a table in that. A copy has another
-- place, whether it was made by a dump or from a template; a database with a new name has the old one.
CREATE OR REPLACE FUNCTION place() RETURNS text LANGUAGE sql STABLE
RETURN (
    SELECT format('%s/%s/%s', s.system_identifier, d.oid, 'meta'::regclass::oid)
    FROM pg_control_system() s, pg_database d WHERE d.datname = current_database());

-- Refuses to hand out runs of a copy: the original may be at work.
CREATE OR REPLACE FUNCTION check_place() RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF (SELECT m.place FROM meta m) IS DISTINCT FROM place() THEN
        RAISE EXCEPTION 'this is a copy of another database: see `lull adopt`' USING ERRCODE = 'LUL03';
    END IF;
END $$;

-- Makes a copy one that is worked on, with generations and runs above all those of the original.
CREATE OR REPLACE FUNCTION adopt() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM setval('births', (greatest(
        (SELECT max(w.generation) FROM work w), (SELECT max(e.last) FROM ended e),
        (SELECT max(d.last_submit) FROM dead d),
        (SELECT max(t.generation) FROM tokens t), 0) >> 20) + (SELECT last_value FROM births) + 67108864);
    PERFORM setval('fences', greatest(
        (SELECT max(w.fence) FROM work w), (SELECT max(e.fence) FROM ended e), (SELECT max(d.fence) FROM dead d), 0)
        + (SELECT last_value FROM fences) + 1099511627776);
    UPDATE meta SET place = place();
END $$;

-- The version of the schema.
CREATE OR REPLACE FUNCTION schema_version() RETURNS int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
RETURN (SELECT m.version FROM meta m);

-- Rights.

-- Gives a role the rights of a producer (to submit, touch, flush and cancel), of a worker (all that its work needs), or
-- of a reader (to look).
CREATE OR REPLACE FUNCTION allow(role text, part text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
    names text[];
    f regprocedure;
BEGIN
    names := CASE part
        WHEN 'reader' THEN '{schema_version,state,status,list,upcoming,ended,dead,dead_run,workers,health,
            count_selected,dead_runs}'
        WHEN 'producer' THEN '{schema_version,open,rules,submit,submit_many,flush,cancel,touch,touch_key,keys,
            change_keys,change_selected,count_selected,dead_runs,state,health}'
        WHEN 'worker' THEN '{schema_version,open,rules,submit,submit_many,flush,cancel,touch,touch_key,keys,
            change_keys,change_selected,count_selected,dead_runs,state,status,list,upcoming,ended,dead,dead_run,health,
            claim,report_many,exchange,take_starts,give_back_starts,interruptions,retry,discard,forget,forget_namespace,
            announce,workers,pause,resume}'
    END::text[];
    IF names IS NULL THEN
        RAISE EXCEPTION 'a role can be a producer, a worker or a reader, not %', quote_literal(part);
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role);
    FOR f IN
        SELECT p.oid::regprocedure FROM pg_proc p
        WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.proname = ANY (names)
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, role);
    END LOOP;
END $$;
