// SQLite's C interface, and what Swift cannot call of it: variadic functions, macros and the methods of a file.
#ifndef CLULLSQLITE_SHIM_H
#define CLULLSQLITE_SHIM_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>

/// Lets a connection leave the write-ahead log as it is when it closes.
static inline int lull_sqlite_keep_log(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Binds bytes that SQLite copies (SQLITE_TRANSIENT is a macro). Zero bytes at NULL would bind NULL instead of an empty value.
static inline int lull_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int64_t count) {
    return sqlite3_bind_blob64(statement, index, count ? bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT);
}
static inline int lull_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int64_t count) {
    return sqlite3_bind_text64(
        statement, index, count ? bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int lull_sqlite_store_page_count(void *count, sqlite3 *db, const char *name, int pages) {
    (void)db, (void)name;
    *(int32_t *)count = pages;
    return SQLITE_OK;
}
/// Stores the number of pages in the write-ahead log in `count` after each commit. Replaces the automatic checkpoints.
static inline void lull_sqlite_count_pages(sqlite3 *db, int32_t *count) {
    sqlite3_wal_hook(db, lull_sqlite_store_page_count, count);
}

/// Returns why the system has not written to the log, if `code` says that a write has failed; else 0. `sqlite3_system_errno` does
/// not know it of a commit.
static inline int lull_sqlite_write_error(sqlite3 *db, int code) {
    sqlite3_file *log = (sqlite3_file *)0;
    int number = 0;
    if (code != SQLITE_IOERR_WRITE) return 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK || !log || !log->pMethods) return 0;
    return log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK ? number : 0;
}

/// Writes the write-ahead log again with the bytes that it has, and syncs it. Nothing else may write to the log meanwhile.
///
/// After a failed sync the system may take what it could not write for written. Only what is written again is sure to be tried again.
static inline int lull_sqlite_rewrite_log(sqlite3 *db) {
    enum { chunk = 1 << 16 };
    sqlite3_file *file = (sqlite3_file *)0;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (code != SQLITE_OK || !file || !file->pMethods) return code;
    sqlite3_int64 size = 0;
    code = file->pMethods->xFileSize(file, &size);
    if (code != SQLITE_OK) return code;
    void *bytes = malloc(chunk);
    if (!bytes) return SQLITE_NOMEM;
    for (sqlite3_int64 offset = 0; offset < size && code == SQLITE_OK; offset += chunk) {
        int count = size - offset < chunk ? (int)(size - offset) : chunk;
        code = file->pMethods->xRead(file, bytes, count, offset);
        if (code == SQLITE_OK) code = file->pMethods->xWrite(file, bytes, count, offset);
    }
    free(bytes);
    return code == SQLITE_OK ? file->pMethods->xSync(file, SQLITE_SYNC_FULL) : code;
}

/// Returns a hash of the beginning of the database as it is on the disk, without what is in the log; 0 if it cannot be read.
static inline uint64_t lull_sqlite_hash(sqlite3 *db) {
    enum { most = 1 << 16 };
    sqlite3_file *file = (sqlite3_file *)0;
    sqlite3_int64 size = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file || !file->pMethods) return 0;
    if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) return 0;
    int count = size < most ? (int)size : most;
    uint64_t *words = (uint64_t *)calloc(most / sizeof(uint64_t), sizeof(uint64_t));
    if (!words) return 0;
    uint64_t hash = 0;
    if (file->pMethods->xRead(file, words, count, 0) == SQLITE_OK) {
        hash = 0xcbf29ce484222325 ^ (uint64_t)size;
        for (int i = 0; i < most / (int)sizeof(uint64_t); i++) hash = (hash ^ words[i]) * 0x100000001b3, hash ^= hash >> 29;
        hash |= 1;
    }
    free(words);
    return hash;
}

/// Returns whether the log, as it is open, is as long as its index says, which all processes share; also if nothing is known.
static inline int lull_sqlite_log_is_whole(sqlite3 *db) {
    sqlite3_file *file = (sqlite3_file *)0, *log = (sqlite3_file *)0;
    void volatile *index = (void *)0;
    sqlite3_int64 size = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file || !file->pMethods) return 1;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK || !log || !log->pMethods) return 1;
    if (file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 1;
    // The first region, which the connection has mapped when it read the log: see "WAL-Index Format" in SQLite's documentation.
    if (file->pMethods->xShmMap(file, 0, 32768, 0, &index) != SQLITE_OK || !index) return 1;
    uint32_t frames = ((uint32_t volatile *)index)[4];
    uint16_t page = ((uint16_t volatile *)index)[7];
    if (!frames || log->pMethods->xFileSize(log, &size) != SQLITE_OK) return 1;
    return size >= 32 + (sqlite3_int64)frames * ((page == 1 ? 65536 : page) + 24);
}

/// Returns flags for opening a file. On iOS it can be used from the first unlocking of the device on, also in the background.
static inline int lull_sqlite_open_flags(void) {
#if defined(SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION)
    return SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION;
#else
    return 0;
#endif
}

/// Returns whether the name of an open database now means another file, or none. SQLite knows this of the main file only.
static inline int lull_sqlite_has_moved(sqlite3 *db) {
    int moved = 0;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

#endif
