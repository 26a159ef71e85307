-- The calls that flush and cancel.

-- Whether a key meets the conditions of a selection. `age`: how long ago, in microseconds, the oldest submit was whose
-- value no worker has; `failing`: a part of the error after which its run waits for another attempt; NULL for any.
CREATE OR REPLACE FUNCTION is_selected(w work, n namespaces, at bigint, age bigint, failing text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    s work;
BEGIN
    IF age IS NULL AND failing IS NULL THEN RETURN true; END IF;
    s := settle(w, n, at);
    RETURN coalesce(
        (age IS NULL OR least(
            CASE WHEN s.pending_count > 0 THEN s.pending_first END, s.ready_first,
            CASE WHEN s.claimed_by IS NULL THEN s.run_first END) <= at - age)
        AND (failing IS NULL OR s.claimed_by IS NULL AND s.run_id IS NOT NULL AND position(failing IN s.error) > 0),
        false);
END $$;

-- The key after all keys with a prefix.
CREATE OR REPLACE FUNCTION prefix_end(prefix bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    stop bytea := prefix;
BEGIN
    WHILE length(stop) > 0 AND get_byte(stop, length(stop) - 1) = 255 LOOP
        stop := substring(stop FOR length(stop) - 1);
    END LOOP;
    IF length(stop) = 0 THEN RETURN decode(repeat('ff', 1025), 'hex'); END IF;
    RETURN set_byte(stop, length(stop) - 1, get_byte(stop, length(stop) - 1) + 1);
END $$;

-- Flushes or cancels keys, each as a step of its own. `change` is one of flush, cancel, flushOwn and cancelOwn; the
-- last two change only what is pending and comes from `submitter` alone.
--
-- count: the number of keys that were flushed, or of submits that were cancelled.
-- mixed: the number of keys whose pending value comes from several submitters.
-- changed, generations: with flushOwn, the keys that were flushed, and the newest generation of each.
-- age, failing: keys that do not meet these conditions stay as they are. See is_selected.
-- busy: with a patience of 0, the keys that other transactions have locked. See submit_many.
CREATE OR REPLACE FUNCTION change_keys(
    namespace text, keys bytea[], change text, submitter bigint, patience int, at bigint, age bigint, failing text,
    OUT count bigint, OUT mixed bigint, OUT changed bytea[], OUT generations bigint[], OUT busy bytea[]
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    waits_for_locks boolean := patience IS DISTINCT FROM 0;
    k bytea;
    r work;
    before work;
    step record;
    now bigint;
    wakes_up boolean := false;
BEGIN
    PERFORM ensure_durability();
    PERFORM limit_locks(patience);
    count := 0;
    mixed := 0;
    changed := '{}';
    generations := '{}';
    busy := '{}';
    FOREACH k IN ARRAY keys LOOP
        r := locked_row(n, k, waits_for_locks);
        IF r.key IS NULL THEN
            IF NOT waits_for_locks AND has_row(n, k) THEN busy := busy || k; END IF;
            CONTINUE;
        END IF;
        now := present(r, at);
        CONTINUE WHEN NOT is_selected(r, n, now, age, failing);
        IF change IN ('flushOwn', 'cancelOwn') THEN
            -- What has fallen due is not pending any more; the next step settles the row.
            CONTINUE WHEN r.pending_count = 0 OR r.pending_by IS NULL OR next_change(r, n) <= now;
            mixed := mixed + (r.pending_by = 0)::int;
            CONTINUE WHEN r.pending_by = 0 OR r.pending_by <> submitter;
        END IF;
        CASE change
            WHEN 'flush' THEN
                step := flush(r, n, now);
                PERFORM record_replaced(r, step.w, n, now);
                count := count + step.had::int;
                r := step.w;
            WHEN 'flushOwn' THEN
                before := r;
                r := flush_pending(r, n, now);
                PERFORM record_replaced(before, r, n, now);
                changed := changed || k;
                generations := generations || r.generation;
            WHEN 'cancel' THEN
                step := cancel(r, n, now);
                count := count + step.count;
                r := step.w;
            WHEN 'cancelOwn' THEN
                step := cancel_pending(r, n, now);
                count := count + step.count;
                r := step.w;
        END CASE;
        wakes_up := wakes_up OR change IN ('flush', 'flushOwn');
        PERFORM write_row(r, n, false);
    END LOOP;
    IF wakes_up THEN PERFORM wake_up(n); END IF;
END $$;

-- Does to the gate of a key what a submit would, without a value. Returns whether the gate was open. `wait`: the quiet
-- period from this call on, in microseconds, in place of the namespace's. See submit_many for `patience`.
CREATE OR REPLACE FUNCTION touch_key(
    namespace text, key bytea, wait bigint, patience int, notifies boolean, at bigint
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    r work;
    now bigint;
BEGIN
    PERFORM ensure_durability();
    PERFORM limit_locks(patience);
    r := locked_row(n, touch_key.key, true);
    IF r.key IS NULL THEN RETURN false; END IF;
    now := present(r, at);
    r := touch(settle_row(r, n, now), n, touch_key.wait, now);
    IF notifies AND wake(r, n) < least(r.wake, plus(now, 1000000)) THEN PERFORM wake_up(n); END IF;
    PERFORM write_row(r, n, false);
    RETURN n.kind = 'debounce' AND r.phase >= 'open';
END $$;

-- Says that a key is still busy: what is pending falls due later, as after a submit. Returns whether anything was going
-- on under the key.
CREATE OR REPLACE FUNCTION touch(namespace text, key text, wait interval DEFAULT NULL, notify boolean DEFAULT true)
RETURNS boolean LANGUAGE sql VOLATILE
RETURN touch_key(
    namespace, convert_to(key, 'UTF8'), (extract(epoch FROM wait) * 1000000)::bigint, NULL, notify, NULL);

-- The keys of a namespace that are not idle, in the order of their first submits: those that begin with a prefix and
-- meet the conditions of is_selected; those that a submitter may flush or cancel, if one is given.
CREATE OR REPLACE FUNCTION keys(
    namespace text, submitter bigint DEFAULT NULL, prefix bytea DEFAULT '', age bigint DEFAULT NULL,
    failing text DEFAULT NULL, at bigint DEFAULT NULL
) RETURNS SETOF bytea LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    RETURN QUERY
    SELECT w.key FROM bare w
    WHERE w.namespace = n.id AND w.key >= prefix AND w.key < prefix_end(prefix)
        AND (keys.submitter IS NULL OR (w.row).pending_by IN (keys.submitter, 0))
        AND is_selected(w.row, n, present(w.row, at), age, failing)
    ORDER BY (w.row).born;
END $$;

-- How many keys of a selection a flush or a cancel would change, and how many dead runs it has. See keys.
CREATE OR REPLACE FUNCTION count_selected(
    namespace text, prefix bytea DEFAULT '', age bigint DEFAULT NULL, failing text DEFAULT NULL,
    at bigint DEFAULT NULL, OUT flushable bigint, OUT cancellable bigint, OUT dead bigint
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    SELECT
        count(*) FILTER (WHERE s.pending_count > 0 OR is_held(s)
            OR s.claimed_by IS NULL AND s.run_until > present(w.row, at)),
        count(*) FILTER (WHERE s.pending_count > 0 OR s.ready_to IS NOT NULL
            OR s.run_id IS NOT NULL AND s.claimed_by IS NULL)
    INTO flushable, cancellable
    FROM bare w, LATERAL settle(w.row, n, present(w.row, at)) s
    WHERE w.namespace = n.id AND w.key >= prefix AND w.key < prefix_end(prefix)
        AND is_selected(w.row, n, present(w.row, at), age, failing);
    SELECT count(*) INTO dead FROM dead_runs(namespace, prefix, age, failing, at);
END $$;

-- Flushes or cancels a key, or the keys of a selection, as `flush` and `cancel` say.
CREATE OR REPLACE FUNCTION change_selected(
    change text, namespace text, key text, prefix text, older_than interval, error text
) RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT c.count
    FROM
        (SELECT (extract(epoch FROM older_than) * 1000000)::bigint AS age) a,
        LATERAL change_keys(
            namespace,
            CASE
                WHEN key IS NULL THEN ARRAY(SELECT keys(namespace, NULL, convert_to(prefix, 'UTF8'), a.age, error))
                ELSE ARRAY[convert_to(key, 'UTF8')]
            END, change, NULL, NULL, NULL, a.age, error) c;
END;

-- Makes executable now what is pending or waits for another attempt, of a key or of all keys, and returns the number of
-- such keys. Of all keys those that begin with `prefix`, of which the oldest submit that no worker has is older than
-- `older_than`, and that wait for another attempt after an error with `error` in it.
CREATE OR REPLACE FUNCTION flush(
    namespace text, key text DEFAULT NULL, prefix text DEFAULT '', older_than interval DEFAULT NULL,
    error text DEFAULT NULL
) RETURNS bigint LANGUAGE sql VOLATILE
RETURN change_selected('flush', namespace, key, prefix, older_than, error);

-- Drops what no worker has, of a key or of all keys, and returns the number of submits behind it. The conditions are
-- those of flush.
CREATE OR REPLACE FUNCTION cancel(
    namespace text, key text DEFAULT NULL, prefix text DEFAULT '', older_than interval DEFAULT NULL,
    error text DEFAULT NULL
) RETURNS bigint LANGUAGE sql VOLATILE
RETURN change_selected('cancel', namespace, key, prefix, older_than, error);
