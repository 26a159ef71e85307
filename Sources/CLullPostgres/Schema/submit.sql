-- The calls of producers that submit.

-- Whether `count` submits that are alike but for their values only join what is pending. Nothing falls due, and nothing
-- becomes full; also not between them.
CREATE OR REPLACE FUNCTION joins(w work, n namespaces, wait bigint, count int, at bigint) RETURNS boolean
LANGUAGE sql VOLATILE
RETURN w.phase = 'open' AND w.pending_count > 0
    AND w.pending_count + count < coalesce(n.max_count, 9223372036854775807)
    AND next_change(w, n) > coalesce(at, present())
    AND (
        count = 1 OR coalesce(wait, n.wait) > 0
            AND plus(w.pending_first, n.span) > greatest(coalesce(at, present()), w.pending_last));

-- What changes of the row by such submits; `value` is the last one. Most submits do no more, and one statement for
-- them takes a fraction of the time of `submit` (row `postgres-submit`).
--
-- What is pending was not due when `joins` was true: the submits came before.
CREATE OR REPLACE FUNCTION joined(
    w work, n namespaces, value bytea, wait bigint, submitter bigint, count int, at bigint
) RETURNS TABLE (
    generation bigint, span bigint, spacing bigint, pending_count bigint, pending_by bigint, quiet bigint, wake bigint,
    pending_last bigint, v0 bytea, v1 bytea, v2 bytea
) LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT
        w.generation + count, n.span, n.spacing, w.pending_count + count,
        CASE WHEN w.pending_by IS DISTINCT FROM submitter THEN 0 ELSE w.pending_by END, q.quiet,
        least(w.wake, greatest(plus(w.latest, n.spacing), least(q.quiet, plus(w.pending_first, n.span)))), t.now,
        CASE WHEN w.pending_slot = 0 AND n.combination = 'latest' THEN value ELSE w.v0 END,
        CASE WHEN w.pending_slot = 1 AND n.combination = 'latest' THEN value ELSE w.v1 END,
        CASE WHEN w.pending_slot = 2 AND n.combination = 'latest' THEN value ELSE w.v2 END
    FROM
        (SELECT least(greatest(coalesce(at, present()), w.pending_last), next_change(w, n) - 1) AS now) t,
        LATERAL (
            SELECT greatest(
                plus(t.now, greatest(coalesce(wait, n.wait), 0)), CASE WHEN n.extends THEN w.quiet END) AS quiet) q;
END;

-- The submits of a batch by keys: those of a key that come one after the other, are alike but for their values, and
-- have no token. The first of them is `index`.
CREATE OR REPLACE FUNCTION alike(keys bytea[], waits bigint[], tokens text[], submitters bigint[])
RETURNS TABLE (key bytea, wait bigint, submitter bigint, index int, count int) LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT u.key, min(u.wait), min(u.submitter), min(u.index)::int, count(*)::int
    FROM unnest(keys, waits, tokens, submitters) WITH ORDINALITY AS u (key, wait, token, submitter, index)
    GROUP BY u.key
    HAVING count(*) = 1 AND min(u.token) IS NULL
        OR max(u.index) - min(u.index) = count(*) - 1 AND count(u.token) = 0
            AND min(u.wait) IS NOT DISTINCT FROM max(u.wait) AND count(u.wait) IN (0, count(*))
            AND min(u.submitter) IS NOT DISTINCT FROM max(u.submitter) AND count(u.submitter) IN (0, count(*));
END;

-- Records submits, each as a step of its own, and answers each: 0 recorded, 1 busy, 2 the token belongs to another key.
-- Sort them by key, so that callers do not wait for each other in a circle.
--
-- patience: for how many milliseconds to wait for keys that other transactions have locked; with 0 they are answered
-- as busy, and the transaction has to end with the call, since others wait for its new keys; with NULL it is up to
-- the settings of the caller. client, connection, batch: a batch that is repeated with the same numbers gets its
-- first answers; NULL for one that is not. notifies: whether to wake workers for what is due within a second. at: the
-- instant of the submits; NULL for the server's time.
CREATE OR REPLACE FUNCTION submit_many(
    namespace text, keys bytea[], payloads bytea[], waits bigint[], tokens text[], submitters bigint[],
    patience int, client bigint, connection int, batch bigint, notifies boolean, at bigint,
    OUT answers smallint[], OUT generations bigint[], OUT dues bigint[], OUT dues_in bigint[]
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    size int := cardinality(keys);
    waits_for_locks boolean := patience IS DISTINCT FROM 0;
    earlier batches;
    answered tokens;
    joined record;
    r work;
    before work;
    step record;
    arrival bigint;
    mark bigint;
    now bigint;
    is_plain boolean;
    is_busy boolean := false;
    wakes_up boolean := false;
BEGIN
    PERFORM ensure_durability();
    PERFORM limit_locks(patience);
    IF client IS NOT NULL THEN
        LOOP
            SELECT b.* INTO earlier FROM batches b
            WHERE b.client = submit_many.client AND b.connection = submit_many.connection FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO batches (client, connection, batch, at)
            VALUES (submit_many.client, submit_many.connection, 0, present()) ON CONFLICT DO NOTHING;
        END LOOP;
        IF earlier.batch = submit_many.batch THEN
            answers := earlier.answers;
            generations := earlier.generations;
            dues := earlier.dues;
            dues_in := earlier.waits;
            RETURN;
        END IF;
    END IF;
    answers := array_fill(NULL::smallint, ARRAY[size]);
    generations := array_fill(NULL::bigint, ARRAY[size]);
    dues := generations;
    dues_in := generations;

    -- First, all those in one statement that only join what is pending. Those of a key that are alike are one change.
    -- The query for each key is lateral: a plan that was made for an empty queue would otherwise pass all rows of the
    -- namespace for each.
    is_plain := n.kind = 'debounce' AND n.combination <> 'collect' AND n.restart IS DISTINCT FROM 'submitted'
        AND (NOT waits_for_locks OR keys[1] = keys[size]);
    IF is_plain THEN
        -- A batch that waits is of one key that others had locked: it waits here.
        IF waits_for_locks THEN PERFORM FROM work w WHERE w.namespace = n.id AND w.key = keys[1] FOR UPDATE; END IF;
        FOR joined IN
            WITH locked AS MATERIALIZED (
                SELECT w.place, payloads[i.index + i.count - 1] AS payload, i.wait, i.submitter, i.index, i.count
                FROM alike(keys, waits, tokens, submitters) i, LATERAL (
                    SELECT w.ctid AS place FROM work w
                    WHERE w.namespace = n.id AND w.key = i.key FOR UPDATE SKIP LOCKED) w
            )
            UPDATE work w SET (
                generation, span, spacing, pending_count, pending_by, quiet, wake, pending_last, v0, v1, v2) = (
                SELECT * FROM joined(w, n, i.payload, i.wait, i.submitter, i.count, submit_many.at))
            FROM locked i
            WHERE w.ctid = i.place AND joins(w, n, i.wait, i.count, submit_many.at)
            RETURNING i.index, i.count, w.generation, due(w, n) AS due, w.pending_last AS now, w.wake
        LOOP
            FOR i IN joined.index..joined.index + joined.count - 1 LOOP
                answers[i] := 0;
                generations[i] := joined.generation - joined.count + 1 + i - joined.index;
                dues[i] := joined.due;
                dues_in[i] := greatest(joined.due - joined.now, 0);
            END LOOP;
            wakes_up := wakes_up OR joined.wake = joined.due AND joined.due < plus(joined.now, 1000000);
        END LOOP;
    END IF;

    -- Then the rows of new keys, in the order of the keys: batches that insert the same ones wait for each other's
    -- commit, which is near, and never in a circle. Keys that a caller's transaction is inserting are left out: its
    -- commit may be far.
    IF NOT waits_for_locks AND array_position(answers, NULL) IS NOT NULL THEN
        arrival := coalesce(at, present());
        WITH missing AS MATERIALIZED (
            SELECT u.key, (array_agg(u.wait ORDER BY u.index))[1] AS wait
            FROM unnest(keys, waits, answers) WITH ORDINALITY AS u (key, wait, answer, index)
            WHERE u.answer IS NULL
                AND (SELECT true FROM work w WHERE w.namespace = n.id AND w.key = u.key LIMIT 1) IS NULL
            GROUP BY u.key
        )
        INSERT INTO work (namespace, key, wake)
        SELECT n.id, m.key, plus(arrival, least(greatest(coalesce(m.wait, n.wait), 0), n.span))
        FROM missing m WHERE is_unlocked(key_number(n.id, m.key)) ORDER BY m.key
        ON CONFLICT DO NOTHING;
        -- Most get a value that is not due yet, all these in one statement. Their numbers are drawn now that the keys
        -- are won.
        IF FOUND AND is_plain AND n.on_trailing AND NOT n.on_leading THEN
            now := coalesce(at, present());
            IF now < arrival + 10000 THEN now := arrival; END IF;
            FOR joined IN
                WITH fresh AS MATERIALIZED (
                    SELECT
                        w.place, i.index, i.count, i.submitter, birth() AS born,
                        payloads[CASE n.combination WHEN 'first' THEN i.index ELSE i.index + i.count - 1 END]
                            AS payload,
                        plus(now, greatest(coalesce(i.wait, n.wait), 0)) AS quiet
                    FROM alike(keys, waits, tokens, submitters) i, LATERAL (
                        SELECT w.ctid AS place FROM work w
                        WHERE w.namespace = n.id AND w.key = i.key AND w.born = 0 OFFSET 0) w
                    WHERE i.count < coalesce(n.max_count, 9223372036854775807)
                        AND (i.count = 1 OR coalesce(i.wait, n.wait) > 0 AND n.span > 0)
                )
                UPDATE work w SET
                    born = f.born, generation = f.born + f.count, taken = f.born, phase = 'open', quiet = f.quiet,
                    span = n.span, spacing = n.spacing, pending_count = f.count, pending_first = now,
                    pending_last = now, pending_by = f.submitter, pending_slot = 0, v0 = f.payload
                FROM fresh f WHERE w.ctid = f.place
                RETURNING f.index, f.count, f.born, due(w, n) AS due
            LOOP
                FOR i IN joined.index..joined.index + joined.count - 1 LOOP
                    answers[i] := 0;
                    generations[i] := joined.born + 1 + i - joined.index;
                    dues[i] := joined.due;
                    dues_in[i] := joined.due - now;
                END LOOP;
                wakes_up := wakes_up OR joined.due < plus(now, 1000000);
            END LOOP;
        END IF;
    END IF;

    -- The others one by one.
    FOR i IN 1..size LOOP
        CONTINUE WHEN answers[i] IS NOT NULL;
        -- The first submit of a key: its row. If it is locked now, all submits of the key are busy, or a later one
        -- could come before an earlier one.
        IF keys[i] IS DISTINCT FROM keys[i - 1] THEN
            arrival := coalesce(at, present());
            r := taken_row(n, keys[i], waits_for_locks, plus(arrival, greatest(coalesce(waits[i], n.wait), 0)));
            is_busy := r.key IS NULL;
            mark := r.run_mark;
            -- A new row wakes when its first value is due, unless time has passed in waiting for a lock.
            now := present(r, at);
            IF r.generation = r.born AND now < arrival + 1000 THEN now := arrival; END IF;
            wakes_up := wakes_up OR r.generation = r.born AND r.wake < plus(now, 1000000);
        END IF;
        IF is_busy THEN
            answers[i] := 1;
            CONTINUE;
        END IF;

        answered := NULL;
        IF tokens[i] IS NOT NULL THEN
            SELECT t.* INTO answered FROM tokens t WHERE t.namespace = n.id AND t.token = tokens[i];
        END IF;
        IF answered.id IS NOT NULL THEN
            answers[i] := CASE WHEN answered.key = keys[i] THEN 0 ELSE 2 END;
            generations[i] := answered.generation;
            dues[i] := answered.due;
            dues_in[i] := CASE WHEN answered.due IS NOT NULL THEN greatest(answered.due - now, 0) END;
        ELSE
            before := r;
            step := submit(r, n, payloads[i], waits[i], submitters[i], now);
            r := step.w;
            answers[i] := 0;
            IF tokens[i] IS NOT NULL THEN
                INSERT INTO tokens (namespace, token, key, generation, due, at)
                VALUES (n.id, tokens[i], keys[i], r.generation, step.due, now) ON CONFLICT DO NOTHING;
                IF NOT FOUND THEN
                    answers[i] := 2;
                    r := before;
                END IF;
            END IF;
            IF answers[i] = 0 THEN
                generations[i] := r.generation;
                dues[i] := step.due;
                dues_in[i] := CASE WHEN step.due IS NOT NULL THEN greatest(step.due - now, 0) END;
                PERFORM record_replaced(before, r, n, now);
                IF step.due IS NULL AND r.ready_to IS NULL THEN
                    PERFORM record_end(n, r.key, r.generation, r.generation, 'absorbed', NULL, NULL, NULL, now);
                ELSIF step.due IS NOT NULL AND n.combination = 'collect' THEN
                    INSERT INTO collected (namespace, key, generation, value)
                    VALUES (n.id, r.key, r.generation, payloads[i]);
                END IF;
            END IF;
        END IF;

        -- The last submit of a key: write its row.
        IF i = size OR keys[i + 1] <> r.key THEN
            wakes_up := wakes_up OR wake(r, n) < least(r.wake, plus(now, 1000000)) OR mark IS NULL AND r.run_mark > 0;
            PERFORM write_row(r, n, false);
            r := NULL;
        END IF;
    END LOOP;

    IF client IS NOT NULL THEN
        UPDATE batches b SET
            batch = submit_many.batch, at = present(), answers = submit_many.answers,
            generations = submit_many.generations, dues = submit_many.dues, waits = submit_many.dues_in
        WHERE b.client = submit_many.client AND b.connection = submit_many.connection;
    END IF;
    IF wakes_up AND notifies THEN PERFORM wake_up(n); END IF;
END $$;

-- commits.
--
-- wait: the delay of this submit alone, in place of the namespace's.
-- token: a submit that is repeated with the same token counts once.
-- notify: whether to wake workers for what is due within a second; false in a transaction that is to be prepared.
-- context: text that travels with the value and reaches the handler, such as a traceparent.
CREATE OR REPLACE FUNCTION submit(
    namespace text, key bytea, value bytea, wait interval DEFAULT NULL, token text DEFAULT NULL,
    notify boolean DEFAULT true, context text DEFAULT NULL,
    OUT generation bigint, OUT due timestamptz
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    delay bigint := extract(epoch FROM wait) * 1000000;
    -- As in StoredValue.swift: a value that is text, without a context, is stored as it is.
    payload bytea := CASE
        WHEN context IS NULL AND substr(value, 1, 1) <> '\xff' THEN value
        ELSE '\xff'::bytea || convert_to(coalesce(context, ''), 'UTF8') || '\xff'::bytea || value
    END;
    n namespaces;
    due_at bigint;
    wakes_up boolean;
    answers record;
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN PERFORM ensure_durability(); END IF;
    IF key IS NULL OR value IS NULL THEN
        RAISE EXCEPTION 'a submit needs a key and a value' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF octet_length(key) > 1024 THEN
        RAISE EXCEPTION 'a key has at most 1024 bytes' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    IF octet_length(convert_to(context, 'UTF8')) > 1024 THEN
        RAISE EXCEPTION 'a context has at most 1024 bytes' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    -- Most submits only join what is pending.
    IF token IS NULL THEN
        UPDATE work w SET (
            generation, span, spacing, pending_count, pending_by, quiet, wake, pending_last, v0, v1, v2) = (
            SELECT * FROM joined(w, n, payload, delay, NULL::bigint, 1, NULL::bigint))
        FROM namespaces n
        WHERE n.name = submit.namespace AND n.kind = 'debounce' AND n.combination <> 'collect'
            AND n.restart IS DISTINCT FROM 'submitted'
            AND w.namespace = n.id AND w.key = submit.key AND joins(w, n, delay, 1, NULL::bigint)
        RETURNING w.generation, due(w, n), w.wake = due(w, n) AND w.wake < plus(w.pending_last, 1000000), n.name
        INTO generation, due_at, wakes_up, n.name;
        IF wakes_up AND notify THEN PERFORM wake_up(n); END IF;
    END IF;
    IF due_at IS NULL THEN
        answers := submit_many(
            namespace, ARRAY[key], ARRAY[payload], ARRAY[delay], ARRAY[token], ARRAY[NULL::bigint], NULL, NULL, NULL,
            NULL, notify, NULL);
        IF answers.answers[1] = 2 THEN
            RAISE EXCEPTION 'the token % was used for a submit of another key', quote_literal(token)
                USING ERRCODE = 'LUL02';
        END IF;
        generation := answers.generations[1];
        due_at := answers.dues[1];
    END IF;
    due := instant(due_at);
END $$;

-- The same for keys and values that are text.
CREATE OR REPLACE FUNCTION submit(
    namespace text, key text, value text, wait interval DEFAULT NULL, token text DEFAULT NULL,
    notify boolean DEFAULT true, context text DEFAULT NULL,
    OUT generation bigint, OUT due timestamptz
) LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT s.generation, s.due
    FROM submit(namespace, convert_to(key, 'UTF8'), convert_to(value, 'UTF8'), wait, token, notify, context) s;
END;

-- The same for values that are JSON.
CREATE OR REPLACE FUNCTION submit(
    namespace text, key text, value jsonb, wait interval DEFAULT NULL, token text DEFAULT NULL,
    notify boolean DEFAULT true, context text DEFAULT NULL,
    OUT generation bigint, OUT due timestamptz
) LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT s.generation, s.due
    FROM submit(
        namespace, convert_to(key, 'UTF8'), convert_to(value::text, 'UTF8'), wait, token, notify, context) s;
END;
