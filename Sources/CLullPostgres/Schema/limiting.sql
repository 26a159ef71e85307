-- Version 4: limits of a namespace on its runs, of all workers together.

-- At most `starts` runs start in any `period`, `burst` of them at once; NULL for no limit.
ALTER TABLE namespaces ADD COLUMN starts bigint;
ALTER TABLE namespaces ADD COLUMN period bigint;
ALTER TABLE namespaces ADD COLUMN burst bigint;
ALTER TABLE namespaces ADD CONSTRAINT limit_is_whole CHECK (
    starts IS NULL AND period IS NULL AND burst IS NULL OR starts >= 1 AND period >= 1 AND burst BETWEEN 1 AND starts);
-- The most runs that workers have at once; NULL for no limit.
ALTER TABLE namespaces ADD COLUMN max_running bigint CHECK (max_running >= 1);
-- When the next run would start if all so far had been spread evenly; NULL before the first.
ALTER TABLE namespaces ADD COLUMN arrival bigint;

-- Those without limits.
DROP FUNCTION IF EXISTS status(bigint);
DROP FUNCTION IF EXISTS open(
    text, kind, bigint, bigint, boolean, boolean, boolean, bigint, bigint, combination, bigint, text);
DROP FUNCTION IF EXISTS open(
    text, text, interval, interval, interval, bigint, text, bigint, boolean, boolean, boolean, text);
DROP FUNCTION IF EXISTS claim(text, bigint, bigint, bigint, bigint[], int, bigint, bigint);
DROP FUNCTION IF EXISTS exchange(
    text, bigint, bytea[], bigint[], bigint[], text[], bigint[], text[], bigint, bigint, bigint[], int, bigint, bigint);
