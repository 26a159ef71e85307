-- Version 5: namespaces whose values are folded into one.

-- Whether who handles the values of `collect` folds them into one. Here they stay as they were submitted.
ALTER TABLE namespaces ADD COLUMN merges boolean NOT NULL DEFAULT false CHECK (NOT merges OR combination = 'collect');

-- Those without it.
DROP FUNCTION IF EXISTS open(
    text, kind, bigint, bigint, boolean, boolean, boolean, bigint, bigint, combination, bigint, text, bigint, bigint,
    bigint, bigint);
DROP FUNCTION IF EXISTS open(
    text, text, interval, interval, interval, bigint, text, bigint, boolean, boolean, boolean, text, bigint, interval,
    bigint, bigint);
