// Submits, one by one, for every language.
extension Schema {
    static let submits = #"""
        -- Records a submit: a value under a key in a namespace that has been opened. It counts when the caller's transaction
        -- commits.
        --
        -- wait: the delay of this submit alone, in place of the namespace's.
        -- token: a submit that is repeated with the same token counts once.
        -- notify: whether to wake workers for what is due within a second; false in a transaction that is to be prepared.
        CREATE OR REPLACE FUNCTION submit(
            namespace text, key bytea, value bytea, wait interval DEFAULT NULL, token text DEFAULT NULL, notify boolean DEFAULT true,
            OUT generation bigint, OUT due timestamptz
        ) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
        #variable_conflict use_column
        DECLARE
            delay bigint := extract(epoch FROM wait) * 1000000;
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
            -- Most submits only join what is pending.
            IF token IS NULL THEN
                \#(join(at: "NULL::bigint"))
                FROM namespaces n,
                    (SELECT submit.value AS payload, delay AS wait, NULL::bigint AS submitter, 1 AS count) i
                WHERE n.name = submit.namespace AND n.kind = 'debounce' AND n.combination <> 'collect'
                    AND w.namespace = n.id AND w.key = submit.key AND \#(joins(at: "NULL::bigint"))
                RETURNING w.generation, next_change(w, n), w.wake = next_change(w, n) AND w.wake < plus(w.pending_last, 1000000), n.name
                INTO generation, due_at, wakes_up, n.name;
                IF wakes_up AND notify THEN PERFORM wake_up(n); END IF;
            END IF;
            IF due_at IS NULL THEN
                answers := submit_many(
                    namespace, ARRAY[key], ARRAY[value], ARRAY[delay], ARRAY[token], ARRAY[NULL::bigint], NULL, NULL, NULL, NULL,
                    notify, NULL);
                IF answers.answers[1] = 2 THEN
                    RAISE EXCEPTION 'the token % was used for a submit of another key', quote_literal(token) USING ERRCODE = 'LUL02';
                END IF;
                generation := answers.generations[1];
                due_at := answers.dues[1];
            END IF;
            due := instant(due_at);
        END $$;

        -- The same for keys and values that are text.
        CREATE OR REPLACE FUNCTION submit(
            namespace text, key text, value text, wait interval DEFAULT NULL, token text DEFAULT NULL, notify boolean DEFAULT true,
            OUT generation bigint, OUT due timestamptz
        ) LANGUAGE sql VOLATILE
        BEGIN ATOMIC
            SELECT s.generation, s.due
            FROM submit(namespace, convert_to(key, 'UTF8'), convert_to(value, 'UTF8'), wait, token, notify) s;
        END;

        -- The same for values that are JSON.
        CREATE OR REPLACE FUNCTION submit(
            namespace text, key text, value jsonb, wait interval DEFAULT NULL, token text DEFAULT NULL, notify boolean DEFAULT true,
            OUT generation bigint, OUT due timestamptz
        ) LANGUAGE sql VOLATILE
        BEGIN ATOMIC
            SELECT s.generation, s.due
            FROM submit(namespace, convert_to(key, 'UTF8'), convert_to(value::text, 'UTF8'), wait, token, notify) s;
        END;
        """#

    /// The change of the row `w` by a submit `i` in the namespace `n` that only joins what is pending: most submits do, and one
    /// statement for them takes a fraction of the time of the general step (row `postgres-submit`). `i.count` submits that are alike
    /// but for their values are one such change, with the last value.
    static func join(at: String) -> String {
        #"""
            UPDATE work w SET
                (generation, span, spacing, pending_count, pending_by, quiet, wake, pending_last, v0, v1, v2) = (
                    SELECT
                        w.generation + i.count, n.span, n.spacing, w.pending_count + i.count,
                        CASE WHEN w.pending_by IS DISTINCT FROM i.submitter THEN 0 ELSE w.pending_by END, q.quiet,
                        least(w.wake, greatest(plus(w.latest, n.spacing), least(q.quiet, plus(w.pending_first, n.span)))), t.now,
                        CASE WHEN w.pending_slot = 0 AND n.combination = 'latest' THEN i.payload ELSE w.v0 END,
                        CASE WHEN w.pending_slot = 1 AND n.combination = 'latest' THEN i.payload ELSE w.v1 END,
                        CASE WHEN w.pending_slot = 2 AND n.combination = 'latest' THEN i.payload ELSE w.v2 END
                    FROM
                        -- What is pending was not due when the condition was looked at: the submit came before.
                        (SELECT least(greatest(coalesce(\#(at), present()), w.pending_last), next_change(w, n) - 1) AS now) t,
                        LATERAL (
                            SELECT greatest(
                                plus(t.now, greatest(coalesce(i.wait, n.wait), 0)), CASE WHEN n.extends THEN w.quiet END) AS quiet) q)
        """#
    }

    /// The condition for it. Nothing falls due, and nothing becomes full; also not between several submits.
    static func joins(at: String) -> String {
        #"""
            w.phase = 'open' AND w.pending_count > 0
            AND w.pending_count + i.count < coalesce(n.max_count, 9223372036854775807)
            AND next_change(w, n) > coalesce(\#(at), present())
            AND (
                i.count = 1 OR coalesce(i.wait, n.wait) > 0
                    AND plus(w.pending_first, n.span) > greatest(coalesce(\#(at), present()), w.pending_last))
        """#
    }
}
