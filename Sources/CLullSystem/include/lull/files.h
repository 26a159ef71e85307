#ifndef LULL_FILES_H
#define LULL_FILES_H

// Functions of a store for the files that several processes share.

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <TargetConditionals.h>
#include <sys/mount.h>
#include <sys/param.h>
#else
#include <sys/vfs.h>
#endif

// MARK: - Questions about a file

static inline int lull_exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

static inline int lull_is_directory(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/// Returns the size of a file; 0 if it does not exist.
static inline int64_t lull_size(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
}

/// Returns the error with which reading a file fails; 0 if it can be read or does not exist.
static inline int lull_why_unreadable(const char *path) {
    return access(path, R_OK) == 0 || errno == ENOENT ? 0 : errno;
}

/// Returns the full name of a file, without links; NULL if it does not exist. The caller frees it.
static inline char *lull_full_name(const char *path) { return realpath(path, (char *)0); }

/// Identifies a file and a state of its contents.
typedef struct {
    int64_t device, inode, size, modified;
} lull_mark;

/// Returns the mark of a file, or, without a path, of an open one. All zero if the file does not exist.
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

/// Returns whether `path` lies on another machine, where locks and shared memory cannot be relied on.
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

/// Creates an empty file that only its owner can read and write, if there is none of the name. What opens the file next finds out
/// why that failed.
static inline void lull_create_private(const char *path) {
#if TARGET_OS_IPHONE
    // An app has files of its own, and this one must be given its data protection when it is created, as SQLite does.
    (void)path;
#else
    if (lull_exists(path)) return;
    // Closing a file releases the locks of SQLite that this process holds on it. None matters so early: what creates the
    // contents holds the writer lock, too.
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor >= 0) close(descriptor);
#endif
}

// MARK: - Lock files

/// Returns whether every user who can lock a file with this status may write to the file that it guards.
///
/// Permission to read a file is enough to lock it, so the lock file must not be readable by users who may not write to the other.
static inline int lull_lock_is_safe(const struct stat *lock, const struct stat *guarded, mode_t rights) {
    mode_t others = rights & 07;
    mode_t group = lock->st_gid == guarded->st_gid ? rights & 070 : others << 3;
    int is_known = lock->st_uid == guarded->st_uid || lock->st_uid == 0 || lock->st_uid == geteuid();
    if ((is_known || (rights & 022)) && (lock->st_mode & 077 & ~(group | others)) == 0) return 1;
    // A file system without permissions gives all files of an owner the same ones, whatever it is asked for.
    return lock->st_uid == geteuid() && lock->st_uid == guarded->st_uid
        && (lock->st_mode & 0777) == (guarded->st_mode & 0777);
}

/// Opens a lock file beside the file that it guards, and creates it if needed. It gets the owner, the group and the permissions of
/// that file, without the permission to read for users who may not write.
///
/// Returns a descriptor, or the negative code of an error: EPERM if users who may not write could lock it.
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
        // A user who may not change the owner may still change the group.
        if (fchown(descriptor, file.st_uid, file.st_gid) != 0) (void)!fchown(descriptor, (uid_t)-1, file.st_gid);
    }
    if (code == 0 && (lock.st_mode & 07777) != rights) (void)!fchmod(descriptor, rights);
    if (code == 0 && fstat(descriptor, &lock) != 0) code = errno;
    if (code == 0 && !lull_lock_is_safe(&lock, &file, rights)) code = EPERM;
    if (code == 0) return descriptor;
    close(descriptor);
    return -code;
}

/// Tries to lock a file. The lock belongs to the open file and not to the process: two stores of one process exclude each other, too.
///
/// Returns 0 or the code of an error.
static inline int lull_lock_try(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno; }

/// Waits for the lock in the kernel, which gives it to those that wait in the order in which they came.
///
/// Returns 0 or the code of an error.
static inline int lull_lock_wait(int descriptor) {
    int code;
    do code = flock(descriptor, LOCK_EX) == 0 ? 0 : errno;
    while (code == EINTR);
    return code;
}

static inline void lull_lock_release(int descriptor) { flock(descriptor, LOCK_UN); }

/// Reads or writes numbers at the beginning of a lock file. Returns whether all of them were.
static inline int lull_lock_read(int descriptor, int64_t *numbers, int count) {
    ssize_t size = count * (ssize_t)sizeof(int64_t);
    return pread(descriptor, numbers, (size_t)size, 0) == size;
}
static inline int lull_lock_write(int descriptor, const int64_t *numbers, int count) {
    ssize_t size = count * (ssize_t)sizeof(int64_t);
    return pwrite(descriptor, numbers, (size_t)size, 0) == size;
}

/// Returns whether `lull_lock_try` can succeed later.
static inline int lull_lock_is_busy(int code) { return code == EWOULDBLOCK || code == EINTR; }

static inline void lull_pause(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&time, (struct timespec *)0);
}

#endif
