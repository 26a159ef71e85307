-- The calls of producers that are not the library: each adds an entry in the transaction of its caller, and returns
-- the entry's number. The next step of the key, by a worker or by anybody else, makes the call. Nobody waits for a key.

-- Adds an entry. notify: whether to wake workers for what may be due within a second.
CREATE OR REPLACE FUNCTION append(
    namespace text, key bytea, kind text, wait interval, value bytea, token text, context text, notify boolean
) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces;
    number bigint;
    delay bigint := extract(epoch FROM wait) * 1000000;
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN PERFORM ensure_durability(); END IF;
    IF key IS NULL THEN RAISE EXCEPTION 'a call needs a key' USING ERRCODE = 'null_value_not_allowed'; END IF;
    IF octet_length(key) > 1024 THEN
        RAISE EXCEPTION 'a key has at most 1024 bytes' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    IF octet_length(convert_to(context, 'UTF8')) > 1024 THEN
        RAISE EXCEPTION 'a context has at most 1024 bytes' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    SELECT * INTO n FROM namespaces s WHERE s.name = append.namespace;
    IF NOT FOUND OR n.is_forgotten THEN n := named(append.namespace); END IF;
    IF kind = 'submit' THEN
        IF value IS NULL THEN
            RAISE EXCEPTION 'a submit needs a value' USING ERRCODE = 'null_value_not_allowed';
        END IF;
        IF octet_length(value) > 16777216 THEN
            RAISE EXCEPTION 'a value has at most 16 MiB' USING ERRCODE = 'program_limit_exceeded';
        END IF;
        -- Whoever merges the values could not.
        IF merges(n.rules) THEN PERFORM convert_from(value, 'UTF8')::json; END IF;
    END IF;
    INSERT INTO inbox (namespace, key, at, kind, wait, value, token, context)
    VALUES (n.id, append.key, present(), append.kind, delay, append.value, append.token, append.context)
    RETURNING id INTO number;
    IF notify AND (kind = 'flush' OR is_prompt(n.rules) OR delay < 1000000) THEN
        PERFORM wake_up(n.id);
    END IF;
    RETURN number;
END $$;

-- Submits a value. wait: a delay of this submit alone; with a token, one that is repeated counts once; context travels
-- with the value to the handler.
CREATE OR REPLACE FUNCTION submit(
    namespace text, key bytea, value bytea, after interval DEFAULT NULL, token text DEFAULT NULL,
    notify boolean DEFAULT true, context text DEFAULT NULL
) RETURNS bigint LANGUAGE sql VOLATILE
RETURN append(namespace, key, 'submit', after, value, token, context, notify);

CREATE OR REPLACE FUNCTION submit(
    namespace text, key text, value text, after interval DEFAULT NULL, token text DEFAULT NULL,
    notify boolean DEFAULT true, context text DEFAULT NULL
) RETURNS bigint LANGUAGE sql VOLATILE
RETURN append(
    namespace, convert_to(key, 'UTF8'), 'submit', after, convert_to(value, 'UTF8'), token, context, notify);

CREATE OR REPLACE FUNCTION submit(
    namespace text, key text, value jsonb, after interval DEFAULT NULL, token text DEFAULT NULL,
    notify boolean DEFAULT true, context text DEFAULT NULL
) RETURNS bigint LANGUAGE sql VOLATILE
RETURN append(
    namespace, convert_to(key, 'UTF8'), 'submit', after, convert_to(value::text, 'UTF8'), token, context, notify);

-- Says that a key is still busy: what is pending falls due later, as after a submit.
CREATE OR REPLACE FUNCTION touch(namespace text, key text, after interval DEFAULT NULL, notify boolean DEFAULT true)
RETURNS bigint LANGUAGE sql VOLATILE
RETURN append(namespace, convert_to(key, 'UTF8'), 'touch', after, NULL, NULL, NULL, notify AND after IS NOT NULL);

-- Makes executable now what is pending of a key, or waits for another attempt.
CREATE OR REPLACE FUNCTION flush(namespace text, key text, notify boolean DEFAULT true)
RETURNS bigint LANGUAGE sql VOLATILE
RETURN append(namespace, convert_to(key, 'UTF8'), 'flush', NULL, NULL, NULL, NULL, notify);

-- Drops what no worker has of a key.
CREATE OR REPLACE FUNCTION cancel(namespace text, key text) RETURNS bigint LANGUAGE sql VOLATILE
RETURN append(namespace, convert_to(key, 'UTF8'), 'cancel', NULL, NULL, NULL, NULL, false);

-- The same for keys of any bytes.
CREATE OR REPLACE FUNCTION touch(namespace text, key bytea, after interval DEFAULT NULL, notify boolean DEFAULT true)
RETURNS bigint LANGUAGE sql VOLATILE
RETURN append(namespace, key, 'touch', after, NULL, NULL, NULL, notify AND after IS NOT NULL);

CREATE OR REPLACE FUNCTION flush(namespace text, key bytea, notify boolean DEFAULT true)
RETURNS bigint LANGUAGE sql VOLATILE
RETURN append(namespace, key, 'flush', NULL, NULL, NULL, NULL, notify);

CREATE OR REPLACE FUNCTION cancel(namespace text, key bytea) RETURNS bigint LANGUAGE sql VOLATILE
RETURN append(namespace, key, 'cancel', NULL, NULL, NULL, NULL, false);

-- What has become of a call: unfolded, if it waits in the inbox; for a submit with a token pending, which is anything
-- that has not ended, how it has ended, or forgotten; otherwise unknown.
CREATE OR REPLACE FUNCTION state(namespace text, number bigint) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    n namespaces := named(namespace);
    t tokens;
    how text;
BEGIN
    IF EXISTS (SELECT FROM inbox i WHERE i.id = number AND i.namespace = n.id) THEN RETURN 'unfolded'; END IF;
    SELECT x.* INTO t FROM tokens x WHERE x.entry = number AND x.namespace = n.id;
    IF NOT FOUND THEN RETURN 'unknown'; END IF;
    SELECT e.how INTO how
    FROM (
        SELECT * FROM ended e WHERE e.namespace = n.id AND e.key = t.key AND e.last >= t.generation
        ORDER BY e.last LIMIT 1) e
    WHERE e.first <= t.generation;
    IF FOUND THEN RETURN how; END IF;
    RETURN CASE
        WHEN EXISTS (SELECT FROM work w WHERE w.namespace = n.id AND w.key = t.key) THEN 'pending' ELSE 'forgotten' END;
END $$;
