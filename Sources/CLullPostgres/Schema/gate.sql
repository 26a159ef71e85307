-- The gate of a key, as in Gate.swift: the same names, in the same order but that each function comes after those that
-- it calls.
--
-- A gate is a part of a row `w`: its phase; `quiet`, when it closes if nothing more is submitted; `latest`, when a
-- value was due last; `span` and `spacing`, by the rules at its newest submit; and of what is pending `pending_first`,
-- the instant of the first submit, and `pending_count`. `n` are the rules of the namespace. None of these functions
-- reads or writes a table: each takes the row and an instant, and most return the row after the step.

-- An instant and a duration that is not negative.
CREATE OR REPLACE FUNCTION plus(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN a > 9223372036854775807 - b THEN 9223372036854775807 ELSE a + b END;

-- The earliest instant at which the spacing lets another value fall due; NULL for any.
CREATE OR REPLACE FUNCTION next(w work) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN plus(w.latest, w.spacing);

-- When what is pending falls due, if nothing more is submitted.
CREATE OR REPLACE FUNCTION due(w work, n namespaces) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN n.kind = 'throttle' THEN w.quiet
    WHEN w.phase = 'full' THEN next(w)
    ELSE greatest(next(w), least(w.quiet, plus(w.pending_first, w.span)))
END;

-- The first instant at which the gate changes by itself, NULL if it is idle: what is pending falls due, or the gate
-- stops being open or resting.
CREATE OR REPLACE FUNCTION next_change(w work, n namespaces) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN w.phase = 'idle' THEN NULL
    WHEN w.phase = 'resting' THEN next(w)
    WHEN w.pending_count = 0 THEN w.quiet
    ELSE due(w, n)
END;

-- What is pending falls due; `pending_fell_due` takes it.
CREATE OR REPLACE FUNCTION fall_due(w work, at bigint) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    w.latest := at;
    w.phase := 'open';
    RETURN w;
END $$;

-- The gate stops being open. Nothing is pending.
CREATE OR REPLACE FUNCTION rest(w work, at bigint) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF next(w) > at THEN
        w.phase := 'resting';
    ELSE
        w.phase := 'idle';
        w.latest := NULL;
    END IF;
    RETURN w;
END $$;

-- Whether a gate stops being open with each execution: a debounce with the trailing edge alone.
CREATE OR REPLACE FUNCTION ends_with_execution(n namespaces) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN n.kind = 'debounce' AND NOT n.on_leading;

-- Does what was due by `at`.
CREATE OR REPLACE FUNCTION settle(w work, n namespaces, at bigint) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    due bigint := next_change(w, n);
    edge edge;
BEGIN
    IF due IS NULL OR due > at THEN RETURN w; END IF;
    IF w.pending_count = 0 THEN RETURN rest(w, at); END IF;
    edge := CASE WHEN w.phase = 'full' THEN 'maxCount' WHEN due >= w.quiet THEN 'trailing' ELSE 'maxWait' END;
    w := pending_fell_due(fall_due(w, due), n, due, edge);
    IF n.kind = 'throttle' THEN w.quiet := plus(due, w.span); END IF;
    IF w.quiet <= at OR ends_with_execution(n) THEN w := rest(w, at); END IF;
    RETURN w;
END $$;

-- A submit joins what is pending. If it completes `maxCount`, all of it is due now, or when the spacing has passed.
CREATE OR REPLACE FUNCTION join(INOUT w work, n namespaces, at bigint, OUT decision decision)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    decision := 'join';
    IF w.pending_count = 0 THEN w.pending_first := at; END IF;
    w.pending_count := w.pending_count + 1;
    IF w.phase = 'full' OR w.pending_count >= n.max_count THEN
        IF at < next(w) THEN
            w.phase := 'full';
        ELSE
            decision := 'complete';
            w := fall_due(w, at);
            IF ends_with_execution(n) THEN w := rest(w, at); END IF;
        END IF;
    END IF;
END $$;

-- A submit to a debounce, after `settle`. `wait` is the delay of this submit alone.
CREATE OR REPLACE FUNCTION debounce(INOUT w work, n namespaces, wait bigint, at bigint, OUT decision decision)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    was_open boolean := w.phase >= 'open';
    quiet bigint := plus(at, greatest(coalesce(wait, n.wait), 0));
    step record;
BEGIN
    w.quiet := CASE WHEN was_open AND n.extends THEN greatest(w.quiet, quiet) ELSE quiet END;
    IF NOT was_open THEN w.phase := 'open'; END IF;
    IF NOT was_open AND n.on_leading AND at >= coalesce(next(w), at)
        OR NOT n.on_trailing AND n.max_wait IS NOT NULL AND at >= coalesce(plus(w.latest, n.max_wait), at)
    THEN
        w.latest := at;
        decision := 'lead';
    ELSIF n.on_trailing THEN
        step := join(w, n, at);
        w := step.w;
        decision := step.decision;
    ELSE
        decision := 'absorb';
    END IF;
END $$;

-- A submit to a throttle, after `settle`.
CREATE OR REPLACE FUNCTION throttle(INOUT w work, n namespaces, at bigint, OUT decision decision)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    was_open boolean := w.phase >= 'open';
    step record;
BEGIN
    IF NOT was_open THEN
        w.quiet := plus(at, n.wait);
        w.phase := 'open';
    END IF;
    IF NOT was_open AND n.on_leading THEN
        w.latest := at;
        decision := 'lead';
    ELSIF n.on_trailing THEN
        step := join(w, n, at);
        w := step.w;
        decision := step.decision;
    ELSE
        decision := 'absorb';
    END IF;
END $$;

-- What a submit does to when an open gate of a debounce closes, without a value. After `settle`.
CREATE OR REPLACE FUNCTION touch(w work, n namespaces, wait bigint, at bigint) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    quiet bigint := plus(at, greatest(coalesce(wait, n.wait), 0));
BEGIN
    IF n.kind = 'debounce' AND w.phase >= 'open' THEN
        w.quiet := CASE WHEN n.extends THEN greatest(w.quiet, quiet) ELSE quiet END;
    END IF;
    RETURN w;
END $$;

-- What is pending falls due now, on the edge flush, and the gate rests. After `settle`.
CREATE OR REPLACE FUNCTION flush_pending(w work, n namespaces, at bigint) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF w.phase = 'idle' THEN RETURN w; END IF;
    IF w.pending_count > 0 THEN w := pending_fell_due(fall_due(w, at), n, at, 'flush'); END IF;
    RETURN rest(w, at);
END $$;

-- The gate forgets what is pending, and rests.
CREATE OR REPLACE FUNCTION close(w work, at bigint) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN rest(without_pending(w), at);
END $$;
