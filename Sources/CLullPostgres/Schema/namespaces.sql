-- Namespaces: opening and forgetting them.

-- Creates a namespace, or changes the durations and counts of one, and returns its rules. A namespace with another
-- kind, other edges, another combination or another rule for running runs is returned unchanged.
CREATE OR REPLACE FUNCTION open(
    namespace text, kind kind, wait bigint, max_wait bigint, on_leading boolean, on_trailing boolean, extends boolean,
    max_count bigint, spacing bigint, combination combination, max_batch bigint, restart text, starts bigint,
    period bigint, burst bigint, max_running bigint, merges boolean
) RETURNS namespaces LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces;
BEGIN
    PERFORM ensure_durability();
    -- One that was forgotten begins anew. With other lasting rules it gets another number: a transaction that is
    -- still open may submit by the old rules.
    UPDATE namespaces s SET
        name = CASE
            WHEN (s.kind, s.on_leading, s.on_trailing, s.combination, s.restart, s.merges) IS NOT DISTINCT FROM (
                open.kind, open.on_leading, open.on_trailing, open.combination, open.restart, open.merges)
            THEN s.name ELSE format('%s (forgotten %s)', s.name, s.id) END,
        is_forgotten = (s.kind, s.on_leading, s.on_trailing, s.combination, s.restart, s.merges) IS DISTINCT FROM (
            open.kind, open.on_leading, open.on_trailing, open.combination, open.restart, open.merges)
    WHERE s.name = open.namespace AND s.is_forgotten AND NOT has_work(s.id);
    INSERT INTO namespaces (
        name, kind, wait, max_wait, on_leading, on_trailing, extends, max_count, spacing, combination, max_batch,
        restart, starts, period, burst, max_running, merges)
    SELECT
        open.namespace, open.kind, open.wait, open.max_wait, open.on_leading, open.on_trailing, open.extends,
        open.max_count, open.spacing, open.combination, open.max_batch, open.restart,
        open.starts, open.period, open.burst, open.max_running, open.merges
    WHERE NOT EXISTS (SELECT FROM namespaces s WHERE s.name = open.namespace)
    ON CONFLICT DO NOTHING;
    UPDATE namespaces SET
        wait = open.wait, max_wait = open.max_wait, extends = open.extends, max_count = open.max_count,
        spacing = open.spacing, max_batch = open.max_batch, starts = open.starts, period = open.period,
        burst = open.burst, max_running = open.max_running
    WHERE name = open.namespace AND kind = open.kind AND on_leading = open.on_leading AND on_trailing = open.on_trailing
        AND combination = open.combination AND restart IS NOT DISTINCT FROM open.restart AND merges = open.merges
        AND (wait, max_wait, extends, max_count, spacing, max_batch, starts, period, burst, max_running)
        IS DISTINCT FROM (
            open.wait, open.max_wait, open.extends, open.max_count, open.spacing, open.max_batch, open.starts,
            open.period, open.burst, open.max_running);
    SELECT * INTO n FROM namespaces WHERE name = open.namespace;
    RETURN n;
END $$;

-- The same for SQL: with intervals and with defaults. A namespace with another kind, other edges, another combination
-- or another rule for running runs is an error. restart: due or submitted, if a newer value interrupts a run. At most
-- `starts` runs start in any `period`, `burst` of them (default 1) at once, and workers have at most `max_running`.
-- merges: with collect, the values of a run are to be folded into one by who handles them.
CREATE OR REPLACE FUNCTION open(
    namespace text, kind text, wait interval, max_wait interval DEFAULT NULL, spacing interval DEFAULT '0',
    max_count bigint DEFAULT NULL, combination text DEFAULT 'latest', max_batch bigint DEFAULT NULL,
    on_leading boolean DEFAULT NULL, on_trailing boolean DEFAULT true, extends boolean DEFAULT false,
    restart text DEFAULT NULL, starts bigint DEFAULT NULL, period interval DEFAULT NULL, burst bigint DEFAULT NULL,
    max_running bigint DEFAULT NULL, merges boolean DEFAULT false
) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_variable
DECLARE
    leads boolean := coalesce(on_leading, kind = 'throttle');
    n record;
BEGIN
    n := open(
        namespace, kind::kind, (extract(epoch FROM wait) * 1000000)::bigint,
        (extract(epoch FROM max_wait) * 1000000)::bigint, leads, on_trailing, extends, max_count,
        (extract(epoch FROM spacing) * 1000000)::bigint, combination::combination, max_batch, restart, starts,
        (extract(epoch FROM period) * 1000000)::bigint, CASE WHEN starts IS NOT NULL THEN coalesce(burst, 1) END,
        max_running, merges);
    IF (n.kind::text, n.on_leading, n.on_trailing, n.combination::text, n.restart, n.merges)
        IS DISTINCT FROM (kind, leads, on_trailing, combination, restart, merges)
    THEN
        RAISE EXCEPTION 'the namespace % has another kind, other edges, another combination or rule, which stay',
            quote_literal(namespace) USING ERRCODE = 'LUL04';
    END IF;
END $$;

-- The rules of a namespace; no row if it does not exist.
CREATE OR REPLACE FUNCTION rules(namespace text) RETURNS SETOF namespaces
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT n.* FROM namespaces n
    WHERE n.name = rules.namespace AND (NOT n.is_forgotten OR has_work(n.id));
END;

-- Pauses a namespace: claims hand out nothing until it is resumed. Nothing else changes. One that is paused already
-- stays so since the first time, and keeps its reason unless there is another one. Returns the reason and the instant.
CREATE OR REPLACE FUNCTION pause(
    namespace text, INOUT reason text DEFAULT NULL, at bigint DEFAULT NULL, OUT since bigint
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    given text := nullif(left(pause.reason, 500), '');
BEGIN
    PERFORM ensure_durability();
    UPDATE namespaces s SET
        paused_at = coalesce(s.paused_at, pause.at, present()), pause_reason = coalesce(given, s.pause_reason)
    WHERE s.id = n.id
    RETURNING s.pause_reason, s.paused_at INTO reason, since;
END $$;

-- Ends the pause of a namespace, and returns whether there was one.
CREATE OR REPLACE FUNCTION resume(namespace text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
BEGIN
    PERFORM ensure_durability();
    UPDATE namespaces s SET paused_at = NULL, pause_reason = NULL WHERE s.id = n.id AND s.paused_at IS NOT NULL;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM wake_up(n);
    RETURN true;
END $$;

-- Forgets a namespace without work, at most `size` rows of each table at a time. Call it until it answers something
-- else than more: forgotten; work, if the namespace has work or dead runs, and stays. What a transaction that is
-- still open submits to it shows it again.
CREATE OR REPLACE FUNCTION forget_namespace(namespace text, size int DEFAULT 10000) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    most bigint;
    deleted int;
    has_more boolean := false;
BEGIN
    PERFORM ensure_durability();
    IF has_work(n.id) OR EXISTS (SELECT FROM dead d WHERE d.namespace + 0 = n.id) THEN RETURN 'work'; END IF;
    -- Keys without work whose gates are not idle. What another transaction has locked may become work, and stays.
    WITH gone AS (
        DELETE FROM work w
        WHERE w.ctid = ANY (ARRAY(
            SELECT o.ctid FROM work o
            WHERE o.namespace = n.id AND o.pending_count = 0 AND o.ready_to IS NULL AND o.run_id IS NULL
            LIMIT size FOR UPDATE SKIP LOCKED))
        RETURNING w.generation, w.born
    )
    SELECT count(*), max(g.generation) FILTER (WHERE g.generation - g.born >= 1048576) INTO deleted, most FROM gone g;
    has_more := has_more OR deleted = size;
    -- As when such a row is deleted because it is idle.
    WHILE most IS NOT NULL AND birth() <= most LOOP END LOOP;
    DELETE FROM ended e WHERE e.id = ANY (ARRAY(SELECT o.id FROM ended o WHERE o.namespace = n.id LIMIT size));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    has_more := has_more OR deleted = size;
    DELETE FROM tokens t WHERE t.id = ANY (ARRAY(SELECT o.id FROM tokens o WHERE o.namespace = n.id LIMIT size));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    has_more := has_more OR deleted = size;
    IF has_more THEN RETURN 'more'; END IF;
    DELETE FROM workers w WHERE w.namespace = n.id;
    UPDATE namespaces s SET is_forgotten = true, paused_at = NULL, pause_reason = NULL, arrival = NULL
    WHERE s.id = n.id;
    RETURN 'forgotten';
END $$;
