#include "UpsertFloor.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct upsert_floor {
    sqlite3 *db;
    sqlite3_stmt *begin, *upsert, *commit;
    int pages, checkpoint_at;
};

static void check(upsert_floor *floor, int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE) return;
    fprintf(stderr, "the floor failed: %s\n", sqlite3_errmsg(floor->db));
    exit(70);
}

static int note_pages(void *floor, sqlite3 *db, const char *name, int pages) {
    (void)db, (void)name;
    ((upsert_floor *)floor)->pages = pages;
    return SQLITE_OK;
}

upsert_floor *upsert_floor_open(const char *path) {
    upsert_floor *floor = calloc(1, sizeof *floor);
    floor->checkpoint_at = 1000;
    check(floor, sqlite3_open_v2(path, &floor->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, 0));
    sqlite3_wal_hook(floor->db, note_pages, floor);
    check(floor, sqlite3_exec(floor->db,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1;"
        "PRAGMA mmap_size = 0; PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 4194304;"
        "CREATE TABLE work (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, payload BLOB, deadline INTEGER);"
        "CREATE INDEX work_by_deadline ON work (deadline);", 0, 0, 0));
    check(floor, sqlite3_prepare_v3(floor->db, "BEGIN IMMEDIATE", -1, SQLITE_PREPARE_PERSISTENT, &floor->begin, 0));
    check(floor, sqlite3_prepare_v3(floor->db,
        "INSERT INTO work (key, payload, deadline) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (key) DO UPDATE SET payload = excluded.payload, deadline = excluded.deadline",
        -1, SQLITE_PREPARE_PERSISTENT, &floor->upsert, 0));
    check(floor, sqlite3_prepare_v3(floor->db, "COMMIT", -1, SQLITE_PREPARE_PERSISTENT, &floor->commit, 0));
    return floor;
}

static void run(upsert_floor *floor, sqlite3_stmt *statement) {
    check(floor, sqlite3_step(statement));
    sqlite3_reset(statement);
}

void upsert_floor_run(
    upsert_floor *floor, const char *keys, int key_length, int64_t count, int64_t rows_per_transaction,
    const void *payload, int payload_length) {
    for (int64_t row = 0; row < count;) {
        run(floor, floor->begin);
        for (int64_t end = row + rows_per_transaction; row < end && row < count; row++) {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            sqlite3_bind_blob(floor->upsert, 1, keys + row * key_length, key_length, SQLITE_STATIC);
            sqlite3_bind_blob(floor->upsert, 2, payload, payload_length, SQLITE_STATIC);
            sqlite3_bind_int64(floor->upsert, 3, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + 3600000000000);
            run(floor, floor->upsert);
        }
        run(floor, floor->commit);
        // As LullSQLite does: copies the log when it has become long.
        if (floor->pages < 1000) floor->checkpoint_at = 1000;
        if (floor->pages >= floor->checkpoint_at) {
            check(floor, sqlite3_wal_checkpoint_v2(floor->db, "main", SQLITE_CHECKPOINT_PASSIVE, 0, 0));
            floor->checkpoint_at = floor->pages + 250;
        }
    }
}

void upsert_floor_close(upsert_floor *floor) {
    sqlite3_finalize(floor->begin);
    sqlite3_finalize(floor->upsert);
    sqlite3_finalize(floor->commit);
    sqlite3_close_v2(floor->db);
    free(floor);
}
