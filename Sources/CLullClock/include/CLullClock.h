#ifndef CLULLCLOCK_H
#define CLULLCLOCK_H

#include <stdint.h>
#include <time.h>

/// Nanoseconds since the machine was started, on the clock that goes on while it sleeps and that nobody can set.
///
/// In C because Swift's import of `struct timespec` depends on which other modules an optimised build has seen.
static inline int64_t lull_nanoseconds_since_boot(void) {
#ifdef __APPLE__
    return (int64_t)clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW);
#else
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#endif
}

#endif
