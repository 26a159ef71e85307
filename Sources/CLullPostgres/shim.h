// libpq, PostgreSQL's C interface, and what a thread needs that waits for several connections.
#ifndef CLULLPOSTGRES_SHIM_H
#define CLULLPOSTGRES_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


/// Makes a descriptor one that never blocks, and that programs started by this one do not get.
static inline int lull_pq_not_blocking(int descriptor) {
    return fcntl(descriptor, F_SETFL, O_NONBLOCK) | fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

#endif
