-- Version 2: namespaces that restart runs.

-- When a newer value interrupts a run; NULL if it waits.
ALTER TABLE namespaces ADD COLUMN restart text CHECK (restart IN ('due', 'submitted'));
-- When a newer value interrupted the run; 9223372036854775807 if none ever does.
ALTER TABLE work ADD COLUMN run_mark bigint;
-- How often values went back, in period 0.
ALTER TABLE changes ADD COLUMN restarted int NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN restarted bigint NOT NULL DEFAULT 0;

-- These have other parameters or results now.
DROP FUNCTION IF EXISTS open(
    text, kind, bigint, bigint, boolean, boolean, boolean, bigint, bigint, combination, bigint);
DROP FUNCTION IF EXISTS open(
    text, text, interval, interval, interval, bigint, text, bigint, boolean, boolean, boolean);
DROP FUNCTION IF EXISTS status(bigint);
DROP FUNCTION IF EXISTS counts(bigint, bigint, bigint, bigint, boolean);
