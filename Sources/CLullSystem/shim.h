// The C library as the command sees it: one module on every system, with what Swift's own module for it leaves out
// (headers, macros, and variables that Swift would have to take for shared mutable state).
#ifndef CLULLSYSTEM_SHIM_H
#define CLULLSYSTEM_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/timerfd.h>
#endif

#if defined(__APPLE__)
#include <crt_externs.h>
static inline char **lull_environment(void) { return *_NSGetEnviron(); }
#else
extern char **environ;
static inline char **lull_environment(void) { return environ; }
#endif

#if defined(__linux__)
// The arguments as they lie in memory, for where Swift cannot read them from /proc (a bare root folder): below the environment,
// with their number in front and a null pointer behind, as the ABI has it. No pointer is as small as such a number. Only to be
// called at the start, before the environment is changed.
static inline char **lull_first_arguments(int *count) {
    char **end = environ - 1;
    long number = 0;
    while (((long *)end)[-1 - number] != number) number++;
    *count = (int)number;
    return end - number;
}
#else
static inline char **lull_first_arguments(int *count) { *count = 0; return 0; }
#endif

static inline int lull_errno(void) { return errno; }
static inline void lull_set_errno(int code) { errno = code; }

// Asks for the memory at an address, which is going to be read, and does not wait for it.
static inline void lull_prefetch(const void *address) { __builtin_prefetch(address); }

// Swift does not call variadic functions.
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
/// Opens a file to be written from its beginning; it need not be there.
static inline int lull_create(const char *path) { return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }
/// Opens a file that was not there, to be written; what is no plain file (a pipe, a device) may be there already. Nothing that is
/// there is emptied.
static inline int lull_create_new(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct stat status;
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
    if (stat(path, &status) != 0) return -1;
    if (S_ISREG(status.st_mode)) {
        errno = EEXIST;
        return -1;
    }
    return open(path, O_WRONLY | O_CLOEXEC);
}
/// The number of columns of the terminal at a descriptor; 0 where there is none.
static inline int lull_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
/// The number of bytes in a file; -1 for anything else.
static inline long long lull_file_size(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) ? (long long)status.st_size : -1;
}
static inline int lull_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

// getopt_long keeps its place in variables of the C library. The command parses once, on its only thread.
// Begins anew, whatever was read before and wherever that was left.
static inline void lull_begin_options(void) {
    opterr = 0;
#if defined(__APPLE__)
    optind = 1;
    optreset = 1;
#else
    optind = 0;
#endif
}
static inline char *lull_option_value(void) { return optarg; }
static inline int lull_option_index(void) { return optind; }
static inline int lull_wrong_option(void) { return optopt; }

// The code of the error that executing a file would end in, or 0.
static inline int lull_obstacle(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

// The exit status of a process that ended by itself, or minus the number of the signal that ended it.
static inline int lull_ending(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Calls `handler` for a signal, and lets it interrupt whatever blocks.
static inline int lull_handle(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, 0);
}

// Whether the process was started with a signal ignored, as `nohup` does.
static inline int lull_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, 0, &action) == 0 && action.sa_handler == SIG_IGN;
}
static inline void lull_ignore(int number) { signal(number, SIG_IGN); }
static inline void lull_default(int number) { signal(number, SIG_DFL); }

// Starts a program in a process group of its own, with `input` as its standard input and the usual signals. Returns an
// error's code, or 0.
static inline int lull_spawn(pid_t *pid, const char *path, char *const *arguments, char *const *environment, int input) {
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
        if (code == 0) code = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

#endif
