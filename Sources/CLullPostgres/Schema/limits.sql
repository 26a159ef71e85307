-- Limits of a namespace on its runs, of all workers together. Where there are some, one claim follows another: each
-- holds the namespace's row until its commit.

-- The time between two starts in the long run, rounded up.
CREATE OR REPLACE FUNCTION start_interval(n namespaces) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN n.period = 9223372036854775807 THEN n.period
    ELSE n.period / (n.starts - n.burst + 1) + (n.period % (n.starts - n.burst + 1) > 0)::int END;

-- The first instant at which the limit allows a start, after `arrival`; NULL if it allows one at any time.
CREATE OR REPLACE FUNCTION next_start(n namespaces) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN n.starts IS NOT NULL AND n.arrival IS NOT NULL THEN
    CASE WHEN n.arrival = 9223372036854775807 THEN n.arrival
    ELSE greatest(n.arrival::numeric - (n.burst - 1)::numeric * start_interval(n), 0)::bigint END END;

-- How many runs may start now, up to `most`.
CREATE OR REPLACE FUNCTION starts_allowed(n namespaces, now bigint, most int) RETURNS int LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN n.starts IS NULL THEN most
    WHEN next_start(n) > now THEN 0
    ELSE least(
        most::numeric,
        div(now::numeric - greatest(n.arrival, now) + (n.burst - 1)::numeric * start_interval(n), start_interval(n)) + 1
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
        WHEN next_start(n) > now THEN next_start(n)
        WHEN slots_left(n, 1) = 0 THEN least(now + 1000000, (
            SELECT greatest(min(w.run_until), now) FROM work w
            WHERE w.claimed_by IS NOT NULL AND w.namespace = n.id)) END;
END;
