// Sockets, and descriptors that are sent through them.
#ifndef LULL_COMMAND_SOCKETS_H
#define LULL_COMMAND_SOCKETS_H

#include "library.h"

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

#endif
