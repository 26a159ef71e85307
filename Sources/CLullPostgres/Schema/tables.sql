-- Instants are microseconds since 1970, durations are microseconds. 9223372036854775807 stands for *never*.
--
-- The library steps the rows: no rule of what becomes of a key is written here.

-- One row: the version of these tables, and the server on which workers may claim. `floor` is above all numbers that
-- were given before the server was started that `started` tells of: see numbers.sql.
CREATE TABLE meta (
    version int NOT NULL, place text NOT NULL, started timestamptz, floor bigint NOT NULL DEFAULT 0,
    is_single boolean PRIMARY KEY DEFAULT true CHECK (is_single)
);

-- The namespaces. `rules` are the parts of their rules: see namespaces.sql.
CREATE TABLE namespaces (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, rules bigint[] NOT NULL,
    -- Each change of the settings raises it, but not that of `arrival`.
    revision bigint NOT NULL DEFAULT 0,
    -- One that was forgotten keeps its row: a transaction that is still open may have its number.
    is_forgotten boolean NOT NULL DEFAULT false,
    -- Since when, by this server's clock, and why no new run begins; NULL if the namespace is not paused. A pause that
    -- ends by itself ends at `paused_until`.
    paused_at bigint, pause_reason text, paused_until bigint,
    -- When the next run would start if all so far had been spread evenly; NULL before the first.
    arrival bigint
);

-- One row for each key that is not idle: `state` is what the library has of it, and the other columns are what rows
-- are found by. A value stays in its slot, `v0`, `v1` or `v2`, while it is pending, ready and in a run. Only `wake` is
-- indexed among the columns that submits change, and a submit only moves it earlier.
CREATE TABLE work (
    namespace int NOT NULL, key bytea NOT NULL, wake bigint NOT NULL,
    -- The run, and the worker that has it; NULL if there is none.
    run bigint, claimed_by bigint,
    -- Whom what is pending comes from, if the submits say so; 0 for several.
    submitter bigint,
    -- When the value fell due that is ready; NULL if none is.
    ready bigint,
    -- False if it has nothing but a gate that is not idle.
    has_work boolean NOT NULL,
    state bytea NOT NULL, v0 bytea, v1 bytea, v2 bytea,
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
CREATE INDEX work_by_ready ON work ((namespace + 0), ready) WHERE ready IS NOT NULL;

-- Values that have no slot: those that are collected, and those of dead runs, by the numbers that `state` names.
CREATE TABLE numbered (
    namespace int NOT NULL, key bytea NOT NULL, number bigint NOT NULL, value bytea NOT NULL,
    PRIMARY KEY (namespace, key, number)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE numbered ALTER value SET STORAGE EXTERNAL;

-- Calls of producers that are not the library: whoever touches their key makes them first.
CREATE TABLE inbox (
    namespace int NOT NULL, key bytea NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY, at bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('submit', 'touch', 'flush', 'cancel')), wait bigint, value bytea, token text,
    context text, PRIMARY KEY (namespace, key, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE inbox ALTER value SET STORAGE EXTERNAL;
CREATE INDEX inbox_by_age ON inbox ((namespace + 0), at);

-- How ranges of submits have ended, for a while: completed, failed, cancelled, absorbed or dead.
CREATE TABLE ended (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, namespace int NOT NULL, at bigint NOT NULL,
    first bigint NOT NULL, last bigint NOT NULL, run bigint, how text NOT NULL, key bytea NOT NULL, error text
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ended_by_key ON ended (namespace, key, last);

-- Runs whose attempts have all failed, until they are retried or discarded.
CREATE TABLE dead (
    run bigint PRIMARY KEY, namespace int NOT NULL, key bytea NOT NULL, at bigint NOT NULL, state bytea NOT NULL
);
CREATE INDEX dead_by_key ON dead (namespace, key);
CREATE INDEX dead_by_age ON dead ((namespace + 0), at, run);

-- The first answers to submits with a token, for a while; `entry` is the number of the call in the inbox.
CREATE TABLE tokens (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, namespace int NOT NULL, at bigint NOT NULL,
    generation bigint NOT NULL, due bigint, entry bigint, token text NOT NULL, key bytea NOT NULL,
    UNIQUE (namespace, token)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX tokens_by_entry ON tokens (entry) WHERE entry IS NOT NULL;

-- The latest batch of each slot of each client, and which of its keys conflicted: a batch that is repeated is answered
-- from here.
CREATE TABLE batches (
    client bigint NOT NULL, slot int NOT NULL, batch bigint NOT NULL, at bigint NOT NULL, conflicts int[],
    PRIMARY KEY (client, slot)
) WITH (fillfactor = 20);

-- Where each worker runs, and when it last said that it is there.
CREATE TABLE workers (
    namespace int NOT NULL, worker bigint NOT NULL, host text NOT NULL, process bigint NOT NULL, at bigint NOT NULL,
    PRIMARY KEY (namespace, worker)
) WITH (fillfactor = 50);

-- What transactions have changed in the counts: rows are only added, so that no transaction waits for another one,
-- and are summed up in `tallies` by `forget`. A key counts as its row is stored, in the period of 2^22 microseconds in
-- which it wakes, for nothing is written when time passes. In period 0 are dead runs and the totals.
CREATE TABLE changes (namespace int NOT NULL, period bigint NOT NULL, name text NOT NULL, count bigint NOT NULL) WITH (
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 1
);
CREATE TABLE tallies (
    namespace int NOT NULL, period bigint NOT NULL, name text NOT NULL, count bigint NOT NULL,
    PRIMARY KEY (namespace, period, name)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- The numbers of submits, runs and fences, a thousand at a time, and how many rows were deleted that had used up
-- those of their own: see numbers.sql.
CREATE SEQUENCE numbers INCREMENT 1024 MINVALUE 0;
CREATE SEQUENCE overflows MINVALUE 0;
