-- Version 6: contexts of submits, which are a part of the stored values. A program of an earlier version does not know
-- that.

-- Those without a context.
DROP FUNCTION IF EXISTS submit(text, text, text, interval, text, boolean);
DROP FUNCTION IF EXISTS submit(text, text, jsonb, interval, text, boolean);
DROP FUNCTION IF EXISTS submit(text, bytea, bytea, interval, text, boolean);
