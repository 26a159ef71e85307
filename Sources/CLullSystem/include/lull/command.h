// The C library as the command sees it: one module on every system, with what Swift's own module for it leaves out
// (headers, macros, and variables that Swift would have to take for shared mutable state).
#ifndef LULL_COMMAND_H
#define LULL_COMMAND_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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
/// Returns the arguments as they lie in memory, for where Swift cannot read them from /proc (a bare root folder).
///
/// They lie below the environment, with their number in front and a null pointer behind, as the ABI requires. No pointer is as small
/// as such a number. Call this at the start only, before the environment changes.
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

/// Asks for the memory at an address that will be read soon, without waiting for it.
static inline void lull_prefetch(const void *address) { __builtin_prefetch(address); }

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
/// Opens a file for writing from its beginning, and creates it if it does not exist.
static inline int lull_create(const char *path) { return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }
/// Creates a file for writing. Fails if a plain file of that name exists; anything else (a pipe, a device) is opened. Empties nothing.
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
/// Returns the number of columns of the terminal at a descriptor; 0 if it is no terminal.
static inline int lull_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
/// Returns the number of bytes in a file; -1 for anything else.
static inline long long lull_file_size(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) ? (long long)status.st_size : -1;
}
static inline int lull_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

// getopt_long keeps its position in variables of the C library. The command parses once, on its only thread.

/// Starts parsing from the beginning, wherever an earlier parse stopped.
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

/// Calls `handler` for a signal, which interrupts blocking calls.
static inline int lull_handle(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, 0);
}

/// Returns whether the process was started with a signal ignored, as `nohup` does.
static inline int lull_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, 0, &action) == 0 && action.sa_handler == SIG_IGN;
}
static inline void lull_ignore(int number) { signal(number, SIG_IGN); }
static inline void lull_default(int number) { signal(number, SIG_DFL); }

// SIGQUIT and SIGABRT end the command at once, as they end other programs. Swift's runtime on Linux would print where each thread is
// and let the process continue.
#if defined(__linux__)
// Keeping the default is not enough: the runtime then installs its own handler.
static void lull_end(int number) {
    lull_default(number);
    raise(number);
}

static void lull_handle_quit(void) {
    if (!lull_is_ignored(SIGQUIT)) lull_handle(SIGQUIT, lull_end);
    if (!lull_is_ignored(SIGABRT)) lull_handle(SIGABRT, lull_end);
}

// Runs before the constructors of libraries, one of which is the runtime's.
__attribute__((section(".preinit_array"), used)) static void (*const lull_before_main)(void) = lull_handle_quit;

/// Makes the program that calls this end at once on SIGQUIT and SIGABRT, from before `main` on. The call itself does nothing: it
/// brings the entry of `.preinit_array` into the program. Programs that import this module without calling it stay without.
static inline void lull_end_on_quit(void) { __asm__ volatile("" : : "r"(&lull_before_main)); }
#else
static inline void lull_end_on_quit(void) {}
#endif

// Swift cannot call fork. The command calls it once, before it has threads.
static inline pid_t lull_fork(void) { return fork(); }

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

/// Raises the number of descriptors of this process to the hard limit.
static inline void lull_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
#if defined(__APPLE__)
    if (limit.rlim_cur > OPEN_MAX) limit.rlim_cur = OPEN_MAX;
#endif
    setrlimit(RLIMIT_NOFILE, &limit);
}

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

/// Makes `free` return every block of 1 MiB or more to the system at once.
///
/// By default, glibc keeps the first large blocks that are freed, and the small blocks that it then places in them make them
/// useless for values of the same size: a program that runs for days would keep the memory of values it has long released.
static inline void lull_return_large_blocks(void) {
#if defined(M_MMAP_THRESHOLD)
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

/// Creates two connected sockets that programs started later do not inherit.
static inline int lull_socket_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

/// Sends bytes, and up to four descriptors with the first of them.
static inline ssize_t lull_send(int socket, const void *bytes, size_t count, const int *descriptors, size_t number) {
    union { struct cmsghdr header; char space[CMSG_SPACE(4 * sizeof(int))]; } control;
    struct iovec piece = {(void *)bytes, count};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (number > 4) return -1;
    if (number > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE(number * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(number * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, number * sizeof(int));
    }
    return sendmsg(socket, &message, 0);
}

/// Receives bytes, and with them up to four descriptors, which programs started later do not inherit.
static inline ssize_t lull_receive(int socket, void *bytes, size_t count, int *descriptors, size_t *number) {
    union { struct cmsghdr header; char space[CMSG_SPACE(4 * sizeof(int))]; } control;
    struct iovec piece = {bytes, count};
    struct msghdr message;
    int flags = 0;
    memset(&message, 0, sizeof message);
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.space;
    message.msg_controllen = sizeof control.space;
#if defined(__linux__)
    flags = MSG_CMSG_CLOEXEC;
#endif
    *number = 0;
    ssize_t received = recvmsg(socket, &message, flags);
    if (received <= 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        *number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(descriptors, CMSG_DATA(header), *number * sizeof(int));
    }
#if !defined(__linux__)
    for (size_t index = 0; index < *number; index++) fcntl(descriptors[index], F_SETFD, FD_CLOEXEC);
#endif
    return received;
}

/// Detaches this process, and what it starts later, from its controlling terminal.
///
/// A new session would do that as well, but on Linux each session is scheduled by itself: the effect of `nice` would be lost, and
/// starting costs more.
static inline void lull_leave_terminal(void) {
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return;
    ioctl(terminal, TIOCNOTTY, 0);
    close(terminal);
}

/// Starts a program in a process group of its own, with `input` and `errors` as its standard input and error, and the default
/// handling of signals. Returns the code of an error, or 0.
static inline int lull_spawn(
    pid_t *pid, const char *path, char *const *arguments, char *const *environment, int input, int errors) {
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
        if (code == 0) code = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

#endif
