-- Loading rows, and writing what steps have made of them. Plain functions, so that a pooler may be between.

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

-- Whether a namespace has keys with work, calls that wait, or dead runs.
CREATE OR REPLACE FUNCTION has_work(id int) RETURNS boolean LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM work w WHERE w.namespace = id AND w.has_work)
        OR EXISTS (SELECT FROM inbox i WHERE i.namespace = id)
        OR EXISTS (SELECT FROM dead d WHERE d.namespace + 0 = id);
END;

-- Makes the commit of this transaction durable, also if the caller has chosen otherwise.
CREATE OR REPLACE FUNCTION ensure_durability() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
END $$;

-- Refuses to hand out runs of a copy: the original may be at work.
CREATE OR REPLACE FUNCTION check_place() RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF (SELECT m.place FROM meta m) IS DISTINCT FROM place() THEN
        RAISE EXCEPTION 'this is a copy of another database: see `lull adopt`' USING ERRCODE = 'LUL03';
    END IF;
END $$;

-- Returns rows of a namespace, and what steps on them need. It changes nothing but sequences.
--
-- at: an instant in place of the server's. patience: for how many milliseconds to wait for a lock; NULL if nothing is
-- to be locked. takes: whether to wait for the rows of `keys`, which are in order; otherwise those that others have
-- locked are `busy_keys`. For each of `ends_of` the ends with the highest numbers are returned, for each of
-- `end_keys` the one of a submit; for each of `value_keys` the submit from which a value comes. due: how many rows
-- that are due, NULL for none, those that wake from `since` on; with them come keys of the inbox, oldest first, for
-- one caller at a time. holder: a worker whose runs are wanted; leases: whether those of all. numbers: how many
-- numbers are needed for runs.
--
-- next: when the next row wakes that was not returned. is_busy: whether others have locked rows that are
-- due, or fold.
CREATE OR REPLACE FUNCTION load(
    namespace text, at bigint, patience int, takes boolean, keys bytea[], tokens text[], dead bigint[], ends_of bytea[],
    end_keys bytea[], end_numbers bigint[], value_keys bytea[], value_numbers bigint[], due int, since bigint,
    holder bigint, leases boolean, numbers int,
    OUT id int, OUT now bigint, OUT revision bigint, OUT started bigint, OUT overflows bigint, OUT floor bigint,
    OUT rules bigint[], OUT paused_at bigint, OUT pause_reason text, OUT paused_until bigint, OUT number bigint,
    OUT row_keys bytea[], OUT row_states bytea[], OUT due_keys bytea[], OUT due_states bytea[], OUT held_keys bytea[],
    OUT held_states bytea[], OUT inbox_keys bytea[], OUT inbox_states bytea[], OUT next bigint, OUT is_busy boolean,
    OUT busy_keys bytea[], OUT entry_keys bytea[], OUT entry_ids bigint[], OUT entry_kinds text[],
    OUT entry_ats bigint[], OUT entry_waits bigint[], OUT entry_values bytea[], OUT entry_tokens text[],
    OUT entry_contexts text[], OUT token_names text[], OUT token_keys bytea[], OUT token_generations bigint[],
    OUT token_dues bigint[], OUT dead_states bytea[], OUT end_places int[], OUT end_firsts bigint[],
    OUT end_lasts bigint[], OUT end_hows text[], OUT end_runs bigint[], OUT end_errors text[], OUT end_ats bigint[],
    OUT origins bytea[]
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces;
    m meta;
    wanted bytea[] := keys;
    folds boolean := false;
    has_entries boolean;
BEGIN
    SELECT * INTO n FROM namespaces s WHERE s.name = namespace;
    IF NOT FOUND OR n.is_forgotten THEN n := named(namespace); END IF;
    SELECT x.* INTO m FROM meta x;
    floor := m.floor;
    IF m.started IS DISTINCT FROM pg_postmaster_start_time() THEN floor := note_start(); END IF;
    now := coalesce(at, present());
    IF n.paused_until <= now THEN n.paused_at := NULL; END IF;
    id := n.id; revision := n.revision; rules := n.rules; paused_at := n.paused_at; pause_reason := n.pause_reason;
    paused_until := n.paused_until;
    started := (date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint;
    overflows := (SELECT s.last_value FROM overflows s);
    IF patience IS NOT NULL THEN
        PERFORM set_config('lock_timeout', patience::text, true);
        -- A process that was stopped, or cannot be reached, must not hold rows for long.
        PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);
        IF due IS NOT NULL THEN PERFORM check_place(); END IF;
        -- Claims of a namespace with a limit on its runs follow each other.
        IF leases THEN PERFORM FROM namespaces s WHERE s.id = n.id FOR NO KEY UPDATE; END IF;
    END IF;
    IF takes THEN
        SELECT array_agg(w.key), array_agg(w.state) INTO row_keys, row_states
        FROM unnest(keys) u (key), LATERAL (
            SELECT w.key, w.state FROM work w WHERE w.namespace = n.id AND w.key = u.key
            OFFSET 0 FOR NO KEY UPDATE) w;
    ELSIF patience IS NOT NULL THEN
        IF holder IS NOT NULL THEN
            wanted := keys || ARRAY(SELECT w.key FROM work w WHERE w.claimed_by = holder AND w.namespace = n.id);
        END IF;
        SELECT array_agg(w.key), array_agg(w.state) INTO row_keys, row_states
        FROM unnest(wanted) u (key), LATERAL (
            SELECT w.key, w.state FROM work w WHERE w.namespace = n.id AND w.key = u.key
            OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED) w;
        IF cardinality(wanted) > coalesce(cardinality(row_keys), 0) THEN
            SELECT array_agg(u.key) INTO busy_keys FROM unnest(wanted) u (key)
            WHERE u.key <> ALL (coalesce(row_keys, '{}'))
                AND EXISTS (SELECT FROM work w WHERE w.namespace = n.id AND w.key = u.key);
        END IF;
    ELSE
        IF holder IS NOT NULL THEN
            SELECT array_agg(w.key), array_agg(w.state) INTO held_keys, held_states
            FROM work w WHERE w.claimed_by = holder AND w.namespace = n.id;
        END IF;
        SELECT array_agg(w.key), array_agg(w.state) INTO row_keys, row_states
        FROM unnest(keys) u (key), LATERAL (
            SELECT w.key, w.state FROM work w WHERE w.namespace = n.id AND w.key = u.key OFFSET 0) w;
    END IF;
    IF due > 0 AND n.paused_at IS NULL THEN
        has_entries := EXISTS (SELECT FROM inbox i WHERE i.namespace = n.id);
        SELECT array_agg(w.key), array_agg(w.state), max(w.wake) INTO due_keys, due_states, next
        FROM (
            SELECT w.key, w.state, w.wake FROM work w
            WHERE w.namespace + 0 = n.id AND w.wake <= (SELECT load.now) AND w.wake >= since
            ORDER BY w.wake LIMIT due FOR NO KEY UPDATE SKIP LOCKED) w;
        folds := pg_try_advisory_xact_lock(
            hashtextextended('lull inbox', n.id + ('meta'::regclass::oid::bigint << 32)));
    END IF;
    IF due = 0 THEN
        SELECT w.wake INTO next FROM work w WHERE w.namespace + 0 = n.id AND w.wake >= since ORDER BY w.wake LIMIT 1;
    ELSIF coalesce(cardinality(due_keys), 0) < due THEN
        SELECT count(*) > coalesce(cardinality(due_keys), 0) INTO is_busy
        FROM (
            SELECT FROM work w
            WHERE n.paused_at IS NULL AND w.namespace + 0 = n.id AND w.wake <= (SELECT load.now) AND w.wake >= since
            ORDER BY w.wake LIMIT coalesce(cardinality(due_keys), 0) + 1) w;
        SELECT w.wake INTO next FROM work w
        WHERE w.namespace + 0 = n.id AND w.wake >= CASE WHEN n.paused_at IS NULL THEN load.now + 1 ELSE since END
        ORDER BY w.wake LIMIT 1;
    END IF;
    IF leases THEN
        SELECT array_agg(w.key), array_agg(w.state) INTO held_keys, held_states
        FROM work w WHERE w.claimed_by IS NOT NULL AND w.namespace = n.id;
    END IF;
    -- After the rows: a row that is as it was read proves that its entries have not been folded.
    IF EXISTS (SELECT FROM inbox i WHERE i.namespace = n.id) THEN
        IF folds THEN
            SELECT array_agg(i.key), array_agg(w.state) INTO inbox_keys, inbox_states
            FROM (
                SELECT DISTINCT i.key FROM (
                    SELECT i.key FROM inbox i WHERE i.namespace + 0 = n.id ORDER BY i.at LIMIT 500) i
                ) i
                LEFT JOIN LATERAL (
                    SELECT w.state FROM work w WHERE w.namespace = n.id AND w.key = i.key
                    OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED) w ON true
            -- Not those that others have locked.
            WHERE w.state IS NOT NULL
                OR NOT EXISTS (SELECT FROM work x WHERE x.namespace = n.id AND x.key = i.key);
        END IF;
        SELECT
            array_agg(i.key), array_agg(i.id), array_agg(i.kind), array_agg(i.at), array_agg(i.wait),
            array_agg(i.value), array_agg(i.token), array_agg(i.context)
        INTO
            entry_keys, entry_ids, entry_kinds, entry_ats, entry_waits, entry_values, entry_tokens, entry_contexts
        FROM (SELECT DISTINCT k.key FROM unnest(keys || due_keys || held_keys || inbox_keys) k (key)) k,
            LATERAL (
                SELECT i.*, sum(octet_length(i.value)) OVER (ORDER BY i.id) - octet_length(i.value) AS before
                FROM (
                    SELECT * FROM inbox i WHERE i.namespace = n.id AND i.key = k.key ORDER BY i.id LIMIT 1000) i
            ) i
        -- As much as is folded in a step.
        WHERE i.before IS NULL OR i.before < 8388608;
    END IF;
    -- Others fold them, or have done so since the rows were read.
    IF has_entries AND inbox_keys IS NULL THEN is_busy := true; END IF;
    -- Keys without a row may get one.
    IF numbers IS NOT NULL OR cardinality(wanted) > coalesce(cardinality(row_keys), 0) OR inbox_keys IS NOT NULL THEN
        number := take_numbers(coalesce(numbers, 0), now);
    END IF;
    IF tokens IS NOT NULL THEN
        SELECT array_agg(t.token), array_agg(t.key), array_agg(t.generation), array_agg(t.due)
        INTO token_names, token_keys, token_generations, token_dues
        FROM unnest(tokens) u (token), LATERAL (
            SELECT * FROM tokens t WHERE t.namespace = n.id AND t.token = u.token OFFSET 0) t;
    END IF;
    IF dead IS NOT NULL THEN
        SELECT array_agg(d.state) INTO dead_states FROM dead d WHERE d.run = ANY (dead) AND d.namespace = n.id;
    END IF;
    IF ends_of IS NOT NULL OR end_keys IS NOT NULL THEN
        SELECT
            array_agg(e.place), array_agg(e.first), array_agg(e.last), array_agg(e.how), array_agg(e.run),
            array_agg(e.error), array_agg(e.at)
        INTO end_places, end_firsts, end_lasts, end_hows, end_runs, end_errors, end_ats
        FROM (
            SELECT u.place, e.*
            FROM unnest(ends_of) WITH ORDINALITY u (key, place), LATERAL (
                SELECT * FROM ended e WHERE e.namespace = n.id AND e.key = u.key ORDER BY e.last DESC LIMIT 200) e
            UNION ALL
            SELECT -u.place, e.*
            FROM unnest(end_keys, end_numbers) WITH ORDINALITY u (key, number, place), LATERAL (
                SELECT * FROM ended e
                WHERE e.namespace = n.id AND e.key = u.key AND e.last >= u.number ORDER BY e.last LIMIT 1) e
        ) e;
    END IF;
    IF value_keys IS NOT NULL THEN
        SELECT array_agg((
            SELECT substr(v.value, 1, 8) FROM numbered v
            WHERE v.namespace = n.id AND v.key = u.key AND v.number = u.number))
        INTO origins FROM unnest(value_keys, value_numbers) u (key, number);
    END IF;
END $$;

-- Writes what steps have made of rows, each if it is as it was read, and returns the places of the keys, from 1, of
-- which nothing was written. If the settings have changed, or an entry, a token or a dead run was taken by others, it
-- ends the transaction, and all is read again.
--
-- What concerns a key names its place. expected: the state as it was read, NULL for a key without a row. states: NULL
-- for a row that goes. keeps: the slots that keep their values, as bits. moved_…: the slots of values that get a
-- number. deleted: the highest number of a row that goes and has used up its own. wanted_…: the values of runs that
-- are returned, from a slot or by their numbers. notifies: whether workers are to wake.
--
-- A batch with the same client, slot and number is answered as the first time.
CREATE OR REPLACE FUNCTION store(
    namespace int, revision bigint, started bigint, overflows bigint, now bigint, client bigint, slot int, batch bigint,
    keys bytea[], expected bytea[], states bytea[], wakes bigint[], run_ids bigint[], holders bigint[],
    submitters bigint[], readies bigint[], work_flags boolean[], keeps int[], n0 bytea[], n1 bytea[], n2 bytea[],
    moved_places int[], moved_slots int[], moved_numbers bigint[],
    value_places int[], value_numbers bigint[], new_values bytea[],
    dropped_places int[], dropped_firsts bigint[], dropped_ends bigint[], entry_places int[], entry_ids bigint[],
    end_places int[], end_firsts bigint[], end_lasts bigint[], end_hows text[], end_runs bigint[], end_errors text[],
    end_ats bigint[], removed_places int[], removed_lasts bigint[], removed_runs bigint[],
    token_places int[], token_names text[], token_generations bigint[], token_dues bigint[], token_entries bigint[],
    taken_places int[], taken_runs bigint[], dead_places int[], dead_runs bigint[], dead_ats bigint[],
    dead_states bytea[], count_places int[], periods bigint[], names text[], counts bigint[], deleted bigint,
    wanted_keys bytea[], wanted_slots int[], wanted_firsts bigint[], wanted_ends bigint[], notifies boolean,
    OUT conflicts int[], OUT wanted bytea[]
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    written int[];
    others int[];
    changed int;
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN PERFORM ensure_durability(); END IF;
    UPDATE batches b SET batch = store.batch, at = store.now, conflicts = '{}'
    WHERE b.client = store.client AND b.slot = store.slot AND b.batch <> store.batch;
    IF NOT FOUND THEN
        INSERT INTO batches (client, slot, batch, at, conflicts)
        VALUES (store.client, store.slot, store.batch, store.now, '{}') ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            SELECT b.conflicts INTO conflicts FROM batches b WHERE b.client = store.client AND b.slot = store.slot;
        END IF;
    END IF;
    IF conflicts IS NULL THEN
        IF started <> (date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint
            OR NOT EXISTS (SELECT FROM namespaces n WHERE n.id = namespace AND n.revision = store.revision)
        THEN
            RAISE EXCEPTION 'the settings have changed' USING ERRCODE = 'LUL05';
        END IF;
        IF moved_places IS NOT NULL THEN
            INSERT INTO numbered
            SELECT store.namespace, w.key, m.number, CASE m.slot WHEN 0 THEN w.v0 WHEN 1 THEN w.v1 ELSE w.v2 END
            FROM unnest(moved_places, moved_slots, moved_numbers) m (place, slot, number), LATERAL (
                SELECT * FROM work w
                WHERE w.namespace = store.namespace AND w.key = keys[m.place] AND w.state = expected[m.place]
                OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED) w;
        END IF;
        -- Nobody waits for a row: a claim has the namespace, and another one rows, of which one may be a lost lease.
        WITH changed AS (
            UPDATE work w SET
                wake = u.wake, run = u.run, claimed_by = u.holder, submitter = u.submitter, ready = u.ready,
                has_work = u.has_work, state = u.state,
                v0 = CASE WHEN u.keep & 1 = 0 THEN u.n0 ELSE w.v0 END,
                v1 = CASE WHEN u.keep & 2 = 0 THEN u.n1 ELSE w.v1 END,
                v2 = CASE WHEN u.keep & 4 = 0 THEN u.n2 ELSE w.v2 END
            FROM (
                SELECT u.*, x.ctid AS place
                FROM unnest(
                    keys, expected, states, wakes, run_ids, holders, submitters, readies, work_flags, keeps, n0, n1, n2
                ) WITH ORDINALITY u (
                    key, expected, state, wake, run, holder, submitter, ready, has_work, keep, n0, n1, n2, i),
                LATERAL (
                    SELECT w.ctid FROM work w
                    WHERE w.namespace = store.namespace AND w.key = u.key AND w.state = u.expected
                    OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED) x
                WHERE u.state IS NOT NULL
            ) u
            WHERE w.ctid = u.place
            RETURNING u.i
        )
        SELECT array_agg(c.i::int) INTO written FROM changed c;
        IF array_position(states, NULL) IS NOT NULL THEN
            WITH gone AS (
                DELETE FROM work w USING (
                    SELECT u.i, x.ctid AS place
                    FROM unnest(keys, expected, states) WITH ORDINALITY u (key, expected, state, i), LATERAL (
                        SELECT w.ctid FROM work w
                        WHERE w.namespace = store.namespace AND w.key = u.key AND w.state = u.expected
                        OFFSET 0 FOR UPDATE SKIP LOCKED) x
                    WHERE u.expected IS NOT NULL AND u.state IS NULL
                ) u
                WHERE w.ctid = u.place
                RETURNING u.i
            )
            SELECT array_agg(g.i::int) INTO others FROM gone g;
            written := written || others;
            SELECT array_agg(u.i::int) INTO others
            FROM unnest(expected, states) WITH ORDINALITY u (expected, state, i)
            WHERE u.expected IS NULL AND u.state IS NULL;
            written := written || others;
        END IF;
        IF array_position(expected, NULL) IS NOT NULL AND overflows = (SELECT s.last_value FROM overflows s) THEN
            WITH new AS (
                INSERT INTO work (
                    namespace, key, wake, run, claimed_by, submitter, ready, has_work, state, v0, v1, v2)
                SELECT
                    store.namespace, u.key, u.wake, u.run, u.holder, u.submitter, u.ready, u.has_work, u.state, u.n0,
                    u.n1, u.n2
                FROM unnest(
                    keys, expected, states, wakes, run_ids, holders, submitters, readies, work_flags, n0, n1, n2
                ) u (key, expected, state, wake, run, holder, submitter, ready, has_work, n0, n1, n2)
                WHERE u.expected IS NULL AND u.state IS NOT NULL
                ON CONFLICT DO NOTHING
                RETURNING key
            )
            SELECT array_agg(array_position(keys, new.key)) INTO others FROM new;
            written := written || others;
        END IF;
        IF coalesce(cardinality(written), 0) < cardinality(keys) THEN
            SELECT array_agg(i) INTO conflicts FROM generate_series(1, cardinality(keys)) i
            WHERE i <> ALL (coalesce(written, '{}'));
        END IF;
        conflicts := coalesce(conflicts, '{}');
        IF deleted IS NOT NULL THEN
            PERFORM nextval('overflows');
            PERFORM raise_numbers(deleted);
        END IF;
        IF entry_ids IS NOT NULL THEN
            DELETE FROM inbox i USING unnest(entry_places, entry_ids) e (place, id)
            WHERE i.namespace = store.namespace AND i.key = keys[e.place] AND i.id = e.id
                AND e.place <> ALL (conflicts);
            GET DIAGNOSTICS changed = ROW_COUNT;
            PERFORM check_all(changed, entry_places, conflicts);
        END IF;
        IF value_places IS NOT NULL THEN
            INSERT INTO numbered
            SELECT store.namespace, keys[v.place], v.number, v.value
            FROM unnest(value_places, value_numbers, new_values) v (place, number, value)
            WHERE v.place <> ALL (conflicts)
            ON CONFLICT (namespace, key, number) DO UPDATE SET value = excluded.value;
        END IF;
        IF dropped_places IS NOT NULL THEN
            DELETE FROM numbered v USING unnest(dropped_places, dropped_firsts, dropped_ends) d (place, first, stop)
            WHERE v.namespace = store.namespace AND v.key = keys[d.place] AND v.number >= d.first AND v.number < d.stop
                AND d.place <> ALL (conflicts);
        END IF;
        IF removed_places IS NOT NULL THEN
            DELETE FROM ended e USING unnest(removed_places, removed_lasts, removed_runs) r (place, last, run)
            WHERE e.namespace = store.namespace AND e.key = keys[r.place] AND e.last = r.last
                AND e.run IS NOT DISTINCT FROM r.run AND r.place <> ALL (conflicts);
        END IF;
        IF end_places IS NOT NULL THEN
            INSERT INTO ended (namespace, at, first, last, run, how, key, error)
            SELECT store.namespace, e.at, e.first, e.last, e.run, e.how, keys[e.place], e.error
            FROM unnest(end_places, end_firsts, end_lasts, end_hows, end_runs, end_errors, end_ats)
                e (place, first, last, how, run, error, at)
            WHERE e.place <> ALL (conflicts);
        END IF;
        IF token_places IS NOT NULL THEN
            INSERT INTO tokens (namespace, at, generation, due, entry, token, key)
            SELECT store.namespace, store.now, t.generation, t.due, t.entry, t.token, keys[t.place]
            FROM unnest(token_places, token_names, token_generations, token_dues, token_entries)
                t (place, token, generation, due, entry)
            WHERE t.place <> ALL (conflicts) ORDER BY t.token
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS changed = ROW_COUNT;
            PERFORM check_all(changed, token_places, conflicts);
        END IF;
        IF taken_places IS NOT NULL THEN
            DELETE FROM dead d USING unnest(taken_places, taken_runs) t (place, run)
            WHERE d.run = t.run AND t.place <> ALL (conflicts);
            GET DIAGNOSTICS changed = ROW_COUNT;
            PERFORM check_all(changed, taken_places, conflicts);
        END IF;
        IF dead_places IS NOT NULL THEN
            INSERT INTO dead (run, namespace, key, at, state)
            SELECT d.run, store.namespace, keys[d.place], d.at, d.state
            FROM unnest(dead_places, dead_runs, dead_ats, dead_states) d (place, run, at, state)
            WHERE d.place <> ALL (conflicts);
        END IF;
        IF count_places IS NOT NULL THEN
            INSERT INTO changes
            SELECT store.namespace, c.period, c.name, sum(c.count)
            FROM unnest(count_places, periods, names, counts) c (place, period, name, count)
            WHERE c.place <> ALL (conflicts) GROUP BY c.period, c.name HAVING sum(c.count) <> 0;
        END IF;
        IF conflicts <> '{}' THEN
            UPDATE batches b SET conflicts = store.conflicts WHERE b.client = store.client AND b.slot = store.slot;
        END IF;
        IF notifies THEN PERFORM wake_up(namespace); END IF;
    END IF;
    IF wanted_keys IS NOT NULL THEN
        wanted := ARRAY(
            SELECT CASE u.slot
                WHEN 0 THEN (SELECT w.v0 FROM work w WHERE w.namespace = store.namespace AND w.key = u.key)
                WHEN 1 THEN (SELECT w.v1 FROM work w WHERE w.namespace = store.namespace AND w.key = u.key)
                WHEN 2 THEN (SELECT w.v2 FROM work w WHERE w.namespace = store.namespace AND w.key = u.key)
                ELSE (
                    SELECT v.value FROM numbered v
                    WHERE v.namespace = store.namespace AND v.key = u.key AND v.number = s.number) END
            FROM unnest(wanted_keys, wanted_slots, wanted_firsts, wanted_ends) WITH ORDINALITY
                u (key, slot, first, stop, i), LATERAL generate_series(u.first, u.stop - 1) s (number)
            ORDER BY u.i, s.number);
    END IF;
END $$;

-- Ends the transaction if others have taken an entry, a token or a dead run, of a key that had no row to show it.
CREATE OR REPLACE FUNCTION check_all(count int, places int[], conflicts int[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF count <> (SELECT count(*) FROM unnest(places) p (place) WHERE p.place <> ALL (conflicts)) THEN
        RAISE EXCEPTION 'others have changed it' USING ERRCODE = 'LUL05';
    END IF;
END $$;

-- Wakes the workers of a namespace that listen.
CREATE OR REPLACE FUNCTION wake_up(namespace int) RETURNS void LANGUAGE sql VOLATILE
RETURN pg_notify(current_schema(), (SELECT n.name FROM namespaces n WHERE n.id = namespace));
