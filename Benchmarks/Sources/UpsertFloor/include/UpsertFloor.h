#pragma once
#include <stdint.h>

/// The floor of a durable store: a bare upsert of one row (key, payload, deadline, with the index on the deadline) through
/// SQLite's own C client, with the settings that LullSQLite has.
typedef struct upsert_floor upsert_floor;

upsert_floor *upsert_floor_open(const char *path);

/// Upserts one row for each of the keys, which are names of equal length, one after another; this many to a transaction.
void upsert_floor_run(
    upsert_floor *floor, const char *keys, int key_length, int64_t count, int64_t rows_per_transaction,
    const void *payload, int payload_length);

void upsert_floor_close(upsert_floor *floor);
