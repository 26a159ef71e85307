-- What submits, flushes and cancellations make of a row, as in DurableRow+Submits.swift. Each begins with `settle`.
-- What they replace, drop or absorb has ended: `cancel` and `cancel_pending` record that, and the callers of the
-- others.

-- A slot that is neither of two.
CREATE OR REPLACE FUNCTION free_slot(a smallint, b smallint) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN a IS DISTINCT FROM 0 AND b IS DISTINCT FROM 0 THEN 0
    WHEN a IS DISTINCT FROM 1 AND b IS DISTINCT FROM 1 THEN 1
    ELSE 2
END::smallint;

-- The row with a value in a slot.
CREATE OR REPLACE FUNCTION filled(w work, slot smallint, value bytea) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    CASE slot WHEN 0 THEN w.v0 := value; WHEN 1 THEN w.v1 := value; WHEN 2 THEN w.v2 := value; END CASE;
    RETURN w;
END $$;

-- The row with a slot emptied, if there is one.
CREATE OR REPLACE FUNCTION emptied(w work, slot smallint) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    CASE slot WHEN 0 THEN w.v0 := NULL; WHEN 1 THEN w.v1 := NULL; WHEN 2 THEN w.v2 := NULL; ELSE NULL; END CASE;
    RETURN w;
END $$;

-- The row without what is pending, and without its value.
CREATE OR REPLACE FUNCTION without_pending(w work) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    w := emptied(w, w.pending_slot);
    w.pending_count := 0; w.pending_first := NULL; w.pending_last := NULL; w.pending_by := NULL;
    w.pending_slot := NULL;
    RETURN w;
END $$;

-- The row without what is ready, and without its value.
CREATE OR REPLACE FUNCTION without_ready(w work) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    w := emptied(w, w.ready_slot);
    w.ready_from := NULL; w.ready_to := NULL; w.ready_count := NULL; w.ready_first := NULL; w.ready_due := NULL;
    w.ready_since := NULL; w.ready_edge := NULL; w.ready_slot := NULL;
    RETURN w;
END $$;

-- The row without its run, and without the run's value.
CREATE OR REPLACE FUNCTION without_run(w work) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    w := emptied(w, w.run_slot);
    w.run_id := NULL; w.run_from := NULL; w.run_to := NULL; w.run_count := NULL; w.run_first := NULL; w.run_due := NULL;
    w.run_edge := NULL; w.run_until := NULL; w.fence := NULL; w.owner := NULL; w.claimed_by := NULL; w.attempt := NULL;
    w.error := NULL; w.run_slot := NULL; w.run_mark := NULL; w.run_began := NULL;
    RETURN w;
END $$;

-- A submit. `due` is when the value falls due, NULL if it was absorbed: then it has ended, unless something is ready,
-- whose range it extends.
CREATE OR REPLACE FUNCTION submit(
    INOUT w work, n namespaces, value bytea, wait bigint, submitter bigint, at bigint, OUT due bigint
) LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    step record;
    slot smallint;
BEGIN
    w := settle(w, n, at);
    w.generation := w.generation + 1;
    w.span := n.span;
    w.spacing := n.spacing;
    CASE n.kind
        WHEN 'debounce' THEN step := debounce(w, n, wait, at);
        WHEN 'throttle' THEN step := throttle(w, n, at);
    END CASE;
    w := step.w;
    CASE step.decision
        WHEN 'join' THEN
            w := join_pending(w, n, value, submitter, at);
            IF n.restart = 'submitted' THEN w := interrupt(w, n, at); END IF;
            due := due(w, n);
        WHEN 'complete' THEN
            w := pending_fell_due(join_pending(w, n, value, submitter, at), n, at, 'maxCount');
            due := at;
        WHEN 'lead' THEN
            IF n.combination <> 'collect' THEN
                slot := free_slot(w.ready_slot, w.run_slot);
                w := filled(w, slot, value);
            END IF;
            w := make_ready(w, n, w.generation, 1, at, at, 'leading', slot);
            due := at;
        WHEN 'absorb' THEN
            IF w.ready_to IS NULL THEN w.taken := w.generation; ELSE w.ready_to := w.generation; END IF;
    END CASE;
END $$;

-- Makes what is pending, held or between two attempts ready now. Returns whether there was anything.
CREATE OR REPLACE FUNCTION flush(INOUT w work, n namespaces, at bigint, OUT had boolean)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    w := settle(w, n, at);
    had := w.pending_count > 0;
    w := flush_pending(w, n, at);
    IF is_held(w) THEN
        -- The spacing counts from here, as from any other flush.
        w.ready_due := at; w.ready_edge := 'flush'; w.latest := at;
        w := rest(w, at);
        had := true;
    END IF;
    IF w.claimed_by IS NULL AND w.run_until > at THEN
        w.run_until := at;
        had := true;
    END IF;
END $$;

-- Drops everything that no worker has. Returns the number of submits behind it.
CREATE OR REPLACE FUNCTION cancel(INOUT w work, n namespaces, at bigint, OUT count bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    w := settle_row(w, n, at);
    count := w.pending_count;
    IF w.run_id IS NOT NULL AND w.claimed_by IS NULL THEN
        count := count + w.run_count;
        PERFORM record_end(w, n, 'cancelled', at);
        w := without_run(w);
    END IF;
    IF w.ready_to IS NOT NULL THEN
        count := count + w.ready_count;
        PERFORM record_end(n, w.key, w.ready_from, w.ready_to, 'cancelled', NULL, NULL, NULL, at);
        w := without_ready(w);
    END IF;
    IF w.pending_count > 0 THEN
        PERFORM record_end(n, w.key, first_pending(w), w.generation, 'cancelled', NULL, NULL, NULL, at);
    END IF;
    w.taken := w.generation;
    w := close(w, at);
END $$;

-- Drops what is pending. Returns the number of submits behind it.
CREATE OR REPLACE FUNCTION cancel_pending(INOUT w work, n namespaces, at bigint, OUT count bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    w := settle_row(w, n, at);
    count := w.pending_count;
    IF count > 0 AND w.ready_to IS NULL THEN
        PERFORM record_end(n, w.key, first_pending(w), w.generation, 'cancelled', NULL, NULL, NULL, at);
        w.taken := w.generation;
    ELSIF count > 0 THEN
        -- The range of what is ready covers these submits, as it covers absorbed ones.
        PERFORM delete_values(n, w.key, first_pending(w), w.generation);
        w.ready_to := w.generation;
    END IF;
    w := close(w, at);
END $$;

-- Transitions.

-- The generation of the first submit that is pending.
CREATE OR REPLACE FUNCTION first_pending(w work) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN w.generation - w.pending_count + 1;

-- Adds a value to what is pending, which the gate has counted.
CREATE OR REPLACE FUNCTION join_pending(w work, n namespaces, value bytea, submitter bigint, at bigint) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF w.pending_count = 1 THEN
        w.pending_by := submitter;
    ELSIF w.pending_by IS DISTINCT FROM submitter THEN
        w.pending_by := 0;
    END IF;
    w.pending_last := at;
    IF w.pending_count = 1 AND n.combination <> 'collect' THEN
        w.pending_slot := free_slot(w.ready_slot, w.run_slot);
        w := filled(w, w.pending_slot, value);
    ELSIF n.combination = 'latest' THEN
        w := filled(w, w.pending_slot, value);
    END IF;
    RETURN w;
END $$;

CREATE OR REPLACE FUNCTION pending_fell_due(w work, n namespaces, due bigint, edge edge) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    first_submit bigint := first_pending(w);
    count bigint := w.pending_count;
    first bigint := w.pending_first;
    slot smallint := w.pending_slot;
BEGIN
    w.pending_slot := NULL;
    RETURN make_ready(without_pending(w), n, first_submit, count, first, due, edge, slot);
END $$;

-- A value becomes ready, alone or joined with what is ready already.
CREATE OR REPLACE FUNCTION make_ready(
    w work, n namespaces, first_submit bigint, count bigint, first bigint, due bigint, edge edge, slot smallint
) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF w.ready_to IS NULL THEN
        w.ready_from := first_submit; w.ready_count := count; w.ready_first := first; w.ready_due := due;
        w.ready_since := NULL; w.ready_slot := slot;
    ELSE
        w.ready_count := w.ready_count + count;
        w.ready_due := coalesce(w.ready_due, due);
        IF n.combination = 'latest' THEN
            w := emptied(w, w.ready_slot);
            w.ready_slot := slot;
        ELSIF n.combination = 'first' THEN
            w := emptied(w, slot);
        END IF;
    END IF;
    w.ready_to := w.generation; w.ready_edge := edge;
    RETURN replace_failed_run(interrupt(w, n, due), n);
END $$;

-- Restarting, as in DurableRow+Restarting.swift.

-- Whether what is ready is held: it has no due instant, and joins the next value that falls due.
CREATE OR REPLACE FUNCTION is_held(w work) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN w.ready_to IS NOT NULL AND w.ready_due IS NULL;

-- Whether the values of a run that a worker has go back unless it completes.
CREATE OR REPLACE FUNCTION goes_back(w work) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(w.claimed_by IS NOT NULL AND w.run_mark < 9223372036854775807 AND w.run_to = w.taken, false);

-- A newer value was submitted or has fallen due: it marks a run that a worker has, and one between two attempts goes
-- back. A run behind which something has ended stays as it is.
CREATE OR REPLACE FUNCTION interrupt(w work, n namespaces, at bigint) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF n.restart IS NULL OR w.run_id IS NULL OR w.run_mark IS NOT NULL OR w.run_to <> w.taken THEN RETURN w; END IF;
    IF w.claimed_by IS NULL THEN RETURN put_back(w, n, at); END IF;
    IF n.kind = 'throttle' OR plus(w.run_first, w.span) > at THEN w.run_mark := at; END IF;
    RETURN w;
END $$;

-- The values of a run go back: in front of what is ready or, if nothing is, as a held value.
CREATE OR REPLACE FUNCTION put_back(w work, n namespaces, at bigint) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF w.ready_to IS NULL THEN
        w.ready_to := w.run_to; w.ready_count := w.run_count; w.ready_edge := w.run_edge; w.ready_slot := w.run_slot;
    ELSE
        w.ready_count := w.ready_count + w.run_count;
        IF w.ready_since IS NOT NULL THEN w.ready_since := at; END IF;
        IF n.combination = 'first' THEN
            w := emptied(w, w.ready_slot);
            w.ready_slot := w.run_slot;
        ELSIF n.combination = 'latest' THEN
            w := emptied(w, w.run_slot);
        END IF;
    END IF;
    w.ready_from := w.run_from; w.ready_first := w.run_first; w.taken := w.run_from - 1; w.run_slot := NULL;
    RETURN without_run(w);
END $$;

-- If only the latest value counts, one that is ready replaces a failed run that waits for another attempt.
CREATE OR REPLACE FUNCTION replace_failed_run(w work, n namespaces) RETURNS work
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF n.combination = 'latest' AND w.ready_to IS NOT NULL AND w.run_id IS NOT NULL AND w.claimed_by IS NULL
        AND w.error IS NOT NULL
    THEN
        w := without_run(w);
    END IF;
    RETURN w;
END $$;
