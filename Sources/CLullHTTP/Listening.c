// Sockets that listen, at an address or at a path.
#if !defined(__APPLE__)
#define _GNU_SOURCE
#endif
#include "CLullHTTP.h"

#include "lull/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int is_loopback_address(const struct sockaddr *address) {
    if (address->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24) == 127;
    if (address->sa_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
    return 0;
}

static struct addrinfo *resolved(const char *host, const char *port, char *why, size_t size) {
    struct addrinfo hints, *found = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    int code = getaddrinfo(host, port, &hints, &found);
    if (code != 0) snprintf(why, size, "%s", gai_strerror(code));
    return code == 0 ? found : NULL;
}

int lull_http_is_local(const char *host, char *why, size_t size) {
    struct addrinfo *found = resolved(host, NULL, why, size);
    if (!found) return -1;
    int is_local = 1;
    for (const struct addrinfo *one = found; one; one = one->ai_next) is_local &= is_loopback_address(one->ai_addr);
    freeaddrinfo(found);
    return is_local;
}

int lull_http_listen(const char *host, const char *port, int is_local, char *why, size_t size) {
    struct addrinfo *found = resolved(host, port, why, size);
    if (!found) return -1;
    if (is_local && !is_loopback_address(found->ai_addr)) {
        freeaddrinfo(found);
        snprintf(why, size, "other machines reach the address that it has now");
        return -1;
    }
    int descriptor = socket(found->ai_family, SOCK_STREAM, 0), on = 1, code = 0;
    if (descriptor >= 0) {
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        fcntl(descriptor, F_SETFL, O_NONBLOCK);
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    if (descriptor < 0 || bind(descriptor, found->ai_addr, found->ai_addrlen) != 0 || listen(descriptor, SOMAXCONN) != 0)
        code = errno;
    freeaddrinfo(found);
    if (code == 0) return descriptor;
    if (descriptor >= 0) close(descriptor);
    snprintf(why, size, "%s", strerror(code));
    return -1;
}

int lull_http_port(int descriptor) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) != 0) return 0;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

int lull_http_listen_at(const char *path, char *why, size_t size) {
    struct sockaddr_un address;
    if (lull_socket_address(&address, path, why, size) != 0 || lull_socket_clear(path, &address, why, size) != 0) return -1;
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return lull_socket_failed(why, size, "no socket can be made", errno);
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    // Who may connect is decided by the user's umask, which may let the group in, and never anybody else.
    mode_t mask = umask(0);
    umask(mask | 07);
    int is_bound = bind(descriptor, (const struct sockaddr *)&address, sizeof address) == 0, code = errno;
    umask(mask);
    if (is_bound && listen(descriptor, SOMAXCONN) == 0) return descriptor;
    if (is_bound) code = errno;
    close(descriptor);
    return lull_socket_failed(why, size, "it cannot be listened at", code);
}

void lull_http_identify(const char *path, uint64_t *device, uint64_t *file) {
    lull_socket_mark mark = lull_socket_mark_of(path);
    *device = (uint64_t)mark.device;
    *file = (uint64_t)mark.inode;
}

void lull_http_remove(const char *path, uint64_t device, uint64_t file) {
    lull_socket_mark mark = {(int64_t)device, (int64_t)file};
    lull_socket_remove(path, mark);
}

void lull_http_close(int descriptor) { close(descriptor); }

void lull_http_shut(int descriptor) { shutdown(descriptor, SHUT_RDWR); }

int64_t lull_http_user(int descriptor) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) != 0 || address.ss_family != AF_UNIX) return -1;
    return lull_socket_peer(descriptor);
}

void lull_http_user_name(int64_t user, char *name, size_t size) {
    char space[4096];
    struct passwd entry, *found = NULL;
    if (getpwuid_r((uid_t)user, &entry, space, sizeof space, &found) == 0 && found)
        snprintf(name, size, "%s", found->pw_name);
    else
        snprintf(name, size, "user %lld", (long long)user);
}
