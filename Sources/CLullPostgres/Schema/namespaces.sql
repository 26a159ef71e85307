-- Namespaces: their rules, opening, pausing and forgetting them.
--
-- `rules` are, in the order of DurableRules+Bytes.swift: 1 the kind (0 debounce, 1 throttle), 2 wait, 3 longest wait,
-- 4 edges (1 leading, 2 trailing), 5 whether delays extend, 6 maxCount, 7 spacing, 8 combination (0 latest, 1 first,
-- 2 collect, 3 collect and merge), 9 maxBatch, 10 starts, 11 period and 12 burst of a limit, 13 maxRunning, 14 when a
-- newer value interrupts a run (0 never, 1 when it is due, 2 when it is submitted). Durations are nanoseconds.

CREATE OR REPLACE FUNCTION merges(rules bigint[]) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN rules[8] = 3;

-- Whether a submit may be due within a second.
CREATE OR REPLACE FUNCTION is_prompt(rules bigint[]) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN rules[2] < 1000000000 OR rules[4] & 1 = 1 OR rules[6] IS NOT NULL;

-- Stores the rules of a namespace, if it has still those that were `seen`, NULL for none. Returns whether it had.
CREATE OR REPLACE FUNCTION open(namespace text, rules bigint[], seen bigint[]) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    PERFORM ensure_durability();
    IF seen IS NULL THEN
        -- One that was forgotten begins anew, under another number: a transaction that is still open may submit by the
        -- old rules.
        UPDATE namespaces s SET name = format('%s (forgotten %s)', s.name, s.id)
        WHERE s.name = open.namespace AND s.is_forgotten AND NOT has_work(s.id);
        INSERT INTO namespaces (name, rules) VALUES (open.namespace, open.rules) ON CONFLICT DO NOTHING;
    ELSE
        UPDATE namespaces s SET rules = open.rules, revision = s.revision + 1
        WHERE s.name = open.namespace AND s.rules = seen;
    END IF;
    RETURN FOUND;
END $$;

-- A rule in words, by its place.
CREATE OR REPLACE FUNCTION rule_text(place bigint, rule bigint) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN rule IS NULL THEN 'none'
    WHEN place = 1 THEN (ARRAY['debounce', 'throttle'])[rule + 1]
    WHEN place IN (2, 3, 7, 11) THEN make_interval(secs => rule / 1000000000.0)::text
    WHEN place = 4 THEN (ARRAY['leading', 'trailing', 'leading and trailing'])[rule]
    WHEN place = 5 THEN (rule = 1)::text
    WHEN place = 8 THEN (ARRAY['latest', 'first', 'collect', 'collect and merge'])[rule + 1]
    WHEN place = 14 THEN (ARRAY['none', 'due', 'submitted'])[rule + 1]
    ELSE rule::text END;

-- The same for SQL: with intervals and with defaults. A namespace with another policy is an error, which names both;
-- with changing_policy, durations and counts change for all that use it, and a notice says so. Its kind, edges,
-- combination and rule for running runs cannot change. restart: due or submitted, if a newer value interrupts a run.
-- At most `starts` runs start in any `period`, `burst` of them (default 1) at once, and workers have at most
-- `max_running`.
-- merges: with collect, the values of a run are to be folded into one by who handles them.
CREATE OR REPLACE FUNCTION open(
    namespace text, kind text, wait interval, max_wait interval DEFAULT NULL, spacing interval DEFAULT '0',
    max_count bigint DEFAULT NULL, combination text DEFAULT 'latest', max_batch bigint DEFAULT NULL,
    on_leading boolean DEFAULT NULL, on_trailing boolean DEFAULT true, extends boolean DEFAULT false,
    restart text DEFAULT NULL, starts bigint DEFAULT NULL, period interval DEFAULT NULL, burst bigint DEFAULT NULL,
    max_running bigint DEFAULT NULL, merges boolean DEFAULT false, changing_policy boolean DEFAULT false
) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_variable
DECLARE
    leads boolean := coalesce(on_leading, kind = 'throttle');
    given bigint[] := ARRAY[
        array_position('{debounce,throttle}', kind) - 1, nanoseconds(wait), nanoseconds(max_wait),
        leads::int + 2 * on_trailing::int, extends::int, max_count, nanoseconds(spacing),
        array_position('{latest,first,collect}', combination) - 1 + merges::int, max_batch, starts,
        nanoseconds(period), CASE WHEN starts IS NOT NULL THEN coalesce(burst, 1) END, max_running,
        coalesce(array_position('{due,submitted}', restart), 0)];
    found bigint[];
    wrong text := CASE
        WHEN given[1] IS NULL THEN 'the kind is debounce or throttle'
        WHEN given[8] IS NULL OR merges AND combination <> 'collect' THEN
            'the combination is latest, first or collect, and only collect merges'
        WHEN restart IS NOT NULL AND given[14] = 0 THEN 'restart is due or submitted'
        WHEN coalesce(wait < '0', true) OR max_wait < wait OR spacing < '0' THEN
            'the wait is not negative, max_wait is not shorter, and spacing is not negative'
        WHEN given[4] = 0 THEN 'a policy has an edge'
        WHEN kind = 'throttle' AND (max_wait IS NOT NULL OR spacing > '0' OR extends) THEN
            'a throttle has no max_wait, no spacing, and does not extend'
        WHEN NOT on_trailing AND (max_count IS NOT NULL OR spacing > '0') THEN
            'max_count and spacing need the trailing edge'
        WHEN least(max_count, max_batch, max_running) < 1 OR max_batch IS NOT NULL AND combination <> 'collect' THEN
            'max_count, max_batch and max_running are at least 1, and max_batch needs collect'
        WHEN (starts IS NULL) <> (period IS NULL) OR starts < 1 OR period <= '0' OR NOT given[12] BETWEEN 1 AND starts
            THEN 'starts and period come together, and the burst is 1 to starts' END;
BEGIN
    IF wrong IS NOT NULL THEN RAISE EXCEPTION '%', wrong USING ERRCODE = 'invalid_parameter_value'; END IF;
    LOOP
        found := rules(namespace);
        EXIT WHEN found IS NOT DISTINCT FROM given;
        IF (found[1], found[4], found[8], found[14]) IS DISTINCT FROM (given[1], given[4], given[8], given[14])
            AND found IS NOT NULL
        THEN
            RAISE EXCEPTION
                'the namespace % has another policy (%): kind, edges, combination and restart cannot change',
                quote_literal(namespace), differences(found, given, 'here')
                USING ERRCODE = 'LUL04', HINT = 'Open it with the same, or use another namespace.';
        END IF;
        IF found IS NOT NULL AND NOT changing_policy THEN
            RAISE EXCEPTION 'the namespace % has another policy (%)', quote_literal(namespace),
                differences(found, given, 'here')
                USING ERRCODE = 'LUL04',
                HINT = 'Open it with the same, or change it for all that use it with changing_policy => true.';
        END IF;
        CONTINUE WHEN NOT open(namespace, given, found);
        IF found IS NOT NULL THEN
            RAISE NOTICE 'the policy of the namespace % was changed for all that use it: %', quote_literal(namespace),
                differences(found, given, 'now');
        END IF;
        EXIT;
    END LOOP;
END $$;

-- What some rules have and others have otherwise: `wait: 00:00:02, here 00:00:05; max_count: none, here 3`.
CREATE OR REPLACE FUNCTION differences(found bigint[], given bigint[], word text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN (
    SELECT string_agg(
        format('%s: %s, %s %s', field, rule_text(i, found[i]), word, rule_text(i, given[i])), '; ' ORDER BY i)
    FROM unnest(string_to_array(
        'kind wait max_wait edges extends max_count spacing combination max_batch starts period burst max_running '
        'restart', ' ')) WITH ORDINALITY AS fields (field, i)
    WHERE found[i] IS DISTINCT FROM given[i]);

CREATE OR REPLACE FUNCTION nanoseconds(span interval) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN (extract(epoch FROM span) * 1000000000)::bigint;

-- The rules of a namespace; NULL if it does not exist.
CREATE OR REPLACE FUNCTION rules(namespace text) RETURNS bigint[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
RETURN (
    SELECT n.rules FROM namespaces n WHERE n.name = rules.namespace AND (NOT n.is_forgotten OR has_work(n.id)));

-- Pauses a namespace: claims hand out nothing until it is resumed or, if that is given, it has lasted so long. Nothing
-- else changes. One that is paused already stays so since the first time. Of two pauses the longer one counts: it keeps
-- its reason, and one that lasts as long or longer gives it another one, if it has one. Returns the reason and the
-- instants.
CREATE OR REPLACE FUNCTION pause(
    namespace text, INOUT reason text DEFAULT NULL, lasts interval DEFAULT NULL, at bigint DEFAULT NULL,
    OUT since bigint, OUT until bigint
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    given text := nullif(left(pause.reason, 500), '');
    now bigint := coalesce(pause.at, present());
    ends bigint := now + CASE WHEN lasts > '0' THEN (extract(epoch FROM lasts) * 1000000)::bigint
        WHEN lasts IS NOT NULL THEN 0 END;
BEGIN
    PERFORM ensure_durability();
    SELECT * INTO n FROM namespaces s WHERE s.id = n.id FOR NO KEY UPDATE;
    IF n.paused_until <= now THEN n.paused_at := NULL; n.pause_reason := NULL; n.paused_until := NULL; END IF;
    IF n.paused_at IS NULL OR n.paused_until <= ends OR ends IS NULL THEN
        n.pause_reason := coalesce(given, n.pause_reason);
        n.paused_at := coalesce(n.paused_at, now);
        n.paused_until := ends;
        UPDATE namespaces s SET
            paused_at = n.paused_at, pause_reason = n.pause_reason, paused_until = ends, revision = s.revision + 1
        WHERE s.id = n.id;
    END IF;
    reason := n.pause_reason; since := n.paused_at; until := n.paused_until;
END $$;

-- Ends the pause of a namespace, and returns whether there was one.
CREATE OR REPLACE FUNCTION resume(namespace text, at bigint DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    PERFORM ensure_durability();
    UPDATE namespaces s SET paused_at = NULL, pause_reason = NULL, paused_until = NULL, revision = s.revision + 1
    WHERE s.id = n.id AND s.paused_at IS NOT NULL;
    IF NOT FOUND OR n.paused_until <= coalesce(resume.at, present()) THEN RETURN false; END IF;
    PERFORM wake_up(n.id);
    RETURN true;
END $$;

-- Sets what the limit of a namespace has counted, if it is still what it was. Nobody waits for the disk: the log is in
-- order, so if the claim that follows survives a crash, so does this.
CREATE OR REPLACE FUNCTION set_arrival(namespace text, revision bigint, before bigint, arrival bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    IF pg_current_xact_id_if_assigned() IS NULL THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
    UPDATE namespaces s SET arrival = set_arrival.arrival
    WHERE s.name = set_arrival.namespace AND s.revision = set_arrival.revision
        AND s.arrival IS NOT DISTINCT FROM before;
    RETURN FOUND;
END $$;

-- Forgets a namespace without work, at most `size` rows of each table at a time. Call it until it answers something
-- else than more: forgotten; work, if the namespace has work or dead runs, and stays. What a transaction that is
-- still open submits to it shows it again.
CREATE OR REPLACE FUNCTION forget_namespace(namespace text, size int DEFAULT 10000) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    deleted int;
    has_more boolean := false;
BEGIN
    PERFORM ensure_durability();
    IF has_work(n.id) THEN RETURN 'work'; END IF;
    -- What a step has read is not written any more.
    UPDATE namespaces s SET revision = s.revision + 1 WHERE s.id = n.id;
    -- Keys without work whose gates are not idle. What another transaction has locked may become work, and stays.
    DELETE FROM work w
    WHERE w.ctid = ANY (ARRAY(
        SELECT o.ctid FROM work o WHERE o.namespace = n.id AND NOT o.has_work LIMIT size FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    -- They may have used up their numbers.
    IF deleted > 0 THEN
        PERFORM nextval('overflows');
        PERFORM raise_numbers((SELECT s.last_value FROM numbers s) + 1000000000);
    END IF;
    has_more := has_more OR deleted = size;
    DELETE FROM ended e WHERE e.id = ANY (ARRAY(SELECT o.id FROM ended o WHERE o.namespace = n.id LIMIT size));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    has_more := has_more OR deleted = size;
    DELETE FROM tokens t WHERE t.id = ANY (ARRAY(SELECT o.id FROM tokens o WHERE o.namespace = n.id LIMIT size));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    has_more := has_more OR deleted = size;
    IF has_more THEN RETURN 'more'; END IF;
    DELETE FROM workers w WHERE w.namespace = n.id;
    DELETE FROM changes c WHERE c.namespace = n.id;
    DELETE FROM tallies t WHERE t.namespace = n.id;
    UPDATE namespaces s SET
        is_forgotten = true, paused_at = NULL, pause_reason = NULL, paused_until = NULL, arrival = NULL
    WHERE s.id = n.id;
    RETURN 'forgotten';
END $$;
