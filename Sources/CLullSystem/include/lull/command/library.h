// The C library, one for every system: the headers that Swift leaves out of its own module for it, and functions for what it cannot
// import, such as macros, and variables that it would have to take for shared mutable state.
#ifndef LULL_COMMAND_LIBRARY_H
#define LULL_COMMAND_LIBRARY_H

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
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#endif

static inline int lull_errno(void) { return errno; }
static inline void lull_set_errno(int code) { errno = code; }

#endif
