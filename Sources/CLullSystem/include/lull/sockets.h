#ifndef LULL_SOCKETS_H
#define LULL_SOCKETS_H

// Sockets at paths, through which programs on one machine talk, and a thread for them.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// MARK: - Sockets

/// Returns -1, and writes why a call has failed.
static inline int lull_socket_failed(char *why, size_t size, const char *what, int code) {
    snprintf(why, size, "%s: %s", what, strerror(code));
    return -1;
}

/// Sets the address of a path. Returns 0, or -1 and why not.
static inline int lull_socket_address(struct sockaddr_un *address, const char *path, char *why, size_t size) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        snprintf(why, size, "the path has more than %zu bytes", sizeof address->sun_path - 1);
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}

/// Removes the socket that an ended program of the same user has left at a path, and nothing else. Returns 0, or -1 and why something
/// else is there.
static inline int lull_socket_clear(const char *path, const struct sockaddr_un *address, char *why, size_t size) {
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : lull_socket_failed(why, size, "it cannot be looked at", errno);
    if (S_ISLNK(status.st_mode)) {
        snprintf(why, size, "it is a symbolic link, which may lead anywhere");
        return -1;
    }
    if (!S_ISSOCK(status.st_mode)) {
        snprintf(why, size, "there is a file that is no socket");
        return -1;
    }
    if (status.st_uid != geteuid()) {
        snprintf(why, size, "there is a socket of another user");
        return -1;
    }
    int probe = socket(AF_UNIX, SOCK_STREAM, 0);
    if (probe < 0) return lull_socket_failed(why, size, "no socket can be made", errno);
    // A program whose queue is full, or that is stopped, is one that listens.
    fcntl(probe, F_SETFL, O_NONBLOCK);
    int is_alive = connect(probe, (const struct sockaddr *)address, sizeof *address) == 0 || errno != ECONNREFUSED;
    close(probe);
    if (is_alive) {
        snprintf(why, size, "another program listens there");
        return -1;
    }
    return unlink(path) == 0 || errno == ENOENT ? 0
                                                 : lull_socket_failed(why, size, "the old socket cannot be removed", errno);
}

/// Returns the user of the program at the other end of a connection at a path, or -1.
static inline int64_t lull_socket_peer(int descriptor) {
#if defined(__APPLE__)
    uid_t user;
    gid_t group;
    return getpeereid(descriptor, &user, &group) == 0 ? (int64_t)user : -1;
#else
    // `struct ucred`, which the C library declares for some programs only.
    struct {
        pid_t process;
        uid_t user;
        gid_t group;
    } peer;
    socklen_t length = sizeof peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? (int64_t)peer.user : -1;
#endif
}

/// Lets nothing that is done to a descriptor block, and programs that this one starts not get it.
static inline void lull_socket_prepare(int descriptor) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
#if defined(__APPLE__)
    int on = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

/// Returns a socket that listens at a path, to which only its owner can connect, or -1 and why not. It takes the place of one that an
/// ended program of the same user has left there, and of nothing else.
static inline int lull_socket_listen(const char *path, char *why, size_t size) {
    struct sockaddr_un address;
    if (lull_socket_address(&address, path, why, size) != 0 || lull_socket_clear(path, &address, why, size) != 0) return -1;
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return lull_socket_failed(why, size, "no socket can be made", errno);
    lull_socket_prepare(descriptor);
    // Not by the umask, which is the whole program's. Until it listens, nobody can connect.
#if defined(__APPLE__)
    int is_private = bind(descriptor, (const struct sockaddr *)&address, sizeof address) == 0
        && fchmodat(AT_FDCWD, path, 0600, AT_SYMLINK_NOFOLLOW) == 0;
#else
    int is_private = fchmod(descriptor, 0600) == 0
        && bind(descriptor, (const struct sockaddr *)&address, sizeof address) == 0;
#endif
    if (is_private && listen(descriptor, 16) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    return lull_socket_failed(why, size, "it cannot be listened at", code);
}

/// Returns a connection to a path, or the negative code of an error.
static inline int lull_socket_connect(const char *path) {
    struct sockaddr_un address;
    char why[1];
    if (lull_socket_address(&address, path, why, sizeof why) != 0) return -ENAMETOOLONG;
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return -errno;
    lull_socket_prepare(descriptor);
    if (connect(descriptor, (const struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    return -code;
}

/// Returns the next connection to a socket that listens; -1 if there is none, and -2 if it cannot be taken.
static inline int lull_socket_accept(int listener) {
    int descriptor = accept(listener, (struct sockaddr *)0, (socklen_t *)0);
    if (descriptor < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED ? -1 : -2;
    lull_socket_prepare(descriptor);
    return descriptor;
}

/// Sends what can be sent at once. Returns how many bytes that were, or -1 if nobody will get any.
static inline ssize_t lull_socket_send(int descriptor, const void *bytes, size_t count) {
#if defined(__APPLE__)
    ssize_t sent = send(descriptor, bytes, count, MSG_DONTWAIT);
#else
    ssize_t sent = send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
#endif
    if (sent >= 0) return sent;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS ? 0 : -1;
}

/// Receives what has come. Returns how many bytes that are, 0 at the end, and -1 if nothing has come.
static inline ssize_t lull_socket_receive(int descriptor, void *bytes, size_t count) {
    ssize_t received = recv(descriptor, bytes, count, MSG_DONTWAIT);
    if (received >= 0) return received;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? -1 : 0;
}

static inline void lull_socket_close(int descriptor) { close(descriptor); }

/// Writes a byte to a pipe that wakes a thread.
static inline void lull_socket_wake(int descriptor) {
    char byte = 0;
    (void)!write(descriptor, &byte, 1);
}

/// Identifies the file at a path; all zero if there is none.
typedef struct {
    int64_t device, inode;
} lull_socket_mark;

static inline lull_socket_mark lull_socket_mark_of(const char *path) {
    struct stat status;
    lull_socket_mark mark = {0, 0};
    if (lstat(path, &status) != 0) return mark;
    mark.device = (int64_t)status.st_dev;
    mark.inode = (int64_t)status.st_ino;
    return mark;
}

/// Removes a socket, unless another program has put its own there.
static inline void lull_socket_remove(const char *path, lull_socket_mark mark) {
    lull_socket_mark present = lull_socket_mark_of(path);
    if (present.device == mark.device && present.inode == mark.inode) unlink(path);
}

// MARK: - Waiting

/// Makes a pipe whose reading end, with the others, ends the wait of a thread.
static inline int lull_socket_pipe(int ends[2]) {
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

/// Waits for descriptors, at most so many milliseconds; -1 for any time.
static inline int lull_socket_wait(struct pollfd *descriptors, size_t count, int milliseconds) {
    return poll(descriptors, (nfds_t)count, milliseconds);
}

// MARK: - The process

static inline const char *lull_variable(const char *name) { return getenv(name); }
static inline int64_t lull_process(void) { return (int64_t)getpid(); }
static inline int64_t lull_user(void) { return (int64_t)geteuid(); }

/// Starts a thread, which gets none of the signals to the program. Returns 0 or the code of an error.
static inline int lull_thread_start(void *(*body)(void *), void *argument) {
    sigset_t all, previous;
    sigfillset(&all);
    // What the thread's own faults send.
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGTRAP);
    pthread_attr_t attributes;
    pthread_t thread;
    int code = pthread_attr_init(&attributes);
    if (code != 0) return code;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_BLOCK, &all, &previous);
    code = pthread_create(&thread, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &previous, (sigset_t *)0);
    pthread_attr_destroy(&attributes);
    return code;
}

#endif
