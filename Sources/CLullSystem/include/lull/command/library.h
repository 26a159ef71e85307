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
#include <stdint.h>
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

#if defined(__linux__)
/// Sets a timer to an instant of its clock; 0 disarms it. In C, since Swift cannot name `struct timespec` reliably.
static inline void lull_set_timer(int descriptor, int64_t nanoseconds) {
    struct itimerspec time;
    memset(&time, 0, sizeof time);
    time.it_value.tv_sec = nanoseconds / 1000000000;
    time.it_value.tv_nsec = nanoseconds % 1000000000;
    timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &time, NULL);
}
#endif

#endif
