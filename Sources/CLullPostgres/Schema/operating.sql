-- Version 3: namespaces that are paused, and changes of a selection of keys.

-- When that was, and why; NULL if it is not paused.
ALTER TABLE namespaces ADD COLUMN paused_at bigint;
ALTER TABLE namespaces ADD COLUMN pause_reason text;

-- These have other parameters now.
DROP FUNCTION IF EXISTS flush(text, text);
DROP FUNCTION IF EXISTS cancel(text, text);
DROP FUNCTION IF EXISTS keys(text, bigint);
DROP FUNCTION IF EXISTS change_keys(text, bytea[], text, bigint, int, bigint);
