#define _GNU_SOURCE
#include "CLullClock.h"

#include <time.h>

int64_t lull_nanoseconds_since_boot(void) {
#ifdef __APPLE__
    return (int64_t)clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW);
#else
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#endif
}
