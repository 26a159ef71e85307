// Namespaces, flushing and cancelling.
extension Schema {
    static let keys = #"""
        -- Namespaces.

        -- Creates a namespace, or changes the durations and counts of one, and returns its rules. A namespace with another kind,
        -- other edges or another combination is returned unchanged.
        CREATE OR REPLACE FUNCTION open(
            namespace text, kind kind, wait bigint, max_wait bigint, on_leading boolean, on_trailing boolean, extends boolean,
            max_count bigint, spacing bigint, combination combination, max_batch bigint
        ) RETURNS namespaces LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
        #variable_conflict use_column
        DECLARE
            n namespaces;
        BEGIN
            PERFORM ensure_durability();
            -- One that was forgotten begins anew. With other lasting rules it gets another number: a transaction that is still open may
            -- submit by the old rules.
            UPDATE namespaces s SET
                name = CASE
                    WHEN (s.kind, s.on_leading, s.on_trailing, s.combination) = (
                        open.kind, open.on_leading, open.on_trailing, open.combination)
                    THEN s.name ELSE format('%s (forgotten %s)', s.name, s.id) END,
                is_forgotten = (s.kind, s.on_leading, s.on_trailing, s.combination) <> (
                    open.kind, open.on_leading, open.on_trailing, open.combination)
            WHERE s.name = open.namespace AND s.is_forgotten AND NOT has_work(s.id);
            INSERT INTO namespaces (
                name, kind, wait, max_wait, on_leading, on_trailing, extends, max_count, spacing, combination, max_batch)
            SELECT
                open.namespace, open.kind, open.wait, open.max_wait, open.on_leading, open.on_trailing, open.extends, open.max_count,
                open.spacing, open.combination, open.max_batch
            WHERE NOT EXISTS (SELECT FROM namespaces s WHERE s.name = open.namespace)
            ON CONFLICT DO NOTHING;
            UPDATE namespaces SET
                wait = open.wait, max_wait = open.max_wait, extends = open.extends, max_count = open.max_count,
                spacing = open.spacing, max_batch = open.max_batch
            WHERE name = open.namespace AND kind = open.kind AND on_leading = open.on_leading AND on_trailing = open.on_trailing
                AND combination = open.combination
                AND (wait, max_wait, extends, max_count, spacing, max_batch) IS DISTINCT FROM (
                    open.wait, open.max_wait, open.extends, open.max_count, open.spacing, open.max_batch);
            SELECT * INTO n FROM namespaces WHERE name = open.namespace;
            RETURN n;
        END $$;

        -- The same for SQL: with intervals and with defaults. A namespace with another kind, other edges or another combination is an error.
        CREATE OR REPLACE FUNCTION open(
            namespace text, kind text, wait interval, max_wait interval DEFAULT NULL, spacing interval DEFAULT '0',
            max_count bigint DEFAULT NULL, combination text DEFAULT 'latest', max_batch bigint DEFAULT NULL,
            on_leading boolean DEFAULT NULL, on_trailing boolean DEFAULT true, extends boolean DEFAULT false
        ) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
        #variable_conflict use_variable
        DECLARE
            leads boolean := coalesce(on_leading, kind = 'throttle');
            n record;
        BEGIN
            n := open(
                namespace, kind::kind, (extract(epoch FROM wait) * 1000000)::bigint, (extract(epoch FROM max_wait) * 1000000)::bigint,
                leads, on_trailing, extends, max_count, (extract(epoch FROM spacing) * 1000000)::bigint, combination::combination,
                max_batch);
            IF (n.kind::text, n.on_leading, n.on_trailing, n.combination::text) IS DISTINCT FROM (kind, leads, on_trailing, combination)
            THEN
                RAISE EXCEPTION 'the namespace % has another kind, other edges or another combination, which cannot change',
                    quote_literal(namespace) USING ERRCODE = 'LUL04';
            END IF;
        END $$;

        -- The rules of a namespace; no row if it does not exist.
        CREATE OR REPLACE FUNCTION rules(namespace text) RETURNS SETOF namespaces LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
        BEGIN ATOMIC
            SELECT n.* FROM namespaces n
            WHERE n.name = rules.namespace AND (NOT n.is_forgotten OR has_work(n.id));
        END;

        -- Flushing and cancelling.

        -- The row after its pending value has become ready on the edge flush, and its gate has stopped being open.
        CREATE OR REPLACE FUNCTION flushed(w work, n namespaces, at bigint) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        BEGIN
            IF w.phase = 'idle' THEN RETURN w; END IF;
            IF w.pending_count > 0 THEN w := fallen_due(w, n, at, 'flush'); END IF;
            RETURN rested(w, at);
        END $$;

        -- Flushes or cancels keys, each as a step of its own. `change` is one of flush, cancel, flushOwn and cancelOwn; the last
        -- two change only what is pending and comes from `submitter` alone.
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
            o work;
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
                    IF NOT waits_for_locks AND EXISTS (SELECT FROM work w WHERE w.namespace = n.id AND w.key = k) THEN
                        busy := busy || k;
                    END IF;
                    CONTINUE;
                END IF;
                now := present(r, at);
                IF change LIKE '%Own' THEN
                    -- What has fallen due is not pending any more; the next step settles the row.
                    CONTINUE WHEN r.pending_count = 0 OR r.pending_by IS NULL OR next_change(r, n) <= now;
                    mixed := mixed + (r.pending_by = 0)::int;
                    CONTINUE WHEN r.pending_by = 0 OR r.pending_by <> submitter;
                END IF;
                r := settle(r, n, now);
                o := r;
                IF change IN ('flush', 'flushOwn') THEN
                    r := flushed(r, n, now);
                    IF change = 'flushOwn' THEN
                        changed := changed || k;
                        generations := generations || r.generation;
                    ELSIF r.run_id IS NOT NULL AND r.claimed_by IS NULL AND r.run_until > now THEN
                        r.run_until := now;
                        count := count + 1;
                    ELSE
                        count := count + (o.pending_count > 0)::int;
                    END IF;
                    IF o.run_id IS NOT NULL AND r.run_id IS NULL THEN PERFORM record_end(o, n, 'failed', now); END IF;
                    wakes_up := true;
                ELSE
                    IF change = 'cancel' THEN
                        IF r.run_id IS NOT NULL AND r.claimed_by IS NULL THEN
                            PERFORM record_end(r, n, 'cancelled', now);
                            count := count + r.run_count;
                            r := without_run(r);
                        END IF;
                        IF r.ready_to IS NOT NULL THEN
                            PERFORM record_end(n, k, r.ready_from, r.ready_to, 'cancelled', NULL, NULL, NULL, now);
                            count := count + r.ready_count;
                            r := without_ready(r);
                        END IF;
                        r.taken := r.generation;
                    END IF;
                    IF r.pending_count > 0 THEN
                        count := count + r.pending_count;
                        IF r.ready_to IS NULL THEN
                            PERFORM record_end(
                                n, k, r.generation - r.pending_count + 1, r.generation, 'cancelled', NULL, NULL, NULL, now);
                            r.taken := r.generation;
                        ELSE
                            -- The ready value's range covers the submits, as it covers absorbed ones.
                            DELETE FROM collected c
                            WHERE c.namespace = n.id AND c.key = k
                                AND c.generation BETWEEN r.generation - r.pending_count + 1 AND r.generation;
                            r.ready_to := r.generation;
                        END IF;
                        r := without_pending(r);
                    END IF;
                    IF r.phase <> 'idle' THEN r := rested(r, now); END IF;
                END IF;
                PERFORM write_row(r, n, false);
            END LOOP;
            IF wakes_up THEN PERFORM wake_up(n); END IF;
        END $$;

        -- The keys of a namespace that are not at rest, in the order of their first submits; those that a submitter may flush or
        -- cancel, if one is given.
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
                CASE WHEN key IS NULL THEN ARRAY(SELECT keys(namespace)) ELSE ARRAY[convert_to(key, 'UTF8')] END, 'cancel', NULL,
                NULL, NULL) c;
        END;
        """#
}
