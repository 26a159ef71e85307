-- Dead runs: retrying, discarding and listing them.

-- Gives a dead run another series of attempts, before anything newer of its key: accepted, notFound, busy, or outdated.
CREATE OR REPLACE FUNCTION retry(namespace text, run bigint, at bigint DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    d dead;
    r work;
    now bigint;
    newest bigint;
    is_outdated boolean;
BEGIN
    PERFORM ensure_durability();
    SELECT * INTO d FROM dead x WHERE x.run = retry.run AND x.namespace = n.id;
    IF NOT FOUND THEN RETURN 'notFound'; END IF;
    r := taken_row(n, d.key, true, coalesce(at, present()));
    SELECT * INTO d FROM dead x WHERE x.run = retry.run AND x.namespace = n.id FOR UPDATE;
    now := present(r, at);
    r := settle_row(r, n, now);
    newest := greatest(
        (SELECT max(e.last) FROM ended e WHERE e.namespace = n.id AND e.key = r.key),
        (SELECT max(x.last_submit) FROM dead x WHERE x.namespace = n.id AND x.key = r.key));
    is_outdated := n.combination = 'latest' AND (
        r.generation > r.born AND r.generation > d.last_submit OR coalesce(newest, d.last_submit) > d.last_submit);
    IF d.run IS NULL OR is_outdated OR r.run_id IS NOT NULL THEN
        PERFORM write_row(r, n, false);
        RETURN CASE WHEN d.run IS NULL THEN 'notFound' WHEN is_outdated THEN 'outdated' ELSE 'busy' END;
    END IF;
    r.run_id := d.run; r.run_from := d.first_submit; r.run_to := d.last_submit; r.run_count := d.count;
    r.run_first := d.first; r.run_due := d.due; r.run_edge := d.edge; r.fence := d.fence; r.owner := d.owner;
    r.attempt := 0; r.error := NULL; r.claimed_by := NULL; r.run_until := now;
    -- Its range is older than others, and cannot be merged with them.
    r.run_mark := CASE WHEN n.restart IS NOT NULL THEN 9223372036854775807 END;
    IF n.combination <> 'collect' THEN
        r.run_slot := free_slot(r.pending_slot, r.ready_slot);
        r := filled(r, r.run_slot, d.value);
    END IF;
    DELETE FROM dead x WHERE x.run = d.run;
    PERFORM write_row(r, n, false);
    PERFORM wake_up(n);
    RETURN 'accepted';
END $$;

-- Deletes a dead run with its values, and returns whether there was one.
CREATE OR REPLACE FUNCTION discard(namespace text, run bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    d dead;
BEGIN
    PERFORM ensure_durability();
    DELETE FROM dead x WHERE x.run = discard.run AND x.namespace = n.id RETURNING * INTO d;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM collected c
    WHERE c.namespace = n.id AND c.key = d.key AND c.generation BETWEEN d.first_submit AND d.last_submit;
    RETURN true;
END $$;

-- A dead run with its values; no row if there is none with that number. `age` is how long ago it died.
CREATE OR REPLACE FUNCTION dead_run(namespace text, run bigint, at bigint DEFAULT NULL) RETURNS SETOF dead_run
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    RETURN QUERY
    SELECT
        d.run, d.key,
        CASE WHEN n.combination <> 'collect' THEN ARRAY[d.value] ELSE ARRAY(
            SELECT c.value FROM collected c
            WHERE c.namespace = n.id AND c.key = d.key AND c.generation BETWEEN d.first_submit AND d.last_submit
            ORDER BY c.generation) END,
        d.first_submit, d.last_submit, d.count, d.attempts, d.error,
        greatest(coalesce(dead_run.at, present()) - d.at, 0)
    FROM dead d
    WHERE d.run = dead_run.run AND d.namespace = n.id;
END $$;

-- The dead runs of a selection, without their values, the oldest first, or the newest first: those whose key begins
-- with a prefix, that died at least `age` microseconds ago, and that have `failing` in their error; NULL for any.
-- size: the most; NULL for all.
CREATE OR REPLACE FUNCTION dead_runs(
    namespace text, prefix bytea DEFAULT '', age bigint DEFAULT NULL, failing text DEFAULT NULL,
    at bigint DEFAULT NULL, newest_first boolean DEFAULT false, size int DEFAULT NULL
) RETURNS SETOF dead_run LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    now bigint := coalesce(dead_runs.at, present());
    stop bytea := prefix_end(prefix);
BEGIN
    RETURN QUERY
    SELECT
        o.run, o.key, NULL::bytea[], o.first_submit, o.last_submit, o.count, o.attempts, o.error,
        greatest(now - o.at, 0)
    FROM (
        (SELECT d.run, d.key, d.first_submit, d.last_submit, d.count, d.attempts, d.error, d.at FROM dead d
        WHERE NOT newest_first AND d.namespace + 0 = n.id AND d.key >= prefix AND d.key < stop
            AND (age IS NULL OR d.at <= now - age) AND (failing IS NULL OR position(failing IN d.error) > 0)
        ORDER BY d.at, d.run LIMIT size)
        UNION ALL
        (SELECT d.run, d.key, d.first_submit, d.last_submit, d.count, d.attempts, d.error, d.at FROM dead d
        WHERE newest_first AND d.namespace + 0 = n.id AND d.key >= prefix AND d.key < stop
            AND (age IS NULL OR d.at <= now - age) AND (failing IS NULL OR position(failing IN d.error) > 0)
        ORDER BY d.at DESC, d.run DESC LIMIT size)
    ) o;
END $$;

-- Runs that have used up their attempts, with their values, the oldest first.
CREATE OR REPLACE FUNCTION dead(namespace text, size int DEFAULT 100, at bigint DEFAULT NULL) RETURNS SETOF dead_run
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT d.*
    FROM dead_runs(namespace, at => dead.at, size => dead.size) WITH ORDINALITY r,
        LATERAL dead_run(namespace, r.run, dead.at) d
    ORDER BY r.ordinality;
END;
