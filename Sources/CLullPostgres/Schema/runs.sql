-- What workers make of a row, as in DurableRow+Runs.swift. All but a claim concern a run that the worker holds.

-- Hands the next run to a worker, if one may start. The row has none if its run has died instead.
CREATE OR REPLACE FUNCTION claim(w work, n namespaces, owner bigint, lease bigint, max_attempts bigint, at bigint)
RETURNS work LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    w := settle_row(w, n, at);
    IF w.claimed_by IS NOT NULL THEN
        w := fail(w, n, 'the worker''s lease expired', CASE WHEN w.attempt < max_attempts THEN 0 END, at);
    END IF;
    IF w.run_id IS NOT NULL THEN
        w.fence := next_fence();
        w.attempt := w.attempt + 1;
    ELSIF coalesce(w.ready_since, w.ready_due) <= at THEN
        w.run_id := next_fence();
        w.run_from := w.ready_from; w.run_to := w.ready_to; w.run_count := w.ready_count;
        w.run_first := w.ready_first; w.run_due := w.ready_due; w.run_edge := w.ready_edge; w.run_slot := w.ready_slot;
        w.fence := w.run_id; w.attempt := 1;
        IF n.combination = 'collect' AND w.ready_count > n.max_batch THEN
            w := divide(w, n, at);
        ELSE
            w.ready_slot := NULL;
            w := without_ready(w);
        END IF;
        w.taken := w.run_to;
    ELSE
        RETURN w;
    END IF;
    w.owner := claim.owner; w.claimed_by := claim.owner; w.run_until := plus(at, lease); w.run_began := at;
    RETURN w;
END $$;

CREATE OR REPLACE FUNCTION hand_out_again(w work, lease bigint, at bigint) RETURNS work LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    w.fence := next_fence();
    w.run_began := at;
    RETURN heartbeat(w, lease, at);
END $$;

CREATE OR REPLACE FUNCTION heartbeat(w work, lease bigint, at bigint) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    w.run_until := plus(at, lease);
    RETURN w;
END $$;

CREATE OR REPLACE FUNCTION complete(w work, n namespaces, at bigint) RETURNS work LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM record_end(w, n, 'completed', at);
    RETURN remove_run(w, at);
END $$;

-- An attempt has failed. The run is tried again after `retry`; if that is NULL, this was its last attempt.
CREATE OR REPLACE FUNCTION fail(w work, n namespaces, error text, retry bigint, at bigint) RETURNS work
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF goes_back(w) THEN RETURN put_back_interrupted(w, n, at); END IF;
    w := exempted(w);
    w.error := fail.error;
    IF retry IS NULL THEN
        PERFORM bury(w, at);
        RETURN remove_run(w, at);
    END IF;
    RETURN wait_for_attempt(w, n, retry, at);
END $$;

CREATE OR REPLACE FUNCTION release(w work, n namespaces, at bigint) RETURNS work LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF goes_back(w) THEN RETURN put_back_interrupted(w, n, at); END IF;
    w := exempted(w);
    w.attempt := w.attempt - 1;
    RETURN wait_for_attempt(w, n, 0, at);
END $$;

-- Transitions.

-- The values of an interrupted run go back.
CREATE OR REPLACE FUNCTION put_back_interrupted(w work, n namespaces, at bigint) RETURNS work
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM count_restart(n);
    RETURN put_back(w, n, at);
END $$;

-- A run that was interrupted and cannot go back, since what came after it was cancelled, goes on alone.
CREATE OR REPLACE FUNCTION exempted(w work) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF w.run_mark IS NOT NULL THEN w.run_mark := 9223372036854775807; END IF;
    RETURN w;
END $$;

-- No worker holds the run any more. If it has failed, a newer value may replace it.
CREATE OR REPLACE FUNCTION wait_for_attempt(w work, n namespaces, delay bigint, at bigint) RETURNS work
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    after work;
BEGIN
    w.claimed_by := NULL;
    w.run_until := plus(at, delay);
    after := replace_failed_run(w, n);
    PERFORM record_replaced(w, after, n, at);
    RETURN after;
END $$;

CREATE OR REPLACE FUNCTION remove_run(w work, at bigint) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    w := without_run(w);
    IF w.ready_since IS NOT NULL THEN w.ready_since := at; END IF;
    RETURN w;
END $$;

-- Leaves a run the first values of what is ready. The rest stays ready.
CREATE OR REPLACE FUNCTION divide(w work, n namespaces, at bigint) RETURNS work LANGUAGE plpgsql STABLE AS $$
DECLARE
    rest bigint := (
        SELECT c.generation FROM collected c
        WHERE c.namespace = w.namespace AND c.key = w.key AND c.generation BETWEEN w.ready_from AND w.ready_to
        ORDER BY c.generation OFFSET n.max_batch LIMIT 1);
BEGIN
    w.run_to := rest - 1; w.run_count := n.max_batch;
    w.ready_from := rest; w.ready_count := w.ready_count - n.max_batch; w.ready_since := at;
    RETURN w;
END $$;

-- Moves a run to the dead ones.
CREATE OR REPLACE FUNCTION bury(w work, at bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO dead (
        run, namespace, key, first_submit, last_submit, count, first, due, edge, fence, owner, attempts, at, error,
        value)
    VALUES (
        w.run_id, w.namespace, w.key, w.run_from, w.run_to, w.run_count, w.run_first, w.run_due, w.run_edge, w.fence,
        w.owner, w.attempt, at, w.error, CASE w.run_slot WHEN 0 THEN w.v0 WHEN 1 THEN w.v1 WHEN 2 THEN w.v2 END);
END $$;

-- The bytes of a run's values, in order. In PL/pgSQL, since a function in SQL with a query is planned again for each
-- run.
CREATE OR REPLACE FUNCTION run_values(w work, n namespaces) RETURNS bytea[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF n.combination <> 'collect' THEN
        RETURN ARRAY[CASE w.run_slot WHEN 0 THEN w.v0 WHEN 1 THEN w.v1 ELSE w.v2 END];
    END IF;
    RETURN ARRAY(
        SELECT c.value FROM collected c
        WHERE c.namespace = w.namespace AND c.key = w.key AND c.generation BETWEEN w.run_from AND w.run_to
        ORDER BY c.generation);
END $$;
