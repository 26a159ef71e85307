// The transitions of a row, as functions of the row and an instant: those of `Gate` and `DurableRow` in the language of the server.
extension Schema {
    static let gate = #"""
        -- The gate of a key, and the other steps that a row takes by itself. None of these functions reads or writes a table.

        -- The present instant.
        CREATE OR REPLACE FUNCTION present() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
        RETURN (date_part('epoch', clock_timestamp()) * 1000000)::bigint;

        -- The present instant, or the given one in tests; never before what a row already has.
        CREATE OR REPLACE FUNCTION present(w work, at bigint) RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
        RETURN greatest(
            coalesce(at, (date_part('epoch', clock_timestamp()) * 1000000)::bigint), w.pending_last, w.latest, w.ready_due, w.run_due);

        -- An instant as a time of the server.
        CREATE OR REPLACE FUNCTION instant(at bigint) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
        RETURN CASE WHEN at > 9000000000000000000 THEN 'infinity' ELSE timestamptz 'epoch' + at * interval '1 microsecond' END;

        -- An instant and a duration that is not negative.
        CREATE OR REPLACE FUNCTION plus(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN CASE WHEN a > 9223372036854775807 - b THEN 9223372036854775807 ELSE a + b END;

        -- The first instant at which a gate changes by itself: it makes what is pending due, or stops being open or resting.
        CREATE OR REPLACE FUNCTION next_change(w work, n namespaces) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN CASE
            WHEN w.phase = 'idle' THEN NULL
            WHEN w.phase = 'resting' OR w.phase = 'full' THEN plus(w.latest, w.spacing)
            WHEN w.pending_count = 0 OR n.kind = 'throttle' THEN w.quiet
            ELSE greatest(plus(w.latest, w.spacing), least(w.quiet, plus(w.pending_first, w.span)))
        END;

        -- The instant from which a worker may claim something; NULL if there is nothing to claim.
        CREATE OR REPLACE FUNCTION startable(w work) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN CASE WHEN w.run_id IS NOT NULL THEN w.run_until ELSE coalesce(w.ready_since, w.ready_due) END;

        -- The first instant at which anything can happen to a row.
        CREATE OR REPLACE FUNCTION wakes(w work, n namespaces) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN coalesce(least(startable(w), next_change(w, n)), 9223372036854775807);

        -- Whether nothing is left of a key: its row is deleted.
        CREATE OR REPLACE FUNCTION is_at_rest(w work) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN w.phase = 'idle' AND w.pending_count = 0 AND w.ready_to IS NULL AND w.run_id IS NULL;

        -- The row without the value in a slot.
        CREATE OR REPLACE FUNCTION emptied(w work, slot smallint) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        BEGIN
            CASE slot WHEN 0 THEN w.v0 := NULL; WHEN 1 THEN w.v1 := NULL; WHEN 2 THEN w.v2 := NULL; ELSE NULL; END CASE;
            RETURN w;
        END $$;

        -- The row without its run, and without the run's value.
        CREATE OR REPLACE FUNCTION without_run(w work) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        BEGIN
            w := emptied(w, w.run_slot);
            w.run_id := NULL; w.run_from := NULL; w.run_to := NULL; w.run_count := NULL; w.run_first := NULL; w.run_due := NULL;
            w.run_edge := NULL; w.run_until := NULL; w.fence := NULL; w.owner := NULL; w.claimed_by := NULL; w.attempt := NULL;
            w.error := NULL; w.run_slot := NULL;
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

        -- The row without what is pending, and without its value.
        CREATE OR REPLACE FUNCTION without_pending(w work) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        BEGIN
            w := emptied(w, w.pending_slot);
            w.pending_count := 0; w.pending_first := NULL; w.pending_last := NULL; w.pending_by := NULL; w.pending_slot := NULL;
            RETURN w;
        END $$;

        -- The row after its gate stops being open. Nothing must be pending.
        CREATE OR REPLACE FUNCTION rested(w work, at bigint) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        BEGIN
            IF plus(w.latest, w.spacing) > at THEN
                w.phase := 'resting';
            ELSE
                w.phase := 'idle'; w.latest := NULL;
            END IF;
            RETURN w;
        END $$;

        -- The row after a value has become ready, alone or joined with what is ready already. With `latest`, a value that
        -- becomes ready ends a failed run that waits for another attempt: the caller records that end.
        CREATE OR REPLACE FUNCTION made_ready(
            w work, n namespaces, submits_from bigint, submits_to bigint, count bigint, first bigint, due bigint, because edge,
            slot smallint
        ) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        BEGIN
            IF w.ready_to IS NULL THEN
                w.ready_from := submits_from; w.ready_count := count; w.ready_first := first; w.ready_due := due;
                w.ready_since := NULL; w.ready_slot := slot;
            ELSE
                w.ready_count := w.ready_count + count;
                IF n.combination = 'latest' THEN
                    w := emptied(w, w.ready_slot);
                    w.ready_slot := slot;
                ELSIF n.combination = 'first' THEN
                    w := emptied(w, slot);
                END IF;
            END IF;
            w.ready_to := submits_to; w.ready_edge := because;
            IF n.combination = 'latest' AND w.run_id IS NOT NULL AND w.claimed_by IS NULL AND w.error IS NOT NULL THEN
                w := without_run(w);
            END IF;
            RETURN w;
        END $$;

        -- The row after what is pending has become ready at an instant.
        CREATE OR REPLACE FUNCTION fallen_due(w work, n namespaces, due bigint, because edge) RETURNS work
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        DECLARE
            count bigint := w.pending_count; first bigint := w.pending_first; slot smallint := w.pending_slot;
        BEGIN
            w.pending_slot := NULL;
            w := without_pending(w);
            w.latest := due; w.phase := 'open';
            RETURN made_ready(w, n, w.generation - count + 1, w.generation, count, first, due, because, slot);
        END $$;

        -- The row after what was due at `at` or before: at most one value becomes ready, at its due instant.
        CREATE OR REPLACE FUNCTION settled(w work, n namespaces, at bigint) RETURNS work LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
        DECLARE
            due bigint := next_change(w, n);
        BEGIN
            IF due IS NULL OR due > at THEN RETURN w; END IF;
            IF w.pending_count = 0 THEN RETURN rested(w, at); END IF;
            w := fallen_due(
                w, n, due,
                CASE WHEN w.phase = 'full' THEN 'maxCount' WHEN due >= w.quiet THEN 'trailing' ELSE 'maxWait' END::edge);
            IF n.kind = 'throttle' THEN w.quiet := plus(due, w.span); END IF;
            IF w.quiet <= at OR n.kind = 'debounce' AND NOT n.on_leading THEN w := rested(w, at); END IF;
            RETURN w;
        END $$;

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
        """#
}
