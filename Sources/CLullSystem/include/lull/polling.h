#ifndef LULL_POLLING_H
#define LULL_POLLING_H

// Waiting for several descriptors at once.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/// Makes a descriptor one that never blocks, and that programs started by this one do not get.
static inline int lull_never_block(int descriptor) {
    return fcntl(descriptor, F_SETFL, O_NONBLOCK) | fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

static inline int lull_make_pipe(int descriptors[2]) {
    if (pipe(descriptors) != 0) return -1;
    lull_never_block(descriptors[0]);
    lull_never_block(descriptors[1]);
    return 0;
}

/// Writes a byte; nothing if the pipe is full.
static inline void lull_write_byte(int descriptor) {
    char byte = 0;
    (void)!write(descriptor, &byte, 1);
}

/// Reads all that is there.
static inline void lull_drain(int descriptor) {
    char bytes[64];
    while (read(descriptor, bytes, sizeof bytes) > 0) {
    }
}

static inline void lull_close(int descriptor) { close(descriptor); }

#endif
