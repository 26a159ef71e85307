// What the calls have in common.
extension Schema {
    static let rows = #"""
        -- What the steps have in common: finding, settling and writing rows, and recording ends.

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

        -- Locks a key for its first row until the end of the transaction, which may be a long one of the caller's: it shows others that they
        -- would have to wait for the insertion. A transaction gets at most 64 of these locks: the server's table of locks is sized for as
        -- many, and shared.
        CREATE OR REPLACE FUNCTION lock_key(n namespaces, key bytea) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            count int := coalesce(nullif(current_setting('lull.locks', true), ''), '0')::int;
        BEGIN
            IF count >= 64 THEN RETURN; END IF;
            PERFORM set_config('lull.locks', (count + 1)::text, true);
            PERFORM pg_advisory_xact_lock(key_number(n.id, key));
        END $$;

        -- Whether no transaction has locked a key for its first row, by the key's number. The lock that shows it is given back at once, so
        -- that a batch may have any number of keys. It is a session's lock, which an error would not free; but nothing that could fail comes
        -- between the two calls.
        CREATE OR REPLACE FUNCTION is_unlocked(number bigint) RETURNS boolean LANGUAGE sql VOLATILE
        RETURN CASE WHEN pg_try_advisory_lock_shared(number) THEN pg_advisory_unlock_shared(number) ELSE false END;

        -- Locks the row of a key; NULL if there is none, or if another transaction has locked it and `waits` is false.
        CREATE OR REPLACE FUNCTION locked_row(n namespaces, key bytea, waits boolean) RETURNS work LANGUAGE plpgsql VOLATILE AS $$
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

        -- Locks the row of a key. If there is none, inserts one if `waits` is true; otherwise NULL, as for a row that another transaction
        -- has locked.
        CREATE OR REPLACE FUNCTION taken_row(n namespaces, key bytea, waits boolean, wake bigint) RETURNS work LANGUAGE plpgsql VOLATILE AS $$
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
                DELETE FROM collected c
                WHERE c.namespace = n.id AND c.key = record_end.key
                    AND c.generation BETWEEN record_end.first AND record_end.last;
            END IF;
            INSERT INTO ended (namespace, key, first, last, how, run, fence, error, at)
            VALUES (n.id, record_end.key, record_end.first, record_end.last, record_end.how, record_end.run, record_end.fence,
                record_end.error, record_end.at);
        END $$;

        -- Records the end of a row's run.
        CREATE OR REPLACE FUNCTION record_end(w work, n namespaces, how ending, at bigint) RETURNS void LANGUAGE sql VOLATILE
        RETURN record_end(n, w.key, w.run_from, w.run_to, how, w.run_id, w.fence, w.error, at);

        -- Moves a row's run to the dead ones.
        CREATE OR REPLACE FUNCTION record_death(w work, at bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            INSERT INTO dead (
                run, namespace, key, first_submit, last_submit, count, first, due, edge, fence, owner, attempts, at, error, value)
            VALUES (
                w.run_id, w.namespace, w.key, w.run_from, w.run_to, w.run_count, w.run_first, w.run_due, w.run_edge, w.fence, w.owner,
                w.attempt, at, w.error, CASE w.run_slot WHEN 0 THEN w.v0 WHEN 1 THEN w.v1 WHEN 2 THEN w.v2 END);
        END $$;

        -- The row after what was due at `at`. Records the end of the failed run that a newer value replaces.
        CREATE OR REPLACE FUNCTION settle(w work, n namespaces, at bigint) RETURNS work LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            r work;
        BEGIN
            IF next_change(w, n) > at THEN RETURN w; END IF;
            r := settled(w, n, at);
            IF w.run_id IS NOT NULL AND r.run_id IS NULL THEN PERFORM record_end(w, n, 'failed', at); END IF;
            RETURN r;
        END $$;

        -- Writes a row after a step, or deletes it at rest. Workers may move `wake` later, others only earlier.
        CREATE OR REPLACE FUNCTION write_row(w work, n namespaces, is_workers boolean) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
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
            exact := wakes(w, n);
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
                v0 = w.v0, v1 = w.v1, v2 = w.v2
            WHERE namespace = w.namespace AND key = w.key;
        END $$;
        """#
}
