// Submits, many at once.
extension Schema {
    static let batches = #"""
        -- Submits.

        -- Records submits, each as a step of its own, and answers each: 0 recorded, 1 busy, 2 the token belongs to another key.
        -- Sort them by key, so that callers do not wait for each other in a circle.
        --
        -- patience: for how many milliseconds to wait for keys that other transactions have locked; with 0 they are answered as
        -- busy, and the transaction has to end with the call, since others wait for its new keys; with NULL it is up to the settings of the
        -- caller.
        -- client, connection, batch: a batch that is repeated with the same numbers gets its first answers; NULL for one that is
        -- not.
        -- notifies: whether to wake workers for what is due within a second.
        -- at: the instant of the submits; NULL for the server's time.
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
            saved work;
            arrival bigint;
            now bigint;
            due bigint;
            slot smallint;
            was_open boolean;
            leads boolean;
            absorbs boolean;
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

            -- First, all those in one statement that only join what is pending. Those of a key that are alike are one change. The query
            -- for each key is lateral: a plan that was made for an empty queue would otherwise pass all rows of the namespace for each.
            is_plain := NOT waits_for_locks AND n.kind = 'debounce' AND n.combination <> 'collect';
            IF is_plain THEN
                FOR joined IN
                    WITH input AS (\#(alike)), locked AS MATERIALIZED (
                        SELECT w.place, payloads[i.index + i.count - 1] AS payload, i.wait, i.submitter, i.index, i.count
                        FROM input i, LATERAL (
                            SELECT w.ctid AS place FROM work w WHERE w.namespace = n.id AND w.key = i.key FOR UPDATE SKIP LOCKED) w
                    )
                    \#(join(at: "submit_many.at"))
                    FROM locked i
                    WHERE w.ctid = i.place AND \#(joins(at: "submit_many.at"))
                    RETURNING i.index, i.count, w.generation, next_change(w, n) AS due, w.pending_last AS now, w.wake
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

            -- Then the rows of new keys, in the order of the keys: batches that insert the same ones wait for each other's commit, which
            -- is near, and never in a circle. Keys that a caller's transaction is inserting are left out: its commit may be far.
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
                -- Most get a value that is not due yet, all these in one statement. Their numbers are drawn now that the keys are won.
                IF FOUND AND is_plain AND n.on_trailing AND NOT n.on_leading THEN
                    now := coalesce(at, present());
                    IF now < arrival + 10000 THEN now := arrival; END IF;
                    FOR joined IN
                        WITH input AS (\#(alike)), fresh AS MATERIALIZED (
                            SELECT
                                w.place, i.index, i.count, i.submitter, birth() AS born,
                                payloads[CASE n.combination WHEN 'first' THEN i.index ELSE i.index + i.count - 1 END] AS payload,
                                plus(now, greatest(coalesce(i.wait, n.wait), 0)) AS quiet
                            FROM input i, LATERAL (
                                SELECT w.ctid AS place FROM work w WHERE w.namespace = n.id AND w.key = i.key AND w.born = 0 OFFSET 0) w
                            WHERE i.count < coalesce(n.max_count, 9223372036854775807)
                                AND (i.count = 1 OR coalesce(i.wait, n.wait) > 0 AND n.span > 0)
                        )
                        UPDATE work w SET
                            born = f.born, generation = f.born + f.count, taken = f.born, phase = 'open', quiet = f.quiet, span = n.span,
                            spacing = n.spacing, pending_count = f.count, pending_first = now, pending_last = now,
                            pending_by = f.submitter, pending_slot = 0, v0 = f.payload
                        FROM fresh f WHERE w.ctid = f.place
                        RETURNING f.index, f.count, f.born, next_change(w, n) AS due
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
                -- The first submit of a key: its row. If it is locked now, all submits of the key are busy, or a later one could
                -- come before an earlier one.
                IF keys[i] IS DISTINCT FROM keys[i - 1] THEN
                    arrival := coalesce(at, present());
                    r := taken_row(n, keys[i], waits_for_locks, plus(arrival, greatest(coalesce(waits[i], n.wait), 0)));
                    is_busy := r.key IS NULL;
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
                    r := settle(r, n, now);
                    saved := NULL;
                    IF tokens[i] IS NOT NULL OR r.run_id IS NOT NULL THEN saved := r; END IF;
                    r.generation := r.generation + 1;
                    r.span := n.span;
                    r.spacing := n.spacing;
                    was_open := r.phase >= 'open';
                    leads := false;
                    IF n.kind = 'debounce' THEN
                        r.quiet := greatest(
                            plus(now, greatest(coalesce(waits[i], n.wait), 0)), CASE WHEN was_open AND n.extends THEN r.quiet END);
                        leads := n.on_leading AND NOT was_open AND now >= coalesce(plus(r.latest, n.spacing), now)
                            OR NOT n.on_trailing AND was_open AND n.max_wait IS NOT NULL
                                AND now >= coalesce(plus(r.latest, n.span), now);
                    ELSIF NOT was_open THEN
                        r.quiet := plus(now, n.wait);
                        leads := n.on_leading;
                    END IF;
                    IF NOT was_open THEN r.phase := 'open'; END IF;
                    absorbs := NOT leads AND NOT n.on_trailing;

                    -- The value gets a free slot, or that of the pending value which it replaces.
                    slot := NULL;
                    IF NOT absorbs AND n.combination <> 'collect' AND (r.pending_slot IS NULL OR n.combination = 'latest') THEN
                        slot := coalesce(r.pending_slot, CASE
                            WHEN r.ready_slot IS DISTINCT FROM 0 AND r.run_slot IS DISTINCT FROM 0 THEN 0
                            WHEN r.ready_slot IS DISTINCT FROM 1 AND r.run_slot IS DISTINCT FROM 1 THEN 1 ELSE 2 END);
                        CASE slot
                            WHEN 0 THEN r.v0 := payloads[i];
                            WHEN 1 THEN r.v1 := payloads[i];
                            ELSE r.v2 := payloads[i];
                        END CASE;
                    END IF;

                    due := NULL;
                    IF absorbs THEN
                        IF r.ready_to IS NULL THEN r.taken := r.generation; ELSE r.ready_to := r.generation; END IF;
                    ELSIF leads THEN
                        r.latest := now;
                        due := now;
                        r := made_ready(r, n, r.generation, r.generation, 1, now, now, 'leading', slot);
                    ELSE
                        IF slot IS NOT NULL THEN r.pending_slot := slot; END IF;
                        IF r.pending_count = 0 THEN
                            r.pending_first := now;
                            r.pending_by := submitters[i];
                        ELSIF r.pending_by IS DISTINCT FROM submitters[i] THEN
                            r.pending_by := 0;
                        END IF;
                        r.pending_last := now;
                        r.pending_count := r.pending_count + 1;
                        IF r.phase = 'full' OR r.pending_count >= n.max_count THEN
                            IF now >= coalesce(plus(r.latest, n.spacing), now) THEN
                                r := fallen_due(r, n, now, 'maxCount');
                                IF n.kind = 'debounce' AND NOT n.on_leading THEN r := rested(r, now); END IF;
                                due := now;
                            ELSE
                                r.phase := 'full';
                            END IF;
                        END IF;
                        IF due IS NULL THEN due := next_change(r, n); END IF;
                    END IF;

                    answers[i] := 0;
                    IF tokens[i] IS NOT NULL THEN
                        INSERT INTO tokens (namespace, token, key, generation, due, at)
                        VALUES (n.id, tokens[i], keys[i], r.generation, due, now) ON CONFLICT DO NOTHING;
                        IF NOT FOUND THEN
                            answers[i] := 2;
                            r := saved;
                        END IF;
                    END IF;
                    IF answers[i] = 0 THEN
                        generations[i] := r.generation;
                        dues[i] := due;
                        dues_in[i] := CASE WHEN due IS NOT NULL THEN greatest(due - now, 0) END;
                        IF r.run_id IS NULL AND saved.run_id IS NOT NULL THEN
                            PERFORM record_end(saved, n, 'failed', now);
                        END IF;
                        IF absorbs THEN
                            IF r.ready_to IS NULL THEN
                                PERFORM record_end(n, r.key, r.generation, r.generation, 'absorbed', NULL, NULL, NULL, now);
                            END IF;
                        ELSIF n.combination = 'collect' THEN
                            INSERT INTO collected (namespace, key, generation, value)
                            VALUES (n.id, r.key, r.generation, payloads[i]);
                        END IF;
                    END IF;
                END IF;

                -- The last submit of a key: write its row.
                IF i = size OR keys[i + 1] <> r.key THEN
                    wakes_up := wakes_up OR wakes(r, n) < least(r.wake, plus(now, 1000000));
                    PERFORM write_row(r, n, false);
                    r := NULL;
                END IF;
            END LOOP;

            IF client IS NOT NULL THEN
                UPDATE batches b SET
                    batch = submit_many.batch, at = present(), answers = submit_many.answers, generations = submit_many.generations,
                    dues = submit_many.dues, waits = submit_many.dues_in
                WHERE b.client = submit_many.client AND b.connection = submit_many.connection;
            END IF;
            IF wakes_up AND notifies THEN PERFORM wake_up(n); END IF;
        END $$;
        """#

    /// The submits of a batch by keys: those of a key that come one after the other, are alike but for their values, and have no token.
    /// The first of them is `index`.
    private static let alike = #"""
        SELECT
                            u.key, min(u.wait) AS wait, min(u.submitter) AS submitter, min(u.index)::int AS index, count(*)::int AS count
                        FROM unnest(keys, waits, tokens, submitters) WITH ORDINALITY AS u (key, wait, token, submitter, index)
                        GROUP BY u.key
                        HAVING count(*) = 1 AND min(u.token) IS NULL
                            OR max(u.index) - min(u.index) = count(*) - 1 AND count(u.token) = 0
                            AND min(u.wait) IS NOT DISTINCT FROM max(u.wait) AND count(u.wait) IN (0, count(*))
                            AND min(u.submitter) IS NOT DISTINCT FROM max(u.submitter) AND count(u.submitter) IN (0, count(*))
        """#
}
