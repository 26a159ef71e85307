-- Instants are microseconds since 1970, durations are microseconds. 9223372036854775807 stands for *never* and for *no
-- limit*.

CREATE TYPE kind AS ENUM ('debounce', 'throttle');
CREATE TYPE combination AS ENUM ('latest', 'first', 'collect');
CREATE TYPE phase AS ENUM ('idle', 'resting', 'open', 'full');
CREATE TYPE edge AS ENUM ('leading', 'trailing', 'maxWait', 'maxCount', 'flush');
CREATE TYPE decision AS ENUM ('join', 'lead', 'complete', 'absorb');
CREATE TYPE ending AS ENUM ('completed', 'failed', 'cancelled', 'absorbed', 'dead');

-- One row: the version of these tables, and the server on which workers may claim.
CREATE TABLE meta (
    version int NOT NULL, place text NOT NULL,
    is_single boolean PRIMARY KEY DEFAULT true CHECK (is_single)
);

-- The rules of each namespace.
CREATE TABLE namespaces (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE,
    kind kind NOT NULL,
    wait bigint NOT NULL CHECK (wait >= 0),
    max_wait bigint CHECK (max_wait IS NULL OR max_wait >= wait AND kind = 'debounce'),
    on_leading boolean NOT NULL, on_trailing boolean NOT NULL CHECK (on_leading OR on_trailing),
    extends boolean NOT NULL,
    max_count bigint CHECK (max_count IS NULL OR max_count >= 1 AND on_trailing),
    combination combination NOT NULL,
    max_batch bigint CHECK (max_batch IS NULL OR max_batch >= 1 AND combination = 'collect'),
    spacing bigint NOT NULL DEFAULT 0 CHECK (spacing >= 0 AND (spacing = 0 OR kind = 'debounce' AND on_trailing)),
    -- The interval of a throttle, the longest wait of a debounce.
    span bigint NOT NULL GENERATED ALWAYS AS (
        CASE WHEN kind = 'throttle' THEN wait ELSE coalesce(max_wait, 9223372036854775807) END) STORED,
    -- One that was forgotten keeps its row: a transaction that is still open may have its number.
    is_forgotten boolean NOT NULL DEFAULT false,
    -- When a newer value interrupts a run; NULL if it waits.
    restart text CHECK (restart IN ('due', 'submitted')),
    -- Since when, by this server's clock, and why no new run begins; NULL if the namespace is not paused.
    paused_at bigint, pause_reason text,
    -- At most `starts` runs start in any `period`, `burst` of them at once; NULL for no limit.
    starts bigint, period bigint, burst bigint,
    -- The most runs that workers have at once; NULL for no limit.
    max_running bigint CHECK (max_running >= 1),
    -- When the next run would start if all so far had been spread evenly; NULL before the first.
    arrival bigint,
    -- Whether who handles the values of `collect` folds them into one. Here they stay as they were submitted.
    merges boolean NOT NULL DEFAULT false CHECK (NOT merges OR combination = 'collect'),
    CONSTRAINT limit_is_whole CHECK (
        starts IS NULL AND period IS NULL AND burst IS NULL
        OR starts >= 1 AND period >= 1 AND burst BETWEEN 1 AND starts)
);

-- One row for each key that is not idle. A value stays in its slot, `v0`, `v1` or `v2`, while it is pending, ready
-- and in a run. Only `wake` is indexed among the columns that submits change, and a submit only moves it earlier.
CREATE TABLE work (
    namespace int NOT NULL, key bytea NOT NULL, wake bigint NOT NULL,
    born bigint NOT NULL DEFAULT 0, generation bigint NOT NULL DEFAULT 0, taken bigint NOT NULL DEFAULT 0,
    quiet bigint NOT NULL DEFAULT 0, latest bigint, span bigint NOT NULL DEFAULT 0, spacing bigint NOT NULL DEFAULT 0,
    pending_count bigint NOT NULL DEFAULT 0, pending_first bigint, pending_last bigint, pending_by bigint,
    ready_from bigint, ready_to bigint, ready_count bigint, ready_first bigint, ready_due bigint, ready_since bigint,
    run_id bigint, run_from bigint, run_to bigint, run_count bigint, run_first bigint, run_due bigint, run_until bigint,
    fence bigint, owner bigint, claimed_by bigint, attempt bigint,
    phase phase NOT NULL DEFAULT 'idle', ready_edge edge, run_edge edge,
    pending_slot smallint, ready_slot smallint, run_slot smallint,
    error text, v0 bytea, v1 bytea, v2 bytea,
    -- When a newer value interrupted the run; 9223372036854775807 if none ever does.
    run_mark bigint,
    -- When a worker got the run for its latest attempt; NULL if no attempt has begun.
    run_began bigint,
    PRIMARY KEY (namespace, key)
) WITH (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.5
);
ALTER TABLE work ALTER v0 SET STORAGE EXTERNAL, ALTER v1 SET STORAGE EXTERNAL, ALTER v2 SET STORAGE EXTERNAL;
-- An expression, so that no plan ever looks for a key in it: statistics of a queue that was empty a moment ago make
-- it look as good as the primary key.
CREATE INDEX work_by_wake ON work ((namespace + 0), wake);
CREATE INDEX work_by_worker ON work (claimed_by) WHERE claimed_by IS NOT NULL;

-- The values of `collect`: the ranges of generations in `work` and `dead` say which are pending, ready, in a run or
-- dead.
CREATE TABLE collected (
    namespace int NOT NULL, key bytea NOT NULL, generation bigint NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (namespace, key, generation)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE collected ALTER value SET STORAGE EXTERNAL;

-- How ranges of submits have ended, for a while.
CREATE TABLE ended (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, namespace int NOT NULL, at bigint NOT NULL,
    first bigint NOT NULL, last bigint NOT NULL, run bigint, fence bigint, how ending NOT NULL, key bytea NOT NULL,
    error text
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ended_by_key ON ended (namespace, key, last);

-- Runs whose attempts have all failed, until they are retried or discarded.
CREATE TABLE dead (
    run bigint PRIMARY KEY, namespace int NOT NULL, key bytea NOT NULL, first_submit bigint NOT NULL,
    last_submit bigint NOT NULL, count bigint NOT NULL, first bigint NOT NULL, due bigint NOT NULL, edge edge NOT NULL,
    fence bigint NOT NULL, owner bigint NOT NULL, attempts bigint NOT NULL, at bigint NOT NULL, error text, value bytea
);
CREATE INDEX dead_by_key ON dead (namespace, key);
CREATE INDEX dead_by_age ON dead ((namespace + 0), at, run);

-- The first answers to submits with a token, for a while.
CREATE TABLE tokens (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, namespace int NOT NULL, at bigint NOT NULL,
    generation bigint NOT NULL, due bigint, token text NOT NULL, key bytea NOT NULL,
    UNIQUE (namespace, token)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- The latest batch of each connection of each client, with its answers: a batch that is repeated is answered from here.
CREATE TABLE batches (
    client bigint NOT NULL, connection int NOT NULL, batch bigint NOT NULL, at bigint NOT NULL,
    answers smallint[], generations bigint[], dues bigint[], waits bigint[],
    PRIMARY KEY (client, connection)
) WITH (fillfactor = 20);

-- What each worker has done: a row of its own, so that workers do not wait for each other. And where it runs, and
-- when it last said that it is there; NULL if it never has. How many runs have begun, the submits behind them, and how
-- many attempts have failed.
CREATE TABLE workers (
    namespace int NOT NULL, owner bigint NOT NULL, attempts bigint NOT NULL, lost_leases bigint NOT NULL,
    at bigint NOT NULL, host text, process bigint, seen bigint,
    runs bigint NOT NULL DEFAULT 0, executed bigint NOT NULL DEFAULT 0, failures bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (namespace, owner)
) WITH (fillfactor = 50);

-- What transactions have changed in the numbers of keys: rows are only added, so that no transaction waits for
-- another one, and are summed up in `tallies` by `forget`. A row of `work` counts as it is stored, in the period of
-- four seconds in which it wakes, for nothing is written when time passes. `due` are those that are pending with
-- nothing ready, `replaced` those that are pending beside a failed run. In period 0 are the counts of dead runs, and of
-- how often values went back.
CREATE TABLE changes (
    namespace int NOT NULL, period bigint NOT NULL, pending int NOT NULL, ready int NOT NULL, running int NOT NULL,
    retrying int NOT NULL, due int NOT NULL, replaced int NOT NULL, dead int NOT NULL DEFAULT 0,
    restarted int NOT NULL DEFAULT 0
) WITH (
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 1
);
CREATE TABLE tallies (
    namespace int NOT NULL, period bigint NOT NULL, pending bigint NOT NULL, ready bigint NOT NULL,
    running bigint NOT NULL, retrying bigint NOT NULL, due bigint NOT NULL, replaced bigint NOT NULL,
    dead bigint NOT NULL, restarted bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (namespace, period)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX work_by_ready ON work ((namespace + 0), ready_due) WHERE ready_due IS NOT NULL;

-- The numbers of rows, and of runs and fences.
CREATE SEQUENCE births;
CREATE SEQUENCE fences;

-- An answer of `claim` and of `exchange`.
CREATE TYPE claimed_run AS (
    what text, key bytea, vals bytea[], run bigint, fence bigint, first_submit bigint, last_submit bigint,
    submits bigint, because text, due bigint, first bigint, attempt bigint, resume bigint, answers smallint[]
);

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
