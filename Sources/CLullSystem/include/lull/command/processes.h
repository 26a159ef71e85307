// Processes: starting them, naming them, and how they ended.
#ifndef LULL_COMMAND_PROCESSES_H
#define LULL_COMMAND_PROCESSES_H

#include "library.h"

#if defined(__APPLE__)
#include <TargetConditionals.h>
#endif

/// Returns the code of the error with which executing a file would fail, or 0.
static inline int lull_obstacle(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

/// Returns the exit status of a process that ended by itself, or the negative number of the signal that ended it.
static inline int lull_ending(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#if TARGET_OS_TV || TARGET_OS_WATCH
// These systems let no app start a process, and their headers forbid the calls. The command is of no use there, but Xcode compiles it
// with the rest of the package.

static inline pid_t lull_fork(void) {
    errno = ENOTSUP;
    return -1;
}

static inline int lull_spawn(
    pid_t *pid, const char *path, char *const *arguments, char *const *environment, int input, int errors, int answers) {
    (void)pid, (void)path, (void)arguments, (void)environment, (void)input, (void)errors, (void)answers;
    return ENOTSUP;
}
#else
// Swift cannot call fork. The command calls it once, before it has threads.
static inline pid_t lull_fork(void) { return fork(); }

/// Starts a program in a process group of its own, with `input` and `errors` as its standard input and error, `answers` as its
/// descriptor 3 unless that is -1, and the default handling of signals. Returns the code of an error, or 0.
static inline int lull_spawn(
    pid_t *pid, const char *path, char *const *arguments, char *const *environment, int input, int errors, int answers) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        sigemptyset(&none);
        sigemptyset(&usual);
        sigaddset(&usual, SIGPIPE);
        posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigdefault(&attributes, &usual);
        posix_spawnattr_setsigmask(&attributes, &none);
        code = posix_spawn_file_actions_adddup2(&actions, input, 0);
        if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, errors, 2);
        // Last: any of them may have the number 3 here.
        if (code == 0 && answers >= 0) code = posix_spawn_file_actions_adddup2(&actions, answers, 3);
        if (code == 0) code = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}
#endif

/// Makes orphans among the descendants of this process its children. Does nothing where the system cannot do that.
static inline void lull_adopt_orphans(void) {
#if defined(__linux__)
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
#endif
}

/// Sets the name of this process in lists of processes; at most 15 bytes.
static inline void lull_set_name(const char *name) {
#if defined(__linux__)
    prctl(PR_SET_NAME, name, 0L, 0L, 0L);
#else
    (void)name;
#endif
}

#endif
