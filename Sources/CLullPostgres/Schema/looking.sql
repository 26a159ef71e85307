-- Version 7: what there is to look at.

-- How many runs have begun, the submits behind them, and how many attempts have failed.
ALTER TABLE workers ADD COLUMN runs bigint NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN executed bigint NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN failures bigint NOT NULL DEFAULT 0;

-- When a worker got the run for its latest attempt; NULL if no attempt has begun.
ALTER TABLE work ADD COLUMN run_began bigint;

-- An answer of `list` and of `upcoming`. worker: the one that has the run; NULL between two attempts.
CREATE TYPE listing AS (
    key bytea, pending bigint, due_in bigint, ready bigint, run bigint, attempt bigint, worker bigint, error text,
    submits bigint, retry_in bigint, lease_for bigint, pending_for bigint, ready_for bigint, running_for bigint
);

-- An answer of `dead`, `dead_run` and `dead_runs`.
CREATE TYPE dead_run AS (
    run bigint, key bytea, vals bytea[], first_submit bigint, last_submit bigint, submits bigint, attempts bigint,
    error text, age bigint
);

-- These have other results now.
DROP FUNCTION IF EXISTS status(bigint);
DROP FUNCTION IF EXISTS dead(text, int, bigint);
DROP FUNCTION IF EXISTS dead_runs(text, bytea, bigint, text, bigint);
DROP FUNCTION IF EXISTS list(text, bytea, bytea, int, bigint);
