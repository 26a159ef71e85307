-- Numbers that are never given twice: of submits, of runs and of fences.
--
-- A step that may create rows gets the first of 1024 numbers. A row begins with one of the first 512; its submits
-- count from there. A row that has used more than 512 is noted in `overflows` when it is deleted, and `numbers` is
-- raised above it. So a later row of the key has higher numbers; a step whose numbers are older than that deletion is
-- not written.
--
-- A server that was started anew may have lost its latest moments: a crash loses none, but a replica that has become
-- the server does, and so does a backup. So all numbers rise by an hour's microseconds then, and a row's next one, too.

CREATE OR REPLACE FUNCTION present() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN (date_part('epoch', clock_timestamp()) * 1000000)::bigint;

-- Raises `numbers` above a number, also if others do it at the same time. The lock is not held until the commit.
CREATE OR REPLACE FUNCTION raise_numbers(floor bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    lock bigint := hashtextextended('lull numbers', 'meta'::regclass::oid::bigint);
BEGIN
    PERFORM pg_advisory_lock(lock);
    BEGIN
        IF (SELECT s.last_value FROM numbers s) <= floor THEN PERFORM setval('numbers', floor + 100000); END IF;
    EXCEPTION WHEN query_canceled OR OTHERS THEN
        PERFORM pg_advisory_unlock(lock);
        RAISE;
    END;
    PERFORM pg_advisory_unlock(lock);
END $$;

-- Returns the first of so many numbers, and of at least 1024. They are not below the server's time.
CREATE OR REPLACE FUNCTION take_numbers(count int, now bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    first bigint := nextval('numbers');
    last bigint;
    next bigint;
BEGIN
    IF first < now THEN
        PERFORM raise_numbers(now);
        first := nextval('numbers');
    END IF;
    last := first;
    WHILE last - first + 1024 < count LOOP
        next := nextval('numbers');
        IF next <> last + 1024 THEN first := next; END IF;
        last := next;
    END LOOP;
    RETURN first;
END $$;

-- Takes note that the server was started anew.
CREATE OR REPLACE FUNCTION note_start() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    m meta;
BEGIN
    SELECT x.* INTO m FROM meta x FOR UPDATE;
    IF m.started IS DISTINCT FROM pg_postmaster_start_time() THEN
        m.floor := greatest((SELECT s.last_value FROM numbers s), m.floor, present()) + 3600000000;
        PERFORM raise_numbers(m.floor);
        UPDATE meta SET started = pg_postmaster_start_time(), floor = m.floor;
    END IF;
    RETURN m.floor;
END $$;
