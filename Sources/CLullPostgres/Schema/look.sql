-- Questions. They write nothing.

-- What a namespace says of itself; with its counts and its workers, if that is wanted.
CREATE OR REPLACE FUNCTION describe(
    namespace text, is_whole boolean, at bigint, OUT now bigint, OUT revision bigint, OUT rules bigint[],
    OUT paused_at bigint, OUT pause_reason text, OUT paused_until bigint, OUT arrival bigint, OUT periods bigint[],
    OUT names text[], OUT counts bigint[], OUT workers bigint[], OUT hosts text[], OUT processes bigint[],
    OUT seen bigint[]
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    now := coalesce(at, present());
    revision := n.revision; rules := n.rules; paused_at := n.paused_at; pause_reason := n.pause_reason;
    paused_until := n.paused_until;
    arrival := n.arrival;
    IF NOT is_whole THEN RETURN; END IF;
    SELECT array_agg(c.period), array_agg(c.name), array_agg(c.count) INTO periods, names, counts
    FROM (
        SELECT c.period, c.name, sum(c.count)::bigint AS count
        FROM (
            SELECT * FROM tallies t WHERE t.namespace = n.id UNION ALL SELECT * FROM changes x WHERE x.namespace = n.id
        ) c
        GROUP BY c.period, c.name
    ) c;
    SELECT array_agg(w.worker), array_agg(w.host), array_agg(w.process), array_agg(w.at)
    INTO workers, hosts, processes, seen FROM workers w WHERE w.namespace = n.id;
END $$;

-- The names of all namespaces.
CREATE OR REPLACE FUNCTION names() RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
RETURN (SELECT array_agg(n.name) FROM namespaces n WHERE NOT n.is_forgotten OR has_work(n.id));

-- What a status needs beside the counts: rows that have woken, 500 of them and, if there are more, 500 of the present
-- period; when the value fell due that has been ready longest; the entries of the inbox, 10,000 at most, and when the
-- oldest was made.
CREATE OR REPLACE FUNCTION look(
    namespace text, now bigint, OUT first_states bytea[], OUT recent_states bytea[], OUT oldest_ready bigint,
    OUT entries bigint, OUT oldest_entry bigint
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    first_states := woken(n.id, 0, now);
    IF cardinality(first_states) = 500 THEN recent_states := woken(n.id, (now >> 22) << 22, now); END IF;
    SELECT w.ready INTO oldest_ready FROM work w
    WHERE w.namespace + 0 = n.id AND w.ready IS NOT NULL ORDER BY w.ready LIMIT 1;
    SELECT count(*) INTO entries FROM (SELECT FROM inbox i WHERE i.namespace = n.id LIMIT 10000) i;
    SELECT i.at INTO oldest_entry FROM inbox i WHERE i.namespace + 0 = n.id ORDER BY i.at LIMIT 1;
END $$;

CREATE OR REPLACE FUNCTION woken(namespace int, first bigint, last bigint) RETURNS bytea[] LANGUAGE sql STABLE
RETURN ARRAY(
    SELECT w.state FROM work w WHERE w.namespace + 0 = woken.namespace AND w.wake BETWEEN first AND last
    ORDER BY w.wake LIMIT 500);

-- Rows by their keys, from `start` on and before `stop`, if there is one.
CREATE OR REPLACE FUNCTION rows_by_key(namespace text, start bytea, stop bytea, size int)
RETURNS TABLE (key bytea, state bytea) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    RETURN QUERY SELECT w.key, w.state FROM work w
    WHERE w.namespace = n.id AND w.key >= start AND w.key < coalesce(stop, decode(repeat('ff', 1025), 'hex'))
    ORDER BY w.key LIMIT size;
END $$;

-- Rows by the instants at which they wake, after some.
CREATE OR REPLACE FUNCTION rows_by_wake(namespace text, after bigint, size int)
RETURNS TABLE (key bytea, state bytea) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    RETURN QUERY SELECT w.key, w.state FROM work w
    WHERE w.namespace + 0 = n.id ORDER BY w.wake OFFSET after LIMIT size;
END $$;

-- How many runs each worker has.
CREATE OR REPLACE FUNCTION holders(namespace text) RETURNS TABLE (worker bigint, runs bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    RETURN QUERY SELECT w.claimed_by, count(*) FROM work w
    WHERE w.claimed_by IS NOT NULL AND w.namespace = n.id GROUP BY w.claimed_by;
END $$;

-- Keys with entries in the inbox, the oldest first.
CREATE OR REPLACE FUNCTION keys_with_entries(namespace text, start bytea, stop bytea, size int) RETURNS SETOF bytea
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    RETURN QUERY
    SELECT i.key
    FROM (SELECT i.key, i.at FROM inbox i WHERE i.namespace + 0 = n.id ORDER BY i.at LIMIT 10 * size::bigint) i
    WHERE i.key >= start AND i.key < coalesce(stop, decode(repeat('ff', 1025), 'hex'))
    GROUP BY i.key ORDER BY min(i.at) LIMIT size;
END $$;

-- How submits of a key have ended, those with the highest numbers first, or of all keys, the newest first.
CREATE OR REPLACE FUNCTION ends(namespace text, of_key bytea, size int)
RETURNS TABLE (key bytea, first bigint, last bigint, how text, run bigint, error text, at bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    IF of_key IS NOT NULL THEN
        RETURN QUERY SELECT e.key, e.first, e.last, e.how, e.run, e.error, e.at FROM ended e
        WHERE e.namespace = n.id AND e.key = of_key ORDER BY e.last DESC LIMIT size;
    ELSE
        RETURN QUERY SELECT e.key, e.first, e.last, e.how, e.run, e.error, e.at FROM ended e
        WHERE e.namespace = n.id ORDER BY e.id DESC LIMIT size;
    END IF;
END $$;

-- Dead runs: one of them, or those after one in the order of their deaths.
CREATE OR REPLACE FUNCTION dead_run(namespace text, run bigint) RETURNS bytea
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    RETURN (SELECT d.state FROM dead d WHERE d.run = dead_run.run AND d.namespace = n.id);
END $$;

CREATE OR REPLACE FUNCTION dead_runs(namespace text, newest_first boolean, after_at bigint, after_run bigint, size int)
RETURNS TABLE (state bytea) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    IF newest_first THEN
        RETURN QUERY SELECT d.state FROM dead d
        WHERE d.namespace + 0 = n.id AND (d.at, d.run) < (after_at, after_run)
        ORDER BY d.at DESC, d.run DESC LIMIT size;
    ELSE
        RETURN QUERY SELECT d.state FROM dead d
        WHERE d.namespace + 0 = n.id AND (d.at, d.run) > (after_at, after_run) ORDER BY d.at, d.run LIMIT size;
    END IF;
END $$;

-- Values by their numbers.
CREATE OR REPLACE FUNCTION numbered_values(namespace text, key bytea, first bigint, stop bigint) RETURNS SETOF bytea
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    RETURN QUERY SELECT v.value FROM numbered v
    WHERE v.namespace = n.id AND v.key = numbered_values.key AND v.number >= first AND v.number < stop
    ORDER BY v.number;
END $$;

-- What an operator should watch: the dead rows that vacuum has not removed yet, and for how many microseconds the
-- oldest transaction has been open that keeps it from removing them, of those that the schema's owner may see
-- (`pg_read_all_stats` shows it all): one that is prepared, or a replication slot, among them.
CREATE OR REPLACE FUNCTION health(OUT dead_rows bigint, OUT oldest_transaction bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT
        (SELECT coalesce(sum(s.n_dead_tup), 0)::bigint
        FROM pg_stat_user_tables s WHERE s.schemaname = current_schema()),
        (SELECT (extract(epoch FROM clock_timestamp() - min(t.start)) * 1000000)::bigint
        FROM (
            SELECT a.xact_start AS start FROM pg_stat_activity a
            WHERE a.pid <> pg_backend_pid() AND (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
            UNION ALL
            SELECT x.prepared FROM pg_prepared_xacts x
        ) t);
END;

-- For people with psql. Nothing falls due in a view: a key whose `wake` is over counts as it was written.

-- All namespaces: keys that are pending, ready, running and between two attempts, dead runs, calls in the inbox, and
-- for how long the key has waited that should have been looked at first.
CREATE OR REPLACE FUNCTION status() RETURNS TABLE (
    namespace text, pending bigint, ready bigint, running bigint, retrying bigint, dead bigint, entries bigint,
    waits_for interval, paused boolean
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT
        n.name,
        coalesce(sum(c.count) FILTER (WHERE c.name = 'pending'), 0)::bigint,
        coalesce(sum(c.count) FILTER (WHERE c.name = 'ready'), 0)::bigint,
        coalesce(sum(c.count) FILTER (WHERE c.name = 'running'), 0)::bigint,
        coalesce(sum(c.count) FILTER (WHERE c.name = 'retrying'), 0)::bigint,
        coalesce(sum(c.count) FILTER (WHERE c.name = 'dead'), 0)::bigint,
        (SELECT count(*) FROM (SELECT FROM inbox i WHERE i.namespace = n.id LIMIT 10000) i),
        (
            SELECT (present() - w.wake) * interval '1 microsecond' FROM work w
            WHERE w.namespace + 0 = n.id AND w.wake <= present() ORDER BY w.wake LIMIT 1),
        n.paused_at IS NOT NULL AND coalesce(n.paused_until > present(), true)
    FROM namespaces n
    LEFT JOIN LATERAL (
        SELECT t.name, t.count FROM tallies t WHERE t.namespace = n.id
        UNION ALL
        SELECT x.name, x.count FROM changes x WHERE x.namespace = n.id
    ) c ON true
    WHERE NOT n.is_forgotten OR has_work(n.id)
    GROUP BY n.id ORDER BY n.name COLLATE "C";
END;

-- Keys, when they are looked at next, and who has claimed them.
CREATE OR REPLACE VIEW keys AS
SELECT
    n.name AS namespace, encode(w.key, 'escape') AS key,
    CASE WHEN w.wake < 9000000000000000 THEN timestamptz 'epoch' + w.wake * interval '1 microsecond' END AS wake,
    w.run, w.claimed_by, (SELECT count(*) FROM inbox i WHERE i.namespace = w.namespace AND i.key = w.key) AS entries
FROM work w JOIN namespaces n ON n.id = w.namespace;

-- Calls that wait in the inbox.
CREATE OR REPLACE VIEW entries AS
SELECT
    n.name AS namespace, encode(i.key, 'escape') AS key, i.id AS number, i.kind,
    timestamptz 'epoch' + i.at * interval '1 microsecond' AS at, i.wait * interval '1 microsecond' AS wait, i.token
FROM inbox i JOIN namespaces n ON n.id = i.namespace;
