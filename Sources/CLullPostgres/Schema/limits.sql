-- Limits of a namespace on its runs, of all workers together. Where there are some, one claim follows another: each
-- holds the namespace's row until its commit. A client of its own takes starts from a limit before, in a transaction
-- that is too short for anybody to wait.

-- The time between two starts in the long run, rounded up.
CREATE OR REPLACE FUNCTION start_interval(n namespaces) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN n.period = 9223372036854775807 THEN n.period
    ELSE n.period / (n.starts - n.burst + 1) + (n.period % (n.starts - n.burst + 1) > 0)::int END;

-- What the limit has counted: never more than after a burst that starts now, unless it was another limit, or the clock
-- of the server was set back.
CREATE OR REPLACE FUNCTION known_arrival(n namespaces, now bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN n.starts IS NOT NULL AND n.arrival IS NOT NULL THEN
    least(n.arrival::numeric, now::numeric + n.burst::numeric * start_interval(n))::bigint END;

-- The first instant at which the limit allows a start; NULL if it allows one at any time.
CREATE OR REPLACE FUNCTION next_start(n namespaces, now bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN known_arrival(n, now) = 9223372036854775807 THEN 9223372036854775807
    WHEN known_arrival(n, now) IS NOT NULL THEN
        greatest(known_arrival(n, now)::numeric - (n.burst - 1)::numeric * start_interval(n), 0)::bigint END;

-- How many runs may start now, up to `most`.
CREATE OR REPLACE FUNCTION starts_allowed(n namespaces, now bigint, most int) RETURNS int LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN n.starts IS NULL THEN most
    WHEN next_start(n, now) > now THEN 0
    ELSE least(
        most::numeric,
        div(
            now::numeric - greatest(n.arrival, now) + (n.burst - 1)::numeric * start_interval(n),
            start_interval(n)) + 1,
        -- What saturates never comes.
        div(9223372036854775806 - greatest(n.arrival, now)::numeric, start_interval(n)) + 1
    )::int END;

-- The same namespace after some starts at an instant.
CREATE OR REPLACE FUNCTION after_starts(n namespaces, count int, now bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN n.starts IS NULL OR count = 0 THEN n.arrival
    ELSE least(
        greatest(n.arrival, now)::numeric + count::numeric * start_interval(n), 9223372036854775807)::bigint END;

-- How many more runs workers may have.
CREATE OR REPLACE FUNCTION slots_left(n namespaces, most int) RETURNS int LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE
        WHEN n.max_running IS NULL THEN most
        ELSE least(most, greatest(0, n.max_running - (
            SELECT count(*) FROM work w WHERE w.claimed_by IS NOT NULL AND w.namespace = n.id)))::int END;
END;

-- When there may be more to claim, as far as the limits go: for want of a slot when a lease ends, or after a second,
-- since nobody is told when a run of another worker ends.
CREATE OR REPLACE FUNCTION next_room(n namespaces, now bigint) RETURNS bigint LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT CASE
        WHEN next_start(n, now) > now THEN next_start(n, now)
        WHEN slots_left(n, 1) = 0 THEN least(now + 1000000, (
            SELECT greatest(min(w.run_until), now) FROM work w
            WHERE w.claimed_by IS NOT NULL AND w.namespace = n.id)) END;
END;

-- Takes up to `most` starts from the limit of a namespace, for a claim that follows, and answers how many; NULL where a
-- claim has to do that itself, since there is no limit, or one on the runs of workers, too. next: when more may
-- start, if that is not now. receipt: what gives those back that are not used.
--
-- Nobody waits for the disk: the log is in order, so if the claim survives a crash, so does this.
CREATE OR REPLACE FUNCTION take_starts(
    namespace text, most int, at bigint DEFAULT NULL, OUT allowed int, OUT now bigint, OUT next bigint,
    OUT receipt bigint[]
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    stored bigint;
BEGIN
    now := coalesce(at, present());
    IF n.starts IS NULL OR n.max_running IS NOT NULL OR n.paused_at IS NOT NULL THEN RETURN; END IF;
    PERFORM commit_early();
    SELECT s.* INTO n FROM namespaces s WHERE s.id = n.id FOR NO KEY UPDATE;
    now := coalesce(at, present());
    IF n.starts IS NULL OR n.max_running IS NOT NULL THEN RETURN; END IF;
    stored := n.arrival;
    n.arrival := known_arrival(n, now);
    allowed := starts_allowed(n, now, greatest(most, 0));
    receipt := ARRAY[n.id, greatest(n.arrival, now), allowed];
    n.arrival := after_starts(n, allowed, now);
    receipt := receipt || n.arrival;
    IF n.arrival IS DISTINCT FROM stored THEN
        UPDATE namespaces s SET arrival = n.arrival WHERE s.id = n.id;
    END IF;
    IF next_start(n, now) > now THEN next := next_start(n, now); END IF;
END $$;

-- Gives back starts that were not used: unless others have taken some since, which were counted after them.
CREATE OR REPLACE FUNCTION give_back_starts(receipt bigint[], unused int) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    PERFORM commit_early();
    UPDATE namespaces s SET arrival = receipt[4] - unused::bigint * start_interval(s)
    WHERE s.id = receipt[1] AND s.arrival = receipt[4] AND receipt[4] < 9223372036854775807
        AND unused::numeric * start_interval(s) <= receipt[4]::numeric - receipt[2];
END $$;

-- Lets a transaction that has written nothing end before it is on the disk.
CREATE OR REPLACE FUNCTION commit_early() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF pg_current_xact_id_if_assigned() IS NULL THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
END $$;
