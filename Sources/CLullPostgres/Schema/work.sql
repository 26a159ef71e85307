-- The calls of workers: claims and reports.

-- Adds to what a worker has done.
CREATE OR REPLACE FUNCTION count_work(
    n namespaces, worker bigint, attempts bigint, lost_leases bigint, runs bigint, executed bigint, failures bigint
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO workers AS w (namespace, owner, attempts, lost_leases, runs, executed, failures, at)
    VALUES (
        n.id, worker, count_work.attempts, count_work.lost_leases, count_work.runs, count_work.executed,
        count_work.failures, present())
    ON CONFLICT (namespace, owner) DO UPDATE SET
        attempts = w.attempts + excluded.attempts, lost_leases = w.lost_leases + excluded.lost_leases,
        runs = w.runs + excluded.runs, executed = w.executed + excluded.executed,
        failures = w.failures + excluded.failures, at = excluded.at;
END $$;

-- Claims.

-- A row's run as an answer of `claim`.
CREATE OR REPLACE FUNCTION claimed_run(w work, n namespaces) RETURNS SETOF claimed_run LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT
        'run', w.key, run_values(w, n), w.run_id, w.fence, w.run_from, w.run_to, w.run_count, w.run_edge::text,
        w.run_due, w.run_first, w.attempt, NULL::bigint, NULL::smallint[];
END;

-- Hands a row that may start to a worker: a row with the run, one for a run that died instead, and one with
-- what = 'lost' if the lease of another worker had expired.
CREATE OR REPLACE FUNCTION claim_row(
    w work, n namespaces, owner bigint, lease bigint, max_attempts bigint, at bigint
) RETURNS SETOF claimed_run LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r work := claim(w, n, owner, lease, max_attempts, present(w, at));
    a claimed_run;
BEGIN
    PERFORM write_row(r, n, true);
    IF w.claimed_by IS NOT NULL THEN
        a.what := 'lost';
        RETURN NEXT a;
        IF w.attempt >= max_attempts AND NOT goes_back(settle(w, n, present(w, at))) THEN
            a := claimed_run(w, n);
            a.what := 'dead'; a.vals := NULL;
            RETURN NEXT a;
        END IF;
    END IF;
    IF r.claimed_by IS NOT NULL THEN RETURN QUERY SELECT * FROM claimed_run(r, n); END IF;
END $$;

-- Hands out up to `size` runs that may start, in the order of the instants from which they may.
--
-- holding: the runs that the worker knows it has; NULL if no answer to it can have been lost. Other runs that are
-- leased to it are handed out again.
-- allowed: how many runs may start, if `take_starts` has answered that.
-- since: the `resume` of an earlier claim: what changed long before it is not looked at again. From time to time, NULL.
--
-- what: 'run' for each run; 'dead' for each run that died instead; 'next' in one row, with the instant at which there
-- may be more as `due` and the present one as `first`, and `resume` for a later claim. In a paused namespace, 'paused'
-- in one row, with the reason as `because` and the instant as `first`, and no run.
CREATE OR REPLACE FUNCTION claim(
    namespace text, owner bigint, lease bigint, max_attempts bigint, holding bigint[], size int, since bigint,
    at bigint, allowed int DEFAULT NULL
) RETURNS SETOF claimed_run LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    a claimed_run;
    places bytea[];
    starts bigint[];
    k bytea;
    start bigint;
    r work;
    now bigint := coalesce(at, present());
    resume bigint := coalesce(since, 0);
    last bigint;
    certain bigint;
    count int;
    limited int;
    counts_starts boolean := n.starts IS NOT NULL AND allowed IS NULL;
    is_limited boolean := counts_starts OR n.max_running IS NOT NULL;
    before int;
    room int := size;
    left_over int;
    begun bigint := 0;
    lost bigint := 0;
    -- Of what has begun, the runs that are new, and the submits behind them.
    fresh bigint := 0;
    behind bigint := 0;
BEGIN
    PERFORM ensure_durability();
    IF since IS NULL THEN PERFORM check_place(); END IF;

    IF is_limited AND size > 0 AND n.paused_at IS NULL THEN
        -- It may have been paused while another claim held its row.
        SELECT s.* INTO n FROM namespaces s WHERE s.id = n.id FOR NO KEY UPDATE;
        now := coalesce(at, present());
        IF counts_starts THEN n.arrival := known_arrival(n, now); ELSE n.starts := NULL; END IF;
    END IF;
    IF n.paused_at IS NOT NULL THEN
        a.what := 'paused'; a.because := n.pause_reason; a.first := n.paused_at;
        RETURN NEXT a;
        a := NULL;
        a.what := 'next'; a.first := now; a.resume := resume;
        RETURN NEXT a;
        RETURN;
    END IF;

    IF holding IS NOT NULL THEN
        FOR r IN
            SELECT w.* FROM work w
            WHERE w.claimed_by = claim.owner AND w.namespace = n.id AND w.run_id <> ALL (holding)
            ORDER BY w.born FOR UPDATE SKIP LOCKED
        LOOP
            r := hand_out_again(r, lease, present(r, at));
            PERFORM write_row(r, n, true);
            RETURN QUERY SELECT * FROM claimed_run(r, n);
            room := room - 1;
        END LOOP;
    END IF;

    -- A call that is repeated hands out again what its lost answer had: that has used up as many.
    room := least(room, allowed - size + room);
    left_over := room;
    LOOP
        IF is_limited THEN
            room := starts_allowed(n, now, left_over);
            EXIT WHEN room <= 0;
            room := slots_left(n, room);
            IF room = 0 THEN
                -- Without a slot, what a worker has lost may still be taken over.
                SELECT w.key INTO k FROM work w
                WHERE w.claimed_by IS NOT NULL AND w.namespace = n.id AND w.run_until <= now
                ORDER BY w.run_until, w.born LIMIT 1 FOR UPDATE SKIP LOCKED;
                EXIT WHEN NOT FOUND;
                room := 1;
                FOR a IN
                    SELECT * FROM claim_row(locked_row(n, k, true), n, owner, lease, max_attempts, now)
                LOOP
                    room := room - (a.what = 'run')::int;
                    begun := begun + (a.what = 'run')::int;
                    lost := lost + (a.what = 'lost')::int;
                    IF a.what = 'run' AND a.run = a.fence THEN
                        fresh := fresh + 1;
                        behind := behind + a.submits;
                    END IF;
                    IF a.what <> 'lost' THEN RETURN NEXT a; END IF;
                END LOOP;
                n.arrival := after_starts(n, 1 - room, now);
                left_over := left_over - 1 + room;
                CONTINUE;
            END IF;
        END IF;
        before := room;
        WHILE room > 0 LOOP
            -- First, in one statement, the rows that have no run, and a value that is ready or falls due now, in their
            -- order. `claim_row` does the same one by one, and takes four times as long (row `postgres-backlog`). Other
            -- rows are left, and so are those that may start after one of them.
            limited := room;
            count := 0;
            FOR a IN
                WITH found AS MATERIALIZED (
                    SELECT
                        w.ctid AS place, w.wake, w.born, present(w, now) AS seen,
                        CASE
                            WHEN w.run_id IS NOT NULL THEN w.run_until
                            WHEN w.ready_due IS NOT NULL THEN coalesce(w.ready_since, w.ready_due)
                            WHEN w.pending_count > 0 THEN next_change(w, n)
                        END AS start,
                        w.run_id IS NULL AND coalesce(coalesce(w.ready_count, w.pending_count) <= n.max_batch, true)
                            AND (w.ready_to IS NULL OR coalesce(next_change(w, n) > present(w, now), true)) AS is_plain
                    FROM work w
                    WHERE w.namespace + 0 = n.id AND w.wake <= now AND w.wake >= coalesce(since, 0)
                    ORDER BY w.wake, w.born LIMIT limited FOR UPDATE SKIP LOCKED
                ), bounds AS MATERIALIZED (
                    SELECT CASE WHEN count(*) = limited THEN max(f.wake) ELSE now END AS certain,
                        min(f.wake) FILTER (WHERE NOT f.is_plain AND f.start IS NOT NULL) AS other
                    FROM found f
                ), plain AS (
                    SELECT f.place, f.start, f.seen, b.certain
                    FROM found f, bounds b
                    WHERE f.is_plain AND f.start <= least(b.certain, b.other - 1)
                    ORDER BY f.start, f.wake, f.born
                ), numbered AS MATERIALIZED (
                    SELECT p.*, next_fence() AS run FROM plain p
                ), claimed AS (
                    UPDATE work w SET
                        run_id = c.run, fence = c.run, attempt = 1, owner = claim.owner, claimed_by = claim.owner,
                        run_until = plus(c.seen, lease), run_began = c.seen, taken = coalesce(w.ready_to, w.generation),
                        run_from = coalesce(w.ready_from, first_pending(w)),
                        run_to = coalesce(w.ready_to, w.generation),
                        run_count = coalesce(w.ready_count, w.pending_count),
                        run_first = coalesce(w.ready_first, w.pending_first), run_due = coalesce(w.ready_due, c.start),
                        run_edge = coalesce(w.ready_edge, CASE
                            WHEN w.phase = 'full' THEN 'maxCount' WHEN c.start >= w.quiet THEN 'trailing' ELSE 'maxWait'
                            END::edge),
                        run_slot = CASE WHEN w.ready_to IS NULL THEN w.pending_slot ELSE w.ready_slot END,
                        ready_from = NULL, ready_to = NULL, ready_count = NULL, ready_first = NULL, ready_due = NULL,
                        ready_since = NULL, ready_edge = NULL, ready_slot = NULL,
                        (
                            pending_count, pending_first, pending_last, pending_by, pending_slot, phase, latest,
                            quiet, wake
                        ) = (
                            -- What was pending has fallen due, and the gate has changed as in `settle`.
                            SELECT
                                0, NULL, NULL, NULL, NULL, g.phase, CASE WHEN g.phase <> 'idle' THEN c.start END,
                                g.quiet,
                                least(plus(c.seen, lease), CASE g.phase
                                    WHEN 'open' THEN g.quiet WHEN 'resting' THEN plus(c.start, w.spacing) END)
                            FROM (
                                SELECT q.quiet, CASE
                                    WHEN q.quiet > c.seen AND NOT ends_with_execution(n) THEN 'open'
                                    WHEN plus(c.start, w.spacing) > c.seen THEN 'resting' ELSE 'idle'
                                    END::phase AS phase
                                FROM (
                                    SELECT
                                        CASE n.kind WHEN 'throttle' THEN plus(c.start, w.span) ELSE w.quiet END AS quiet
                                ) q
                            ) g
                            WHERE w.ready_to IS NULL
                            UNION ALL
                            SELECT
                                w.pending_count, w.pending_first, w.pending_last, w.pending_by, w.pending_slot, w.phase,
                                w.latest, w.quiet, least(plus(c.seen, lease), next_change(w, n))
                            WHERE w.ready_to IS NOT NULL)
                    FROM numbered c WHERE w.ctid = c.place
                    RETURNING
                        w.key, w.run_id, w.fence, w.run_from, w.run_to, w.run_count, w.run_edge, w.run_due, w.run_first,
                        w.attempt, c.certain, CASE WHEN n.combination = 'collect' THEN run_values(w, n)
                            ELSE ARRAY[CASE w.run_slot WHEN 0 THEN w.v0 WHEN 1 THEN w.v1 ELSE w.v2 END] END AS vals
                )
                SELECT
                    'run', c.key, c.vals, c.run_id, c.fence, c.run_from, c.run_to, c.run_count, c.run_edge::text,
                    c.run_due,
                    c.run_first, c.attempt, c.certain
                FROM claimed c ORDER BY c.run_id
            LOOP
                count := count + 1;
                last := a.resume;
                behind := behind + a.submits;
                RETURN NEXT a;
            END LOOP;
            room := room - count;
            begun := begun + count;
            fresh := fresh + count;
            IF room = 0 THEN
                resume := last;
                EXIT;
            END IF;

            -- Then the others one by one. Rows are found in the order of `wake`, which may be too early: the order is
            -- known when all have been found, and rows that were not found wake later than the last one that was.
            places := '{}';
            starts := '{}';
            certain := now;
            limited := room;
            count := 0;
            FOR r IN
                SELECT w.* FROM work w
                WHERE w.namespace + 0 = n.id AND w.wake <= now AND w.wake >= coalesce(since, 0)
                ORDER BY w.wake, w.born LIMIT limited FOR UPDATE SKIP LOCKED
            LOOP
                count := count + 1;
                last := r.wake;
                start := startable(settle(r, n, present(r, now)));
                IF start <= now THEN
                    places := places || r.key;
                    starts := starts || start;
                ELSE
                    PERFORM write_row(settle_row(r, n, present(r, now)), n, true);
                END IF;
            END LOOP;
            IF count = limited THEN certain := last; END IF;
            resume := certain;
            EXIT WHEN count = 0;
            FOR k, start IN
                SELECT s.key, s.start FROM unnest(places, starts) WITH ORDINALITY AS s (key, start, index)
                ORDER BY s.start, s.index
            LOOP
                r := locked_row(n, k, true);
                IF start <= certain THEN
                    FOR a IN SELECT * FROM claim_row(r, n, owner, lease, max_attempts, now) LOOP
                        room := room - (a.what = 'run')::int;
                        begun := begun + (a.what = 'run')::int;
                        lost := lost + (a.what = 'lost')::int;
                        IF a.what = 'run' AND a.run = a.fence THEN
                            fresh := fresh + 1;
                            behind := behind + a.submits;
                        END IF;
                        IF a.what <> 'lost' THEN RETURN NEXT a; END IF;
                    END LOOP;
                ELSE
                    PERFORM write_row(settle_row(r, n, present(r, now)), n, true);
                END IF;
            END LOOP;
        END LOOP;
        n.arrival := after_starts(n, before - room, now);
        left_over := left_over - before + room;
        -- With slots: a run that was taken over, or has died, needed none.
        EXIT WHEN n.max_running IS NULL OR room > 0;
    END LOOP;

    -- Also with slots only: who sees an older state of this row must not claim.
    IF is_limited THEN
        UPDATE namespaces s SET arrival = n.arrival
        WHERE s.id = n.id AND (s.arrival IS DISTINCT FROM n.arrival OR s.max_running IS NOT NULL AND begun > 0);
    END IF;
    IF begun + lost > 0 THEN PERFORM count_work(n, claim.owner, begun, lost, fresh, behind, 0); END IF;
    a := NULL;
    a.what := 'next'; a.first := now; a.resume := resume;
    IF counts_starts AND n.max_running IS NULL THEN a.because := 'limit'; END IF;
    SELECT w.wake INTO a.due FROM work w
    WHERE w.namespace + 0 = n.id AND w.wake >= coalesce(since, 0) ORDER BY w.wake LIMIT 1;
    IF is_limited AND left_over > 0 AND a.due IS NOT NULL THEN a.due := greatest(a.due, next_room(n, now)); END IF;
    RETURN NEXT a;
END $$;

-- Reports.

-- Whether a run of a key has ended.
CREATE OR REPLACE FUNCTION has_ended(n namespaces, key bytea, run bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    other bigint;
BEGIN
    IF EXISTS (
        SELECT FROM dead d WHERE d.run = has_ended.run AND d.namespace = n.id AND d.key = has_ended.key)
    THEN
        RETURN true;
    END IF;
    -- The runs of a key end in the order of their ids.
    FOR other IN
        SELECT e.run FROM ended e
        WHERE e.namespace = n.id AND e.key = has_ended.key AND e.run IS NOT NULL ORDER BY e.last DESC
    LOOP
        IF other <= has_ended.run THEN RETURN other = has_ended.run; END IF;
    END LOOP;
    RETURN false;
END $$;

-- Records a worker's reports on its runs, each as a step of its own, and answers each: 0 recorded, 1 it had been
-- recorded before, 2 the lease was lost, 3 busy, 4 a recorded heartbeat of a run that a newer value has interrupted.
-- Sort them by key.
--
-- kinds: heartbeat, completed, failed, released or interrupted. spans: the new lease of a heartbeat, or after how long
-- a failed run is tried again; NULL if it is not. See submit_many for `patience` and `notifies`.
-- earliest: the first instant at which anything can happen to the rows.
CREATE OR REPLACE FUNCTION report_many(
    namespace text, owner bigint, keys bytea[], runs bigint[], fences bigint[], kinds text[], spans bigint[],
    errors text[], patience int, notifies boolean, at bigint, OUT answers smallint[], OUT earliest bigint
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    waits_for_locks boolean := patience IS DISTINCT FROM 0;
    place int;
    r work;
    o work;
    now bigint;
    failed bigint := 0;
BEGIN
    PERFORM ensure_durability();
    PERFORM limit_locks(patience);
    answers := array_fill(NULL::smallint, ARRAY[cardinality(keys)]);
    -- First, in one statement, the completed runs of keys of which nothing is left (row `postgres-backlog`).
    IF n.combination <> 'collect' THEN
        FOR place IN
            WITH given AS (
                SELECT u.key, min(u.run) AS run, min(u.fence) AS fence, min(u.index)::int AS index
                FROM unnest(keys, runs, fences, kinds) WITH ORDINALITY AS u (key, run, fence, kind, index)
                GROUP BY u.key HAVING count(*) = 1 AND min(u.kind) = 'completed'
            ), locked AS MATERIALIZED (
                SELECT g.index, g.key, g.run, g.fence, w.*
                FROM given g, LATERAL (
                    SELECT w.ctid AS place, w.run_from, w.run_to, w.error, present(w, report_many.at) AS now FROM work w
                    WHERE w.namespace = n.id AND w.key = g.key AND w.run_id = g.run AND w.fence = g.fence
                        AND w.owner = report_many.owner AND coalesce(w.claimed_by, 0) <> 0 AND w.phase = 'idle'
                        AND w.pending_count = 0 AND w.ready_to IS NULL AND w.generation - w.born < 1048576
                    FOR UPDATE SKIP LOCKED) w
            ), gone AS (
                DELETE FROM work w USING locked l WHERE w.ctid = l.place RETURNING l.*
            ), recorded AS (
                INSERT INTO ended (namespace, key, first, last, how, run, fence, error, at)
                SELECT n.id, g.key, g.run_from, g.run_to, 'completed', g.run, g.fence, g.error, g.now FROM gone g
            )
            SELECT g.index FROM gone g
        LOOP
            answers[place] := 0;
        END LOOP;
    END IF;
    FOR i IN 1..cardinality(keys) LOOP
        CONTINUE WHEN answers[i] IS NOT NULL;
        o := locked_row(n, keys[i], waits_for_locks);
        IF o.key IS NULL THEN
            answers[i] := CASE
                WHEN NOT waits_for_locks AND has_row(n, keys[i]) THEN 3
                WHEN has_ended(n, keys[i], runs[i]) THEN 1 ELSE 2 END;
            CONTINUE;
        END IF;
        now := present(o, at);
        r := o;
        IF (kinds[i] <> 'heartbeat' OR n.restart IS NOT NULL) AND next_change(o, n) <= now THEN
            r := settle(o, n, now);
        END IF;
        IF r.run_id IS DISTINCT FROM runs[i] OR r.fence <> fences[i] OR r.owner <> report_many.owner THEN
            -- Nothing is written: the next step settles the row.
            answers[i] := CASE
                WHEN o.run_id = runs[i] AND r.run_id IS NULL AND r.taken >= o.run_to
                    OR has_ended(n, keys[i], runs[i])
                THEN 1 ELSE 2 END;
            CONTINUE;
        END IF;
        IF r.claimed_by IS NULL THEN
            answers[i] := CASE WHEN kinds[i] IN ('failed', 'released', 'interrupted') THEN 1 ELSE 2 END;
            CONTINUE;
        END IF;
        CASE kinds[i]
            WHEN 'heartbeat' THEN r := heartbeat(r, spans[i], now);
            WHEN 'completed' THEN r := complete(r, n, now);
            WHEN 'failed' THEN
                -- A run that was interrupted is counted as that.
                failed := failed + (NOT goes_back(r))::int;
                r := fail(r, n, errors[i], spans[i], now);
            WHEN 'released', 'interrupted' THEN r := release(r, n, now);
        END CASE;
        PERFORM write_row(r, n, true);
        IF NOT is_at_rest(r) THEN earliest := least(earliest, wake(r, n)); END IF;
        answers[i] := CASE WHEN kinds[i] = 'heartbeat' AND r.run_mark < 9223372036854775807 THEN 4 ELSE 0 END;
    END LOOP;
    IF failed > 0 THEN PERFORM count_work(n, report_many.owner, 0, 0, 0, 0, failed); END IF;
    IF notifies AND earliest < plus(coalesce(at, present()), 1000000) THEN PERFORM wake_up(n); END IF;
END $$;

-- The runs of a worker that newer values have interrupted, and the first instant at which another one may be if nothing
-- is submitted. Nothing is written: the worker's report does that.
CREATE OR REPLACE FUNCTION interruptions(
    namespace text, owner bigint, at bigint DEFAULT NULL, OUT runs bigint[], OUT next bigint, OUT now bigint
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    now := coalesce(at, present());
    SELECT
        coalesce(array_agg(s.run_id) FILTER (WHERE s.run_mark < 9223372036854775807), '{}'),
        min(due(s, n)) FILTER (WHERE s.run_mark IS NULL AND s.pending_count > 0)
    INTO runs, next
    FROM bare w, LATERAL settle(w.row, n, present(w.row, at)) s
    WHERE (w.row).claimed_by = interruptions.owner AND w.namespace + 0 = n.id AND n.restart IS NOT NULL;
END $$;

-- Records reports as `report_many` does, then claims as `claim` does, in one step. The first row has the answers to the
-- reports as `answers`; it and the claim are there only if there are any reports, or a size.
CREATE OR REPLACE FUNCTION exchange(
    namespace text, owner bigint, keys bytea[], runs bigint[], fences bigint[], kinds text[], spans bigint[],
    errors text[], lease bigint, max_attempts bigint, holding bigint[], size int, since bigint, at bigint,
    allowed int DEFAULT NULL
) RETURNS SETOF claimed_run LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    a claimed_run;
BEGIN
    IF cardinality(keys) > 0 THEN
        SELECT r.answers, r.earliest INTO a.answers, a.due
        FROM report_many(namespace, owner, keys, runs, fences, kinds, spans, errors, 0, size IS NULL, at) r;
        a.what := 'answers';
        RETURN NEXT a;
    END IF;
    IF size IS NOT NULL THEN
        -- What a report has left may start since long ago.
        IF a.due < since THEN since := a.due; END IF;
        RETURN QUERY SELECT * FROM claim(namespace, owner, lease, max_attempts, holding, size, since, at, allowed);
    END IF;
END $$;
