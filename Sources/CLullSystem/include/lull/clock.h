#ifndef LULL_CLOCK_H
#define LULL_CLOCK_H

// Clocks, read in C: Swift cannot name `struct timespec` reliably. Which module it belongs to depends on which other modules an
// optimised build has seen.

#include <stdint.h>
#include <time.h>

/// Returns the nanoseconds since the machine was started. This clock keeps running while the machine sleeps; nothing can set it.
static inline int64_t lull_nanoseconds_since_boot(void) {
#ifdef __APPLE__
    return (int64_t)clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW);
#else
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#endif
}

/// Returns the nanoseconds since 1970 on the wall clock, which can be set at any time.
static inline int64_t lull_nanoseconds_since_1970(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#endif
