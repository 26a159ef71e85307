-- Version 7: what there is to look at.

-- An answer of `list` and of `upcoming`. worker: the one that has the run; NULL between two attempts.
CREATE TYPE listing AS (
    key bytea, pending bigint, due_in bigint, ready bigint, run bigint, attempt bigint, worker bigint, error text,
    submits bigint, retry_in bigint, lease_for bigint
);

-- These have other results now.
DROP FUNCTION IF EXISTS list(text, bytea, bytea, int, bigint);
