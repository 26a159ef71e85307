// Files and their descriptors.
#ifndef LULL_COMMAND_FILES_H
#define LULL_COMMAND_FILES_H

#include "library.h"

// Swift cannot call variadic functions.
static inline int lull_open(const char *path, int flags) { return open(path, flags | O_CLOEXEC); }
static inline int lull_add_flags(int descriptor, int descriptor_flags, int status_flags) {
    if (descriptor_flags && fcntl(descriptor, F_SETFD, fcntl(descriptor, F_GETFD) | descriptor_flags) < 0) return -1;
    if (status_flags && fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | status_flags) < 0) return -1;
    return 0;
}
static inline int lull_is_file(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}
static inline int lull_is_socket(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}
static inline int lull_is_pipe(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}
static inline int lull_is_device(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode);
}
/// Returns how many bytes a descriptor has that can be read now; 0 if that cannot be said.
static inline int lull_waiting_bytes(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : 0;
}
/// Opens a file for writing from its beginning, and creates it if it does not exist.
static inline int lull_create(const char *path) { return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }
/// Creates a file for writing that only its owner can read. Fails if a plain file of that name exists; anything else (a pipe, a
/// device) is opened. Empties nothing.
static inline int lull_create_new(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat status;
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
    if (stat(path, &status) != 0) return -1;
    if (S_ISREG(status.st_mode)) {
        errno = EEXIST;
        return -1;
    }
    return open(path, O_WRONLY | O_CLOEXEC);
}

/// Whether users other than the owner and the group can read a file, or users other than the owner can write it.
static inline int lull_is_shared(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) != 0 || (status.st_mode & 027) != 0;
}

/// Returns the number of bytes in a file; -1 for anything else.
static inline long long lull_file_size(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) ? (long long)status.st_size : -1;
}
static inline int lull_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

/// Creates a file without a name, for reading and writing, which is deleted with its last descriptor. Returns -1 on failure.
static inline int lull_nameless_file(void) {
#if defined(__linux__)
    // By the number of the call: older headers do not declare it. 1 is MFD_CLOEXEC.
    return (int)syscall(SYS_memfd_create, "lull-input", 1u);
#else
    char path[PATH_MAX];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/lull.XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) return -1;
    unlink(path);
    fcntl(file, F_SETFD, FD_CLOEXEC);
    return file;
#endif
}

/// Raises the number of descriptors of this process to the hard limit. Returns the number.
static inline uint64_t lull_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    limit.rlim_cur = limit.rlim_max;
#if defined(__APPLE__)
    if (limit.rlim_cur > OPEN_MAX) limit.rlim_cur = OPEN_MAX;
#endif
    setrlimit(RLIMIT_NOFILE, &limit);
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t)limit.rlim_cur : 0;
}

#endif
