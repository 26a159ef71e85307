-- Rows: time, finding and locking them, writing them after a step, and recording what has ended.

-- The present instant.
CREATE OR REPLACE FUNCTION present() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN (date_part('epoch', clock_timestamp()) * 1000000)::bigint;

-- Rows without their values, for who only looks. A row that a function gets is read with all of them, which may be
-- megabytes.
CREATE OR REPLACE VIEW bare AS
SELECT w.namespace, w.key, w.wake, ROW(
    w.namespace, w.key, w.wake, w.born, w.generation, w.taken, w.quiet, w.latest, w.span, w.spacing, w.pending_count,
    w.pending_first, w.pending_last, w.pending_by, w.ready_from, w.ready_to, w.ready_count, w.ready_first, w.ready_due,
    w.ready_since, w.run_id, w.run_from, w.run_to, w.run_count, w.run_first, w.run_due, w.run_until, w.fence, w.owner,
    w.claimed_by, w.attempt, w.phase, w.ready_edge, w.run_edge, w.pending_slot, w.ready_slot, w.run_slot, w.error, NULL,
    NULL, NULL, w.run_mark, w.run_began)::work AS row
FROM work w;

-- The present instant, or the given one in tests; never before what a row already has.
CREATE OR REPLACE FUNCTION present(w work, at bigint) RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN greatest(
    coalesce(at, (date_part('epoch', clock_timestamp()) * 1000000)::bigint),
    w.pending_last, w.latest, w.ready_due, w.run_due);

-- An instant as a time of the server.
CREATE OR REPLACE FUNCTION instant(at bigint) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN at > 9000000000000000000 THEN 'infinity' ELSE timestamptz 'epoch' + at * interval '1 microsecond' END;

-- The timeline of the server: each promotion of a replica begins a new one.
CREATE OR REPLACE FUNCTION timeline() RETURNS bigint LANGUAGE sql VOLATILE
RETURN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint;

-- The number of the next row: greater than the generations of all deleted rows, and after the promotion of a replica
-- also greater than those of submits that the replica has not received.
CREATE OR REPLACE FUNCTION birth() RETURNS bigint LANGUAGE sql VOLATILE
RETURN (nextval('births') + (timeline() << 26)) << 20;

-- The next run id or fence, greater than all earlier ones, in the same sense.
CREATE OR REPLACE FUNCTION next_fence() RETURNS bigint LANGUAGE sql VOLATILE
RETURN nextval('fences') + (timeline() << 40);

-- The instant from which a worker may claim something; NULL if there is nothing to claim.
CREATE OR REPLACE FUNCTION startable(w work) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN w.run_id IS NOT NULL THEN w.run_until ELSE coalesce(w.ready_since, w.ready_due) END;

-- The first instant at which anything can happen to a row.
CREATE OR REPLACE FUNCTION wake(w work, n namespaces) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(least(startable(w), next_change(w, n)), 9223372036854775807);

-- Whether nothing is left of a key: its row is deleted.
CREATE OR REPLACE FUNCTION is_at_rest(w work) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN w.phase = 'idle' AND w.pending_count = 0 AND w.ready_to IS NULL AND w.run_id IS NULL;

-- Whether a namespace has keys with work.
CREATE OR REPLACE FUNCTION has_work(namespace int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM work w
        WHERE w.namespace = has_work.namespace
            AND (w.pending_count > 0 OR w.ready_to IS NOT NULL OR w.run_id IS NOT NULL));
END $$;

-- The namespace with a name.
CREATE OR REPLACE FUNCTION named(name text) RETURNS namespaces LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    n namespaces;
BEGIN
    SELECT * INTO n FROM namespaces s WHERE s.name = named.name;
    -- A transaction that was open may have submitted to one that was forgotten.
    IF NOT FOUND OR n.is_forgotten AND NOT has_work(n.id) THEN
        RAISE EXCEPTION 'there is no namespace %: its first use has to say the policy', quote_literal(named.name)
            USING ERRCODE = 'LUL01';
    END IF;
    RETURN n;
END $$;

-- Makes the commit of this transaction durable, also if the caller has chosen otherwise.
CREATE OR REPLACE FUNCTION ensure_durability() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
END $$;

-- Limits how long this transaction waits for each lock from now on. Where it should not wait at all, the limit is for
-- what cannot be known before.
CREATE OR REPLACE FUNCTION limit_locks(patience int) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF patience IS NOT NULL THEN
        PERFORM set_config('lock_timeout', CASE patience WHEN 0 THEN 1000 ELSE patience END::text, true);
    END IF;
END $$;

-- Wakes the workers of a namespace that listen.
CREATE OR REPLACE FUNCTION wake_up(n namespaces) RETURNS void LANGUAGE sql VOLATILE
RETURN pg_notify(current_schema(), n.name);

-- The number of the lock for the first row of a key: another one in each schema, which share the locks of the database.
CREATE OR REPLACE FUNCTION key_number(namespace int, key bytea) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(encode(key, 'hex'), namespace + ('work'::regclass::oid::bigint << 32));

-- Locks a key for its first row until the end of the transaction, which may be a long one of the caller's: it shows
-- others that they would have to wait for the insertion. A transaction gets at most 64 of these locks: the server's
-- table of locks is sized for as many, and shared.
CREATE OR REPLACE FUNCTION lock_key(n namespaces, key bytea) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    count int := coalesce(nullif(current_setting('lull.locks', true), ''), '0')::int;
BEGIN
    IF count >= 64 THEN RETURN; END IF;
    PERFORM set_config('lull.locks', (count + 1)::text, true);
    PERFORM pg_advisory_xact_lock(key_number(n.id, key));
END $$;

-- Whether no transaction has locked a key for its first row, by the key's number. The lock that shows it is given
-- back at once, so that a batch may have any number of keys. It is a session's lock, which an error would not free;
-- but nothing that could fail comes between the two calls.
CREATE OR REPLACE FUNCTION is_unlocked(number bigint) RETURNS boolean LANGUAGE sql VOLATILE
RETURN CASE WHEN pg_try_advisory_lock_shared(number) THEN pg_advisory_unlock_shared(number) ELSE false END;

-- Whether a key has a row, also one that another transaction has locked.
CREATE OR REPLACE FUNCTION has_row(n namespaces, key bytea) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN EXISTS (SELECT FROM work w WHERE w.namespace = n.id AND w.key = has_row.key);
END $$;

-- Locks the row of a key; NULL if there is none, or if another transaction has locked it and `waits` is false.
CREATE OR REPLACE FUNCTION locked_row(n namespaces, key bytea, waits boolean) RETURNS work
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    r work;
BEGIN
    IF waits THEN
        SELECT w.* INTO r FROM work w WHERE w.namespace = n.id AND w.key = locked_row.key FOR UPDATE;
    ELSE
        SELECT w.* INTO r FROM work w WHERE w.namespace = n.id AND w.key = locked_row.key FOR UPDATE SKIP LOCKED;
    END IF;
    RETURN r;
END $$;

-- Locks the row of a key. If there is none, inserts one if `waits` is true; otherwise NULL, as for a row that another
-- transaction has locked.
CREATE OR REPLACE FUNCTION taken_row(n namespaces, key bytea, waits boolean, wake bigint) RETURNS work
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    r work;
BEGIN
    LOOP
        r := locked_row(n, taken_row.key, waits);
        EXIT WHEN r.key IS NOT NULL OR NOT waits;
        PERFORM lock_key(n, taken_row.key);
        INSERT INTO work (namespace, key, wake) VALUES (n.id, taken_row.key, taken_row.wake)
        ON CONFLICT DO NOTHING RETURNING * INTO r;
        EXIT WHEN FOUND;
    END LOOP;
    IF r.born = 0 THEN
        -- Drawn after the key was won: the generations of a row that has been deleted meanwhile are lower.
        r.born := birth();
        r.generation := r.born;
        r.taken := r.born;
    END IF;
    RETURN r;
END $$;

-- Deletes the values of a range, with `collect`.
CREATE OR REPLACE FUNCTION delete_values(n namespaces, key bytea, first bigint, last bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    DELETE FROM collected c
    WHERE c.namespace = n.id AND c.key = delete_values.key
        AND c.generation BETWEEN delete_values.first AND delete_values.last;
END $$;

-- Records the end of a range, and deletes its values. An absorbed submit extends the latest absorbed range of its key.
CREATE OR REPLACE FUNCTION record_end(
    n namespaces, key bytea, first bigint, last bigint, how ending, run bigint, fence bigint, error text, at bigint
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    IF record_end.how = 'absorbed' THEN
        UPDATE ended SET last = record_end.last, at = record_end.at
        WHERE id = (
            SELECT e.id FROM ended e WHERE e.namespace = n.id AND e.key = record_end.key ORDER BY e.last DESC LIMIT 1)
            AND how = 'absorbed' AND last = record_end.first - 1;
        IF FOUND THEN RETURN; END IF;
    ELSIF n.combination = 'collect' THEN
        PERFORM delete_values(n, record_end.key, record_end.first, record_end.last);
    END IF;
    INSERT INTO ended (namespace, key, first, last, how, run, fence, error, at)
    VALUES (n.id, record_end.key, record_end.first, record_end.last, record_end.how, record_end.run, record_end.fence,
        record_end.error, record_end.at);
END $$;

-- Records the end of a row's run.
CREATE OR REPLACE FUNCTION record_end(w work, n namespaces, how ending, at bigint) RETURNS void LANGUAGE sql VOLATILE
RETURN record_end(n, w.key, w.run_from, w.run_to, how, w.run_id, w.fence, w.error, at);

-- Records that the values of a run went back.
CREATE OR REPLACE FUNCTION count_restart(n namespaces) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO changes (namespace, period, pending, ready, running, retrying, due, replaced, restarted)
    VALUES (n.id, 0, 0, 0, 0, 0, 0, 0, 1);
END $$;

-- Records the end of the failed run that a step from one row to another has replaced with a newer value, or that its
-- values went back.
CREATE OR REPLACE FUNCTION record_replaced(before work, after work, n namespaces, at bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF before.run_id IS NOT NULL AND after.run_id IS NULL THEN
        IF after.taken < before.run_to THEN
            PERFORM count_restart(n);
        ELSE
            PERFORM record_end(before, n, 'failed', at);
        END IF;
    END IF;
END $$;

-- `settle`, and the end of the run that it replaces.
CREATE OR REPLACE FUNCTION settle_row(w work, n namespaces, at bigint) RETURNS work LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    settled work;
BEGIN
    IF next_change(w, n) > at THEN RETURN w; END IF;
    settled := settle(w, n, at);
    PERFORM record_replaced(w, settled, n, at);
    RETURN settled;
END $$;

-- Writes a row after a step, or deletes it if it is idle. Workers may move `wake` later, others only earlier.
CREATE OR REPLACE FUNCTION write_row(w work, n namespaces, is_workers boolean) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    exact bigint;
BEGIN
    IF is_at_rest(w) THEN
        DELETE FROM work d WHERE d.namespace = w.namespace AND d.key = w.key;
        -- A row has 2^20 generations. The next row must be born after those of a row that had more.
        WHILE w.generation - w.born >= 1048576 AND birth() <= w.generation LOOP END LOOP;
        RETURN;
    END IF;
    exact := wake(w, n);
    IF NOT is_workers THEN exact := least(exact, w.wake); END IF;
    UPDATE work SET
        wake = exact, born = w.born, generation = w.generation, taken = w.taken, quiet = w.quiet, latest = w.latest,
        span = w.span, spacing = w.spacing, pending_count = w.pending_count, pending_first = w.pending_first,
        pending_last = w.pending_last, pending_by = w.pending_by, ready_from = w.ready_from, ready_to = w.ready_to,
        ready_count = w.ready_count, ready_first = w.ready_first, ready_due = w.ready_due, ready_since = w.ready_since,
        run_id = w.run_id, run_from = w.run_from, run_to = w.run_to, run_count = w.run_count, run_first = w.run_first,
        run_due = w.run_due, run_until = w.run_until, fence = w.fence, owner = w.owner, claimed_by = w.claimed_by,
        attempt = w.attempt, phase = w.phase, ready_edge = w.ready_edge, run_edge = w.run_edge,
        pending_slot = w.pending_slot, ready_slot = w.ready_slot, run_slot = w.run_slot, error = w.error,
        run_mark = w.run_mark, run_began = w.run_began,
        v0 = w.v0, v1 = w.v1, v2 = w.v2
    WHERE namespace = w.namespace AND key = w.key;
END $$;
