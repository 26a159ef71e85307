-- The calls that flush and cancel.

-- Flushes or cancels keys, each as a step of its own. `change` is one of flush, cancel, flushOwn and cancelOwn; the
-- last two change only what is pending and comes from `submitter` alone.
--
-- count: the number of keys that were flushed, or of submits that were cancelled.
-- mixed: the number of keys whose pending value comes from several submitters.
-- changed, generations: with flushOwn, the keys that were flushed, and the newest generation of each.
-- busy: with a patience of 0, the keys that other transactions have locked. See submit_many.
CREATE OR REPLACE FUNCTION change_keys(
    namespace text, keys bytea[], change text, submitter bigint, patience int, at bigint,
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

-- The keys of a namespace that are not idle, in the order of their first submits; those that a submitter may flush
-- or cancel, if one is given.
CREATE OR REPLACE FUNCTION keys(namespace text, submitter bigint DEFAULT NULL) RETURNS SETOF bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT w.key FROM work w
    WHERE w.namespace = (named(keys.namespace)).id
        AND (keys.submitter IS NULL OR w.pending_by IN (keys.submitter, 0))
    ORDER BY w.born;
END;

-- Makes executable now what is pending or waits for another attempt, of a key or of all keys, and returns the number of
-- such keys.
CREATE OR REPLACE FUNCTION flush(namespace text, key text DEFAULT NULL) RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT c.count
    FROM change_keys(
        namespace,
        CASE WHEN key IS NULL THEN ARRAY(SELECT keys(namespace)) ELSE ARRAY[convert_to(key, 'UTF8')] END, 'flush', NULL,
        NULL, NULL) c;
END;

-- Drops what no worker has, of a key or of all keys, and returns the number of submits behind it.
CREATE OR REPLACE FUNCTION cancel(namespace text, key text DEFAULT NULL) RETURNS bigint LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT c.count
    FROM change_keys(
        namespace,
        CASE WHEN key IS NULL THEN ARRAY(SELECT keys(namespace)) ELSE ARRAY[convert_to(key, 'UTF8')] END, 'cancel',
        NULL, NULL, NULL) c;
END;
