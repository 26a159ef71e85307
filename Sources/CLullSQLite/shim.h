// SQLite's own C interface, what Swift cannot call of it, and the few calls of the system that a file shared by several
// processes needs.
#ifndef CLULLSQLITE_SHIM_H
#define CLULLSQLITE_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <sys/mount.h>
#include <sys/param.h>
#else
#include <sys/vfs.h>
#endif

// Swift does not call variadic functions: a connection that is closed leaves the write-ahead log as it is.
static inline int lull_sqlite_keep_log(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// SQLITE_TRANSIENT is a macro that Swift cannot see. No bytes are something else than no value.
static inline int lull_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int64_t count) {
    return sqlite3_bind_blob64(statement, index, count ? bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT);
}
static inline int lull_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int64_t count) {
    return sqlite3_bind_text64(
        statement, index, count ? bytes : "", (sqlite3_uint64)count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int lull_sqlite_note_pages(void *place, sqlite3 *db, const char *name, int pages) {
    (void)db, (void)name;
    *(int32_t *)place = pages;
    return SQLITE_OK;
}
// After each commit, `place` holds the number of pages in the write-ahead log. Replaces the automatic checkpoints.
static inline void lull_sqlite_count_pages(sqlite3 *db, int32_t *place) {
    sqlite3_wal_hook(db, lull_sqlite_note_pages, place);
}

// Writes the write-ahead log once more, with the bytes that it has, and syncs it. When a sync has failed, the system may take
// what it could not write for written; only what is written anew is sure to be tried again. Nobody else may write meanwhile.
static inline int lull_sqlite_rewrite_log(sqlite3 *db) {
    enum { most = 1 << 16 };
    sqlite3_file *file = (sqlite3_file *)0;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (code != SQLITE_OK || !file || !file->pMethods) return code;
    sqlite3_int64 size = 0;
    code = file->pMethods->xFileSize(file, &size);
    if (code != SQLITE_OK) return code;
    void *bytes = malloc(most);
    if (!bytes) return SQLITE_NOMEM;
    for (sqlite3_int64 place = 0; place < size && code == SQLITE_OK; place += most) {
        int count = size - place < most ? (int)(size - place) : most;
        code = file->pMethods->xRead(file, bytes, count, place);
        if (code == SQLITE_OK) code = file->pMethods->xWrite(file, bytes, count, place);
    }
    free(bytes);
    return code == SQLITE_OK ? file->pMethods->xSync(file, SQLITE_SYNC_FULL) : code;
}

// On iOS the file can be used from the first unlocking of the device on, in the background, too.
static inline int lull_sqlite_open_flags(void) {
#if defined(SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION)
    return SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION;
#else
    return 0;
#endif
}

// Whether the name of an open database now means another file, or none. SQLite knows it of the file itself alone.
static inline int lull_sqlite_has_moved(sqlite3 *db) {
    int moved = 0;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

// Whether whoever can lock a file with this status may write to the one that it guards. To read it is enough to lock it, so it
// may let nobody read who may not write there.
static inline int lull_lock_is_safe(const struct stat *lock, const struct stat *guarded, mode_t rights) {
    mode_t others = rights & 07;
    mode_t group = lock->st_gid == guarded->st_gid ? rights & 070 : others << 3;
    int is_known = lock->st_uid == guarded->st_uid || lock->st_uid == 0 || lock->st_uid == geteuid();
    return (is_known || (rights & 022)) && (lock->st_mode & 077 & ~(group | others)) == 0;
}

// Opens a file for locks beside the one that they guard, and makes it if need be. Its owner, group and rights become those of
// that file, without the right to read for those who may not write.
//
// Returns a descriptor, or the code of an error, negative: EPERM if people who may not write could lock it.
static inline int lull_lock_open(const char *path, const char *guarded) {
    struct stat file, lock;
    if (stat(guarded, &file) != 0) return -errno;
    mode_t writers = file.st_mode & 0222, rights = writers | writers << 1;
    int descriptor;
    do descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, rights);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return -errno;
    int code = fstat(descriptor, &lock) == 0 ? 0 : errno;
    if (code == 0 && !S_ISREG(lock.st_mode)) code = EPERM;
    if (code == 0 && (lock.st_uid != file.st_uid || lock.st_gid != file.st_gid)) {
        // Who may not do the first may still do the second.
        if (fchown(descriptor, file.st_uid, file.st_gid) != 0) (void)!fchown(descriptor, (uid_t)-1, file.st_gid);
    }
    if (code == 0 && (lock.st_mode & 07777) != rights) (void)!fchmod(descriptor, rights);
    if (code == 0 && fstat(descriptor, &lock) != 0) code = errno;
    if (code == 0 && !lull_lock_is_safe(&lock, &file, rights)) code = EPERM;
    if (code == 0) return descriptor;
    close(descriptor);
    return -code;
}

// Locks that belong to the open file and not to the process: two stores of one process exclude each other, too.
// 0, or the code of an error: EWOULDBLOCK if somebody else has it.
static inline int lull_lock_try(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno; }
static inline void lull_lock_release(int descriptor) { flock(descriptor, LOCK_UN); }
static inline int lull_lock_is_busy(int code) { return code == EWOULDBLOCK || code == EINTR; }

static inline void lull_pause(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&time, (struct timespec *)0);
}

static inline int lull_errno_now(void) { return errno; }
static inline int lull_is_directory(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}
static inline int lull_exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}
// What tells a file, and each of its contents, from others.
typedef struct {
    int64_t device, inode, size, modified;
} lull_mark;
// All zero if there is none. Without a path, of an open file.
static inline lull_mark lull_mark_of(const char *path, int descriptor) {
    struct stat status;
    lull_mark mark = {0, 0, 0, 0};
    if ((path ? stat(path, &status) : fstat(descriptor, &status)) != 0) return mark;
#if defined(__APPLE__)
    struct timespec modified = status.st_mtimespec;
#else
    struct timespec modified = status.st_mtim;
#endif
    mark.device = (int64_t)status.st_dev;
    mark.inode = (int64_t)status.st_ino;
    mark.size = (int64_t)status.st_size;
    mark.modified = (int64_t)modified.tv_sec * 1000000000 + modified.tv_nsec;
    return mark;
}
// The full name of a file, without links; NULL if there is none. To be freed.
static inline char *lull_full_name(const char *path) { return realpath(path, (char *)0); }

// The size of a file; 0 if there is none.
static inline int64_t lull_size(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
}

// Whether what is written to `path` goes to another machine, where locks and shared memory cannot be relied on.
static inline int lull_is_remote(const char *path) {
    struct statfs status;
    if (statfs(path, &status) != 0) return 0;
#if defined(__APPLE__)
    return (status.f_flags & MNT_LOCAL) == 0;
#else
    switch ((uint32_t)status.f_type) {
        case 0x00006969: // NFS
        case 0x0000517B: // SMB
        case 0xFF534D42: // CIFS
        case 0xFE534D42: // SMB2
        case 0x01021997: // 9P
        case 0x5346414F: // AFS
        case 0x73757245: // Coda
        case 0x00C36400: // Ceph
        case 0x0BD00BD0: // Lustre
        case 0x01161970: // GFS2
            return 1;
        default: return 0;
    }
#endif
}

#endif
