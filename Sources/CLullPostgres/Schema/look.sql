-- Questions: the state of submits, keys and namespaces. They write nothing.

-- The state of a submit: pending, ready, running, waitingForRetry, completed, failed, cancelled, absorbed, dead, or
-- forgotten.
CREATE OR REPLACE FUNCTION state(
    namespace text, key bytea, generation bigint, at bigint DEFAULT NULL,
    OUT state text, OUT attempt bigint, OUT error text
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    o work;
    r work;
BEGIN
    SELECT w.* INTO o FROM work w WHERE w.namespace = n.id AND w.key = state.key;
    r := o;
    IF next_change(o, n) <= present(o, at) THEN r := settle(o, n, present(o, at)); END IF;
    IF r.pending_count > 0 AND state.generation BETWEEN first_pending(r) AND r.generation THEN
        state := 'pending';
    ELSIF state.generation BETWEEN r.ready_from AND r.ready_to THEN
        state := CASE WHEN is_held(r) THEN 'pending' ELSE 'ready' END;
    ELSIF state.generation BETWEEN r.run_from AND r.run_to THEN
        attempt := r.attempt;
        error := r.error;
        state := CASE WHEN r.claimed_by IS NULL THEN 'waitingForRetry' ELSE 'running' END;
    ELSIF state.generation BETWEEN o.run_from AND o.run_to THEN
        state := 'failed';
        error := o.error;
    ELSE
        SELECT e.how, e.error INTO state, error
        FROM (
            SELECT * FROM ended e
            WHERE e.namespace = n.id AND e.key = state.key AND e.last >= state.generation
            ORDER BY e.last LIMIT 1
        ) e
        WHERE e.first <= state.generation;
        IF NOT FOUND THEN
            SELECT 'dead', d.error INTO state, error
            FROM dead d
            WHERE d.namespace = n.id AND d.key = state.key
                AND state.generation BETWEEN d.first_submit AND d.last_submit;
        END IF;
        state := coalesce(state, 'forgotten');
    END IF;
END $$;

-- All namespaces, with the number of keys in each state. `oldest_due` is how long the oldest work has waited for a
-- worker.
--
-- Keys count by the kept numbers, and rows that have woken since they were written are looked at, 500 of them. If
-- there are more, what was pending in past periods counts as ready, and those rows of the present period are looked
-- at.
CREATE OR REPLACE FUNCTION status(at bigint DEFAULT NULL) RETURNS TABLE (
    namespace namespaces, pending bigint, ready bigint, running bigint, retrying bigint, dead bigint, oldest_due bigint,
    attempts bigint, lost_leases bigint, runs bigint, executed bigint, failures bigint, restarted bigint,
    next_start bigint
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT
        n, c.pending + f.pending, c.ready + f.ready, c.running, c.retrying - f.replaced, c.dead,
        greatest(f.oldest_due, t.now - r.ready_due), coalesce(s.attempts, 0), coalesce(s.lost_leases, 0),
        coalesce(s.runs, 0), coalesce(s.executed, 0), coalesce(s.failures, 0), c.restarted,
        nullif(greatest(next_start(n, t.now) - t.now, 0), 0)
    FROM namespaces n
    CROSS JOIN LATERAL (SELECT coalesce(status.at, present()) AS now OFFSET 0) t
    CROSS JOIN LATERAL (
        SELECT count(*) >= 500 AS are_many
        FROM (SELECT FROM work w WHERE w.namespace + 0 = n.id AND w.wake <= t.now ORDER BY w.wake LIMIT 500) w
    ) m
    CROSS JOIN LATERAL (
        SELECT
            coalesce(sum(CASE WHEN p.is_past THEN 0 ELSE c.pending END), 0)::bigint AS pending,
            coalesce(sum(CASE WHEN p.is_past THEN c.ready + c.due ELSE c.ready END), 0)::bigint AS ready,
            coalesce(sum(c.running), 0)::bigint AS running,
            coalesce(sum(
                CASE WHEN p.is_past AND n.combination = 'latest' THEN c.retrying - c.replaced ELSE c.retrying END), 0
            )::bigint AS retrying,
            coalesce(sum(c.dead), 0)::bigint AS dead, coalesce(sum(c.restarted), 0)::bigint AS restarted
        FROM (
            SELECT * FROM tallies x WHERE x.namespace = n.id
            UNION ALL
            SELECT * FROM changes x WHERE x.namespace = n.id
        ) c
        CROSS JOIN LATERAL (SELECT m.are_many AND c.period < t.now >> 22 AS is_past) p
    ) c
    -- What has fallen due in the rows that are looked at.
    CROSS JOIN LATERAL (
        SELECT
            -count(*) FILTER (WHERE w.counts AND e.falls) AS pending,
            count(*) FILTER (WHERE w.counts AND e.falls AND w.ready_due IS NULL) AS ready,
            count(*) FILTER (WHERE w.counts AND f.replaces) AS replaced,
            max(greatest(
                CASE WHEN e.falls THEN t.now - d.due END,
                CASE WHEN w.run_until <= t.now AND NOT f.replaces THEN t.now - w.run_until END)) AS oldest_due
        FROM (
            (SELECT w.row AS stored, (w.row).*, NOT m.are_many AS counts
            FROM bare w WHERE w.namespace + 0 = n.id AND w.wake <= t.now ORDER BY w.wake LIMIT 500)
            UNION ALL
            (SELECT w.row, (w.row).*, true
            FROM bare w
            WHERE m.are_many AND w.namespace + 0 = n.id AND w.wake BETWEEN (t.now >> 22) << 22 AND t.now
            ORDER BY w.wake LIMIT 500)
        ) w
        CROSS JOIN LATERAL (SELECT next_change(w.stored, n) AS due) d
        CROSS JOIN LATERAL (SELECT w.pending_count > 0 AND d.due <= t.now AS falls) e
        CROSS JOIN LATERAL (
            SELECT e.falls AND w.run_id IS NOT NULL AND w.claimed_by IS NULL AND (
                n.combination = 'latest' AND w.error IS NOT NULL
                OR n.restart IS NOT NULL AND w.run_mark IS NULL AND w.run_to = w.taken) AS replaces
        ) f
    ) f
    LEFT JOIN LATERAL (
        SELECT w.ready_due FROM work w
        WHERE w.namespace + 0 = n.id AND w.ready_due IS NOT NULL ORDER BY w.ready_due LIMIT 1
    ) r ON true
    CROSS JOIN LATERAL (
        SELECT
            sum(o.attempts)::bigint AS attempts, sum(o.lost_leases)::bigint AS lost_leases,
            sum(o.runs)::bigint AS runs, sum(o.executed)::bigint AS executed, sum(o.failures)::bigint AS failures
        FROM workers o WHERE o.namespace = n.id
    ) s
    WHERE NOT n.is_forgotten OR has_work(n.id)
    ORDER BY n.name COLLATE "C";
END;

-- What a settled row has, as an answer of `list` and `upcoming`.
CREATE OR REPLACE FUNCTION listing(s work, n namespaces, now bigint) RETURNS listing
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ROW(
    s.key, s.pending_count + CASE WHEN is_held(s) THEN s.ready_count ELSE 0 END,
    CASE WHEN s.pending_count > 0 THEN greatest(due(s, n) - now, 0) END,
    CASE WHEN s.ready_due IS NULL THEN 0 ELSE s.ready_count END,
    s.run_id, s.attempt, s.claimed_by, s.error, s.run_count,
    CASE WHEN s.claimed_by IS NULL THEN greatest(s.run_until - now, 0) END,
    CASE WHEN s.claimed_by IS NOT NULL THEN greatest(s.run_until - now, 0) END,
    CASE WHEN s.pending_count > 0 OR is_held(s) THEN greatest(now - least(
        CASE WHEN s.pending_count > 0 THEN s.pending_first END, CASE WHEN is_held(s) THEN s.ready_first END), 0) END,
    CASE WHEN s.ready_due IS NOT NULL THEN greatest(now - s.ready_due, 0) END,
    CASE WHEN s.claimed_by IS NOT NULL THEN greatest(now - s.run_began, 0) END)::listing;

-- Keys that have anything pending, ready or running and begin with a prefix, from `start` on, in the order of their
-- bytes.
CREATE OR REPLACE FUNCTION list(
    namespace text, prefix bytea DEFAULT '', start bytea DEFAULT '', size int DEFAULT 100, at bigint DEFAULT NULL
) RETURNS SETOF listing LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    now bigint := coalesce(at, present());
    stop bytea := prefix_end(prefix);
BEGIN
    RETURN QUERY
    SELECT l.*
    FROM bare w, LATERAL settle(w.row, n, now) s, LATERAL listing(s, n, now) l
    WHERE w.namespace = n.id AND w.key >= greatest(prefix, start) AND w.key < stop
        AND (s.pending_count > 0 OR s.ready_to IS NOT NULL OR s.run_id IS NOT NULL OR s.phase >= 'open')
    ORDER BY w.key LIMIT size;
END $$;

-- Keys that have anything pending, ready or running, the first by the instants at which they wake; a submit that moves
-- its value later leaves that. It reads about as many rows as it returns, at most four times `size`: those that have
-- nothing but a gate are left out.
CREATE OR REPLACE FUNCTION upcoming(namespace text, size int DEFAULT 100, at bigint DEFAULT NULL)
RETURNS SETOF listing LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    now bigint := coalesce(at, present());
BEGIN
    RETURN QUERY
    SELECT l.*
    FROM
        (SELECT * FROM bare b WHERE b.namespace + 0 = n.id ORDER BY b.wake LIMIT 4 * size::bigint) w,
        LATERAL settle(w.row, n, now) s, LATERAL listing(s, n, now) l
    WHERE s.pending_count > 0 OR s.ready_to IS NOT NULL OR s.run_id IS NOT NULL
    ORDER BY w.wake LIMIT size;
END $$;

-- How submits of a key, or of all keys, have ended, the newest first; dead runs are among them. `age` is how long ago
-- that was.
CREATE OR REPLACE FUNCTION ended(
    namespace text, of_key bytea DEFAULT NULL, size int DEFAULT 100, at bigint DEFAULT NULL
) RETURNS TABLE (key bytea, first_submit bigint, last_submit bigint, how text, run bigint, error text, age bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    now bigint := coalesce(at, present());
BEGIN
    RETURN QUERY
    SELECT o.key, o.first, o.last, o.how, o.run, o.error, greatest(now - o.at, 0)
    FROM (
        (SELECT e.key, e.first, e.last, e.how::text, e.run, e.error, e.at
        FROM ended e WHERE of_key IS NULL AND e.namespace = n.id ORDER BY e.id DESC LIMIT size)
        UNION ALL
        (SELECT e.key, e.first, e.last, e.how::text, e.run, e.error, e.at
        FROM ended e WHERE e.namespace = n.id AND e.key = of_key ORDER BY e.last DESC LIMIT size)
        UNION ALL
        (SELECT d.key, d.first_submit, d.last_submit, 'dead', d.run, d.error, d.at
        FROM dead d WHERE of_key IS NULL AND d.namespace + 0 = n.id ORDER BY d.at DESC, d.run DESC LIMIT size)
        UNION ALL
        (SELECT d.key, d.first_submit, d.last_submit, 'dead', d.run, d.error, d.at
        FROM dead d WHERE d.namespace = n.id AND d.key = of_key ORDER BY d.at DESC, d.run DESC LIMIT size)
    ) o
    ORDER BY o.at DESC, o.last DESC LIMIT size;
END $$;

-- What an operator should watch: the dead rows that vacuum has not removed yet, and for how many microseconds the
-- oldest transaction has been open that keeps it from removing them, of those that the schema's owner may see
-- (`pg_read_all_stats` shows it all).
CREATE OR REPLACE FUNCTION health(OUT dead_rows bigint, OUT oldest_transaction bigint, OUT present bigint)
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
        ) t),
        present();
END;
