#ifndef CLULLCLOCK_H
#define CLULLCLOCK_H

#include <stdint.h>
#include <time.h>

// In C because Swift's import of `struct timespec` depends on which other modules an optimised build has seen.

/// Nanoseconds since the machine was started, on the clock that goes on while it sleeps and that nobody can set.
static inline int64_t lull_nanoseconds_since_boot(void) {
#ifdef __APPLE__
    return (int64_t)clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW);
#else
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#endif
}

/// Nanoseconds since 1970 by the wall clock, which anybody may set.
static inline int64_t lull_nanoseconds_since_1970(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#endif
